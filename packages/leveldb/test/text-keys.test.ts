import { Database, type DatabaseCursor, DatabaseReader, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

/** Keys of one, two, three and four bytes for a character, in the order of their UTF-8, which is not that of their UTF-16 units. */
const KEYS = ['a', 'b', 'é', '€', '\uffee', '𝄞'];
const LONE = ['\ud800', 'a\udc00b', '\udc00\ud800'];

const folder = new WritableMemoryFolder();
let database: Database;
beforeAll(async () => {
  database = await Database.open(folder);
  for (const key of KEYS) await database.put(key, `value of ${key}`);
});
afterAll(() => database.close());

describe('text stands for its UTF-8', () => {
  test('in put, in a batch and in deletions: the log has the same bytes', async () => {
    const contentsOf = async (write: (into: Database) => Promise<unknown>): Promise<Map<string, Uint8Array>> => {
      const own = new WritableMemoryFolder();
      const into = await Database.open(own);
      await write(into);
      await into.close();
      return own.files();
    };
    const texts = await contentsOf(async (into) => {
      await into.put('key é', 'value 𝄞');
      await into.delete('key é');
      await into.write(new WriteBatch().put('a', '€').delete('b').put('', ''));
    });
    const bytes = await contentsOf(async (into) => {
      await into.put(utf8('key é'), utf8('value 𝄞'));
      await into.delete(utf8('key é'));
      await into.write(new WriteBatch().put(utf8('a'), utf8('€')).delete(utf8('b')).put(utf8(''), utf8('')));
    });
    expect(texts).toEqual(bytes);
  });

  test('in lookups of every kind, which return bytes', async () => {
    for (const key of KEYS) {
      expect(await database.get(key)).toEqual(utf8(`value of ${key}`));
      expect(database.getSync(key)).toEqual(utf8(`value of ${key}`));
      expect([await database.has(key), database.hasSync(key)]).toEqual([true, true]);
      expect(await database.getAs(key, (found, start, end) => textOf(found.subarray(start, end)))).toBe(`value of ${key}`);
      expect((await database.explain(key)).key).toEqual(utf8(key));
      expect(database.explainSync(key).outcome.kind).toBe('value');
      expect((await database.versions(key)).map(({ value }) => textOf(value))).toEqual([`value of ${key}`]);
      expect(database.versionsSync(key)).toHaveLength(1);
    }
    const mixed = ['𝄞', utf8('a'), 'none'];
    expect((await database.getMany(mixed)).map(textOf)).toEqual(['value of 𝄞', 'value of a', undefined]);
    expect(database.getManySync(mixed).map(textOf)).toEqual(['value of 𝄞', 'value of a', undefined]);
    expect(await database.hasMany(mixed)).toEqual([true, true, false]);
    expect(database.hasManySync(mixed)).toEqual([true, true, false]);
    expect(await database.getManyAs(mixed, (_, start, end) => end - start)).toEqual([utf8('value of 𝄞').length, 10, undefined]);
  });

  test('in ranges, prefixes and seeks', async () => {
    const keysOf = async (range: object): Promise<(string | undefined)[]> => (await collect(database.keys(range))).map(textOf);
    expect(await keysOf({ gte: 'b', lt: '\uffee' })).toEqual(['b', 'é', '€']);
    expect(await keysOf({ gt: 'b', lte: utf8('€') })).toEqual(['é', '€']);
    expect(await keysOf({ prefix: 'é' })).toEqual(['é']);
    expect([...database.keysSync({ gt: '€' })].map(textOf)).toEqual(['\uffee', '𝄞']);
    const bounded: DatabaseCursor = database.cursor({ gte: 'b', lt: '€' });
    expect([await bounded.seek('a'), textOf(bounded.key)]).toEqual([true, 'b']);
    expect([await bounded.seekForPrev('𝄞'), textOf(bounded.key)]).toEqual([true, 'é']);
    bounded.close();
    const synchronous = database.cursorSync();
    expect([synchronous.seek('\uffef'), textOf(synchronous.key)]).toEqual([true, '𝄞']);
    expect([synchronous.seekForPrev('c'), textOf(synchronous.key)]).toEqual([true, 'b']);
    synchronous.close();
  });

  test('in comparisons, sizes, compactions and clears', async () => {
    expect(database.compare('\uffee', '𝄞')).toBeLessThan(0);
    const own = await Database.open(new WritableMemoryFolder());
    for (const key of KEYS) await own.put(key, 'x'.repeat(10_000));
    await own.flush();
    expect(await own.approximateSize('b', '€')).toBe(await own.approximateSize(utf8('b'), utf8('€')));
    await own.compactRange('a', 'z');
    await own.clear({ prefix: '€' });
    await own.clear({ gt: 'a', lte: 'é' });
    expect((await collect(own.keys())).map(textOf)).toEqual(['a', '\uffee', '𝄞']);
    await own.close();
  });

  test('in readers', async () => {
    const reader = await DatabaseReader.open(folder);
    expect(textOf(await reader.get('é'))).toBe('value of é');
    await reader.close();
    const synchronous = SyncDatabaseReader.open(folder);
    expect(textOf(synchronous.get('é'))).toBe('value of é');
    expect([...synchronous.keys({ gte: '€' })].map(textOf)).toEqual(['€', '\uffee', '𝄞']);
    synchronous.close();
  });
});

test.each(LONE)('half of a surrogate pair, which has no UTF-8, is refused: %j', async (text) => {
  const wanted = { name: 'RangeError', message: expect.stringMatching(/^(?:keys\[0\]|key|value|gte|begin) must be well-formed text/) as string };
  const before = database.lastSequence;
  expect(await rejection(database.put(text, 'value'))).toMatchObject(wanted);
  expect(await rejection(database.put('key', text))).toMatchObject(wanted);
  expect(await rejection(database.delete(text))).toMatchObject(wanted);
  expect(await rejection(database.get(text))).toMatchObject(wanted);
  expect(await rejection(database.getMany([text]))).toMatchObject(wanted);
  expect(await rejection(database.compactRange(text))).toMatchObject(wanted);
  expect(caught(() => database.getSync(text))).toMatchObject(wanted);
  expect(caught(() => database.entries({ gte: text }))).toMatchObject(wanted);
  expect(await rejection(database.clear({ gte: text }))).toMatchObject(wanted);
  expect(database.lastSequence).toBe(before);
});
