import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const keyOf = (i: number): string => `key ${String(i).padStart(4, '0')}`;
const COUNT = 2000;

/** A database with tables, a memtable, and a deletion. */
async function filled(): Promise<Database> {
  const database = await Database.open(new WritableMemoryFolder(), { blockSize: 256 });
  for (let i = 0; i < COUNT; i += 2) await database.put(utf8(keyOf(i)), utf8(`value ${i}`));
  await database.flush();
  for (let i = 1; i < COUNT; i += 2) await database.put(utf8(keyOf(i)), utf8(`value ${i}`));
  await database.delete(utf8(keyOf(7)));
  return database;
}

const expected = Array.from({ length: COUNT }, (_, i) => keyOf(i)).filter((key) => key !== keyOf(7));

test('nextWhile and prevWhile go over all entries but the one that the cursor is on', async () => {
  const database = await filled();
  const cursor = database.cursor();
  const keys: string[] = [];
  const take = (): boolean => keys.push(text(cursor.key)) > 0;
  await cursor.seekToFirst();
  expect(await cursor.nextWhile(take)).toBe(false);
  expect(keys).toEqual(expected.slice(1));
  expect(cursor.valid).toBe(false);
  keys.length = 0;
  await cursor.seekToLast();
  expect(await cursor.prevWhile(take)).toBe(false);
  expect(keys).toEqual(expected.slice(0, -1).reverse());
  keys.length = 0;
  // On no entry, there is none to move from.
  expect(await cursor.nextWhile(take)).toBe(false);
  expect(keys).toEqual([]);
  cursor.close();
  await database.close();
});

test('nextWhile and prevWhile end on the entry at which take returns false', async () => {
  const database = await filled();
  const cursor = database.cursor();
  let left = 3;
  await cursor.seekToFirst();
  expect(await cursor.nextWhile(() => --left > 0)).toBe(true);
  expect(text(cursor.key)).toBe(keyOf(3));
  expect(text(cursor.value)).toBe('value 3');
  left = 2;
  expect(await cursor.prevWhile(() => --left > 0)).toBe(true);
  expect(text(cursor.key)).toBe(keyOf(1));
  cursor.close();
  await database.close();
});

test('without promises, nextWhile and prevWhile do the same', async () => {
  const database = await filled();
  const cursor = database.cursorSync();
  const keys: string[] = [];
  const take = (): boolean => keys.push(text(cursor.key)) < 5;
  cursor.seekToFirst();
  expect(cursor.nextWhile(take)).toBe(true);
  expect(keys).toEqual(expected.slice(1, 6));
  expect(text(cursor.key)).toBe(keyOf(5));
  expect(cursor.prevWhile(() => true)).toBe(false);
  cursor.close();
  await database.close();
});

test('nextWhile refuses what is wrong, moves that overlap, and a closed cursor', async () => {
  const database = await filled();
  const cursor = database.cursor();
  await cursor.seekToFirst();
  expect(await rejection(cursor.nextWhile(() => true, { lt: utf8('a') } as never))).toBeInstanceOf(TypeError);
  expect(await rejection(cursor.nextWhile(() => true, { signal: 'soon' as never }))).toBeInstanceOf(TypeError);
  expect(await rejection(cursor.nextWhile(() => true, { signal: AbortSignal.abort(new Error('enough')) }))).toEqual(new Error('enough'));
  const failure = new Error('of the caller');
  const failing = (): never => {
    throw failure;
  };
  expect(await rejection(cursor.nextWhile(failing))).toBe(failure);
  // It can go on after that.
  expect(await cursor.nextWhile(() => false)).toBe(true);
  let overlapping: unknown;
  await cursor.nextWhile(() => {
    overlapping = rejection(cursor.next());
    return false;
  });
  expect(await overlapping).toBeInstanceOf(TypeError);
  const closing = await rejection(
    cursor.nextWhile(() => {
      cursor.close();
      return true;
    }),
  );
  expect(closing).toEqual(new TypeError('the cursor is closed'));
  await database.close();
});
