import { type CorruptionError, Database, DatabaseReader, type Dropped, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync, verifyDatabase } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, logOf, recordOf } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const put = (sequence: number, key: string): Uint8Array => recordOf({ sequence, operations: [[utf8(key), utf8('v')]] });

/** `record` after `change`. */
function changed(record: Uint8Array, change: (view: DataView) => void): Uint8Array {
  change(new DataView(record.buffer, record.byteOffset, record.length));
  return record;
}

/** Records that are whole and no batches, or not all of them, and the keys that they hold all the same. */
const damagedRecords: Record<string, { readonly record: Uint8Array; readonly keys: readonly string[] }> = {
  'without a header': { record: new Uint8Array(3), keys: [] },
  'with a sequence that is too high': { record: changed(put(0, 'x'), (view) => view.setBigUint64(0, 2n ** 56n - 1n, true)), keys: [] },
  'with a tag that is none': { record: changed(put(2, 'x'), (view) => view.setUint8(12, 7)), keys: [] },
  'with more operations than its header says': { record: changed(put(2, 'x'), (view) => view.setUint32(8, 0, true)), keys: ['x'] },
  'with fewer operations than its header says': { record: changed(put(2, 'x'), (view) => view.setUint32(8, 2, true)), keys: ['x'] },
  'with a value that is cut': { record: put(2, 'x').slice(0, -1), keys: [] },
};

/** A database with a log that has `record` between two others. */
function databaseWith(record: Uint8Array): Map<string, Uint8Array> {
  return assembleDatabase({ tables: [] }).set('000009.log', logOf([put(1, 'a'), record, put(5, 'b')]));
}

describe.each(Object.entries(damagedRecords))('of a batch %s', (_, { record, keys }) => {
  const files = databaseWith(record);
  const place = (found: Pick<CorruptionError, 'code' | 'offset' | 'file'>) => ({ code: found.code, offset: found.offset, file: found.file });

  test('all readers of the log report the same damage and take the same operations', async () => {
    const { findings } = await verifyDatabase(new MemoryFolder(files));
    expect(findings).toHaveLength(1);
    const [{ code, offset, file, problem: reason }] = findings as [(typeof findings)[0]];
    expect(code).toBe('BLOOM_BAD_WRITE_BATCH');
    const expected = { code, offset, file };
    const dropped: Dropped = { ...expected, byteLength: record.length, reason };
    const all = ['a', ...keys, 'b'];
    const options = { damage: 'skip' } as const;

    const skipping = SyncDatabaseReader.open(new MemoryFolder(files), options);
    expect(skipping.describe().dropped).toEqual([dropped]);
    expect([...skipping.keys()].map(text)).toEqual(all.sort());
    expect(place(caught(() => SyncDatabaseReader.open(new MemoryFolder(files))) as CorruptionError)).toEqual(expected);
    expect(place((await rejection(DatabaseReader.open(new MemoryFolder(files)))) as CorruptionError)).toEqual(expected);

    expect(place((await rejection(Database.open(new WritableMemoryFolder(files)))) as CorruptionError)).toEqual(expected);
    const database = await Database.open(new WritableMemoryFolder(files), options);
    expect(database.describe().dropped).toEqual([dropped]);
    expect((await collect(database.keys())).map(text)).toEqual(all);
    expect(database.lastSequence).toBe(skipping.lastSequence);
    await database.close();

    const report = await Database.repair(new WritableMemoryFolder(files));
    expect(report.lost).toEqual([dropped]);
    expect(report.entries).toBe(all.length);

    const noted: Dropped[] = [];
    const stored = [...storedEntriesSync(new MemoryFolder(files), { ...options, onDropped: (one) => noted.push(one) })];
    expect(noted).toEqual([dropped]);
    expect(stored.map(({ key }) => text(key)).sort()).toEqual(all);
    expect(place(caught(() => [...storedEntriesSync(new MemoryFolder(files))]) as CorruptionError)).toEqual(expected);
    expect(place((await rejection(collect(storedEntries(new MemoryFolder(files))))) as CorruptionError)).toEqual(expected);
  });
});

test('a batch without operations has no sequence, for readers as for the writer', async () => {
  const files = databaseWith(recordOf({ sequence: 0, operations: [] }));
  const reader = SyncDatabaseReader.open(new MemoryFolder(files));
  expect(reader.lastSequence).toBe(5n);
  const database = await Database.open(new WritableMemoryFolder(files));
  expect(database.lastSequence).toBe(5n);
  await database.close();
});

test('of a log that is longer than one read, stored entries come before all of it is read', async () => {
  const value = new Uint8Array(2 ** 20);
  const records = Array.from({ length: 10 }, (_, i) => recordOf({ sequence: i + 1, operations: [[utf8(String(i)), value]] }));
  const files = assembleDatabase({ tables: [] }).set('000009.log', logOf(records));
  let bytes = 0;
  const folder = new MemoryFolder(files);
  const counting = {
    list: () => folder.list(),
    open(name: string) {
      const file = folder.open(name);
      return file && { byteLength: file.byteLength, read: (offset: number, length: number) => ((bytes += length), file.read(offset, length)) };
    },
  };
  const seen: [key: string, bytes: number][] = [];
  for await (const { key } of storedEntries(counting)) seen.push([text(key), bytes]);
  expect(seen.map(([key]) => key)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(seen[0]![1]).toBeLessThan(5 * 2 ** 20);
  expect(bytes).toBe(files.get('000009.log')!.length);
});
