import { type CorruptionError, Database, DatabaseReader, type Dropped, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync, verifyDatabase } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';
import type { FolderFile } from '../src/folder/folder.js';
import { runSync } from '../src/folder/folder-reading.js';
import { LogBatches, type LogBatchTarget, type SkippedDamage } from '../src/folder/log-batches.js';
import { assembleDatabase, logOf, recordOf } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const put = (sequence: number, ...keys: readonly string[]): Uint8Array => recordOf({ sequence, operations: keys.map((key) => [utf8(key), utf8('v')]) });

const folder = new MemoryFolder(new Map());
const fileOf = (bytes: Uint8Array): FolderFile => new MemoryFolder(new Map([['000009.log', bytes]])).open('000009.log')!;

/** `bytes` after `change`. */
function changed(bytes: Uint8Array, change: (view: DataView) => void): Uint8Array {
  change(new DataView(bytes.buffer, bytes.byteOffset, bytes.length));
  return bytes;
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

describe('reading the batches of a log', () => {
  const readAll = (records: readonly Uint8Array[], target: LogBatchTarget): LogBatches => {
    const batches = new LogBatches(fileOf(logOf(records)), '000009.log', target);
    runSync(folder, batches.readAll());
    return batches;
  };

  test('gives each batch with its place, and passes over operations that are left', () => {
    const records = [put(3, 'a', 'b'), put(5, 'c')];
    const places: unknown[] = [];
    const { lastSequence } = readAll(records, { batch: ({ sequence, count }, place) => places.push([sequence, count, place]) });
    expect(places).toEqual([
      [3n, 2, { structure: 'write batch', offset: 0, file: '000009.log' }],
      [5n, 1, { structure: 'write batch', offset: logOf(records.slice(0, 1)).length, file: '000009.log' }],
    ]);
    expect(lastSequence).toBe(5n);
  });

  test('reports the highest sequence by the headers of its batches, also without a target for them', () => {
    expect(readAll([put(3, 'a', 'b', 'c')], {}).lastSequence).toBe(5n);
    expect(readAll([put(7, 'a'), put(3, 'b')], {}).lastSequence).toBe(7n);
    expect(readAll([], {}).lastSequence).toBe(0n);
  });

  test('reports damage after the operations before it, by its part', () => {
    const found: unknown[] = [];
    const target: LogBatchTarget = {
      batch: (batch) => {
        while (batch.next()) found.push(batch.keyEnd - batch.keyStart);
      },
      skip: (damage: SkippedDamage, part) => found.push([damage, part]),
    };
    const cut = put(1, 'abc', 'de').slice(0, -1);
    const high = put(0, 'x');
    new DataView(high.buffer).setBigUint64(0, 2n ** 56n - 1n, true);
    const { lastSequence } = readAll([cut, high, new Uint8Array(2)], target);
    const offsets = [0, logOf([cut]).length, logOf([cut, high]).length];
    const damage = (offset: number, byteLength: number, reason: string): unknown => [{ file: '000009.log', offset, byteLength, reason, code: 'BLOOM_BAD_WRITE_BATCH' }, 'write batch'];
    expect(found).toEqual([
      3,
      damage(0, cut.length, 'bad WriteBatch Put'),
      damage(offsets[1]!, high.length, 'its sequence is too high'),
      damage(offsets[2]!, 2, 'log record too small'),
    ]);
    expect(lastSequence).toBe(2n);
  });

  test('says after each piece whether there may be more, and at the end what the log ends in', () => {
    const bytes = logOf([put(1, 'a'), put(2, 'b')]).slice(0, -1);
    const batches = new LogBatches(fileOf(bytes), '000009.log', {});
    expect(runSync(folder, batches.readPiece())).toBe(true);
    expect(batches.tail).toBeUndefined();
    expect(runSync(folder, batches.readPiece())).toBe(false);
    expect(batches.tail).toMatchObject({ problem: 'cut payload' });
    expect(batches.recordsEnd).toBe(logOf([put(1, 'a')]).length);
  });

  test('leaves out a record that was not finished when the next one began a block, without damage', () => {
    const killed = logOf([put(1, 'a'), put(2, 'k'.repeat(40_000))]).subarray(0, 32_768);
    const bytes = new Uint8Array(Buffer.concat([killed, logOf([put(2, 'b'), put(3, 'c')])]));
    const sequences: bigint[] = [];
    const target: LogBatchTarget = { batch: ({ sequence }) => sequences.push(sequence) };
    runSync(folder, new LogBatches(fileOf(bytes), '000009.log', target).readAll());
    expect(sequences).toEqual([1n, 2n, 3n]);
    const damaged = new LogBatches(fileOf(changed(bytes, (view) => view.setUint8(32_768 + 7, 0xff))), '000009.log', target);
    expect(caught(() => runSync(folder, damaged.readAll()))).toMatchObject({ code: 'BLOOM_BAD_LOG', structure: 'log record', offset: 32_768, file: '000009.log' });
  });
});

describe('a log that ends with the first bytes of a record', () => {
  const first = logOf([put(1, 'a')]);
  /** Their header: a FULL record of 5,000 bytes. */
  const withRest = (rest: Uint8Array): Map<string, Uint8Array> =>
    assembleDatabase({ tables: [] }).set('000009.log', new Uint8Array(Buffer.concat([first, Uint8Array.of(1, 2, 3, 4, 0x88, 0x13, 1), rest])));

  test('which are those of a batch, is whole up to there', async () => {
    const files = withRest(put(2, 'b'.repeat(4979)).subarray(0, 2000));
    expect((await verifyDatabase(new MemoryFolder(files))).findings).toEqual([]);
    expect([...SyncDatabaseReader.open(new MemoryFolder(files)).keys()].map(text)).toEqual(['a']);
  });

  test('which are not those of a batch, is damaged', async () => {
    const files = withRest(utf8('other bytes of another file'));
    const damage = { file: '000009.log', code: 'BLOOM_BAD_LOG', offset: first.length };
    expect((await verifyDatabase(new MemoryFolder(files))).findings).toEqual([{ ...damage, structure: 'log record', problem: 'bad record length (34 bytes)' }]);
    expect(caught(() => SyncDatabaseReader.open(new MemoryFolder(files)))).toMatchObject(damage);
    const reader = SyncDatabaseReader.open(new MemoryFolder(files), { damage: 'skip' });
    expect([...reader.keys()].map(text)).toEqual(['a']);
    expect(reader.describe().dropped).toMatchObject([damage]);
    expect((await Database.repair(new WritableMemoryFolder(files))).lost).toMatchObject([damage]);
  });

  test.each(['none', 'snappy'] as const)('is damaged if a table was copied over it, with compression %s', async (compression) => {
    const versions = Array.from({ length: 30 }, (_, i) => ({ key: Uint8Array.of(i, 1, i), sequence: i + 1, value: utf8(`value ${i}`) }));
    const files = assembleDatabase({ tables: [{ level: 0, number: 6, versions }], build: { compression } });
    files.set('000009.log', files.get('000006.ldb')!);
    expect((await verifyDatabase(new MemoryFolder(files))).findings).toMatchObject([{ file: '000009.log', code: 'BLOOM_BAD_LOG', offset: 0 }]);
  });
});

describe.each(Object.entries(damagedRecords))('a log with a batch %s', (_, { record, keys }) => {
  const files = databaseWith(record);
  const place = (found: Pick<CorruptionError, 'code' | 'offset' | 'file'>) => ({ code: found.code, offset: found.offset, file: found.file });

  test('has the same damage and the same operations for all readers', async () => {
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
