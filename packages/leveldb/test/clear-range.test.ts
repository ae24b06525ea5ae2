import { seeded } from '@bloom/bytes/internal';
import { Database, type ClearRange, type DatabaseEvent, type DatabaseOptions, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const small: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, compression: 'none' };

let folder: WritableMemoryFolder;
let database: Database;

async function keysOf(options = {}): Promise<string[]> {
  return (await collect(database.keys(options))).map(text);
}

async function put(...keys: string[]): Promise<void> {
  const batch = new WriteBatch();
  for (const key of keys) batch.put(utf8(key), utf8(`value of ${key}`));
  await database.write(batch);
}

/** Keys with four digits, of which some thousand are in tables and some in the memtable. */
async function fill(count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, i) => String(i).padStart(4, '0'));
  for (let start = 0; start < count; start += 100) {
    const batch = new WriteBatch();
    for (const key of keys.slice(start, start + 100)) batch.put(utf8(key), new Uint8Array(100));
    await database.write(batch);
  }
  return keys;
}

beforeEach(async () => {
  folder = new WritableMemoryFolder();
  database = await Database.open(folder, small);
});

afterEach(async () => {
  await database.close();
});

describe('clear with a range', () => {
  test('deletes the entries between its bounds and keeps all others', async () => {
    await put('a', 'b', 'c', 'd', 'e');
    await database.clear({ gte: utf8('b'), lt: utf8('d') });
    expect(await keysOf()).toEqual(['a', 'd', 'e']);
    await database.clear({ gt: utf8('d') });
    expect(await keysOf()).toEqual(['a', 'd']);
    await database.clear({ lte: utf8('a') });
    expect(await keysOf()).toEqual(['d']);
    await database.clear({ prefix: utf8('d') });
    expect(await keysOf()).toEqual([]);
  });

  test('deletes the first entries up to a limit, or the last ones in reverse', async () => {
    await put('a', 'b', 'c', 'd', 'e', 'f');
    await database.clear({ limit: 1 });
    expect(await keysOf()).toEqual(['b', 'c', 'd', 'e', 'f']);
    await database.clear({ limit: 2, reverse: true, lte: utf8('e') });
    expect(await keysOf()).toEqual(['b', 'c', 'f']);
    await database.clear({ limit: 0 });
    expect(await keysOf()).toEqual(['b', 'c', 'f']);
    await database.clear({ limit: Infinity, reverse: true });
    expect(await keysOf()).toEqual([]);
  });

  test('deletes what a model deletes, of tables and memtables, in ranges made at random', async () => {
    const random = seeded(7);
    let model: string[] = [];
    const key = (): string => String(random.below(4000)).padStart(4, '0').slice(0, 1 + random.below(4));
    for (let round = 0; round < 30; round++) {
      if (round % 10 === 0) model = await fill(3000);
      if (round % 10 === 3) await database.flush();
      const range: { -readonly [Name in keyof ClearRange]: ClearRange[Name] } = {};
      const of = (name: 'gt' | 'gte' | 'lt' | 'lte' | 'prefix'): string | undefined => {
        if (random.below(3) > 0) return undefined;
        const bound = key();
        range[name] = utf8(bound);
        return bound;
      };
      const [gt, gte, lt, lte, prefix] = [of('gt'), of('gte'), of('lt'), of('lte'), of('prefix')];
      if (random.below(2) === 0) range.limit = random.below(1500);
      if (random.below(2) === 0) range.reverse = true;
      const isWithin = (one: string): boolean =>
        (gt === undefined || one > gt) && (gte === undefined || one >= gte) && (lt === undefined || one < lt) && (lte === undefined || one <= lte) && one.startsWith(prefix ?? '');
      const within = model.filter(isWithin);
      const deleted = new Set(range.reverse === true ? within.reverse().slice(0, range.limit) : within.slice(0, range.limit));
      await database.clear(range);
      model = model.filter((one) => !deleted.has(one));
      expect(await keysOf(), JSON.stringify({ gt, gte, lt, lte, prefix, limit: range.limit, reverse: range.reverse })).toEqual(model);
    }
    await database.close();
    expect((await verifyDatabase(folder)).findings).toEqual([]);
    database = await Database.open(folder, small);
    expect(await keysOf()).toEqual(model);
  });

  test('takes its place among writes that do not wait for each other, and deletes none of the later ones', async () => {
    await fill(2000);
    const later = Array.from({ length: 50 }, (_, i) => String(i * 40).padStart(4, '0'));
    await Promise.all([put('1999x'), database.clear({ gte: utf8('0000') }), ...later.map((key) => put(key))]);
    expect(await keysOf()).toEqual(later);
  });

  test('copies its bounds, which the caller may change while it waits', async () => {
    await put('a', 'b', 'c');
    const bound = utf8('b');
    const clearing = database.clear({ gte: bound });
    bound.set(utf8('a'));
    await clearing;
    expect(await keysOf()).toEqual(['a']);
  });

  test('is in a writtenSnapshot that is taken while it runs, with the writes that wait for it', async () => {
    const clearing = database.clear({ gte: utf8('a') });
    const before = database.put('a', 'new');
    const taking = database.writtenSnapshot();
    const after = database.put('z', 'later');
    using snapshot = await taking;
    await Promise.all([clearing, before, after, database.compactRange()]);
    expect(await keysOf({ sequence: snapshot.sequence })).toEqual(['a']);
    expect(await keysOf()).toEqual(['a', 'z']);
    using other = await database.writtenSnapshot();
    expect(other.sequence).toBe(await database.written());
  });

  test('deletes only what a snapshot has, even where it was overwritten since', async () => {
    await put('a', 'b');
    using snapshot = database.snapshot();
    await put('b', 'c');
    await database.clear({ sequence: snapshot.sequence });
    expect(await keysOf()).toEqual(['c']);
    expect(await keysOf({ sequence: snapshot.sequence })).toEqual(['a', 'b']);
  });

  test('goes by the order of the comparator', async () => {
    await database.close();
    database = await Database.open(new WritableMemoryFolder(), { ...small, comparator: reverseComparator });
    await put('a', 'b', 'c', 'd');
    await database.clear({ gt: utf8('d'), limit: 2 });
    expect(await keysOf()).toEqual(['d', 'a']);
    expect(await rejection(database.clear({ prefix: utf8('d') }))).toBeInstanceOf(RangeError);
    expect(await keysOf()).toEqual(['d', 'a']);
  });

  test('writes records of some 64 KiB, of which only the last is synced', async () => {
    await database.close();
    const events: DatabaseEvent[] = [];
    database = await Database.open(folder, { compression: 'none', onEvent: (event) => void events.push(event) });
    for (let i = 0; i < 1000; i++) void database.put(utf8(`${i}`.padStart(300, '0')), utf8(''));
    await database.flush();
    const records = async (range: ClearRange): Promise<(readonly [bytes: number, synced: boolean])[]> => {
      events.length = 0;
      await database.clear(range);
      return events.flatMap((event) => (event.kind === 'write-logged' ? [[event.byteLength, event.isSynced] as const] : []));
    };
    const written = await records({ limit: 700, sync: true });
    expect(written.map(([, synced]) => synced)).toEqual([false, false, false, true]);
    expect(Math.max(...written.map(([byteLength]) => byteLength))).toBeLessThan(70_000);
    expect((await records({ gte: utf8('0') })).map(([, synced]) => synced)).toEqual([false, false]);
    expect(await keysOf()).toEqual([]);
  });

  test('is done before close is', async () => {
    await fill(2000);
    const clearing = database.clear({ lt: utf8('1990') });
    await database.close();
    expect(await rejection(clearing)).toBeUndefined();
    database = await Database.open(folder, small);
    expect(await keysOf()).toHaveLength(10);
  });
});

describe('clear with a range that is wrong', () => {
  beforeEach(() => put('a', 'b', 'c'));
  const b = utf8('b');

  test.each<[string, unknown[], string]>([
    ['an undefined range', [undefined], 'the range of Database.clear is undefined: call clear() without arguments to delete all entries'],
    ['an undefined lower bound', [{ gte: undefined }], 'gte of Database.clear is undefined'],
    ['an undefined upper bound beside a lower one', [{ gte: b, lt: undefined }], 'lt of Database.clear is undefined'],
    ['an undefined prefix', [{ prefix: undefined }], 'prefix of Database.clear is undefined'],
    ['an undefined limit', [{ limit: undefined }], 'limit of Database.clear is undefined'],
    ['an undefined sequence', [{ sequence: undefined }], 'sequence of Database.clear is undefined'],
    ['a misspelt bound', [{ gteq: b }], 'Database.clear has no option "gteq": did you mean gte?'],
    ['an option of ranges that it does not have', [{ fillCache: false }], 'Database.clear has no option "fillCache"'],
    ['a key in place of a range', [b], 'the options of Database.clear must be an object, got a Uint8Array'],
    ['an empty key in place of a range', [new Uint8Array(0)], 'the options of Database.clear must be an object, got a Uint8Array'],
    ['an array', [[]], 'the options of Database.clear must be an object, got an Array'],
    ['a Map', [new Map([['gte', b]])], 'the options of Database.clear must be an object, got a Map'],
    ['a batch', [new WriteBatch()], 'the options of Database.clear must be an object, got a WriteBatch'],
    ['null', [null], 'the options of Database.clear must be an object, got null'],
    ['a second argument', [{ gte: b }, { lt: b }], 'Database.clear takes a range, got 2 arguments'],
    ['a bound that is a number', [{ gte: 5 }], 'gte must be a Uint8Array or a string, got number'],
    ['an undefined bound of a prototype', [Object.create({ lt: undefined }) as ClearRange], 'lt of Database.clear is undefined'],
    ['a limit of null', [{ limit: null }], 'limit must be a whole number, at least 0, got null'],
    ['a negative limit', [{ limit: -1 }], 'limit must be a whole number, at least 0, got -1'],
    ['a sync that is text', [{ gte: b, sync: 'true' }], 'sync must be a boolean, got string'],
    ['a reverse that is a number', [{ limit: 1, reverse: 1 }], 'reverse must be a boolean, got number'],
    ['a sequence that is a number', [{ sequence: 1 }], 'sequence must be a bigint, got number'],
  ])('deletes nothing for %s', async (_, given, message) => {
    const error = await rejection(Reflect.apply(database.clear, database, given) as Promise<void>);
    expect(String(error)).toContain(message);
    expect(await keysOf()).toEqual(['a', 'b', 'c']);
  });

  test('deletes all entries for an empty range, as without one', async () => {
    await database.clear({});
    expect(await keysOf()).toEqual([]);
  });
});
