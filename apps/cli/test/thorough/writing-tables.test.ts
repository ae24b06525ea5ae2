import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { dataPath, seeded } from '@bloom/fixtures';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { measuredBloom, outcome, program, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const random = seeded(30);

/** Lines of `count` keys in random order, some of them several times. */
function randomLines(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `key ${random.below(count * 4)}\tthe value of line ${i}\n`);
}

/** The entries that lines stand for, the last value of each key, in bytewise order. */
function expectedOf(lines: readonly string[]): string {
  const entries = new Map(lines.map((line) => [line.slice(0, line.indexOf('\t')), line]));
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line).join('');
}

const lines = randomLines(120_000);
const sorted = expectedOf(lines);
scratch.write('lines.tsv', lines.join(''));
scratch.write('sorted.tsv', sorted);

describe('a long input', () => {
  test('gives the same table from a thread, from a pipe, and where it is decoded without one', async () => {
    await bloomPrints(['build', 'sorted.tsv', '-q', '-o', 'file.ldb'], scratch.path);
    expect((await shell('cat sorted.tsv | bloom build - -q -o pipe.ldb', scratch.path)).code).toBe(0);
    expect((await shell('bloom build - -q -o stdin.ldb < sorted.tsv', scratch.path)).code).toBe(0);
    const bytes = scratch.read('file.ldb');
    for (const name of ['pipe.ldb', 'stdin.ldb']) expect(scratch.read(name).equals(bytes)).toBe(true);
    expect(await bloomPrints(['scan', 'file.ldb'], scratch.path)).toBe(sorted);
  });

  test('is rejected at the right line, also beyond what is decoded without a thread', async () => {
    const count = sorted.split('\n').length;
    scratch.write('bad-line.tsv', `${sorted}zzz\n`);
    scratch.write('bad-order.tsv', `${sorted}key 0\tv\n`);
    const [badLine, badOrder] = await Promise.all(['bad-line.tsv', 'bad-order.tsv'].map((name) => bloom(['build', name, '-o', 'bad.ldb'], scratch.path)));
    expect(badLine).toMatchObject({ code: 2, stderr: `bloom: bad-line.tsv: line ${count}: no TAB between key and value\n` });
    expect(badOrder!.code).toBe(2);
    expect(badOrder!.stderr).toMatch(new RegExp(`^bloom: bad-order.tsv: line ${count}: key "key 0" comes before "key \\d+" \\(line ${count - 1}\\); --sort accepts keys in any order\n$`));
    expect(readdirSync(scratch.path).filter((name) => name.includes('bad.ldb'))).toEqual([]);
  });
});

describe('build --sort', () => {
  test('gives the same table whether the entries fit into memory or not, and leaves no other file', async () => {
    const before = readdirSync(scratch.path);
    await bloomPrints(['build', 'lines.tsv', '--sort', '-q', '-o', 'in-memory.ldb'], scratch.path);
    await bloomPrints(['build', 'lines.tsv', '--sort', '--memory', '1MiB', '-q', '-o', 'in-runs.ldb'], scratch.path);
    expect(scratch.read('in-runs.ldb').equals(scratch.read('in-memory.ldb'))).toBe(true);
    expect(await bloomPrints(['scan', 'in-runs.ldb'], scratch.path)).toBe(sorted);
    expect(readdirSync(scratch.path).sort()).toEqual([...before, 'in-memory.ldb', 'in-runs.ldb'].sort());
  });

  test('says how many entries were replaced', async () => {
    const { stderr } = await bloom(['build', 'lines.tsv', '--sort', '--memory', '1MiB', '-o', 'replaced.ldb'], scratch.path);
    const replaced = lines.length - sorted.split('\n').length + 1;
    expect(stderr).toContain(`lines.tsv: ${replaced.toLocaleString('en')} entries were replaced by later ones with the same key\n`);
  });

  test('keeps to its memory', async () => {
    scratch.write('large.tsv', Array.from({ length: 300 }, () => lines.slice(0, 4000).map((line) => `${random.below(1e9)} ${line}`).join('')).join(''));
    const { code, peakMiB } = await measuredBloom(['build', 'large.tsv', '--sort', '--memory', '16MiB', '-q', '-o', 'large.ldb'], scratch.path);
    expect(code).toBe(0);
    // 1.2 million entries of 50 bytes: without a limit they take 110 MiB more.
    expect(peakMiB).toBeLessThan(260);
  });

  test('reads several inputs, of which the last value counts', async () => {
    scratch.write('first.tsv', 'b\t1\na\t1\n');
    scratch.write('second.tsv', 'c\t2\nb\t2\n');
    await bloomPrints(['build', 'first.tsv', 'second.tsv', '--sort', '-q', '-o', 'two.ldb'], scratch.path);
    expect(await bloomPrints(['scan', 'two.ldb'], scratch.path)).toBe('a\t1\nb\t2\nc\t2\n');
    expect(await bloom(['build', 'sorted.tsv', 'first.tsv', '-o', 'no.ldb'], scratch.path)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^bloom: first\.tsv: line 1: key "b" comes before "key \d+" \(line \d+ of sorted\.tsv\); --sort accepts/) as string,
    });
  });

  test.runIf(process.platform === 'linux')('leaves nothing in the folder when it is killed', async () => {
    const folder = new Scratch();
    const child = spawn(process.execPath, [program, 'build', '-', '--sort', '--memory', '1MiB', '-o', 'out.ldb'], { cwd: folder.path });
    const closed = outcome(child);
    child.stdin.write(lines.join(''));
    child.stdin.on('error', () => undefined);
    // It has written its first runs once it has taken all of the input, as a pipe holds only 64 KiB.
    await expect.poll(() => child.stdin.writableLength).toBe(0);
    child.kill('SIGKILL');
    expect(await closed).toMatchObject({ signal: 'SIGKILL' });
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('--max-table-size', () => {
  test('writes numbered tables and a list of them, which merge puts together again', async () => {
    mkdirSync(scratch.at('many'));
    await bloomPrints(['build', 'sorted.tsv', '--max-table-size', '256K', '-q', '-o', 'many/words.ldb'], scratch.path);
    const names = readdirSync(scratch.at('many')).sort();
    const tables = names.filter((name) => name.endsWith('.ldb'));
    expect(tables.length).toBeGreaterThan(3);
    expect(tables[0]).toBe('words-000001.ldb');
    expect(names).toEqual([...tables, 'words.list']);
    expect(scratch.read('many/words.list').toString()).toBe(tables.map((name) => `many/${name}\n`).join(''));
    await bloomPrints(['build', 'sorted.tsv', '-q', '-o', 'whole.ldb'], scratch.path);
    await bloomPrints(['merge', '--files', 'many/words.list', '-q', '-o', 'again.ldb'], scratch.path);
    expect(scratch.read('again.ldb').equals(scratch.read('whole.ldb'))).toBe(true);
    expect(await bloom(['merge', '--files', 'many/words.list', '--max-table-size', '1M', '-o', 'many/words.ldb'], scratch.path)).toMatchObject({
      code: 2,
      stderr: 'bloom: many/words-000001.ldb: could be overwritten by one of the numbered tables many/words-….ldb: choose another output\n',
    });
  });

  test('leaves nothing when the input is wrong', async () => {
    const folder = new Scratch();
    folder.write('bad.tsv', `${sorted}zzz\n`);
    expect((await bloom(['build', 'bad.tsv', '--max-table-size', '64K', '-o', 'words.ldb'], folder.path)).code).toBe(2);
    expect(readdirSync(folder.path)).toEqual(['bad.tsv']);
  });

  test('leaves nothing when the list cannot be written', async () => {
    const folder = new Scratch();
    folder.write('sorted.tsv', sorted);
    mkdirSync(folder.at('words.list'));
    expect(await bloom(['build', 'sorted.tsv', '-o', 'words.ldb', '--max-table-size', '256K'], folder.path)).toMatchObject({ code: 2, stderr: 'bloom: words.list: is a folder\n' });
    expect(readdirSync(folder.path).sort()).toEqual(['sorted.tsv', 'words.list']);
  });
});

describe('merge', () => {
  test('of hundreds of tables, the newest first, named in a file', async () => {
    mkdirSync(scratch.at('hundreds'));
    const names: string[] = [];
    const expected = new Map<string, string>();
    const few: Promise<void>[] = [];
    for (let i = 0; i < 300; i++) {
      const name = `hundreds/${i}.ldb`;
      if (i < 12) {
        const own = Array.from({ length: 40 }, () => String(random.below(200)).padStart(3, '0'));
        for (const key of own) if (!expected.has(key)) expected.set(key, String(i));
        few.push(build(name, ['--sort'], scratch.path, own.map((key) => `${key}\t${i}\n`).join('')));
      }
      names.push(`hundreds/${i % 12}.ldb`);
    }
    await Promise.all(few);
    scratch.write('names', `${names.join('\n')}\n`);
    await bloomPrints(['merge', '--files', 'names', '-q', '-o', 'hundreds.ldb'], scratch.path);
    const text = [...expected].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}\t${value}\n`).join('');
    expect(await bloomPrints(['scan', 'hundreds.ldb'], scratch.path)).toBe(text);
  });

  test('of large tables on a thread gives what a build of all entries gives', async () => {
    const parts = 5;
    for (let part = 0; part < parts; part++) {
      await build(`part${part}.ldb`, ['--sort', '--compression', 'none'], scratch.path, lines.filter((_, i) => Math.floor((i * parts) / lines.length) === part).join(''));
    }
    await bloomPrints(['merge', ...Array.from({ length: parts }, (_, i) => `part${parts - 1 - i}.ldb`), '-q', '-o', 'parts.ldb'], scratch.path);
    expect(await bloomPrints(['scan', 'parts.ldb'], scratch.path)).toBe(sorted);
  });

  test('names the table that is damaged, and writes nothing', async () => {
    await build('sound.ldb', [], scratch.path, sorted);
    const bytes = Buffer.from(scratch.read('sound.ldb'));
    bytes[50_000]! ^= 1;
    writeFileSync(scratch.at('damaged.ldb'), bytes);
    const { code, stderr } = await bloom(['merge', 'sound.ldb', 'damaged.ldb', '-o', 'out.ldb'], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: damaged\.ldb: data block at offset \d+: checksum mismatch: stored/);
    expect(existsSync(scratch.at('out.ldb'))).toBe(false);
  });

  test('refuses tables that it cannot merge', async () => {
    await build('plain.ldb', [], scratch.path, 'a\t1\n');
    await bloomPrints(['convert', 'plain.ldb', '--keys', 'database', '-q', '-o', 'internal.ldb'], scratch.path);
    for (const [args, problem] of [
      [['plain.ldb', '-o', 'plain.ldb'], 'plain.ldb: is also the input: choose another file'],
      [['plain.ldb', 'absent.ldb', '-o', 'x.ldb'], 'absent.ldb: no such file or folder'],
      [['plain.ldb', 'lines.tsv', '-o', 'x.ldb'], 'lines.tsv: file: '],
      [['plain.ldb', '.', '-o', 'x.ldb'], '.: is a folder, and not a table: bloom convert makes a table of its entries'],
      [['-o', 'x.ldb'], 'no tables given: pass tables, or a file with their names with --files'],
      [['--files', 'absent', '-o', 'x.ldb'], 'absent: no such file or folder'],
      [['internal.ldb', 'plain.ldb', '-o', 'x.ldb'], 'internal.ldb has internal keys of a database and plain.ldb has plain keys: bloom convert --keys plain converts the former'],
    ] as const) {
      const { code, stderr } = await bloom(['merge', ...args], scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^bloom: [^\n]*\n$/);
      if (!problem.endsWith(': file: ')) expect(stderr).toBe(`bloom: ${problem}\n`);
    }
    expect(existsSync(scratch.at('x.ldb'))).toBe(false);
  });
});

describe('salvage', () => {
  test('of several damaged inputs makes one table, in which the first input counts', async () => {
    await build('first.ldb', [], scratch.path, 'a\tnew\n');
    await build('second.ldb', [], scratch.path, 'a\told\nb\t2\n');
    scratch.write('cut.ldb', scratch.read('second.ldb').subarray(0, 60));
    await bloomPrints(['put', 'third', 'c', '3'], scratch.path);
    const { code, stdout, stderr } = await bloom(['salvage', 'first.ldb', 'cut.ldb', 'third', '-o', 'saved.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/^cut\.ldb: [^]*\n$/);
    expect(stderr).toMatch(/^bloom: first\.ldb: 1 entry from 1 block\nbloom: cut\.ldb: 2 entries from 1 block, 1 of them found without the index\nbloom: third: 1 entry\nbloom: saved\.ldb: made of 3 inputs; [\d.]+ s\n$/);
    expect(await bloomPrints(['scan', 'saved.ldb'], scratch.path)).toBe('a\tnew\nb\t2\nc\t3\n');
    expect(readdirSync(scratch.path).filter((name) => name.startsWith('.'))).toEqual([]);
    await bloomPrints(['convert', 'first.ldb', '--keys', 'database', '-q', '-o', 'internal.ldb'], scratch.path);
    const mixed = await bloom(['salvage', 'first.ldb', 'internal.ldb', '--internal', '-o', 'mixed.ldb'], scratch.path);
    expect(mixed.code).toBe(2);
    expect(existsSync(scratch.at('mixed.ldb'))).toBe(false);
  });

  test('makes filters of the first --policy', async () => {
    await build('bloom.ldb', [], scratch.path, 'a\t1\n');
    expect((await bloom(['salvage', 'bloom.ldb', '--policy', 'ribbon', '-o', 'ribbon.ldb'], scratch.path)).code).toBe(0);
    expect(await bloomPrints(['stat', '--json', 'ribbon.ldb'], scratch.path)).toContain('bloom.RibbonFilter');
  });
});

describe('diff', () => {
  test.each([
    ['tsv', '-\ta\t1\n+\ta\t2\n'],
    ['jsonl', '-{"key":"a","value":"1"}\n+{"key":"a","value":"2"}\n'],
    ['csv', 'change,key,value\n-,a,1\n+,a,2\n'],
    ['hex', '-\t61\t31\n+\t61\t32\n'],
    ['base64', '-\tYQ==\tMQ==\n+\tYQ==\tMg==\n'],
    ['raw', '-\ta\t1\n+\ta\t2\n'],
    ['words', '-\ta\n+\ta\n'],
  ])('prints %s, of tables, folders and logs', async (format, printed) => {
    const folder = new Scratch();
    await build('old.ldb', [], folder.path, 'a\t1\n');
    await bloomPrints(['put', 'new', 'a', '2'], folder.path);
    const log = readdirSync(folder.at('new')).find((name) => name.endsWith('.log'))!;
    for (const other of ['new', `new/${log}`, 'new/CURRENT']) {
      const { code, stdout } = await bloom(['diff', 'old.ldb', other, '-f', format], folder.path);
      expect({ code, stdout: stdout.toString().replaceAll('\r', '') }).toEqual({ code: 1, stdout: printed });
    }
  });
});

describe('convert', () => {
  test('between plain keys and those of a database', async () => {
    await build('keys.ldb', [], scratch.path, 'a\t1\nb\t2\n');
    await bloomPrints(['convert', 'keys.ldb', '--keys', 'database', '--sequence', '7', '-q', '-o', 'database.ldb'], scratch.path);
    expect(await bloomPrints(['scan', 'database.ldb', '--internal'], scratch.path)).toContain('a\t7\tvalue\t1\n');
    await bloomPrints(['convert', 'database.ldb', '--internal', '--keys', 'plain', '-q', '-o', 'again.ldb'], scratch.path);
    expect(scratch.read('again.ldb').equals(scratch.read('keys.ldb'))).toBe(true);
  });

  test('of an IndexedDB folder makes a table with filters for its order, which stat, filter test and salvage read', async () => {
    const order = ['--comparator', 'idb_cmp1'];
    await bloomPrints(['convert', dataPath('web-storage/page.indexeddb.leveldb'), '-q', '-o', 'idb.ldb'], scratch.path);
    expect(await bloomPrints(['stat', ...order, 'idb.ldb'], scratch.path)).toContain('leveldb.BuiltinBloomFilter2, used');
    expect((await bloom(['filter', 'test', 'idb.ldb', ...order], scratch.path)).code).toBe(0);
    expect((await bloom(['salvage', 'idb.ldb', ...order, '-o', 'saved-idb.ldb'], scratch.path)).code).toBe(0);
  });
});

describe('every format', () => {
  const entries = Array.from({ length: 400 }, () => [random.bytes(random.below(12)), random.bytes(random.below(40))] as const);
  const hexLines = entries.map(([key, value]) => `${Buffer.from(key).toString('hex')}\t${Buffer.from(value).toString('hex')}\n`).join('');

  test.each(['tsv', 'jsonl', 'csv', 'hex', 'base64', 'kv'])('%s: build reads any bytes that scan prints', async (format) => {
    await build(`any-${format}.ldb`, ['-f', 'hex', '--sort'], scratch.path, hexLines);
    const { stdout } = await bloom(['scan', `any-${format}.ldb`, '-f', format], scratch.path);
    await build(`${format}-again.ldb`, ['-f', format], scratch.path, stdout);
    expect(scratch.read(`${format}-again.ldb`).equals(scratch.read(`any-${format}.ldb`))).toBe(true);
    if (format === 'base64' || format === 'kv') return;
    const hex = await bloom(['scan', `any-${format}.ldb`, '-f', format, '--hex'], scratch.path);
    await build(`${format}-hex.ldb`, ['-f', format, '--hex'], scratch.path, hex.stdout);
    expect(scratch.read(`${format}-hex.ldb`).equals(scratch.read(`any-${format}.ldb`))).toBe(true);
  });

  test.each([
    ['a table', 'any.ldb', /^bloom: any\.ldb: is already a table: bloom convert/],
    ['gzip', 'any.gz', /^bloom: any\.gz: is compressed with gzip: gunzip -c < any\.gz \| bloom build -\n$/],
    ['a database', 'db', /^bloom: db: is the folder of a database: bloom convert/],
    ['an empty name', '', /^bloom: the name of the input is empty\n$/],
  ])('%s is recognised and not read as tsv', async (_, name, problem) => {
    await build('any.ldb', [], scratch.path, 'a\t1\n');
    await shell('gzip -c lines.tsv > any.gz; test -d db || bloom put db a b', scratch.path);
    const { code, stderr } = await bloom(['build', name, '-o', 'not.ldb'], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
  });

  test.each([
    ['little-endian', 'tsv', (text: string) => Buffer.from(text, 'utf16le')],
    ['big-endian', 'jsonl', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])('text in UTF-16, %s, is recognised as entries and as keys', async (order, format, encoded) => {
    scratch.write(`${order}.txt`, encoded('\ufeffa\t1\r\n'));
    const problem = `bloom: ${order}.txt: is text in UTF-16, as Windows PowerShell redirects output: iconv -f UTF-16 -t UTF-8`;
    const building = await bloom(['build', `${order}.txt`, '-f', format, '-o', 'not.ldb'], scratch.path);
    expect(building).toMatchObject({ code: 2, stderr: `${problem} ${order}.txt | bloom build -\n` });
    await build('any.ldb', [], scratch.path, 'a\t1\n');
    expect(await bloom(['get', 'any.ldb', '--keys', `${order}.txt`], scratch.path)).toMatchObject({ code: 2, stderr: `${problem} FILE writes it in UTF-8\n` });
  });

  test('a key can begin with the bytes of a byte order mark', async () => {
    scratch.write('marks.tsv', Buffer.from('fffe616209310a', 'hex'));
    await build('marks.ldb', [], scratch.path, readFileSync(scratch.at('marks.tsv')));
    expect((await bloom(['get', 'marks.ldb', '--hex', 'fffe6162'], scratch.path)).stdout.toString()).toBe('31\n');
  });

  test.each([
    ['raw', 'fffe6b0961006200630064000a'],
    ['words', 'fffe61000afffe6b0a'],
    ['words', 'fffe6100c30affff0a'],
    ['tsv', 'fffe610009620a'],
  ])('lines of %s that begin with a byte order mark but are not UTF-16 are read as bytes: %s', async (format, digits) => {
    scratch.write('bytes', Buffer.from(digits, 'hex'));
    expect(await bloom(['build', 'bytes', '-f', format, '-o', 'bytes.ldb'], scratch.path)).toMatchObject({ code: 0 });
    if (format === 'words') expect(await bloom(['get', 'bytes.ldb', '--keys', 'bytes'], scratch.path)).toMatchObject({ code: 0 });
  });

  test('a Git LFS pointer is recognised as entries, as a table and as a log', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`;
    for (const [name, line] of [['pointer.tsv', ['build', 'pointer.tsv', '-o', 'not.ldb']], ['pointer.ldb', ['get', 'pointer.ldb', 'a']], ['000003.log', ['scan', '000003.log']]] as const) {
      scratch.write(name, pointer);
      const { code, stderr } = await bloom([...line], scratch.path);
      expect({ name, code, stderr }).toEqual({ name, code: 2, stderr: expect.stringMatching(/^bloom: .*a Git LFS pointer, not the file itself: run git lfs pull(?: \(130 bytes\); --damage skip reads the rest)?\n$/) as string });
    }
  });

  test('gzip in a pipe is recognised too', async () => {
    const { code, stderr } = await shell('gzip -c lines.tsv | bloom build - -o not.ldb', scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: standard input: is compressed with gzip: gunzip -c < FILE | bloom build -\n' });
  });
});

describe.runIf(process.platform === 'linux')('a disk that is full', () => {
  beforeAll(async () => {
    mkdirSync(scratch.at('full'));
    await build('in.ldb', [], scratch.path, sorted);
  });

  /** Runs a command in a shell that limits the size of files, in blocks of 1 KiB: no file system has to be made. The signal is ignored, so that the write fails. */
  function limited(line: string): ReturnType<typeof shell> {
    return shell(`trap '' XFSZ; ulimit -f 512; ${line}`, scratch.path);
  }

  test.each([
    ['build', 'bloom build lines.tsv --sort --compression none --no-filter -o full/out.ldb'],
    ['build with runs', 'bloom build lines.tsv --sort --memory 1MiB --compression none -o full/out.ldb'],
    ['merge', 'bloom merge in.ldb -o full/out.ldb --compression none'],
    ['convert', 'bloom convert in.ldb -o full/out.ldb --compression none'],
  ])('ends a %s with one line, and nothing is left', async (_, line) => {
    const { code, stderr } = await limited(line);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: full/out.ldb: the file is too large\n' });
    expect(readdirSync(scratch.at('full'))).toEqual([]);
  });

  test('takes numbered tables, each of which is below the limit', async () => {
    mkdirSync(scratch.at('below'));
    expect((await limited('bloom build sorted.tsv --max-table-size 64K --compression none -q -o below/out.ldb')).code).toBe(0);
  });
});

test('a table that is written over keeps its bytes when the input is wrong', async () => {
  await build('kept.ldb', [], scratch.path, 'a\t1\n');
  const before = readFileSync(scratch.at('kept.ldb'));
  scratch.write('wrong.tsv', 'b\t1\na\t2\n');
  expect((await bloom(['build', 'wrong.tsv', '-o', 'kept.ldb'], scratch.path)).code).toBe(2);
  expect(readFileSync(scratch.at('kept.ldb')).equals(before)).toBe(true);
});
