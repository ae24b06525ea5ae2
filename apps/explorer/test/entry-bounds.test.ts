import { MemoryFolder, WritableMemoryFolder, Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { encodeKey, indexedDbKey } from '@bloom/web-storage';
import { beforeAll, expect, test } from 'vitest';
import { boundsOf } from '../src/database/entry-bounds.js';
import { InspectedDatabase } from '../src/database/inspected-database.js';
import type { Typing } from '../src/bytes/byte-forms.js';

const work = { signal: new AbortController().signal, progress: () => undefined };
/** The ids are below 256, except for those of one store and of one database. */
const keys = [
  ...[-5, 0.5, 5, 300].map((number) => Uint8Array.of(0, 1, 2, 1, ...encodeKey(number))),
  ...['a', 'ab', 'b'].map((text) => Uint8Array.of(0, 1, 2, 1, ...encodeKey(text))),
  Uint8Array.of(0, 1, 2, 1, ...encodeKey(new Date(-1000))),
  Uint8Array.of(0, 1, 2, 1, ...encodeKey([[[1]]])),
  Uint8Array.of(0, 1, 2, 2, ...encodeKey(5)),
  ...[5, 6].flatMap((number) => [7, 8].map((primary) => Uint8Array.of(0, 1, 2, 30, ...encodeKey(number), 0, ...encodeKey(primary)))),
  Uint8Array.of(0, 1, 3, 1, ...encodeKey(5)),
  Uint8Array.of(4, 1, 0, 1, 1, ...encodeKey(5)),
  Uint8Array.of(0, 1, 0, 0, 4),
  Uint8Array.of(0, 2, 0, 0, 4),
  Uint8Array.of(0x20, 0, 1, 1, 1, ...encodeKey(5)),
  Uint8Array.of(0, 0, 0, 0, 0),
  ...['a', 'b'].map((name) => Uint8Array.of(0, 0, 0, 0, 201, 1, 0, 0x6f, 1, 0, name.charCodeAt(0))),
  Uint8Array.of(0, 0, 0, 0, 201, 2, 0, 0x6f, 0, 0x70, 1, 0, 0x61),
];
const texts = keys.map((key) => indexedDbKey(key)!);

let database: InspectedDatabase;

beforeAll(async () => {
  const folder = new WritableMemoryFolder();
  const written = await Database.open(folder, { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  for (const key of keys) await written.put(key, 'value');
  await written.close();
  database = await InspectedDatabase.open(new MemoryFolder(Object.fromEntries(folder.files())), 'x', work, false);
});

/** What a search finds, in any order. */
async function found(search: { readonly prefix?: string; readonly from?: string; readonly to?: string }, typing: Typing = 'indexeddb'): Promise<string[] | undefined> {
  const { prefix = '', from = '', to = '' } = search;
  const bounds = boundsOf({ by: search.prefix === undefined ? 'range' : 'prefix', prefix, from, to }, typing, true);
  return bounds && (await database.page(bounds, 1000)).rows.map(({ key }) => indexedDbKey(key.bytes)!).sort();
}

const startingWith = (...starts: string[]): string[] => texts.filter((text) => starts.some((start) => text.startsWith(start))).sort();

test.each(texts)('a search for %s finds that key alone', async (text) => {
  expect(await found({ prefix: text })).toEqual([text]);
});

test('a search for the start of keys of IndexedDB finds all keys of that part', async () => {
  expect(await found({ prefix: '' })).toEqual([...texts].sort());
  expect(await found({ prefix: 'database 1' })).toEqual(startingWith('database 1:', 'database 1,'));
  expect(await found({ prefix: 'database 256' })).toEqual(startingWith('database 256,'));
  expect(await found({ prefix: 'database 1, store 2' })).toEqual(startingWith('database 1, store 2,'));
  expect(await found({ prefix: 'database 1, store 256' })).toEqual(startingWith('database 1, store 256,'));
  expect(await found({ prefix: 'database 1, store 2, record' })).toEqual(startingWith('database 1, store 2, record'));
  expect(await found({ prefix: 'database 1, store 2, exists' })).toEqual(startingWith('database 1, store 2, exists'));
  expect(await found({ prefix: 'database 1, store 2, index 30' })).toEqual(startingWith('database 1, store 2, index 30'));
  expect(await found({ prefix: 'database 1, store 2, index 30: 5' })).toEqual(startingWith('database 1, store 2, index 30: 5 '));
  expect(await found({ prefix: 'database of "o"' })).toEqual(startingWith('database of "o"'));
  expect(await found({ prefix: 'database 7' })).toEqual([]);
});

test('both ends of a range include what is typed', async () => {
  expect(await found({ from: 'database 1, store 2', to: 'database 1, store 2, exists' })).toEqual(startingWith('database 1, store 2, record', 'database 1, store 2, exists'));
  expect(await found({ from: 'database 1, store 2, record -5', to: 'database 1, store 2, record 5' })).toEqual(['-5', '0.5', '5'].map((key) => `database 1, store 2, record ${key}`).sort());
  expect(await found({ from: 'database 2' })).toEqual(startingWith('database 2'));
});

test('bytes are searched for as a whole key of IndexedDB', async () => {
  expect(await found({ prefix: Buffer.from(keys[2]!).toString('hex') }, 'hex')).toEqual(['database 1, store 2, record 5']);
  expect(await found({ prefix: '00 01 02' }, 'hex')).toBeUndefined();
});

test('in the order of bytes, a search finds all keys that begin with the typed bytes', () => {
  const bytes = (...numbers: number[]): Uint8Array => Uint8Array.from(numbers);
  expect(boundsOf({ by: 'prefix', prefix: 'aff', from: '', to: '' }, 'text', false)).toEqual({ gte: bytes(0x61, 0x66, 0x66), lt: bytes(0x61, 0x66, 0x67) });
  expect(boundsOf({ by: 'prefix', prefix: 'aff', from: '', to: '' }, 'hex', false)).toBeUndefined();
  expect(boundsOf({ by: 'prefix', prefix: '61ff', from: '', to: '' }, 'hex', false)).toEqual({ gte: bytes(0x61, 0xff), lt: bytes(0x62) });
  expect(boundsOf({ by: 'range', prefix: '', from: 'a', to: '' }, 'text', false)).toEqual({ gte: bytes(0x61), lt: undefined, lte: undefined });
});
