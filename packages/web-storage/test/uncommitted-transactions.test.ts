// Chromium writes changes of a transaction to the folder before the transaction is committed, and next to them what undoes them.
import { serialize } from 'node:v8';
import { joinedBytes, seeded } from '@bloom/bytes/internal';
import { DatabaseReader, SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { encodeKey, EntryDecoder, IndexedDbReader } from '../src/index.js';
import { collected, type Entry, folderOf, indexedDbOf } from './written-folders.js';

type Part = number | Uint8Array;

const bytesOf = (...parts: readonly Part[]): Uint8Array => joinedBytes(parts.map((part) => (typeof part === 'number' ? [part] : part)));
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le').swap16());
const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value);
const text = (value: string): Uint8Array => bytesOf(value.length, utf16(value));

const recordKey = (key: number | string): Uint8Array => bytesOf(0, 1, 1, 1, encodeKey(key));
const stored = (value: unknown, version = 1): Uint8Array => bytesOf(version, serialize(value));
const record = (key: number | string, value: unknown): Entry => [recordKey(key), stored(value)];
const DATABASE: readonly Entry[] = [
  [bytesOf(0, 0, 0, 0, 201, text('https_a_0@1'), text('d')), bytesOf(1)],
  [bytesOf(0, 1, 0, 0, 4), bytesOf(2)],
  [bytesOf(0, 1, 0, 0, 50, 1, 0), utf16('s')],
  [bytesOf(0, 1, 0, 0, 50, 1, 1), bytesOf(0, 0, 0)],
];

/** A field of a Protocol Buffers message, with fewer than 128 bytes. */
const field = (number: number, value: Uint8Array): Uint8Array => bytesOf((number << 3) | 2, value.length, value);
const put = (key: Uint8Array, value: Uint8Array): Uint8Array => field(1, bytesOf(field(1, key), ...(value.length === 0 ? [] : [field(2, value)])));
const del = (key: Uint8Array): Uint8Array => field(2, field(1, key));
const delRange = (first: Uint8Array, end: Uint8Array): Uint8Array => field(3, bytesOf(field(1, first), field(2, end)));
/** As in a folder that Chromium 156 left when it was killed. */
const LOCKED = Uint8Array.from(Buffer.from('0a0912070a05616c7068610a16080112120a1000000000000000010000000000000003', 'hex'));
const VERSION: Entry = [bytesOf(0, 0, 0, 0, 50, 0), bytesOf(8, 1)];

/** A transaction with the operations that undo it, the first change's last. */
function transaction(id: Part, isCommitted: boolean, operations: readonly Uint8Array[]): Entry[] {
  const numbered = operations.map((operation, i): Entry => [bytesOf(0, 0, 0, 0, 50, 2, id, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff - operations.length + 1 + i), operation]);
  return [VERSION, [bytesOf(0, 0, 0, 0, 50, 1, id), isCommitted ? bytesOf() : LOCKED], ...numbered];
}

async function valuesIn(entries: readonly Entry[], range: object = {}): Promise<unknown[]> {
  await using reader = await IndexedDbReader.open(await indexedDbOf(entries));
  const [database] = await reader.databases();
  expect(database!.errors).toEqual([]);
  return (await collected(reader.records(database!, database!.stores[0]!, range))).map(({ key, value }) => [key, value]);
}

const CHANGED = [...DATABASE, record(1, 'one'), record(2, 'changed'), record(4, 'added'), record(5, 'five'), record('z', 'added too')];
const UNDONE = [del(recordKey('z')), put(recordKey(3), stored('three')), del(recordKey(4)), put(recordKey(2), stored('two'))];
const BEFORE = [[1, 'one'], [2, 'two'], [3, 'three'], [5, 'five']];

describe('an uncommitted transaction', () => {
  test('does not change the records, in either direction', async () => {
    const entries = [...CHANGED, ...transaction(7, false, UNDONE)];
    expect(await valuesIn(entries)).toEqual(BEFORE);
    expect(await valuesIn(entries, { reverse: true })).toEqual([...BEFORE].reverse());
    expect(await valuesIn(entries, { limit: 2 })).toEqual(BEFORE.slice(0, 2));
    expect(await valuesIn(entries, { gt: 1, lte: 3 })).toEqual([[2, 'two'], [3, 'three']]);
    expect(await valuesIn(entries, { gte: 3, lt: 5, reverse: true })).toEqual([[3, 'three']]);
  });

  test('with a number of two bytes does not change them either', async () => {
    expect(await valuesIn([...CHANGED, ...transaction(bytesOf(0xdc, 0x02), false, UNDONE)])).toEqual(BEFORE);
  });

  test('that wrote the same record several times leaves its first value', async () => {
    const operations = [put(recordKey(2), stored('between')), del(recordKey(2)), put(recordKey(2), stored('two'))];
    expect(await valuesIn([...DATABASE, record(2, 'last'), ...transaction(1, false, operations)])).toEqual([[2, 'two']]);
  });

  test('whose changes are ranges of new records adds none of them', async () => {
    const ranges = [delRange(recordKey(2), recordKey(4)), delRange(recordKey(1), recordKey(3)), delRange(recordKey(4), recordKey(5)), delRange(recordKey(9), recordKey(0))];
    const entries = [...CHANGED, ...transaction(1, false, [...ranges, put(recordKey(3), stored('three'))])];
    expect(await valuesIn(entries)).toEqual([[3, 'three'], [5, 'five'], ['z', 'added too']]);
    expect(await valuesIn(entries, { reverse: true })).toEqual([['z', 'added too'], [5, 'five'], [3, 'three']]);
    await using reader = await IndexedDbReader.open(await indexedDbOf(entries));
    const store = { id: 1, keyPath: undefined, autoIncrement: false } as const;
    expect(await Promise.all([1, 2, 3, 4, 5].map((key) => reader.get({ id: 1 }, store, key)))).toEqual([undefined, undefined, 'three', undefined, 'five']);
  });

  test('does not change what get and an index find', async () => {
    const entry = (key: string, primary: number, version: number): Entry => [bytesOf(0, 1, 1, 30, encodeKey(key), 0, encodeKey(primary)), bytesOf(version, encodeKey(primary))];
    const index = { id: 30 };
    const entries = [...DATABASE, [recordKey(2), stored('changed', 6)] as const, entry('changed', 2, 6), record(4, 'added'), entry('added', 4, 1), ...transaction(1, false, [
      del(entry('added', 4, 1)[0]), del(recordKey(4)), del(entry('changed', 2, 6)[0]), put(...entry('two', 2, 5)), put(recordKey(2), stored('two', 5)),
    ])];
    await using reader = await IndexedDbReader.open(await indexedDbOf(entries));
    const [database] = await reader.databases();
    const [store] = database!.stores;
    expect(await reader.get(database!, store!, 2)).toBe('two');
    expect(await reader.get(database!, store!, 4)).toBeUndefined();
    expect((await collected(reader.records(database!, store!, { index }))).map(({ key, primaryKey, value }) => [key, primaryKey, value])).toEqual([['two', 2, 'two']]);
  });

  test('that changes the version of a database adds no store', async () => {
    const added = [bytesOf(0, 1, 0, 0, 50, 2, 0), utf16('new')] as const;
    await using reader = await IndexedDbReader.open(await indexedDbOf([...DATABASE, [bytesOf(0, 1, 0, 0, 4), bytesOf(3)], added, ...transaction(1, false, [del(added[0]), put(bytesOf(0, 1, 0, 0, 4), bytesOf(2))])]));
    expect((await reader.databases()).map(({ version, stores }) => [version, stores.map(({ name }) => name)])).toEqual([[2, ['s']]]);
  });

  test('is undone where the entry that it replaced was empty', async () => {
    await using reader = await IndexedDbReader.open(await indexedDbOf([...DATABASE, record(1, 'one'), ...transaction(1, false, [put(recordKey(1), bytesOf())])]));
    const [found] = await collected(reader.records({ id: 1 }, { id: 1, keyPath: undefined, autoIncrement: false }));
    expect(found!.error?.code).toBe('BLOOM_BAD_VALUE');
  });

  test('does not lose the blobs of what it has overwritten, nor its own, where single entries are decoded', async () => {
    const inFile = (blob: number, value: unknown): readonly [Uint8Array, Uint8Array, Uint8Array] => [bytesOf(1, 0xff, 0x11, 1, serialize(value).length, 0), bytesOf(0, blob, 0, serialize(value).length), serialize(value)];
    const [before, beforeBlobs, beforeFile] = inFile(5, 'committed');
    const [after, afterBlobs, afterFile] = inFile(6, 'not committed');
    const blobKey = bytesOf(0, 1, 1, 3, encodeKey(2));
    const files = new Map([['1/00/5', beforeFile], ['1/00/6', afterFile]]);
    const blobs = { read: (path: string) => Promise.resolve(files.get(path)) };
    const operations = [put(blobKey, beforeBlobs), put(recordKey(2), before)];
    const folder = await indexedDbOf([...DATABASE, [recordKey(2), after], [blobKey, afterBlobs], ...transaction(7, false, operations)]);
    await using reader = await IndexedDbReader.open(folder, { blobs });
    expect(await reader.get({ id: 1 }, { id: 1, keyPath: undefined, autoIncrement: false }, 2)).toBe('committed');
    expect(await reader.decodeEntry(recordKey(2), before)).toMatchObject({ value: 'committed', database: { name: 'd' } });
    expect(await reader.decodeEntry(recordKey(2), after)).toMatchObject({ value: 'not committed', database: { name: 'd' } });
  });
});

test('EntryDecoder gives all entries of a folder apart from uncommitted changes, of either reader', async () => {
  const folder = await indexedDbOf([...CHANGED, ...transaction(7, false, UNDONE)]);
  const options = { comparators: [idbComparator] };
  await using decoder = await EntryDecoder.open(folder);
  await using reader = await DatabaseReader.open(folder, options);
  const before = await indexedDbOf([...DATABASE, ...BEFORE.map(([key, value]) => record(key as number, value)), ...transaction(7, false, UNDONE)]);
  await using expected = await DatabaseReader.open(before, options);
  const entries = await collected(expected.entries());
  expect(await collected(decoder!.committed(reader))).toEqual(entries);
  expect(await collected(decoder!.committed(reader, { reverse: true }))).toEqual([...entries].reverse());
  await expect(collected(decoder!.committed(reader, { gte: 'a' } as object))).rejects.toThrow('EntryDecoder.committed has no option "gte"');
  using syncReader = SyncDatabaseReader.open(folder, options);
  expect(await collected(decoder!.committed(syncReader))).toEqual(entries);
  const items: readonly Entry[] = [[utf8('_https://a\0\x01k'), utf8('\x01v')], [utf8('VERSION'), utf8('1')]];
  const local = await folderOf(items);
  await using localDecoder = await EntryDecoder.open(local);
  await using localReader = await DatabaseReader.open(local);
  expect(await collected(localDecoder!.committed(localReader))).toEqual(await collected(localReader.entries()));
});

test('a committed transaction, whose operations are not deleted yet, is not undone', async () => {
  const after = [[1, 'one'], [2, 'changed'], [4, 'added'], [5, 'five'], ['z', 'added too']];
  expect(await valuesIn([...CHANGED, ...transaction(7, true, UNDONE)])).toEqual(after);
  // One that was undone says that its other tasks are to be ignored.
  expect(await valuesIn([...CHANGED, ...transaction(7, true, UNDONE), [bytesOf(0, 0, 0, 0, 50, 1, 7), bytesOf(0x10, 1)]])).toEqual(after);
});

describe('operations that cannot be read', () => {
  test.each([
    ['are of an unknown kind', field(9, bytesOf())],
    ['are empty', bytesOf()],
    ['end early', bytesOf(0x0a, 40, 1)],
    ['have a field of a type that is not used', bytesOf(0x0d, 1, 2, 3, 4)],
  ])('because they %s are an error of the database, and the others are undone', async (_, damaged) => {
    await using reader = await IndexedDbReader.open(await indexedDbOf([...CHANGED, ...transaction(7, false, [...UNDONE, damaged])]));
    const [database] = await reader.databases();
    expect(database!.errors.map(({ code, message }) => `${code} ${message}`)).toEqual([expect.stringMatching(/^BLOOM_BAD_METADATA metadata at offset \d+: of an uncommitted transaction, whose changes may be shown: /u)]);
    expect((await collected(reader.records(database!, database!.stores[0]!))).map(({ key, value }) => [key, value])).toEqual(BEFORE);
  });

  test('because their version is unknown are an error, and nothing is undone', async () => {
    await using reader = await IndexedDbReader.open(await indexedDbOf([...CHANGED, ...transaction(7, false, UNDONE), [VERSION[0], bytesOf(8, 2)]]));
    const [database] = await reader.databases();
    expect(database!.errors.map(({ code }) => code)).toEqual(['BLOOM_BAD_METADATA']);
    expect(await collected(reader.records(database!, database!.stores[0]!))).toHaveLength(5);
  });
});

test('records of random transactions are those of the committed ones', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = seeded(seed);
    const committed = new Map<number, string>();
    const entries: Entry[] = [];
    for (let i = 0; i < 20; i++) committed.set(random.below(40), `value ${i}`);
    const changed = new Map(committed);
    const transactions: Entry[] = [];
    for (let id = 1; id <= 3; id++) {
      const operations: Uint8Array[] = [];
      for (let i = random.below(12); i > 0; i--) {
        // Two transactions never change the same record.
        const key = random.below(13) * 3 + id;
        const before = changed.get(key);
        operations.unshift(before === undefined ? del(recordKey(key)) : put(recordKey(key), stored(before)));
        if (random.below(3) === 0) changed.delete(key);
        else changed.set(key, `change ${id} ${i}`);
      }
      const isCommitted = random.below(3) === 0;
      if (isCommitted) for (let key = id; key < 40; key += 3) {
        const value = changed.get(key);
        if (value === undefined) committed.delete(key);
        else committed.set(key, value);
      }
      transactions.push(...transaction(id, isCommitted, operations));
    }
    for (const [key, value] of changed) entries.push(record(key, value));
    const from = random.below(40);
    const range = { gte: from, lt: from + random.below(20), reverse: random.below(2) === 0 };
    const expected = [...committed].sort(([a], [b]) => (range.reverse ? b - a : a - b)).filter(([key]) => key >= range.gte && key < range.lt);
    expect(await valuesIn([...DATABASE, ...entries, ...transactions], range), `seed ${seed}`).toEqual(expected);
  }
});

test('DatabaseReader shows the folder as it is stored', async () => {
  await using reader = await DatabaseReader.open(await indexedDbOf([...CHANGED, ...transaction(7, false, UNDONE)]), { comparators: [idbComparator] });
  expect(await reader.get(recordKey(2))).toEqual(stored('changed'));
});

test('get passes over the blobs of an uncommitted transaction only once', async () => {
  const blobs = Array.from({ length: 2000 }, (_, i): Entry => [bytesOf(0, 1, 1, 3, encodeKey(i)), bytesOf()]);
  const added = transaction(1, false, [delRange(bytesOf(0, 1, 1, 3, encodeKey(0)), bytesOf(0, 1, 1, 3, encodeKey(2000)))]);
  await using reader = await IndexedDbReader.open(await indexedDbOf([...DATABASE, ...added, ...blobs, record('a', 1)]));
  const entries = vi.spyOn(DatabaseReader.prototype, 'entries');
  onTestFinished(() => entries.mockRestore());
  const [database] = await reader.databases();
  expect(await reader.get(database!, database!.stores[0]!, 'a')).toBe(1);
  const { length } = entries.mock.calls;
  for (let i = 0; i < 3; i++) expect(await reader.get(database!, database!.stores[0]!, 'a')).toBe(1);
  expect(entries.mock.calls.length).toBe(length);
});
