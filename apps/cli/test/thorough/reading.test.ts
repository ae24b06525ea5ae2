import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';
import { goldenDatabases, realDatabases } from '@bloom/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomLine, bloomPrints, build } from '../bloom.js';
import { bloomProcess, outcome, program, REVERSE_MODULE, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const golden = goldenDatabases();

function pathOf(name: string): string {
  return golden.find((row) => row.name === name)!.path;
}

beforeAll(async () => {
  scratch.write('reverse.mjs', REVERSE_MODULE);
  await build('letters.ldb', [], scratch.path, 'a\t1\nab\t2\nb\t3\nba\t4\n');
  await build('more.ldb', [], scratch.path, 'b\tnew\nc\t5\n');
});

describe('every golden folder is read,', () => {
  test.each(golden.filter(({ open }) => open === 'OK'))('$name, with the comparator as a module', async (row) => {
    const { entriesSha256 } = row.verified ?? row;
    const { stdout } = await bloom(['scan', row.path, '-f', 'kv', '--damage', 'skip', '--comparator', './reverse.mjs'], scratch.path);
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(entriesSha256);
    const counted = await bloom(['count', row.path, '--damage', 'skip', '--comparator', './reverse.mjs'], scratch.path);
    expect(counted.stdout.toString()).toMatch(/^\d+\n$/);
  });
});

describe('several inputs', () => {
  test('are scanned one after another', async () => {
    expect(await bloomPrints(['scan', 'letters.ldb', 'more.ldb', '--gte', 'b', '-f', 'csv'], scratch.path)).toBe('key,value\nb,3\nba,4\nb,new\nc,5\n');
    expect(await bloomPrints(['scan', 'letters.ldb', 'more.ldb', '--limit', '5', '--keys-only'], scratch.path)).toBe('a\nab\nb\nba\nb\n');
  });

  test('with other columns are refused in csv, which has one head', async () => {
    const convert = await bloom(['convert', 'more.ldb', '--keys', 'database', '-o', 'versions.ldb', '-q'], scratch.path);
    expect(convert.code).toBe(0);
    expect(await bloom(['scan', 'letters.ldb', 'versions.ldb', '--lt', 'b', '-f', 'csv'], scratch.path)).toMatchObject({
      code: 2,
      stdout: Buffer.from('key,value\na,1\nab,2\n'),
      stderr: expect.stringMatching(/^bloom: versions\.ldb: its columns are not those of the inputs before it, and csv names them only once: scan it separately, or use --format jsonl\n$/m) as string,
    });
    const lines = await bloom(['scan', 'letters.ldb', 'versions.ldb', '--gte', 'ba', '-f', 'jsonl'], scratch.path);
    expect([lines.code, lines.stdout.toString()]).toEqual([0, '{"key":"ba","value":"4"}\n{"key":"c","sequence":"2","type":"value","value":"5"}\n']);
  });

  test('are counted, with the sum', async () => {
    expect(await bloomPrints(['count', 'letters.ldb', 'more.ldb', '--prefix', 'b'], scratch.path)).toBe('2  letters.ldb\n1  more.ldb\n3  in all\n');
    expect(await bloomPrints(['count', 'letters.ldb', '--prefix', 'a', '--gt', 'a'], scratch.path)).toBe('1\n');
  });

  test('answer get in their order, and the first that has the key wins', async () => {
    expect(await bloomPrints(['get', 'more.ldb', 'letters.ldb', '--', 'b', 'a'], scratch.path)).toBe('new\n1\n');
    scratch.write('wanted.txt', 'a\nz\n');
    const { code, stdout, stderr } = await bloom(['get', 'letters.ldb', '--keys', 'wanted.txt', '-f', 'jsonl'], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 1, stdout: '{"key":"a","value":"1"}\n', stderr: 'bloom: z: not found\n' });
  });

  test('a key that a newer database deleted is absent', async () => {
    await build('older.ldb', [], scratch.path, 'apple\told\n');
    expect(await bloom(['get', pathOf('log-batches'), 'older.ldb', '--', 'apple'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: apple: not found\n' });
  });

  test('find prints every place that holds a key', async () => {
    expect(await bloomPrints(['find', 'b', 'letters.ldb', 'more.ldb'], scratch.path)).toBe('letters.ldb\t-\t-\tvalue\t3\nmore.ldb\t-\t-\tvalue\tnew\n');
    const versions = await bloomPrints(['find', 'pear', pathOf('log-batches')], scratch.path);
    expect(versions).toMatch(/^000003\.log\t-\t\d+\tvalue\tblue\n/);
    expect(await bloom(['find', 'nothing', 'letters.ldb', 'more.ldb'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: nothing: not found in any of 2 inputs\n' });
  });

  test('find prints a table named .sst once', async () => {
    const { path } = realDatabases().find(({ name }) => name === 'golang-leveldb/db-stage-3')!;
    expect(await bloomPrints(['find', 'foo', path], scratch.path)).toBe('000005.ldb\t0\t4\tvalue\tfour\n000005.ldb\t0\t1\tvalue\tone\n');
  });

  test('find says which obsolete files are damaged', async () => {
    for (const line of ['put leftover a 1', 'compact leftover']) await bloomLine(line, scratch.path);
    scratch.write('leftover/000001.log', readFileSync(join(pathOf('log-damaged'), '000003.log')));
    const { code, stdout, stderr } = await bloom(['find', 'a', 'leftover'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d{6}\.ldb\t\d\t1\tvalue\t1\n$/) as string });
    expect(stderr).toMatch(/^bloom: leftover\/000001\.log: left out 17329 bytes at offset 48207: /);
  });
});

describe('a log, a MANIFEST and standard input', () => {
  test('of a log, the newest entries are printed', async () => {
    const path = join(pathOf('log-batches'), '000003.log');
    expect(await bloomPrints(['scan', path], scratch.path)).toBe(await bloomPrints(['scan', pathOf('log-batches')], scratch.path));
    expect((await bloom(['verify', path], scratch.path)).code).toBe(0);
    expect(JSON.parse(await bloomPrints(['stat', '--json', path], scratch.path))).toMatchObject({ comparator: 'leveldb.BytewiseComparator' });
    const { stdout } = await shell(`bloom count - < ${path}`, scratch.path);
    expect(stdout.toString()).toBe(await bloomPrints(['count', path], scratch.path));
  });

  test('a MANIFEST stands for its folder', async () => {
    const path = pathOf('levels');
    for (const file of ['MANIFEST-000002', 'CURRENT']) expect(await bloomPrints(['count', join(path, file)], scratch.path)).toBe(await bloomPrints(['count', path], scratch.path));
  });

  test('a MANIFEST without its name or its folder is not taken for a log', async () => {
    const manifest = join(pathOf('levels'), 'MANIFEST-000002');
    scratch.write('backup-of-a-manifest', readFileSync(manifest));
    const expected = await bloomPrints(['layout', manifest], scratch.path);
    expect(expected).toContain('comparator: name = leveldb.BytewiseComparator');
    expect(await bloomPrints(['layout', 'backup-of-a-manifest'], scratch.path)).toBe(expected);
    expect(await bloomPrints(['layout', '-'], scratch.path, readFileSync(manifest))).toBe(expected);
    for (const command of ['scan', 'verify', 'stat']) {
      for (const name of ['backup-of-a-manifest', '-']) {
        expect(await bloom([command, name], scratch.path, readFileSync(manifest))).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/^bloom: (?:backup-of-a-manifest|standard input): is a MANIFEST without its folder, [^\n]*: pass the folder; [^\n]*\n$/) as string,
        });
      }
    }
  });

  test('damage in a log without a name is reported for the named input', async () => {
    const log = readFileSync(join(pathOf('log-damaged'), '000003.log'));
    scratch.write('some-log', log);
    const damage = 'log record at offset 48207: checksum mismatch (17329 bytes); --damage skip reads the rest\n';
    expect((await bloom(['count', '-'], scratch.path, log)).stderr).toBe(`bloom: standard input: ${damage}`);
    expect((await bloom(['count', 'some-log'], scratch.path)).stderr).toBe(`bloom: some-log: ${damage}`);
    expect((await bloom(['count', '-', '--damage', 'skip'], scratch.path, log)).stderr).toMatch(/^bloom: standard input: left out 17329 bytes at offset 48207: /);
  });

  test('what is compressed with gzip is said to be so', async () => {
    scratch.write('packed', gzipSync(readFileSync(scratch.at('letters.ldb'))));
    copyFileSync(scratch.at('packed'), scratch.at("-it's packed"));
    for (const [args, command] of [
      [['packed'], 'gunzip -c < packed | bloom scan -'],
      [['--', "-it's packed"], String.raw`gunzip -c < './-it'\''s packed' | bloom scan -`],
    ] as const) {
      expect(await bloom(['scan', ...args], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining(`is compressed with gzip: decompress it first, for example ${command}\n`) as string });
      expect(await shell(command, scratch.path)).toMatchObject({ code: 0, stdout: Buffer.from('a\t1\nab\t2\nb\t3\nba\t4\n') });
    }
    expect((await bloom(['scan', '-'], scratch.path, scratch.read('packed'))).stderr).toBe('bloom: standard input: is compressed with gzip: decompress it first, for example gunzip -c < FILE | bloom scan -\n');
  });
});

describe('shipped policies', () => {
  test.each(['bloom:12', 'blocked', 'ribbon:0.001', 'fuse:16'])('%s is known without an option', async (policy) => {
    const table = `policy-${policy.replace(':', '-')}.ldb`;
    await build(table, ['--policy', policy], scratch.path, Array.from({ length: 2000 }, (_, i) => `key${String(i).padStart(5, '0')}\tvalue`).join('\n'));
    const { filter, falsePositives } = JSON.parse(await bloomPrints(['stat', '--json', table], scratch.path)) as {
      filter: { state: string; deniedKeys: number };
      falsePositives: { tried: number; rate: number };
    };
    expect(filter).toMatchObject({ state: 'used', deniedKeys: 0 });
    expect(falsePositives.tried).toBeGreaterThan(1000);
    expect(falsePositives.rate).toBeLessThan(0.05);
    const { policies } = JSON.parse(await bloomPrints(['filter', 'test', '--json', table], scratch.path)) as { policies: { rate: number }[] };
    expect(policies).toHaveLength(5);
    for (const { rate } of policies) expect(rate).toBeLessThan(0.05);
  });

  test('filter size prints a line for each', async () => {
    const { policies } = JSON.parse(await bloomPrints(['filter', 'size', '10000', '--json'], scratch.path)) as { policies: { policy: string; bitsPerKey: number; rate: number }[] };
    expect(policies.map(({ policy }) => policy.split(':')[0])).toEqual(['bloom', 'blocked', 'ribbon', 'fuse']);
    for (const { bitsPerKey, rate } of policies) {
      expect(bitsPerKey).toBeGreaterThan(6);
      expect(bitsPerKey).toBeLessThan(16);
      expect(rate).toBeLessThan(0.013);
    }
  });

  test('filter size omits the blocked policy for more bits per key than it supports', async () => {
    expect(await bloomPrints(['filter', 'size', '1000', '--bits-per-key', '65'], scratch.path)).toContain('blocked: has at most 64 bits per key');
  });
});

test("--decode-keys prints keys of Minecraft's worlds as text", async () => {
  const { path } = realDatabases().find(({ name }) => name === 'bedrock-provider/mctestdb')!;
  expect(await bloomPrints(['scan', path, '--decode-keys', 'minecraft', '--keys-only', '--limit', '3'], scratch.path)).toBe(
    'chunk 0, 0 of the Overworld: version\nchunk 0, 0 of the Overworld: 2D data\nchunk 0, 0 of the Overworld: subchunk 0\n',
  );
});

test("--decode-keys prints keys of Chromium's databases as text", async () => {
  const { path } = realDatabases().find(({ name }) => name.includes('linux_109_64'))!;
  const lines = (await bloomPrints(['scan', path, '--decode-keys', 'chromium', '--keys-only'], scratch.path)).trimEnd().split('\n');
  expect(lines).toHaveLength(46);
  expect(lines).toContain('database of "file__0@1": "IndexedDB test"');
  expect(lines).toContain('database 1: store named "empty store"');
  // None is left as bytes.
  expect(lines.filter((line) => line.includes('\\x'))).toEqual([]);
  expect(lines).toContain('database 1, store 1, index 31: 2023-02-12T23:20:30.456Z → 1');
});

describe('a common mistake', () => {
  test.runIf(process.platform === 'linux')('a full device is reported', async () => {
    const { code, stderr } = await shell('bloom scan letters.ldb > /dev/full', scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: standard output: no space left on the device\n' });
  });

  test('a gzip file with the name of a table is reported, also by commands that write', async () => {
    await build('letters.ldb', [], scratch.path, 'a\t1\nab\t2\nb\t3\nc\t4\n');
    scratch.write('gzip.ldb', gzipSync(scratch.read('letters.ldb')));
    for (const line of ['scan gzip.ldb', 'convert gzip.ldb -o never.ldb', 'merge letters.ldb gzip.ldb -o never.ldb', 'diff gzip.ldb letters.ldb']) {
      const { code, stderr } = await bloomLine(line, scratch.path);
      expect({ line, code, stderr }).toEqual({ line, code: 2, stderr: expect.stringMatching(/^bloom: gzip\.ldb: [^\n]*; it is compressed with gzip: decompress it first, for example gunzip -c < gzip\.ldb \| bloom scan -\n$/) as string });
    }
  });

  test('for text with the name of a table, build is suggested', async () => {
    scratch.write('letters.tsv', 'é\t1\n'.repeat(200));
    for (const line of ['scan letters.tsv', 'convert letters.tsv -o never.ldb', 'merge letters.ldb letters.tsv -o never.ldb']) {
      const { code, stderr } = await bloomLine(line, scratch.path);
      expect({ line, code, stderr }).toEqual({ line, code: 2, stderr: expect.stringMatching(/^bloom: letters\.tsv: [^\n]*; it looks like text: bloom build makes a table of entries, one per line\n$/) as string });
    }
  });

  test('a URL where only a file is possible is reported, without its secret parts', async () => {
    const before = readdirSync(scratch.path).sort();
    for (const line of [
      'build https://u:secret@host/x.tsv?t=secret -o never.ldb',
      'load never https://u:secret@host/x.tsv',
      'put https://u:secret@host/db?t=secret k v',
      'put s3://bucket/db k v',
      'load s3://bucket/db letters.tsv',
      'repair s3://bucket/db',
      'copy s3://bucket/db never',
      'build letters.tsv -o s3://bucket/letters.ldb',
      'scan ftp://host/letters.ldb',
      'get letters.ldb --keys https://u:secret@host/keys',
    ]) {
      const { code, stdout, stderr } = await bloomLine(line, scratch.path);
      expect({ line, code, stdout: stdout.toString(), stderr }).toEqual({
        line,
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^bloom: (?:https:\/\/host|s3:\/\/bucket|ftp:\/\/host)\/\S+: is (?:a URL|an s3:\/\/ address|not a URL)(?:(?!secret)[^\n])+\n$/) as string,
      });
    }
    expect(readdirSync(scratch.path).sort()).toEqual(before);
  });

  test('for a misspelt policy or comparator, the known ones are listed', async () => {
    const policy = await bloom(['build', 'letters.tsv', '-o', 'never.ldb', '--policy', 'ribon'], scratch.path);
    expect(policy).toMatchObject({ code: 2, stderr: expect.stringMatching(/^bloom: ribon: is not one of bloom, fitted, goleveldb-bloom, blocked, ribbon, fuse, and no package of this name is installed.*such as \.\/policy\.mjs\n$/) as string });
    const order = await bloom(['scan', 'letters.ldb', '--comparator', 'bytewise'], scratch.path);
    expect(order).toMatchObject({ code: 2, stderr: expect.stringMatching(/^bloom: bytewise: is not one of leveldb\.BytewiseComparator, idb_cmp1, and no package/) as string });
  });

  test('naming standard input twice is reported', async () => {
    const table = readFileSync(scratch.at('letters.ldb'));
    for (const command of ['scan', 'verify', 'layout']) {
      expect(await bloom([command, '-', '-'], scratch.path, table)).toMatchObject({ code: 2, stderr: expect.stringMatching(/-: stdin can be read only once\n$/) as string });
    }
  });

  test.each(['jsonl', 'csv'])('building from versions in %s does not bring deleted keys back', async (format) => {
    const versions = await bloomPrints(['scan', '--all-versions', pathOf('levels'), '-f', format], scratch.path);
    expect(versions).toContain('deletion');
    for (const command of [['build', '-', '--sort', '-o', 'never.ldb'], ['load', 'never-db', '-', '--batch-size', '64M']]) {
      const { code, stderr } = await bloom([...command, '-f', format], scratch.path, versions);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^bloom: standard input: line 16\d: a deletion among versions of keys, which would become an empty value: /) as string });
    }
    expect(existsSync(scratch.at('never.ldb'))).toBe(false);
    const unnumbered = format === 'csv' ? 'key,type,value\nb,deletion,\n' : '{"key":"b","type":"deletion","value":""}\n';
    expect(await bloom(['load', 'never-db', '-', '-f', format], scratch.path, unnumbered)).toMatchObject({ code: 2, stderr: expect.stringContaining(': a deletion among versions of keys, ') as string });
    // A type with a value and no sequence is a member or column like any other.
    const own = format === 'csv' ? 'type,key,value\ndeletion,a,1\n' : '{"type":"deletion","key":"a","value":"1"}\n';
    await build('own.ldb', ['-f', format], scratch.path, own);
    expect(await bloomPrints(['scan', 'own.ldb'], scratch.path)).toBe('a\t1\n');
  });

  test('verifying a table of an unknown codec gives one finding, and advice', async () => {
    scratch.write('codec.mjs', `
      import { deflateRawSync, inflateRawSync } from 'node:zlib';
      export default { name: 'mine', type: 77, compress: (bytes) => deflateRawSync(bytes), decompress: (bytes) => inflateRawSync(bytes) };
    `);
    const lines = Array.from({ length: 3000 }, (_, i) => `key${String(i).padStart(6, '0')}\tvalue`);
    await build('mine.ldb', ['--compression', 'mine', '--codec', './codec.mjs'], scratch.path, lines.join('\n'));
    const { code, stdout, stderr } = await bloom(['verify', 'mine.ldb'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: expect.stringMatching(/^index block at offset \d+: there is no codec for its compression type 77 \(BLOOM_UNSUPPORTED_CODEC\)\n$/) as string });
    expect(stderr).toBe('bloom: mine.ldb: 1 finding; not checked: data blocks (the index cannot be read)\nbloom: mine.ldb: --codec MODULE supplies the codec that can read these blocks\n');
    expect((await bloom(['verify', 'mine.ldb', '--codec', './codec.mjs'], scratch.path)).code).toBe(0);
  });

  test('salvaging a table or a folder of an unknown codec gives advice for users', async () => {
    scratch.write('other.mjs', `
      import { deflateRawSync, inflateRawSync } from 'node:zlib';
      export default { name: 'other', type: 78, compress: (bytes) => deflateRawSync(bytes), decompress: (bytes) => inflateRawSync(bytes) };
    `);
    const writing = ['--compression', 'other', '--codec', './other.mjs'];
    const lines = Array.from({ length: 3000 }, (_, i) => `key${String(i).padStart(6, '0')}\tvalue\n`).join('');
    await build('other.ldb', writing, scratch.path, lines);
    await bloom(['load', 'other', '-', '-q', '--compact', ...writing], scratch.path, lines);
    const { code, stdout, stderr } = await bloom(['salvage', 'other.ldb', '-o', 'saved.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString().split('\n').slice(1, -1)).not.toHaveLength(0);
    for (const line of stdout.toString().split('\n').slice(0, -1)) expect(line).toMatch(/ at offset \d+: there is no codec for its compression type 78$/);
    expect(stderr).toBe('bloom: other.ldb: --codec MODULE supplies the codec that can read these blocks\nbloom: other.ldb: nothing can be saved; saved.ldb was not written\n');
    expect((await bloom(['salvage', 'other', '-o', 'saved.ldb'], scratch.path)).stderr).toMatch(/ there is no codec for its compression type 78; --codec MODULE reads it with a codec for this type\n$/);
    for (const args of [['salvage', 'other.ldb', '-o', 'saved.ldb'], ['verify', 'other.ldb'], ['verify', 'other']]) {
      const printed = (await bloom([...args, '--json'], scratch.path)).stdout.toString();
      expect(printed).toContain('there is no codec for its compression type 78"');
      expect(printed).not.toContain('codecs');
    }
  });

  test.runIf(process.platform === 'linux')('verifying a folder that is being written names the process that has it open', async () => {
    await bloom(['load', 'busy', '-', '--compact', '-q'], scratch.path, 'a\t1\n');
    const table = join('busy', readdirSync(scratch.at('busy')).find((name) => name.endsWith('.ldb'))!);
    const writer = spawn(process.execPath, [program, 'load', 'busy', '-', '-q'], { cwd: scratch.path });
    const over = outcome(writer);
    const lock = realpathSync(scratch.at('busy/LOCK'));
    const descriptors = `/proc/${writer.pid}/fd`;
    await expect.poll(() => readdirSync(descriptors).some((fd) => existsSync(join(descriptors, fd)) && readlinkSync(join(descriptors, fd)) === lock)).toBe(true);
    const bytes = scratch.read(table);
    bytes[3]! ^= 1;
    scratch.write(table, bytes);
    const { code, stderr } = await bloomProcess(['verify', 'busy'], scratch.path);
    writer.stdin.end();
    await over;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^bloom: busy: the process node \(\d+\) has it open, and its writes during the check can look like damage: verify a copy made by bloom copy$/m);
  });

  test('closing the pipe causes no error', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `key${String(i).padStart(6, '0')}\tvalue`);
    await build('many.ldb', [], scratch.path, lines.join('\n'));
    const { stdout, stderr } = await shell('bloom scan many.ldb | head -1; echo ${PIPESTATUS[0]}', scratch.path);
    expect({ stdout: stdout.toString(), stderr }).toEqual({ stdout: 'key000000\tvalue\n0\n', stderr: '' });
  });
});

describe('JSON', () => {
  test.each([
    ['stat letters.ldb many.ldb', 2],
    ['count letters.ldb many.ldb', 2],
    ['verify letters.ldb damaged.ldb', 2],
    ['layout letters.ldb --blocks', 5],
    ['filter test letters.ldb', 1],
    ['filter size 100', 1],
    ['filter compare --keys 100', 1],
  ])('bloom %s --json prints a value on each of its lines', async (line, values) => {
    await build('letters.ldb', [], scratch.path, 'a\t1\nab\t2\nb\t3\nc\t4\n');
    await build('many.ldb', ['--compression', 'none'], scratch.path, Array.from({ length: 20_000 }, (_, i) => `${String(i).padStart(6, '0')}\tvalue of the key\n`).join(''));
    // Every block is damaged, so that the findings are longer than a line for people may be.
    const damaged = scratch.read('many.ldb');
    for (let at = 100; at < damaged.length; at += 1000) damaged[at]! ^= 1;
    scratch.write('damaged.ldb', damaged);
    const { stdout } = await bloom([...line.split(' '), '--json'], scratch.path);
    const lines = stdout.toString().trimEnd().split('\n');
    for (const text of lines) expect(typeof JSON.parse(text)).toBe('object');
    expect(lines).toHaveLength(values);
    if (line.startsWith('verify')) expect(lines[1]!.length).toBeGreaterThan(6000);
  });
});

describe('URLs', () => {
  let server: Server;
  let base: string;
  /** How many requests are answered whole before answers break off. */
  let whole = Infinity;
  let encoding: Record<string, string> = {};

  beforeAll(async () => {
    server = createServer((request, response) => {
      const url = new URL(request.url!, 'http://localhost');
      if (url.pathname.startsWith('/private/') && request.headers.authorization !== 'Bearer secret') {
        response.writeHead(401).end();
        return;
      }
      if (url.pathname.startsWith('/private/stored/')) {
        response.writeHead(302, { location: `${base.replace('localhost', '127.0.0.1')}/${url.pathname.slice('/private/stored/'.length)}` }).end();
        return;
      }
      const name = normalize(decodeURIComponent(url.pathname)).replace(/^\/(?:private\/)?/, '');
      const [folder = '', ...rest] = name.split('/');
      const path = golden.some((row) => row.name === folder) ? join(pathOf(folder), ...rest) : scratch.at(name);
      if (!existsSync(path) || statSync(path).isDirectory()) {
        response.writeHead(404).end();
        return;
      }
      const bytes = readFileSync(path);
      const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
      const start = from === undefined ? 0 : from === '' ? Math.max(0, bytes.length - Number(to)) : Number(from);
      const end = from === undefined || from === '' || to === '' ? bytes.length : Math.min(bytes.length, Number(to) + 1);
      if (from !== undefined && start >= bytes.length) {
        response.writeHead(416, { etag: '"1"', 'content-range': `bytes */${bytes.length}` }).end();
        return;
      }
      const part = bytes.subarray(start, end);
      response.writeHead(from === undefined ? 200 : 206, { ...encoding, etag: '"1"', 'content-length': part.length, 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` });
      if (whole-- > 0) response.end(request.method === 'HEAD' ? undefined : part);
      else response.write(part.subarray(0, 1), () => response.destroy());
    });
    server.listen(0);
    await once(server, 'listening');
    base = `http://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  test('of tables are read', async () => {
    const url = `${base}/letters.ldb`;
    expect(await bloomPrints(['get', url, 'ab'], scratch.path)).toBe('2\n');
    expect(await bloomPrints(['scan', url, '--prefix', 'a'], scratch.path)).toBe('a\t1\nab\t2\n');
    expect(await bloomPrints(['count', url], scratch.path)).toBe('4\n');
    for (const options of [[], ['--prefix', 'a'], ['--by-prefix', '1']]) {
      expect(await bloomPrints(['size', url, ...options], scratch.path)).toBe(await bloomPrints(['size', 'letters.ldb', ...options], scratch.path));
    }
    expect(await bloomPrints(['find', 'b', url], scratch.path)).toBe(`${url}\t-\t-\tvalue\t3\n`);
    expect(await bloomPrints(['layout', url], scratch.path)).toBe(await bloomPrints(['layout', 'letters.ldb'], scratch.path));
    expect((await bloom(['verify', url], scratch.path)).code).toBe(0);
    expect(await bloomPrints(['stat', url], scratch.path)).toContain('entries          4: ');
  });

  test.each(['levels', 'levels/', 'levels/CURRENT', 'levels/MANIFEST-000002'])('of the folder %s are read', async (name) => {
    expect(await bloomPrints(['scan', `${base}/${name}`], scratch.path)).toBe(await bloomPrints(['scan', pathOf('levels')], scratch.path));
    expect(await bloomPrints(['size', `${base}/${name}`, '--by-prefix', '5'], scratch.path)).toBe(await bloomPrints(['size', pathOf('levels'), '--by-prefix', '5'], scratch.path));
    expect((await bloom(['verify', `${base}/${name}`], scratch.path)).code).toBe(0);
    expect(readdirSync(pathOf('levels'))).toContain('CURRENT');
  });

  test('get headers, which are never printed', async () => {
    const url = `${base}/private/letters.ldb`;
    const refused = await bloom(['get', url, 'a'], scratch.path);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/401: pass the headers that the server requires with --header or BLOOM_HTTP_HEADERS\n$/) as string });
    const { code, stdout, stderr } = await bloom(['get', url, 'a', '-H', 'Authorization: Bearer secret', '--trace'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '1\n' });
    expect(stderr).toMatch(/^bloom: request: GET letters\.ldb, bytes -65536: 206, [\d,]+ bytes, \d+ ms$/m);
    expect(stderr).toMatch(/ requests?, [\d,]+ bytes; /);
    expect(stderr).not.toContain('secret');
    // Nor by other commands, in errors, or with the cause of an error.
    const credentials = url.replace('http://', 'http://user:secret@');
    for (const line of [
      `find zz ${url}?token=secret -H "$SECRET"`,
      `diff ${url} ${url} -H "$SECRET"`,
      `convert ${url} -H "$SECRET" -o private.ldb`,
      `merge ${url} letters.ldb -H "$SECRET" -o private.ldb`,
      `salvage ${url} letters.ldb -H "$SECRET" -o private.ldb`,
      `layout ${url} ${url} --blocks -H "$SECRET"`,
      `scan ${credentials}`,
      `scan ${credentials}-none -H 'Expect: secret' --trace`,
      `merge ${base}/private/levels/ -H "$SECRET" -o private.ldb`,
      `scan ${url} --header "Authorization Bearer secret"`,
      `scan ${url} -H "Transfer-Encoding: secret"`,
      `scan http://secret@localhost:1/a.ldb -H "$SECRET"`,
      `scan ${url}?token=secret`,
      `scan ${base}/none.ldb?token=secret --trace`,
      `scan http://localhost:1/a.ldb?token=secret`,
      `count ${base}/private/levels/?token=secret`,
    ]) {
      const run = await bloomLine(line.replace('$SECRET', 'Authorization: Bearer secret'), scratch.path, { BLOOM_DEBUG: '1' });
      expect({ line, printed: run.stdout.toString() + run.stderr }).toEqual({ line, printed: expect.not.stringContaining('secret') as string });
    }
    const fromVariable = await bloom(['get', url, 'a'], scratch.path, '', { BLOOM_HTTP_HEADERS: 'Authorization: Bearer secret' });
    expect(fromVariable.stdout.toString()).toBe('1\n');
  });

  test.each([[], ['--trace']])('that redirect to another origin are followed without the headers, with the options %j', async (...trace) => {
    const { code, stdout, stderr } = await bloom(['get', `${base}/private/stored/letters.ldb`, 'a', '-H', 'Authorization: Bearer secret', ...trace], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: '1\n', stderr: expect.stringMatching(trace.length > 0 ? /: 302, .*\n.*: 206, / : /^$/) as string });
  });

  test.each(['log-batches/000003.log', 'log-torn/000003.log'])('of the log %s under any name are read', async (name) => {
    scratch.write('renamed', readFileSync(join(pathOf(name.split('/')[0]!), '000003.log')));
    expect(await bloomPrints(['scan', `${base}/renamed`], scratch.path)).toBe(await bloomPrints(['scan', `${base}/${name}`], scratch.path));
    scratch.write('renamed', readFileSync(scratch.at('letters.ldb')));
    expect(await bloomPrints(['scan', `${base}/renamed`], scratch.path)).toBe(await bloomPrints(['scan', 'letters.ldb'], scratch.path));
  });

  test('of a folder that lacks a table say so', async () => {
    const { code, stderr } = await bloom(['scan', `${base}/missing-table/`], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/missing-table\/000007\.ldb: the MANIFEST lists it, but it is missing: .*which bloom verify shows\n$/) as string });
    expect(await bloom(['size', `${base}/missing-table/`, '--by-prefix', '30'], scratch.path)).toMatchObject({ code: 2, stdout: Buffer.from('') });
    const verified = await bloom(['verify', `${base}/missing-table/`], scratch.path);
    expect(verified.code).toBe(1);
    expect(verified.stdout.toString()).toContain('000007.ldb: the MANIFEST lists it, but it is missing (BLOOM_MISSING_FILE)\n');
  });

  test('of a folder in another order name it', async () => {
    const { code, stderr } = await bloom(['scan', `${base}/reverse/`], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toContain('MANIFEST-000002: its keys are sorted by the comparator "test.ReverseBytewiseComparator", which bloom does not know; pass the order with --comparator');
    expect((await bloom(['scan', `${base}/reverse/`, '--comparator', './reverse.mjs'], scratch.path)).stdout).toEqual(
      (await bloom(['scan', pathOf('reverse'), '--comparator', './reverse.mjs'], scratch.path)).stdout,
    );
  });

  test('of folders are printed file by file as far as the MANIFEST names them', async () => {
    const printed = await bloomPrints(['scan', `${base}/levels/`, '--all-versions', '--live'], scratch.path);
    expect(printed).toContain('\tdeletion\t');
    expect(printed).toBe(await bloomPrints(['scan', pathOf('levels'), '--all-versions', '--live'], scratch.path));
    expect(await bloom(['scan', pathOf('levels'), '--live'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: --live needs --all-versions\n' });
  });

  test('of folders cannot be listed, and so cannot be printed file by file', async () => {
    for (const bounds of [[], ['--prefix', 'w']]) {
      expect(await bloom(['scan', `${base}/levels/`, '--all-versions', ...bounds], scratch.path)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^bloom: http:\/\/localhost:\d+\/levels\/: a folder at a URL cannot be listed, [^\n]*\n$/) as string,
      });
    }
  });

  test('of folders with a damaged MANIFEST or CURRENT say that a repair needs a copy', async () => {
    cpSync(pathOf('levels'), scratch.at('broken'), { recursive: true });
    const manifest = readdirSync(scratch.at('broken')).find((name) => name.startsWith('MANIFEST-'))!;
    const bytes = scratch.read(`broken/${manifest}`);
    bytes[20]! ^= 1;
    scratch.write(`broken/${manifest}`, bytes);
    const advice = 'download all of its files: bloom repair rebuilds the database from the logs and tables in the copy, and bloom salvage writes their entries to a table\n';
    for (const current of [undefined, 'x\n']) {
      if (current !== undefined) scratch.write('broken/CURRENT', current);
      for (const line of ['get INPUT a', 'scan INPUT', 'verify INPUT']) {
        const { code, stderr } = await bloomLine(line.replace('INPUT', `${base}/broken/`), scratch.path);
        if (code === 2) expect({ line, stderr }).toEqual({ line, stderr: expect.stringMatching(`${advice}$`) as string });
        else expect(line).toMatch(/^verify/);
      }
      const { stderr } = await bloomLine('get broken a', scratch.path);
      expect(stderr).toMatch(/; bloom repair rebuilds the database from its logs and tables, and bloom salvage writes their entries to a table\n$/);
    }
  });

  test('of files that the server compresses in transit say both ways out', async () => {
    encoding = { 'content-encoding': 'gzip' };
    const { code, stderr } = await bloom(['get', `${base}/letters.ldb`, 'a'], scratch.path);
    encoding = {};
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/: turn compression off for this file, or download the file and read the copy\n$/) as string });
  });

  test('of a server without TLS fail with the reason of OpenSSL', async () => {
    const { code, stderr } = await bloom(['get', `${base.replace('http:', 'https:')}/letters.ldb`, 'a'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/letters\.ldb: the request failed \([a-z ]+\): try again/) as string });
  });

  test('that fail midway are failures in one line', async () => {
    whole = 1;
    try {
      const { code, stderr } = await bloom(['scan', `${base}/many.ldb`], scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^bloom: http:\/\/localhost:\d+\/many\.ldb: [^\n]*: try again, or download the file and read the copy\n$/);
    } finally {
      whole = Infinity;
    }
  });

  test('that lead to nothing are failures', async () => {
    expect(await bloom(['scan', `${base}/none.ldb`], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining('404: there is no such file') as string });
  });
});
