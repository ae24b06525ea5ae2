import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases, realDatabases, seeded } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { outlineTable } from '@bloom/sstable/inspect';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomLine, bloomPrints, build } from '../bloom.js';
import { REVERSE_MODULE, Scratch, shell } from '../bloom-process.js';
import { maskedCrc32c } from '../masked-crc32c.js';

const scratch = new Scratch();

/** Names of which there are so many keys each, all entries of the same length: what they take is in proportion. */
const SHARES = { a: 1000, b: 3000, c: 6000 } as const;
const lines = Object.entries(SHARES).flatMap(([name, keys]) => Array.from({ length: keys }, (_, i) => `${name}/${String(i).padStart(6, '0')}\tsome value of the same length\n`));

beforeAll(async () => {
  scratch.write('reverse.mjs', REVERSE_MODULE);
  await build('plain.ldb', ['--compression', 'none', '--block-restart-interval', '1'], scratch.path, lines.join(''));
  await bloom(['load', 'folder', '-', '-q', '--compact'], scratch.path, lines.join(''));
  // Newer versions in a table above and in a log.
  await bloom(['load', 'folder', '-', '-q'], scratch.path, 'b/000007\tanother value\n');
  await bloom(['delete', 'folder', 'c/000009'], scratch.path);
});

/** What `bloom size` prints, as numbers by what is beside them. */
async function sizes(args: readonly string[]): Promise<Record<string, number>> {
  return (await sizesAndNotes(args)).parts;
}

async function sizesAndNotes(args: readonly string[]): Promise<{ readonly parts: Record<string, number>; readonly notes: string }> {
  const { code, stdout, stderr } = await bloom(['size', ...args, '--json'], scratch.path);
  expect(code).toBe(0);
  const rows = stdout
    .toString()
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { input?: string; prefix?: string | null; prefixHex?: string; others?: number; bytes: number });
  const parts = Object.fromEntries(rows.map(({ input, prefix, prefixHex, others, bytes }) => [input ?? prefixHex ?? prefix ?? (others === undefined ? 'none' : `${others} others`), bytes]));
  return { parts, notes: stderr };
}

async function sizeOf(args: readonly string[]): Promise<number> {
  return Number(await bloomPrints(['size', ...args, '--no-internal'], scratch.path));
}

function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
}

/** Bytes of the files that are part of a folder's database, by what `stat` says of it. */
async function filesOf(path: string): Promise<number> {
  const { stdout } = await bloom(['stat', '--json', path, '--comparator', './reverse.mjs'], scratch.path);
  const { levels, logs } = JSON.parse(stdout.toString()) as { levels: { bytes: number }[][]; logs: { bytes: number; operations: number }[] };
  return [...levels.flat(), ...logs.filter(({ operations }) => operations > 0)].reduce((sum, { bytes }) => sum + bytes, 0);
}

describe('size of a table', () => {
  test('is that of the file', async () => {
    expect(await sizeOf(['plain.ldb'])).toBe(statSync(scratch.at('plain.ldb')).size);
  });

  test('is shared in proportion among ranges of entries of the same length', async () => {
    const { size } = statSync(scratch.at('plain.ldb'));
    const parts = await sizes(['plain.ldb', '--by-separator', '/']);
    expect(Object.keys(parts)).toEqual(['c/', 'b/', 'a/']);
    expect(total(parts)).toBe(size);
    for (const [name, keys] of Object.entries(SHARES)) {
      const expected = (size * keys) / lines.length;
      // The last block of the table is shorter, so that its trailer counts for more.
      expect(Math.abs(parts[`${name}/`]! - expected)).toBeLessThan(0.002 * size);
      expect(Math.abs((await sizeOf(['plain.ldb', '--prefix', `${name}/`])) - parts[`${name}/`]!)).toBeLessThanOrEqual(2);
    }
  });

  test.each([
    ['--gte', 'b/000500', '--lt', 'b/000600', 100],
    ['--gt', 'b/000500', '--lte', 'b/000600', 100],
    ['--gte', 'a/000999', '--lt', 'b/000001', 2],
    ['--gte', 'b/000500', '--lte', 'b/000500', 1],
    ['--gt', 'b/000500', '--lt', 'b/000501', 0],
    ['--gte', 'c/000123', '--lt', 'd', 5877],
    ['--gte', 'd', '--lt', 'e', 0],
    ['--gt', 'b/0', '--lt', 'a', 0],
  ])('from %s %s %s %s is that of %i of its entries', async (from, first, to, last, entries) => {
    const { size } = statSync(scratch.at('plain.ldb'));
    const bytes = await sizeOf(['plain.ldb', from, first, to, last]);
    expect(Math.abs(bytes - (size * entries) / lines.length)).toBeLessThanOrEqual(entries === 0 ? 0 : 0.03 * (bytes + 100));
  });

  test('is the same where the order is not known, and all blocks are read', async () => {
    const stored = await sizes(['plain.ldb', '--by-prefix', '5']);
    // A key that is out of order at the end of what is sampled makes the order unknown.
    await build('ordered.ldb', ['--comparator', './reverse.mjs'], scratch.path, lines.slice().reverse().join(''));
    const known = await sizes(['ordered.ldb', '--by-prefix', '5', '--comparator', './reverse.mjs']);
    const unknown = await sizes(['ordered.ldb', '--by-prefix', '5']);
    expect(unknown).toEqual(known);
    expect(total(known)).toBe(statSync(scratch.at('ordered.ldb')).size);
    expect(Object.keys(known).sort()).toEqual(Object.keys(stored).sort());
  });

  test('divides a data block with a hash index of RocksDB by its entries alone', async () => {
    await build('hashed.ldb', ['--compression', 'none', '--no-filter'], scratch.path, `a\t${'x'.repeat(400)}\nb\t${'y'.repeat(1000)}\n`);
    const bytes = readFileSync(scratch.at('hashed.ldb'));
    const { offsets: [offset], sizes: [length] } = await outlineTable(new MemorySource(bytes));
    expect([offset, length]).toEqual([0, 1418]);
    // The last 302 bytes of the second value become 300 buckets and their number.
    const [secondAt, entriesEnd] = [405, 1108];
    bytes.set([0xba, 0x05], secondAt + 2);
    bytes.fill(0, entriesEnd, 1418);
    bytes.writeUInt16LE(300, 1412);
    bytes.writeUInt32LE(2 ** 31 + 1, 1414);
    bytes.writeUInt32LE(maskedCrc32c(bytes.subarray(0, 1419)), 1419);
    writeFileSync(scratch.at('hashed.ldb'), bytes);
    expect(await bloomPrints(['get', 'hashed.ldb', 'b'], scratch.path)).toBe(`${'y'.repeat(698)}\n`);
    const a = Math.floor((secondAt / entriesEnd) * bytes.length);
    expect(await sizes(['hashed.ldb', '--by-prefix', '1'])).toEqual({ a, b: bytes.length - a });
  });

  test('needs only the index and the blocks at the ends of the range', async () => {
    const { stderr } = await bloom(['size', 'plain.ldb', '--gte', 'b/000500', '--lt', 'c/000500', '--trace'], scratch.path);
    const { size } = statSync(scratch.at('plain.ldb'));
    const read = Number(/([\d,]+) bytes/.exec(stderr)![1]!.replaceAll(',', ''));
    expect(read).toBeLessThan(size / 3);
  });
});

describe('size of a folder', () => {
  test('is that of its tables and logs', async () => {
    expect(await sizes(['folder'])).toEqual({ folder: await filesOf('folder') });
  });

  test('has the bytes of all versions in the groups of their keys', async () => {
    const parts = await sizes(['folder', '--by-separator', '/']);
    expect(Object.keys(parts)).toEqual(['c/', 'b/', 'a/']);
    expect(total(parts)).toBe(await filesOf('folder'));
    const log = readdirSync(scratch.at('folder')).find((name) => name.endsWith('.log') && statSync(join(scratch.at('folder'), name)).size > 0)!;
    const logBytes = statSync(join(scratch.at('folder'), log)).size;
    expect(await sizes([join('folder', log), '--by-separator', '/'])).toEqual({ 'c/': logBytes });
  });

  test('continues below --prefix, and adds up the groups beyond --limit', async () => {
    const all = await sizes(['folder', '--prefix', 'b/', '--by-prefix', '3']);
    expect(Object.keys(all).sort()).toEqual(['b/000', 'b/001', 'b/002']);
    const largest = await sizes(['folder', '--prefix', 'b/', '--by-prefix', '3', '--limit', '1']);
    const [[first, bytes]] = Object.entries(all) as [[string, number]];
    expect(largest).toEqual({ [first]: bytes, '2 others': total(all) - bytes });
    expect(await bloomPrints(['size', 'folder', '--prefix', 'b/', '--by-prefix', '3', '--limit', '1'], scratch.path)).toMatch(/^ *[\d,]+ +[\d.]+% {2}"b\/00\d"\n *[\d,]+ +[\d.]+% {2}2 other prefixes\n *[\d,]+ +100\.0% {2}in all\n$/);
  });

  // That is in whole blocks, and without filters and index of tables which are not wholly within the range.
  test('is near to what LevelDB calls the approximate size', async () => {
    cpSync(scratch.at('folder'), scratch.at('opened'), { recursive: true });
    const database = await Database.open(new WritableNodeFolder(scratch.at('opened')));
    const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
    for (const [gte, lt] of [['a/', 'b/000500'], ['b/', 'c/'], ['b/001000', 'c/004000']] as const) {
      const bytes = Number(await bloomPrints(['size', 'folder', '--gte', gte, '--lt', lt], scratch.path));
      const approximate = await database.approximateSize(utf8(gte), utf8(lt));
      expect(Math.abs(bytes - approximate)).toBeLessThan(0.25 * bytes);
    }
    await database.close();
  });

  test.each([...goldenDatabases().filter(({ open }) => open === 'OK'), ...realDatabases().filter(({ open }) => open === 'OK').map((row) => ({ ...row, name: row.path.split('/').at(-1)! }))])('of the folder $name is that of its files, and of all prefixes together', async ({ path }) => {
    const args = [path, '--damage', 'skip', '--comparator', './reverse.mjs'];
    const bytes = total(await sizes(args));
    expect(bytes).toBe(await filesOf(path));
    for (const by of [['--by-prefix', '1'], ['--by-prefix', '4', '--hex'], ['--by-separator', '00', '--hex']]) {
      const { parts, notes } = await sizesAndNotes([...args, ...by]);
      // What is damaged has no keys.
      if (/\d{6}\.ldb: left out: /.test(notes)) expect(total(parts)).toBeLessThan(bytes);
      else expect(total(parts)).toBe(bytes);
    }
  });
});

describe('size of random keys', () => {
  test('of each prefix is the sum over the keys that have it', async () => {
    const random = seeded(11);
    const keys = [...new Set(Array.from({ length: 3000 }, () => Buffer.from(random.bytes(1 + random.below(5)).map((byte) => byte & 3)).toString('hex')))].sort();
    await build('random.ldb', ['-f', 'hex', '--block-size', '512'], scratch.path, keys.map((key) => `${key}\t${'00'.repeat(random.below(40))}\n`).join(''));
    const parts = await sizes(['random.ldb', '--by-prefix', '2', '--hex']);
    const expected = new Set(keys.map((key) => key.slice(0, 4)));
    expect(new Set(Object.keys(parts))).toEqual(expected);
    expect(total(parts)).toBe(statSync(scratch.at('random.ldb')).size);
    // Longer prefixes are parts of shorter ones.
    const longer = await sizes(['random.ldb', '--by-prefix', '3', '--hex']);
    for (const prefix of expected) {
      const sum = Object.entries(longer).reduce((bytes, [key, size]) => (key.slice(0, 4) === prefix ? bytes + size : bytes), 0);
      // Each is rounded.
      expect(Math.abs(sum - parts[prefix]!)).toBeLessThanOrEqual(Object.keys(longer).length);
    }
  });

  test('without a separator are together', async () => {
    await build('mixed.ldb', [], scratch.path, '!a!1\tx\n!a!2\tx\n!b!1\tx\nplain\tx\nq\tx\n');
    expect(Object.keys(await sizes(['mixed.ldb', '--by-separator', '!'])).sort()).toEqual(['!a!', '!b!', 'none']);
    expect(await bloomPrints(['count', 'mixed.ldb', '--by-separator', '!'], scratch.path)).toBe('2   40.0%  "!a!"\n2   40.0%  keys without the separator\n1   20.0%  "!b!"\n5  100.0%  in all\n');
    expect(await bloomPrints(['count', 'mixed.ldb', '--by-separator', '!', '--json', '--limit', '1'], scratch.path)).toBe('{"prefix":"!a!","entries":2}\n{"others":2,"entries":3}\n');
    expect(await bloomPrints(['count', 'mixed.ldb', 'mixed.ldb', '--by-prefix', '1', '--prefix', 'p'], scratch.path)).toBe('2  100.0%  "pl"\n');
    expect(await bloomPrints(['count', 'folder', '--by-separator', '/'], scratch.path)).toBe('5,999   60.0%  "c/"\n3,000   30.0%  "b/"\n1,000   10.0%  "a/"\n9,999  100.0%  in all\n');
  });
});

describe('size of several inputs', () => {
  test('has a line for each, and the sum', async () => {
    const bytes = [statSync(scratch.at('plain.ldb')).size, await filesOf('folder')] as const;
    expect(await bloomPrints(['size', 'plain.ldb', 'folder'], scratch.path)).toBe(`${bytes[0]}  plain.ldb\n${bytes[1]}  folder\n${bytes[0] + bytes[1]}  in all\n`);
  });

  test('by prefix is that of all together', async () => {
    const [one, other, both] = await Promise.all([sizes(['plain.ldb', '--by-prefix', '1']), sizes(['folder', '--by-prefix', '1']), sizes(['plain.ldb', 'folder', '--by-prefix', '1'])]);
    expect(both).toEqual(Object.fromEntries(Object.entries(both).map(([prefix]) => [prefix, one[prefix]! + other[prefix]!])));
  });

  test('may be standard input', async () => {
    const { stdout } = await shell('bloom size - --by-separator / < plain.ldb', scratch.path);
    expect(stdout.toString()).toBe(await bloomPrints(['size', 'plain.ldb', '--by-separator', '/'], scratch.path));
  });
});

describe('size refuses', () => {
  test.each([
    ['size plain.ldb --limit 3', '--limit is for --by-prefix and --by-separator'],
    ['count plain.ldb --limit 3', '--limit is for --by-prefix and --by-separator'],
    ['size plain.ldb --by-prefix 0', "option '--by-prefix <n>' argument '0' is invalid. It must be a whole number from 1 to 1024."],
    ['size plain.ldb --by-prefix 1 --by-separator /', "option '--by-prefix <n>' cannot be used with option '--by-separator <text>'"],
    ["size plain.ldb --by-separator ''", '--by-separator needs text that is not empty: --by-prefix takes a number of bytes'],
    ['size plain.ldb --by-separator x --hex', '"x" is not hexadecimal: it must have two digits per byte'],
    ['size absent', 'absent: no such file or folder'],
    ['size words.txt', /^words\.txt: .*not a LevelDB table/],
  ])('bloom %s', async (line, problem) => {
    scratch.write('words.txt', 'just some words, and more than a footer of them: '.repeat(9));
    const { code, stdout, stderr } = await bloomLine(line, scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    if (typeof problem === 'string') expect(stderr).toBe(`bloom: ${problem}\n`);
    else expect(stderr.slice('bloom: '.length)).toMatch(problem);
  });

  test('a damaged block at the end of a range, and reads none within', async () => {
    const bytes = readFileSync(scratch.at('plain.ldb'));
    const table = SyncTable.open(new MemorySource(bytes));
    const offset = table.approximateOffset(new TextEncoder().encode('b/001500'));
    bytes[offset + 20]! ^= 1;
    writeFileSync(scratch.at('damaged.ldb'), bytes);
    expect((await bloom(['size', 'damaged.ldb', '--prefix', 'b/', '--no-internal'], scratch.path)).code).toBe(0);
    const { code, stdout, stderr } = await bloom(['size', 'damaged.ldb', '--gte', 'b/001500', '--no-internal'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^bloom: damaged\\.ldb: data block at offset ${offset}: checksum mismatch: stored [^\\n]*\\n$`));
  });
});
