// Databases whose comparator calls different keys equal, and does not say so.
import { bytewiseComparator, type Comparator, ComparatorError, Database, DatabaseReader, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { beforeEach, describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();
const lowerCase = (key: Uint8Array): Uint8Array => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

const caseless: Comparator = {
  name: 'test.Caseless',
  compare: (a, b) => bytewiseComparator.compare(lowerCase(a), lowerCase(b)),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
const declared: Comparator = { ...caseless, keyEquivalence: 'ASCII letters without case' };
/** The same order, but for keys that differ only in case. */
const distinguishing: Comparator = { ...caseless, compare: (a, b) => caseless.compare(a, b) || bytewiseComparator.compare(a, b) };

const UNDECLARED = { name: 'ComparatorError', code: 'BLOOM_UNDECLARED_EQUIVALENCE' };

let folder: WritableMemoryFolder;
beforeEach(() => (folder = new WritableMemoryFolder()));

async function keysOf(comparator: Comparator): Promise<(string | undefined)[]> {
  await using database = await Database.open(folder, { comparator });
  return [...database.keysSync()].map(textOf);
}

test('the first put is refused with a comparator that never calls a key equal to itself', async () => {
  const never: Comparator = { ...caseless, name: 'test.Never', compare: (a, b) => (bytewiseComparator.compare(a, b) < 0 ? -1 : 1) };
  await using database = await Database.open(folder, { comparator: never });
  expect(await rejection(database.put(utf8('a'), utf8('1')))).toMatchObject({
    code: 'BLOOM_BAD_COMPARISON',
    message: 'compare of the comparator "test.Never" must return 0 for the key "a" and itself, got 1',
  });
});

describe('a put of a key that the comparator calls equal to another', () => {
  test('is refused before it is in the log, and the database is written as before', async () => {
    const database = await Database.open(folder, { comparator: caseless });
    await database.put(utf8('Apple'), utf8('1'));
    const error = await rejection(database.put(utf8('apple'), utf8('2')));
    expect(error).toBeInstanceOf(ComparatorError);
    expect(error).toMatchObject(UNDECLARED);
    expect(String(error)).toMatch(/"Apple" and "apple" equal.* keyEquivalence/);
    await database.put(utf8('Apple'), utf8('3'));
    await database.put(utf8('pear'), utf8('4'), { sync: true });
    expect(textOf(database.getSync(utf8('Apple')))).toBe('3');
    await database.close();
    expect(await keysOf(caseless)).toEqual(['Apple', 'pear']);
  });

  test('in one batch refuses the batch', async () => {
    await using database = await Database.open(folder, { comparator: caseless });
    expect(await rejection(database.write(new WriteBatch().put(utf8('Apple'), utf8('1')).put(utf8('apple'), utf8('2'))))).toMatchObject(UNDECLARED);
    expect(await rejection(database.write(new WriteBatch().put(utf8('b'), utf8('1')).put(utf8('a'), utf8('1')).delete(utf8('B'))))).toMatchObject(UNDECLARED);
    await database.write(new WriteBatch().put(utf8('Apple'), utf8('1')).put(utf8('Apple'), utf8('2')).delete(utf8('b')));
    expect([...database.keysSync()].map(textOf)).toEqual(['Apple']);
  });

  test('in a batch of more than a megabyte refuses the batch', async () => {
    await using database = await Database.open(folder, { comparator: caseless });
    const batch = new WriteBatch().put(utf8('Apple'), new Uint8Array(2 ** 21)).put(utf8('apple'), utf8('2'));
    expect(await rejection(database.write(batch))).toMatchObject(UNDECLARED);
    await database.write(new WriteBatch().put(utf8('b'), new Uint8Array(2 ** 21)).put(utf8('a'), utf8('2')));
    expect([...database.keysSync()].map(textOf)).toEqual(['a', 'b']);
  });

  test('refuses only that call, of those that are written as one record', async () => {
    await using database = await Database.open(folder, { comparator: caseless });
    const keys = ['b', 'Apple', 'c', 'apple', 'd', 'e', 'C', 'f'];
    const outcomes = await Promise.allSettled(keys.map((key) => database.put(utf8(key), utf8('1'))));
    expect(keys.filter((_, i) => outcomes[i]!.status === 'rejected')).toEqual(['apple', 'C']);
    expect([...database.keysSync()].map(textOf)).toEqual(['Apple', 'b', 'c', 'd', 'e', 'f']);
    expect(keys).toHaveLength(8);
  });
});

describe('a lookup of a key that the comparator calls equal to another is an error', () => {
  for (const [place, isFlushed, filterPolicy] of [
    ['in the memtable', false, undefined],
    ['in a table', true, null],
    ['in a table with filters', true, undefined],
  ] as const) {
    test(place, async () => {
      const database = await Database.open(folder, { comparator: caseless, ...(filterPolicy === null && { filterPolicy }) });
      await database.put(utf8('Apple'), utf8('1'));
      if (isFlushed) await database.flush();
      expect(await rejection(database.get(utf8('apple')))).toMatchObject(UNDECLARED);
      expect(() => database.getSync(utf8('apple'))).toThrow(ComparatorError);
      expect(await rejection(database.getMany([utf8('b'), utf8('apple')]))).toMatchObject(UNDECLARED);
      expect(() => [...database.entriesSync({ gte: utf8('apple') })]).toThrow(ComparatorError);
      expect(() => [...database.entriesSync({ lte: utf8('apple'), reverse: true })]).toThrow(ComparatorError);
      expect(await rejection(database.cursor().seek(utf8('apple')))).toMatchObject(UNDECLARED);
      expect(() => database.compare(utf8('apple'), utf8('Apple'))).toThrow(ComparatorError);
      expect(textOf(database.getSync(utf8('Apple')))).toBe('1');
      await database.close();
      const reader = await DatabaseReader.open(folder, { comparators: [caseless] });
      expect(await rejection(reader.get(utf8('apple')))).toMatchObject(UNDECLARED);
      expect(textOf(await reader.get(utf8('Apple')))).toBe('1');
      await reader.close();
      const syncReader = SyncDatabaseReader.open(folder, { comparators: [caseless] });
      expect(() => syncReader.get(utf8('apple'))).toThrow(ComparatorError);
      syncReader.close();
    });
  }
});

/** A database with "Apple" inside one table and "apple" inside another. */
async function writeTwoTables(): Promise<void> {
  await using database = await Database.open(folder, { comparator: distinguishing });
  for (const [i, keys] of [['a', 'Apple', 'z'], ['aa', 'apple', 'y']].entries()) {
    for (const key of keys) await database.put(utf8(key), utf8(`${i + 1}`));
    await database.flush();
  }
}

test('keys in two tables that the comparator calls equal end a scan and a compaction with an error that says so, and no entry is lost', async () => {
  await writeTwoTables();
  const database = await Database.open(folder, { comparator: caseless });
  expect(() => [...database.entriesSync()]).toThrow(ComparatorError);
  const error = (await rejection(database.compactRange())) as Error;
  expect(error).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: UNDECLARED });
  expect(error.message).toMatch(/nothing more is written: the comparator cannot order two keys: ComparatorError: .*"Apple" and "apple"/);
  await database.close();
  expect(await keysOf(distinguishing)).toEqual(['a', 'aa', 'Apple', 'apple', 'y', 'z']);
});

test('a memtable with a key that the comparator calls equal to one in a table does not become a table, and its log is kept', async () => {
  const database = await Database.open(folder, { comparator: caseless });
  await database.put(utf8('Apple'), utf8('1'));
  await database.flush();
  await database.put(utf8('apple'), utf8('2'));
  expect(await rejection(database.flush())).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: UNDECLARED });
  await database.close();
  expect(await keysOf(distinguishing)).toEqual(['Apple', 'apple']);
});

test('with the keyEquivalence that the error asks for, the newest of such keys counts, as in LevelDB', async () => {
  await writeTwoTables();
  await using database = await Database.open(folder, { comparator: declared });
  await database.compactRange();
  expect([...database.entriesSync()].map((entry) => entry.map(textOf))).toEqual([['a', '1'], ['aa', '2'], ['apple', '2'], ['y', '2'], ['z', '1']]);
  await database.put(utf8('APPLE'), utf8('3'));
  expect(textOf(database.getSync(utf8('aPPle')))).toBe('3');
});

test('a log of an order that distinguishes such keys is refused, and stays unchanged', async () => {
  const database = await Database.open(folder, { comparator: distinguishing });
  await database.put(utf8('Apple'), utf8('1'));
  await database.put(utf8('apple'), utf8('2'));
  await database.close();
  expect(await rejection(Database.open(folder, { comparator: caseless }))).toMatchObject(UNDECLARED);
  expect(await rejection(Database.repair(folder, { comparator: caseless }))).toMatchObject(UNDECLARED);
  expect(await rejection(DatabaseReader.open(folder, { comparators: [caseless] }))).toMatchObject(UNDECLARED);
  expect(await keysOf(distinguishing)).toEqual(['Apple', 'apple']);
});

test('verifyDatabase reports the comparator, not damage', async () => {
  const database = await Database.open(folder, { comparator: distinguishing });
  await database.write(new WriteBatch().put(utf8('Apple'), utf8('1')).put(utf8('apple'), utf8('2')));
  await database.compactRange();
  await database.close();
  expect(await rejection(verifyDatabase(folder, { comparators: [caseless] }))).toMatchObject(UNDECLARED);
  expect((await verifyDatabase(folder, { comparators: [distinguishing] })).findings).toEqual([]);
});

test.each([
  ['NaN', NaN],
  ['a bigint', 1n],
])('a comparator that returns %s refuses the first put', async (shown, result) => {
  await using database = await Database.open(folder, { comparator: { ...declared, compare: () => result as number } });
  const error = await rejection(database.put(utf8('a'), utf8('1')));
  expect(error).toMatchObject({ code: 'BLOOM_BAD_COMPARISON' });
  expect(String(error)).toContain(`for the keys "a" and "a", got ${shown}`);
});

test('nextMany and prevMany report a bound that the comparator calls equal to the entry of the cursor, and give the entries before such a one', async () => {
  await using database = await Database.open(folder, { comparator: caseless });
  for (const key of 'abc') await database.put(key, key);
  await database.flush();
  using cursor = database.cursor();
  using syncCursor = database.cursorSync();
  for (const each of [cursor, syncCursor]) {
    const many = async (options: { readonly lt: string }): Promise<string> => {
      await each.seekToFirst();
      return (await each.nextMany(10, options)).map(([key]) => textOf(key)).join('');
    };
    expect(await rejection(many({ lt: 'A' }))).toMatchObject(UNDECLARED);
    expect(each.valid).toBe(true);
    expect(await each.nextMany(1)).toHaveLength(1);
    expect(await many({ lt: 'C' })).toBe('ab');
    await each.seekToLast();
    expect(await rejection((async () => each.prevMany(10, { gt: 'C' }))())).toMatchObject(UNDECLARED);
  }
});
