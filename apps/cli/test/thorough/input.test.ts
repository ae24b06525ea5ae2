import { chmodSync, closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { measuredBloom, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const BOM = '\ufeff';

describe.runIf(process.platform === 'linux' && hasNamedPipes)('a path that is not a regular file', () => {
  beforeAll(() => {
    makeNamedPipe(scratch.at('fifo'));
  });

  test('is read to its end by the commands that write tables', async () => {
    await build('part.ldb', [], scratch.path, 'a\t1\n');
    const piped = '(cat part.ldb > fifo &) && ';
    for (const line of ['salvage fifo', 'convert fifo', 'merge fifo', 'merge fifo part.ldb', 'salvage fifo part.ldb']) {
      const { code } = await shell(`${piped}bloom ${line} -o made.ldb && bloom scan made.ldb > made.tsv`, scratch.path);
      expect({ line, code, made: scratch.read('made.tsv').toString() }).toEqual({ line, code: 0, made: 'a\t1\n' });
    }
    const { code, stderr } = await shell(`${piped}bloom diff fifo part.ldb -q; bloom merge - - -o never.ldb < part.ldb`, scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: stdin can be read only once: use files for the others\n' });
  });

  test('is read to its end by the commands that read tables', async () => {
    await build('whole.ldb', [], scratch.path, 'a\t1\n');
    const { code, stdout } = await shell('(cat whole.ldb > fifo &) && bloom get fifo a; bloom count - < whole.ldb; bloom scan <(cat whole.ldb)', scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '1\n1\na\t1\n' });
    expect(await bloom(['stat', '/dev/null'], scratch.path)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^bloom: \/dev\/null: not a LevelDB table: it has 0 bytes, but a footer alone has 48/) as string,
    });
  });

  test('may have its bytes only later', async () => {
    await build('late.ldb', [], scratch.path, 'a\t1\n');
    const lines = ['get - a', 'count -', 'layout --blocks -', 'filter test -', 'find a -', 'scan -'];
    const runs = await Promise.all(lines.map((line) => shell(`(sleep 2; cat late.ldb) | bloom ${line}`, scratch.path)));
    for (const [i, { code, stdout, stderr }] of runs.entries()) {
      expect({ line: lines[i], code, stderr }).toEqual({ line: lines[i], code: 0, stderr: '' });
      expect(stdout.toString()).not.toBe('');
    }
  });

  test('may be set by another program so that reads do not wait', async () => {
    await build('late.ldb', [], scratch.path, 'a\t1\n');
    const other = '"$NODE" -e "process.stdin; setTimeout(() => {}, 2500)" <&0 & sleep 1;';
    const lines = [`(sleep 3; cat late.ldb) | (${other} bloom get - a)`, `(sleep 3; echo a) | (${other} bloom get late.ldb --keys -)`];
    for (const { code, stdout, stderr } of await Promise.all(lines.map((line) => shell(line, scratch.path)))) {
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: '1\n', stderr: '' });
    }
  });

  test('build reads a pipe, and a device', async () => {
    const { code } = await shell('(printf "a\\t1\\n" > fifo &) && bloom build fifo -q -o from-fifo.ldb', scratch.path);
    expect(code).toBe(0);
    expect(await bloomPrints(['scan', 'from-fifo.ldb'], scratch.path)).toBe('a\t1\n');
    expect((await bloom(['build', '/dev/null', '-q', '-o', 'none.ldb'], scratch.path)).code).toBe(0);
  });
});

describe('an input that cannot be read', () => {
  const isRoot = process.getuid?.() === 0;

  test.runIf(process.platform === 'linux')('is a failure of one line that leaves no file', async () => {
    scratch.write('secret.tsv', 'a\t1\n');
    scratch.write('secret.ldb', 'not for everyone');
    chmodSync(scratch.at('secret.tsv'), 0);
    chmodSync(scratch.at('secret.ldb'), 0);
    chmodSync(scratch.path, 0o777);
    // Root can read every file.
    const options = isRoot ? { uid: 65534, gid: 65534 } : {};
    for (const line of ['build secret.tsv -o secret-out.ldb', 'build secret.tsv --sort -o secret-out.ldb', 'stat secret.ldb']) {
      const name = line.split(' ')[1]!;
      const { code, stdout, stderr } = await shell(`bloom ${line}`, scratch.path, options);
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 2, stdout: '', stderr: `bloom: ${name}: permission denied\n` });
    }
    expect(readdirSync(scratch.path).filter((name) => name.includes('secret-out'))).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('is named if it is one file of a folder', async () => {
    await bloom(['load', 'db', '-', '--compact', '-q'], scratch.path, 'a\t1\n');
    const table = `db/${readdirSync(scratch.at('db')).find((name) => name.endsWith('.ldb'))!}`;
    chmodSync(scratch.at(table), 0);
    chmodSync(scratch.path, 0o777);
    const options = isRoot ? { uid: 65534, gid: 65534 } : {};
    for (const line of ['get db a', 'scan db', 'count db/', 'verify db', 'stat db', 'diff db db', 'salvage db -o out.ldb', 'convert db -o out.ldb', 'copy db copied', 'destroy db --yes']) {
      const { code, stderr } = await shell(`bloom ${line}`, scratch.path, options);
      expect({ line, code, stderr }).toEqual({ line, code: 2, stderr: `bloom: ${table}: permission denied\n` });
    }
  });

  test.runIf(process.platform !== 'win32')('that must be copied to a temporary file is not to blame for the folder of these', async () => {
    await build('letters.ldb', [], scratch.path, 'a\t1\n');
    for (const line of ['diff - letters.ldb', 'convert - -o copy.ldb', 'merge - -o copy.ldb']) {
      const { code, stderr } = await shell(`TMPDIR=/nowhere bloom ${line} < letters.ldb`, scratch.path);
      expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: /nowhere, the folder for temporary files: no such file or folder: TMPDIR can name another one\n' });
    }
  });

  test.runIf(process.platform === 'linux')('is a failure of one line if it can be opened but not read', async () => {
    for (const sort of [[], ['--sort']]) {
      const { code, stderr } = await bloom(['build', '/proc/self/mem', ...sort, '-o', 'mem.ldb'], scratch.path);
      expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: /proc/self/mem: the device failed\n' });
    }
  });

  test.runIf(process.platform !== 'win32')('is reported as standard input', async () => {
    expect(await shell('bloom build - -o folder.ldb < .', scratch.path)).toMatchObject({
      code: 2,
      stderr: 'bloom: standard input: is a folder\n',
    });
  });
});

describe('a byte order mark at the start of the input is not part of the first key', () => {
  test.each([
    ['tsv', '--sort', `${BOM}b\t1\r\na\t2`, 'a\t2\nb\t1\n'],
    ['tsv', '', `${BOM}a\t1\nb\t2\n`, 'a\t1\nb\t2\n'],
    ['words', '--sort', `${BOM}b\na\n`, 'a\t2\nb\t1\n'],
    ['jsonl', '', `${BOM}{"key":"a","value":"1"}\n`, 'a\t1\n'],
    ['words', '', BOM, ''],
  ])('in %s %s', async (format, sort, input, expected) => {
    const table = `${format}${sort}${input.length}.ldb`;
    await build(table, ['-f', format, ...(sort === '' ? [] : [sort])], scratch.path, input);
    expect(await bloomPrints(['scan', table], scratch.path)).toBe(expected);
  });
});

test('build reads back what scan prints for a key that starts with a byte order mark', async () => {
  await build('mark.ldb', ['-f', 'jsonl'], scratch.path, '{"key":"\\ufeffa","value":"1"}\n{"key":"\\ufeffb","value":"2"}\n');
  for (const format of ['tsv', 'raw', 'words']) {
    const { stdout } = await bloom(['scan', 'mark.ldb', '-f', format], scratch.path);
    await build('again.ldb', ['-f', format], scratch.path, stdout);
    const keys = (await bloomPrints(['scan', 'again.ldb', '-f', 'words', '--hex'], scratch.path)).split('\n');
    expect(keys).toEqual(['efbbbf61', 'efbbbf62', '']);
  }
});

test('rejects a line of JSON with millions of values in bounded memory', async () => {
  scratch.write('heavy.jsonl', `{"key":"a","value":"b","more":[${'[],'.repeat(5_000_000)}0]}\n`);
  const { code, stderr } = await bloom(['build', 'heavy.jsonl', '-f', 'jsonl', '-o', 'heavy.ldb'], scratch.path);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'bloom: heavy.jsonl: line 1: more than 1000000 values, but only "key" and "value" are needed\n',
  });
  const long = `"\\\\\\"${',[{'.repeat(1_000_000)}"`;
  await build('long.ldb', ['-f', 'jsonl'], scratch.path, `{"key":"a","value":${long}}\n`);
  expect((await bloomPrints(['get', 'long.ldb', 'a'], scratch.path)).length).toBe(3_000_003);
});

test('build keeps only one piece of a long input in memory', async () => {
  const value = 'v'.repeat(20_000);
  const file = openSync(scratch.at('large.tsv'), 'w');
  for (let i = 0; i < 160; i++) {
    const lines = Array.from({ length: 50 }, (_, j) => `${String(i * 50 + j).padStart(6, '0')}\t${value}\n`);
    writeSync(file, lines.join(''));
  }
  closeSync(file);
  const build = ['build', 'large.tsv', '-q', '--compression', 'none', '-o', 'large.ldb'];
  const { code, peakMiB } = await measuredBloom(build, scratch.path);
  expect(code).toBe(0);
  // The input has 153 MiB. A program that keeps none of it needs about 110 MiB.
  expect(peakMiB).toBeLessThan(170);
});
