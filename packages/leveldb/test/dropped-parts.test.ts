import { Database, DatabaseReader, encodeVersionEdit, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { bytewiseComparator, MemorySink, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { logOf } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('keys of an unknown type in two tables', () => {
  const files = new Map<string, Uint8Array>([['CURRENT', utf8('MANIFEST-000001\n')]]);
  const newFiles = ['abc', 'def'].map((keys, i) => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: null });
    const internalKeys = Array.from(keys, (key, j) => encodeInternalKey({ userKey: utf8(key), sequence: BigInt(i * 3 + j + 1), type: j === 1 ? 7 : 1 }));
    for (const key of internalKeys) builder.add(key, utf8('value'));
    builder.finish();
    const number = BigInt(5 + i);
    files.set(`00000${number}.ldb`, sink.toBytes());
    return { level: 1, file: { number, size: sink.toBytes().length, smallest: internalKeys[0]!, largest: internalKeys.at(-1)! } };
  });
  files.set('MANIFEST-000001', logOf([encodeVersionEdit({ comparator: bytewiseComparator.name, logNumber: 9n, nextFileNumber: 10n, lastSequence: 6n, newFiles })]));

  test.each([false, true])('are left out by a walk, and each table is named (reverse: %j)', async (reverse) => {
    const reader = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect([...reader.keys({ reverse })].map(text).sort().join('')).toBe('acdf');
    const dropped = ['000005.ldb', '000006.ldb'].map((file) => expect.objectContaining({ file, code: 'BLOOM_BAD_INTERNAL_KEY' }) as unknown);
    expect(reader.describe().dropped).toEqual(reverse ? dropped.reverse() : dropped);
    reader.versions('b');
    reader.versions('e');
    expect(reader.describe().dropped).toHaveLength(2);
    const strict = SyncDatabaseReader.open(new MemoryFolder(files));
    expect(caught(() => [...strict.keys({ reverse })])).toMatchObject({ code: 'BLOOM_BAD_INTERNAL_KEY', file: reverse ? '000006.ldb' : '000005.ldb' });
    const later = await DatabaseReader.open(new MemoryFolder(files));
    expect(await rejection(collect(later.keys({ gte: 'd', reverse })))).toMatchObject({ code: 'BLOOM_BAD_INTERNAL_KEY', file: '000006.ldb' });
    await later.close();
  });
});

test('what was left out stays in the description after a refresh, until the folder is another database', async () => {
  const write = async (folder: WritableMemoryFolder, prefix: string): Promise<void> => {
    const database = await Database.open(folder, { blockSize: 1024, compression: 'none' });
    for (let i = 0; i < 500; i++) await database.put(`${prefix}${String(i).padStart(5, '0')}`, 'value'.repeat(10));
    await database.flush();
    await database.close();
  };
  const writable = new WritableMemoryFolder();
  await write(writable, 'a');
  const files = writable.files();
  const table = [...files.keys()].find((name) => name.endsWith('.ldb'))!;
  files.get(table)![3000]! ^= 255;
  const folder = new WritableMemoryFolder(files);
  const reader = await DatabaseReader.open(folder, { damage: 'skip' });
  const keys = await collect(reader.keys());
  expect(keys.length).toBeGreaterThan(450);
  expect(keys.length).toBeLessThan(500);
  const before = reader.describe().dropped;
  expect(before).toMatchObject([{ file: table, code: 'BLOOM_BAD_CHECKSUM' }]);
  expect(await reader.refresh()).toBe(false);
  expect(reader.describe().dropped).toEqual(before);
  // Another MANIFEST of the same database.
  const database = await Database.open(folder);
  await database.put('b', '1');
  expect(await reader.refresh()).toBe(true);
  expect(reader.describe().dropped).toEqual(before);
  await database.close();
  await reader.close();

  let shown = new MemoryFolder(files);
  const sync = SyncDatabaseReader.open({ list: () => shown.list(), open: (name) => shown.open(name) }, { damage: 'skip' });
  expect([...sync.keys()].length).toBe(keys.length);
  expect(sync.describe().dropped).toHaveLength(1);
  const other = new WritableMemoryFolder();
  await write(other, 'z');
  shown = new MemoryFolder(other.files());
  expect(sync.refresh()).toBe(true);
  expect(sync.describe().dropped).toEqual([]);
  sync.close();
});
