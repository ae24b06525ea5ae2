import { deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import { folderFiles, realDatabases } from '@bloom/fixtures';
import { putVarint } from '@bloom/bytes';
import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import type { TableThreadSettings } from '@bloom/leveldb/internal';
import { storedCompression } from '@bloom/leveldb/inspect';
import type { FilterPolicy } from '@bloom/policy';
import { type Codec, MemorySource, snappyCodec } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const value = utf8('value '.repeat(30));

// @bloom/leveldb may not import @bloom/codecs.
const deflate: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength })),
};
const zlib: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => new Uint8Array(deflateSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateSync(compressed, { maxOutputLength })),
};
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** What begins as zstd does, as Google's LevelDB writes it. */
const zstd: Codec = {
  type: 2,
  name: 'zstd',
  compress: (contents) => Uint8Array.of(...ZSTD_MAGIC, ...deflateRawSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateRawSync(compressed.subarray(4), { maxOutputLength })),
};
/** Reads both, and writes zlib. */
const zstdOrZlib: Codec = {
  ...zlib,
  name: 'zstd or zlib',
  decompress: (compressed, maxBytes) => (compressed[0] === ZSTD_MAGIC[0] ? zstd : zlib).decompress(compressed, maxBytes),
};
const reading = ({ type, name, decompress }: Codec): Codec => ({ type, name, decompress });
const codecs = [zlib, deflate];

const keysFrom = (prefix: string): string[] => Array.from({ length: 100 }, (_, i) => `${prefix}${i}`);

/** Adds a table of 100 keys. */
async function addTable(folder: WritableMemoryFolder, prefix: string, options: DatabaseOptions, stored = value): Promise<void> {
  const database = await Database.open(folder, options);
  for (const key of keysFrom(prefix)) await database.put(utf8(key), stored);
  await database.flush();
  await database.close();
}

async function typesOf(name: string, bytes: Uint8Array): Promise<Set<number>> {
  const ranges = await collect(tableLayout(new MemorySource(bytes, name), { codecs: [...codecs], detail: 'fields' }));
  return new Set(ranges.filter(({ label }) => label.endsWith('compression type')).map((range) => Number.parseInt(String(range.value))));
}

/** The compression types of the tables of a folder, of those alone that `before` lacks. */
async function typesIn(folder: WritableMemoryFolder, before?: ReadonlyMap<string, Uint8Array>): Promise<number[]> {
  const types = new Set<number>();
  for (const [name, bytes] of folder.files()) {
    if (name.endsWith('.ldb') && before?.has(name) !== true) for (const type of await typesOf(name, bytes)) types.add(type);
  }
  return [...types].sort((a, b) => a - b);
}

/** A folder with tables, one after another: their first key and their compression. */
async function folderOf(...tables: readonly (readonly [string, DatabaseOptions['compression']])[]): Promise<WritableMemoryFolder> {
  const folder = new WritableMemoryFolder();
  for (const [prefix, compression] of tables) await addTable(folder, prefix, { compression, codecs: [zstdOrZlib, deflate] });
  return folder;
}

/** What a new table gets. */
async function typesWritten(folder: WritableMemoryFolder, options: DatabaseOptions): Promise<number[]> {
  const before = folder.files();
  await addTable(folder, 'new', options);
  return typesIn(folder, before);
}

const world = realDatabases().find(({ name }) => name.includes('mctestdb'))!;
const worldFolder = (): WritableMemoryFolder => new WritableMemoryFolder(folderFiles(world.path));

async function entriesOf(folder: WritableMemoryFolder): Promise<[string, string][]> {
  const database = await Database.open(folder, { codecs });
  const entries = await collect(database.entries());
  await database.close();
  return entries.map(([key, stored]) => [Buffer.from(key).toString('hex'), Buffer.from(stored).toString('hex')]);
}

describe("a world of Minecraft's", () => {
  test('has raw deflate in every compressed block after writes, a compaction and a repair', async () => {
    const folder = worldFolder();
    const before = await entriesOf(worldFolder());
    expect(before).toHaveLength(world.entries!);
    const database = await Database.open(folder, { codecs });
    for (const key of keysFrom('~')) await database.put(utf8(key), value);
    await database.delete(Buffer.from(before[0]![0], 'hex'));
    await database.flush();
    expect(await typesIn(folder)).toEqual([0, 4]);
    await database.compactRange();
    await database.close();
    expect(await typesIn(folder)).toEqual([0, 4]);
    const expected = await entriesOf(folder);
    expect(expected).toHaveLength(before.length - 1 + 100);

    await addTable(folder, '~', { codecs });
    folder.delete('CURRENT');
    await Database.repair(folder, { codecs });
    expect(await typesIn(folder)).toEqual([0, 4]);
    expect(await entriesOf(folder)).toEqual(expected);
  });

  test('gets tables of raw deflate from a log that is recovered when it is opened', async () => {
    const folder = worldFolder();
    const before = folder.files();
    const database = await Database.open(folder, { codecs });
    for (const key of keysFrom('~')) await database.put(utf8(key), value);
    await database.close();
    await (await Database.open(folder, { codecs })).close();
    expect(await typesIn(folder, before)).toEqual([0, 4]);
  });

  test.each([
    ["Snappy", 'snappy', [0, 1]],
    ['none', 'none', [0]],
    ['zlib', zlib, [0, 2]],
  ] as const)('gets what the caller names: %s', async (_, compression, types) => {
    expect(await typesWritten(worldFolder(), { codecs, compression })).toEqual(types);
  });

  test.each([
    ['without a codec', [], '@bloom/codecs'],
    ['with a codec that only reads', [reading(deflate)], 'its tables are compressed with deflate, which the codec deflate does not write: pass a codec that does as compression'],
  ] as const)('is neither opened for writing nor repaired %s, and nothing in it changes', async (_, given, message) => {
    const folder = worldFolder();
    const before = folder.files();
    const refusal = { name: 'UnsupportedError', code: 'BLOOM_UNSUPPORTED_CODEC', file: '000005.ldb', message: expect.stringContaining(message) as string };
    expect(await rejection(Database.open(folder, { codecs: given }))).toMatchObject(refusal);
    expect(await rejection(Database.repair(folder, { codecs: given }))).toMatchObject(refusal);
    expect(folder.files()).toEqual(before);
    expect(await typesWritten(folder, { codecs: [reading(deflate)], compression: deflate })).toEqual([0, 4]);
  });

  test('keeps raw deflate in a repair, whatever is damaged in its only table', async () => {
    const { length } = folderFiles(world.path).get('000005.ldb')!;
    const damages: Record<string, (bytes: Uint8Array) => Uint8Array> = {
      'the footer': (bytes) => bytes.fill(0xff, length - 48),
      'the end of the file': (bytes) => bytes.slice(0, length - 1000),
      'the index': (bytes) => bytes.fill(0xff, 14_600, 14_700),
      'the first block': (bytes) => bytes.fill(0xff, 100, 200),
    };
    for (const [what, damage] of Object.entries(damages)) {
      const folder = new WritableMemoryFolder([...folderFiles(world.path)].map(([name, bytes]) => [name, name === '000005.ldb' ? damage(bytes.slice()) : bytes]));
      const { written, entries } = await Database.repair(folder, { codecs });
      expect([what, written.length, entries > 300]).toEqual([what, 1, true]);
      expect([what, await typesIn(folder)]).toEqual([what, [0, 4]]);
    }
  });
});

describe('a new table has the compression', () => {
  test.each([
    ['of the only one that is compressed by a codec, although it is the oldest', [['a', zlib], ['b', 'snappy'], ['c', 'snappy']], [0, 2]],
    ['of the only one that is compressed by a codec, although it is the newest', [['a', 'snappy'], ['b', 'snappy'], ['c', deflate]], [0, 4]],
    ['of the newest where there are zlib and raw deflate', [['a', zlib], ['b', deflate]], [0, 4]],
    ['of the newest where there are raw deflate and zlib', [['a', deflate], ['b', zlib]], [0, 2]],
    ['of the only one that is compressed, between others', [['a', 'none'], ['b', 'none'], ['c', deflate], ['d', 'none'], ['e', 'none']], [0, 4]],
    ['of Snappy where all tables have that', [['a', 'snappy'], ['b', 'snappy']], [0, 1]],
    ['of Snappy where none is compressed', [['a', 'none'], ['b', 'none']], [0, 1]],
    ['of Snappy where there is none', [], [0, 1]],
  ] as const)('%s', async (_, tables, types) => {
    const given = { codecs: [zlib, deflate] };
    expect(await typesWritten(await folderOf(...tables), given)).toEqual(types);
    const repaired = await folderOf(...tables);
    // Entries in a log, for a table to be written.
    const database = await Database.open(repaired, { ...given, compression: 'none' });
    for (const key of keysFrom('log')) await database.put(utf8(key), value);
    await database.close();
    const before = repaired.files();
    await Database.repair(repaired, given);
    expect(await typesIn(repaired, before)).toEqual(types);
  });

  test('of later blocks where the first became no smaller', async () => {
    const folder = new WritableMemoryFolder();
    const random = Uint8Array.from({ length: 5000 }, (_, i) => Math.imul(i + 1, 0x9e37_79b1) >>> (i % 23));
    const database = await Database.open(folder, { compression: deflate });
    // No shorter key is between this one and the next, so that the index has it, and becomes no smaller either.
    await database.put(Uint8Array.of(10, ...random.subarray(0, 100)), random);
    await database.put(Uint8Array.of(11), new Uint8Array(5000));
    await database.flush();
    await database.close();
    const [table] = [...folder.files()].find(([name]) => name.endsWith('.ldb'))!;
    // Neither the index nor the first block is compressed.
    const types = await collect(tableLayout(new MemorySource(folder.files().get(table)!), { codecs, detail: 'fields' }));
    expect(types.filter(({ label }) => label.endsWith('compression type')).map((range) => Number.parseInt(String(range.value)))).toEqual([0, 4, 0, 0, 0]);
    expect(await rejection(Database.open(folder, { codecs: [zlib] }))).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'data block' });
    expect(await typesWritten(folder, { codecs })).toEqual([0, 4]);
  });

  test('of Snappy where a damaged block of a Snappy table has the type of a codec', async () => {
    const folder = await folderOf(['a', 'snappy']);
    const [name, bytes] = [...folder.files()].find(([file]) => file.endsWith('.ldb'))!;
    const changed = bytes.slice();
    // The type of the index.
    const at = changed.length - 48 - 5;
    expect(changed[at]).toBe(1);
    changed[at] = 4;
    const damaged = new WritableMemoryFolder([...folder.files()].map(([file, stored]) => [file, file === name ? changed : stored]));
    expect(await typesWritten(damaged, { codecs })).toEqual([0, 1]);
  });

  test('of zstd if the codec writes that, otherwise of Snappy, which programs with zstd read too', async () => {
    const tables = [['a', zstd]] as const;
    expect(await typesWritten(await folderOf(...tables), { codecs: [zstdOrZlib] })).toEqual([0, 1]);
    expect(await typesWritten(await folderOf(...tables), { codecs: [reading(zstd)] })).toEqual([0, 1]);
    const folder = await folderOf(...tables);
    const before = folder.files();
    await addTable(folder, 'new', { codecs: [zstd] });
    const [, written] = [...folder.files()].find(([name]) => name.endsWith('.ldb') && !before.has(name))!;
    expect([...written.subarray(0, 4)]).toEqual(ZSTD_MAGIC);
  });

  test('of a codec that is none of the known, and is refused where that only reads', async () => {
    const own: Codec = { ...snappyCodec, type: 77, name: 'own' };
    const folder = await folderOf();
    await addTable(folder, 'a', { compression: own });
    expect(await rejection(Database.open(folder, { codecs: [reading(own)] }))).toMatchObject({ message: expect.stringContaining('its tables are compressed with type 77, which the codec own does not write') as string });
    expect(await typesWritten(folder, { codecs: [own] })).toEqual([0, 77]);
  });
});

test('a function of the level is called once for each level, also when the compression is found in tables', async () => {
  const folder = new WritableMemoryFolder();
  await addTable(folder, 'a', { compression: deflate });
  const levels: number[] = [];
  const bitsPerKey = (level: number): number => levels.push(level);
  const database = await Database.open(folder, { codecs, bitsPerKey });
  await database.close();
  expect(levels).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('a thread that writes tables gets the codecs that the tables need, and no others', async () => {
  const toldBy = async (folder: WritableMemoryFolder, options: DatabaseOptions): Promise<TableThreadSettings> => {
    const told: TableThreadSettings[] = [];
    const startTableThread = (settings: TableThreadSettings): undefined => void told.push(settings);
    const database = await Database.open(Object.assign(folder, { startTableThread }), options);
    for (const key of keysFrom('b')) await database.put(utf8(key), new Uint8Array(20_000));
    await database.flush();
    await database.close();
    return told[0]!;
  };
  const needed = { comparator: undefined, filterPolicy: undefined };
  expect(await toldBy(await folderOf(['a', deflate]), { codecs })).toMatchObject({ plugins: { ...needed, compression: 4, codecs: [2, 4] } });
  expect(await toldBy(await folderOf(['a', deflate]), { codecs, compression: 'snappy' })).toMatchObject({ compression: 'snappy', plugins: { ...needed, compression: undefined, codecs: [2, 4] } });
  expect(await toldBy(await folderOf(['a', 'snappy']), { codecs, compression: zlib })).toMatchObject({ plugins: { ...needed, compression: 2, codecs: [2, 4] } });
  expect(await toldBy(await folderOf(['a', 'snappy']), { codecs })).toMatchObject({ compression: 'snappy', plugins: undefined });
  const filterPolicy: FilterPolicy = { name: 'own', createFilter: () => undefined, keyMayMatch: () => true };
  expect(await toldBy(await folderOf(), { codecs, filterPolicy })).toMatchObject({ plugins: { filterPolicy: 'own', codecs: [] } });
});

describe('storedCompression', () => {
  test.each([
    ['the newest codec', [['a', zlib], ['b', deflate], ['c', 'snappy']], { type: 4, name: 'deflate' }],
    ['zlib, which has the type of zstd', [['a', zlib]], { type: 2, name: 'zlib' }],
    ['zstd', [['a', zstd]], { type: 2, name: 'zstd' }],
    ['Snappy where no table needs a codec', [['a', 'snappy'], ['b', 'none']], { type: 1, name: 'snappy' }],
    ['none where no block is compressed', [['a', 'none']], { type: 0, name: 'none' }],
    ['nothing where there is no table', [], undefined],
  ] as const)('recognizes %s, without a codec', async (_, tables, compression) => {
    expect(await storedCompression(await folderOf(...tables))).toEqual(compression);
  });

  test('ignores a table whose footer has a handle outside the file, as opening and repairing the database do', async () => {
    const folder = await folderOf(['a', 'none']);
    const files = folder.files();
    const name = [...files.keys()].find((file) => file.endsWith('.ldb'))!;
    const table = files.get(name)!;
    const footerAt = table.length - 48;
    table.fill(0, footerAt, footerAt + 40);
    // The handle of the metaindex is two bytes.
    table[putVarint(table, footerAt + 2, table.length)] = 100;
    expect(await storedCompression(new WritableMemoryFolder(files))).toBeUndefined();
    const database = await Database.open(new WritableMemoryFolder(files));
    expect(await rejection(database.get('a1'))).toMatchObject({ code: 'BLOOM_BAD_HANDLE' });
    await database.close();
    const repaired = new WritableMemoryFolder(files);
    await Database.repair(repaired);
    expect(await entriesOf(repaired)).toHaveLength(100);
  });

  test('finds the compression of a folder that cannot be opened, and skips damaged tables', async () => {
    const folder = await folderOf(['a', deflate], ['b', 'snappy']);
    folder.delete('CURRENT');
    const newest = [...folder.files().keys()].filter((name) => name.endsWith('.ldb')).sort().at(-1)!;
    const damaged = (name: string, bytes: Uint8Array): Uint8Array => (name === newest ? bytes.slice(0, -1) : bytes);
    const rest = new WritableMemoryFolder([...folder.files()].map(([name, bytes]) => [name, damaged(name, bytes)]));
    expect(await storedCompression(rest)).toEqual({ type: 4, name: 'deflate' });
    expect(await rejection(storedCompression({ open: () => undefined }))).toMatchObject({ name: 'TypeError' });
  });
});
