import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { formatKv, goldenDatabases, type KeyValue, type Random, seeded } from '@bloom/fixtures';
import { Database, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { encodeInternalKey } from '@bloom/sstable/database';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { REVERSE_MODULE, Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const REVERSE = './reverse.mjs';

/** What is given to scan, build and load for each way to write versions. */
const FORMATS = ['tsv', 'tsv --hex', 'jsonl', 'jsonl --hex', 'csv', 'csv --hex', 'hex', 'base64', 'kv', 'raw --hex'].map((text) => ['-f', ...text.split(' ')]);

/** Keys of which many are written again, of any bytes. */
function someKey(random: Random): Uint8Array {
  return random.below(3) === 0 ? random.bytes(random.below(4)) : Buffer.from(`key\t"${random.below(400)}"\\,\n`);
}

/** A database with several tables and a log, in which keys were written several times, and deleted. */
async function fill(name: string): Promise<void> {
  const random = seeded(7);
  const database = await Database.open(new WritableNodeFolder(scratch.at(name)), { writeBufferSize: 64 * 1024 });
  for (let i = 0; i < 400; i++) {
    const batch = new WriteBatch();
    for (let n = 0; n < 10; n++) {
      if (random.below(4) === 0) batch.delete(someKey(random));
      else batch.put(someKey(random), random.below(50) === 0 ? new Uint8Array(0) : random.bytes(random.below(120)));
    }
    await database.write(batch);
    if (i % 120 === 119) await database.flush();
  }
  await database.close();
}

async function printed(args: readonly string[], input?: Uint8Array): Promise<Buffer> {
  const { code, stdout } = await bloom(args, scratch.path, input);
  expect(code).toBe(0);
  return stdout;
}

async function succeeds(args: readonly string[], input: Uint8Array): Promise<string> {
  const { code, stdout, stderr } = await bloom(args, scratch.path, input);
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
  return stderr;
}

beforeAll(async () => {
  scratch.write('reverse.mjs', REVERSE_MODULE);
  await fill('filled');
  expect(readdirSync(scratch.at('filled')).filter((name) => name.endsWith('.ldb')).length).toBeGreaterThan(1);
});

describe('what scan --all-versions --live prints of a folder', () => {
  test.each(FORMATS.map((format) => ({ format })))('with $format is loaded to a folder with the same entries', async ({ format }) => {
    const versions = await printed(['scan', 'filled', '--all-versions', '--live', ...format]);
    const name = `loaded ${format.join(' ')}`;
    await succeeds(['load', name, '-', '--versions', '-q', ...format], versions);
    expect(await bloom(['diff', 'filled', name], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringContaining(', 0 with different values\n') as string });
    expect((await bloom(['verify', name], scratch.path)).code).toBe(0);
    // Each deletion came along, as far as no table was merged.
    const deletions = (text: Buffer): number => text.toString('latin1').split('\n').filter((line) => line.includes('\tdeletion\t')).length;
    if (format[1] === 'tsv') expect(deletions(await printed(['scan', name, '--all-versions', '--live']))).toBe(deletions(await printed(['scan', 'filled', '--all-versions', '--live'])));
  });

  test.each(FORMATS.map((format) => ({ format })))('with $format becomes a table with the same keys, sequences and types, which is printed and built again to the byte', async ({ format }) => {
    const versions = await printed(['scan', 'filled', '--all-versions', '--live', ...format]);
    const [first, second] = [`one ${format.join(' ')}.ldb`, `two ${format.join(' ')}.ldb`];
    await succeeds(['build', '-', '--versions', '--sort', '-q', '-o', first, ...format], versions);
    const stored = (kv: Buffer): string[] => {
      const entries: string[] = [];
      for (let at = 0; at < kv.length; ) {
        const keyEnd = at + 4 + kv.readUInt32LE(at);
        const end = keyEnd + 4 + kv.readUInt32LE(keyEnd);
        entries.push(kv.toString('hex', at, end));
        at = end;
      }
      return [...new Set(entries)].sort();
    };
    expect(stored(await printed(['scan', first, '-f', 'kv', '--internal']))).toEqual(stored(await printed(['scan', 'filled', '--all-versions', '--live', '-f', 'kv'])));
    await succeeds(['build', '-', '--versions', '-q', '-o', second, ...format], await printed(['scan', first, '--internal', ...format]));
    expect(scratch.read(second).equals(scratch.read(first))).toBe(true);
    expect((await bloom(['verify', first, '--internal'], scratch.path)).code).toBe(0);
    expect((await bloom(['diff', 'filled', first, '--internal'], scratch.path)).code).toBe(0);
    expect(await bloom(['diff', first, second, '--internal', '-q'], scratch.path)).toMatchObject({ code: 0 });
  });

  test('becomes a folder with the same sequences by build and repair', async () => {
    const versions = await printed(['scan', 'filled', '--all-versions', '--live']);
    mkdirSync(scratch.at('rebuilt'));
    await succeeds(['build', '-', '--versions', '--sort', '-q', '-o', 'rebuilt/000005.ldb'], versions);
    await bloom(['repair', 'rebuilt'], scratch.path);
    expect((await bloom(['diff', 'filled', 'rebuilt'], scratch.path)).code).toBe(0);
    const key = Buffer.from('key\t"7"\\,\n').toString('hex');
    const sequences = async (name: string): Promise<string[][]> => (await bloomPrints(['get', '--all-versions', '--hex', name, key], scratch.path)).split('\n').map((line) => line.split('\t').slice(0, 3));
    expect(await sequences('rebuilt')).toEqual(await sequences('filled'));
  });

  test('is sorted in temporary files where it does not fit into memory', async () => {
    const versions = await printed(['scan', 'filled', '--all-versions', '--live']);
    const many = Buffer.concat(Array.from({ length: 12 }, () => versions));
    await succeeds(['build', '-', '--versions', '--sort', '--memory', '1M', '-q', '-o', 'runs.ldb'], many);
    await succeeds(['build', '-', '--versions', '--sort', '-q', '-o', 'memory.ldb'], versions);
    expect(scratch.read('runs.ldb').equals(scratch.read('memory.ldb'))).toBe(true);
  });

  test.each(goldenDatabases().filter(({ open }) => open === 'OK'))('of the golden folder $name is loaded with the same entries', async ({ path, name, comparator }) => {
    const order = comparator === undefined ? [] : ['--comparator', REVERSE];
    const versions = await bloom(['scan', path, '--all-versions', '--live', '--damage', 'skip', '-f', 'kv', ...order], scratch.path);
    await succeeds(['load', `of ${name}`, '-', '--versions', '-q', '-f', 'kv', ...order], versions.stdout);
    const entries = await bloom(['scan', path, '--damage', 'skip', ...order], scratch.path);
    const loaded = await printed(['scan', `of ${name}`, ...order]);
    expect(loaded.equals(entries.stdout)).toBe(true);
    await succeeds(['build', '-', '--versions', '--sort', '-q', '-f', 'kv', '-o', `of ${name}.ldb`, ...order], versions.stdout);
    const table = await bloom(['convert', `of ${name}.ldb`, '--keys', 'plain', '--internal', '-o', `plain ${name}.ldb`, ...order], scratch.path);
    expect(table.code).toBe(0);
    expect((await printed(['scan', `plain ${name}.ldb`, '--no-internal', ...order])).equals(loaded)).toBe(true);
  });
});

describe('versions that are written by hand', () => {
  test.each([
    ['tsv', 'a\tvalue\t1\nb\tvalue\t2\na\tdeletion\t\n'],
    ['jsonl', '{"key":"a","value":"1"}\n{"key":"b","value":"2","type":"value"}\n{"key":"a","type":"deletion"}\n'],
    ['csv', 'type,key,value\nvalue,a,1\nvalue,b,2\ndeletion,a,\n'],
    ['hex', '61\tvalue\t31\n62\tvalue\t32\n61\tdeletion\t\n'],
    ['base64', 'YQ==\tvalue\tMQ==\nYg==\tvalue\tMg==\nYQ==\tdeletion\t\n'],
  ])('in %s count in their order', async (format, input) => {
    const name = `hand ${format}`;
    const { code, stderr } = await bloom(['load', name, '-', '--versions', '-f', format], scratch.path, input);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/: 3 entries written, 1 of them a deletion; \d+\.\d\d s\n$/) as string });
    expect(await bloomPrints(['scan', name, '--all-versions'], scratch.path)).toBe('a\t1\tvalue\t000003.log\t1\nb\t2\tvalue\t000003.log\t2\na\t3\tdeletion\t000003.log\t\n');
    expect(await bloomPrints(['scan', name], scratch.path)).toBe('b\t2\n');
  });

  test('count by their sequences, where they have some', async () => {
    await succeeds(['load', 'numbered', '-', '--versions', '-q'], Buffer.from('a\t7\tvalue\tnew\na\t300\tdeletion\t000007.ldb\t\na\t5\tvalue\told\nb\t65536\tvalue\tlast\nb\t9\tdeletion\t\nc\t0\tdeletion\t\nc\t0\tvalue\tloaded\n'));
    expect(await bloomPrints(['scan', 'numbered'], scratch.path)).toBe('b\tlast\nc\tloaded\n');
  });
});

describe('load --atomic', () => {
  test('writes everything as one record of the log', async () => {
    await succeeds(['load', 'atomic', '-', '--atomic', '-q'], Buffer.from('a\t1\nb\t2\n'));
    await succeeds(['load', 'atomic', '-', '--atomic', '--versions', '-q'], Buffer.from('a\tdeletion\t\nc\tvalue\t3\n'));
    expect(await bloomPrints(['scan', 'atomic'], scratch.path)).toBe('b\t2\nc\t3\n');
    const many = Buffer.from(Array.from({ length: 30_000 }, (_, i) => `key ${String(i).padStart(6, '0')}\tand a value of some bytes\n`).join(''));
    await succeeds(['load', 'atomic-many', '-', '--atomic', '-q'], many);
    const log = readdirSync(scratch.at('atomic-many')).find((name) => name.endsWith('.log'))!;
    const records = (await printed(['layout', '--blocks', `atomic-many/${log}`])).toString().split('\n').filter((line) => /FULL|FIRST/.test(line));
    expect(records).toHaveLength(1);
    expect(await bloomPrints(['count', 'atomic-many'], scratch.path)).toBe('30000\n');
  });

  test('writes nothing if an input is wrong, and makes no folder', async () => {
    cpSync(scratch.at('filled'), scratch.at('kept'), { recursive: true });
    const before = await printed(['scan', 'kept', '--all-versions', '--live']);
    scratch.write('good.tsv', 'a\t1\n');
    scratch.write('bad.tsv', 'b\t2\nc\n');
    for (const folder of ['kept', 'never']) {
      expect(await bloom(['load', folder, 'good.tsv', 'bad.tsv', '--atomic'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: bad.tsv: line 2: no TAB between key and value\n' });
    }
    expect(existsSync(scratch.at('never'))).toBe(false);
    expect((await printed(['scan', 'kept', '--all-versions', '--live'])).equals(before)).toBe(true);
  });

  test('refuses more than fits into a batch, and makes no folder', async () => {
    const line = (i: number): string => `key ${i}\t${'v'.repeat(2 ** 20)}\n`;
    const some = Buffer.from(Array.from({ length: 127 }, (_, i) => line(i)).join(''));
    await succeeds(['load', 'most', '-', '--atomic', '-q'], some);
    expect(await bloomPrints(['count', 'most'], scratch.path)).toBe('127\n');
    expect(await bloom(['load', 'never', '-', '--atomic'], scratch.path, Buffer.concat([some, Buffer.from(line(127))]))).toMatchObject({
      code: 2,
      stderr: 'bloom: never: its entries exceed 134,217,728 bytes, the limit of one batch: omit --atomic\n',
    });
    expect(existsSync(scratch.at('never'))).toBe(false);
  });

  test('is not for a size of batches', async () => {
    expect(await bloom(['load', 'never', '-', '--atomic', '--batch-size', '1K'], scratch.path)).toMatchObject({ code: 2, stderr: "bloom: option '--atomic' cannot be used with option '--batch-size <bytes>'\n" });
  });
});

describe('wrong versions are refused with their place, and nothing is written,', () => {
  const key = (sequence: bigint, type: number): Uint8Array => encodeInternalKey({ userKey: Buffer.from('a'), sequence, type });
  const kv = (...entries: KeyValue[]): Buffer => Buffer.from(formatKv(entries));
  const MOST = 2n ** 56n - 1n;

  test.each([
    ['tsv', 'a\t1\n', 'line 1: 2 columns, but a version has key, sequence, type, file and value (sequence and file are optional)'],
    ['tsv', 'a\n', 'line 1: one column, but a version has key, sequence, type, file and value (sequence and file are optional)'],
    ['tsv', 'a\t1\tvalue\tf\tv\tw\n', 'line 1: 6 columns, but a version has key, sequence, type, file and value (sequence and file are optional)'],
    ['tsv', 'a\t1\tvalue\tv\nb\tx\tvalue\tv\n', `line 2: the sequence of a version must be a whole number below ${MOST}`],
    ['tsv', `a\t${MOST}\tvalue\tv\n`, `line 1: the sequence of a version must be a whole number below ${MOST}`],
    ['tsv', 'a\t1\tput\tv\n', 'line 1: the type of a version must be value, deletion, or the number of the type of another program'],
    ['tsv', 'a\t1\t256\tv\n', 'line 1: the type of a version must be value, deletion, or the number of the type of another program'],
    ['tsv', 'a\\q\t1\tvalue\tv\n', 'line 1: a backslash that does not begin one of \\\\, \\t, \\n, \\r and \\xHH; --format raw takes bytes as they are'],
    ['hex', '6\t1\tvalue\t\n', 'line 1: not hexadecimal: an odd number of digits'],
    ['jsonl', '{"key":"a","value":"1","sequence":1.5}\n', `line 1: the sequence of a version must be a whole number below ${MOST}`],
    ['jsonl', '{"key":"a","type":"value"}\n', 'line 1: no "value"'],
    ['jsonl', '{"key":"a","type":null}\n', 'line 1: no "value"'],
    ['jsonl', '{"key":"a","value":"","type":null}\n', 'line 1: the type of a version must be value, deletion, or the number of the type of another program'],
    ['csv', 'key,value\na,1\n', 'line 1: there is no column named type, which says what is a value and what a deletion'],
    ['csv', 'key,sequence,type,value\na,,value,1\n', `line 2: the sequence of a version must be a whole number below ${MOST}`],
    ['csv', 'key,value,type\na,1\n', 'line 2: the type of a version must be value, deletion, or the number of the type of another program'],
    ['kv', kv([Buffer.from('short'), new Uint8Array(0)]), 'offset 0: a key of 5 bytes is too short for sequence and type: are these versions?'],
    ['kv', kv([key(3n, 1), new Uint8Array(2)], [key(MOST, 1), new Uint8Array(0)]), `offset 19: the sequence ${MOST}, which no database reaches`],
  ])('in %s: %j', async (format, input, problem) => {
    for (const command of [['load', 'never'], ['load', 'never', '--atomic'], ['build', '-o', 'never.ldb', '--sort']]) {
      expect(await bloom([...command, '-', '--versions', '-f', format], scratch.path, input)).toMatchObject({ code: 2, stderr: `bloom: standard input: ${problem}\n` });
    }
    expect(existsSync(scratch.at('never'))).toBe(false);
    expect(existsSync(scratch.at('never.ldb'))).toBe(false);
  });

  test.each([
    ['a\t1\tvalue\tv\nb\tvalue\tv\n', 'line 2: no sequence, but earlier entries have one'],
    ['a\tvalue\tv\nb\t1\tvalue\tv\n', 'line 2: a sequence, but earlier entries have none'],
    ['a\t1\tdeletion\tv\n', 'line 1: a deletion with a value'],
    ['a\tdeletion\tv\n', 'line 1: a deletion with a value'],
    ['a\t1\t2\tv\n', 'line 1: the type 2, which LevelDB does not write'],
  ])('by load: %j', async (input, problem) => {
    expect(await bloom(['load', 'never', '-', '--versions', '--atomic'], scratch.path, input)).toMatchObject({ code: 2, stderr: `bloom: standard input: ${problem}\n` });
    expect(existsSync(scratch.at('never'))).toBe(false);
  });

  test.each([
    ['a\tvalue\tv\n', 'line 1: no sequence, which a table stores with each key: bloom load --versions writes what has none to a folder'],
    ['b\t1\tvalue\tv\na\t2\tvalue\tv\n', 'line 2: key "a" of sequence 2 comes before "b" of sequence 1 (line 1); --sort accepts keys in any order'],
    ['a\t1\tvalue\tv\na\t2\tvalue\tv\n', 'line 2: key "a" of sequence 2 comes before "a" of sequence 1 (line 1); --sort accepts keys in any order'],
    ['a\t1\tvalue\tv\na\t1\tvalue\tw\n', 'line 2: key "a" of sequence 1 is a duplicate (line 1); --sort keeps the last of equal versions'],
  ])('by build: %j', async (input, problem) => {
    expect(await bloom(['build', '-', '--versions', '-o', 'never.ldb'], scratch.path, input)).toMatchObject({ code: 2, stderr: `bloom: standard input: ${problem}\n` });
    expect(existsSync(scratch.at('never.ldb'))).toBe(false);
  });

  test.each([
    ['words', '--versions is not for words, which are keys without types: use --format tsv'],
    ['raw', '--versions is not for raw, where a TAB in a value looks like the end of a column: use --format tsv, or --hex'],
  ])('and %s, which cannot say what they are', async (format, problem) => {
    for (const command of [['load', 'never'], ['build', '-o', 'never.ldb']]) {
      expect(await bloom([...command, '-', '--versions', '-f', format], scratch.path, '')).toMatchObject({ code: 2, stderr: `bloom: ${problem}\n` });
    }
  });
});

describe('build --versions', () => {
  test('keeps types of other programs, and of equal versions the last', async () => {
    expect(await bloom(['build', '-', '--versions', '--sort', '-o', 'types.ldb'], scratch.path, 'b\t3\t2\tmerge\na\t1\tvalue\tx\na\t1\tvalue\ty\n')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^bloom: standard input: 1 entry was replaced by a later one with the same key, sequence and type\n/) as string,
    });
    expect((await bloom(['scan', 'types.ldb', '--internal'], scratch.path)).stdout.toString()).toBe('a\t1\tvalue\ty\nb\t3\t2\tmerge\n');
  });

  test('takes long inputs, which a thread decodes', async () => {
    const lines = Array.from({ length: 120_000 }, (_, i) => `key ${String(i).padStart(9, '0')}\t${i + 1}\t${i % 5 === 0 ? 'deletion\t' : `value\tthe value of ${i}`}\n`);
    await succeeds(['build', '-', '--versions', '-q', '-o', 'long.ldb'], Buffer.from(lines.join('')));
    expect((await bloom(['scan', 'long.ldb', '--internal'], scratch.path)).stdout.toString()).toBe(lines.join(''));
    await succeeds(['load', 'long', '-', '--versions', '-q'], Buffer.from(lines.join('')));
    expect(await bloomPrints(['count', 'long'], scratch.path)).toBe('96000\n');
    renameSync(scratch.at('long'), scratch.at('long-db'));
  });
});
