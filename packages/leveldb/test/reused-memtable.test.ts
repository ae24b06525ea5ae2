// The memory of a memtable that became a table is used for a later one, unless somebody may still refer to it.
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test, vi } from 'vitest';
import { Memtable } from '../src/memtable/memtable.js';

const OPTIONS = { writeBufferSize: 2 ** 16 };
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** Fills several memtables. */
async function fill(database: Database, round: number): Promise<void> {
  for (let i = 0; i < 3000; i++) await database.put(`key ${String(i).padStart(4, '0')}`, `${round} ${'x'.repeat(80)}`);
}

test('memtables are made in the memory of earlier ones, and all entries are there', async () => {
  const reusing = vi.spyOn(Memtable, 'reusing');
  const database = await Database.open(new WritableMemoryFolder(), OPTIONS);
  for (let round = 0; round < 3; round++) {
    await fill(database, round);
    for (let i = 0; i < 3000; i += 97) expect(text(await database.get(`key ${String(i).padStart(4, '0')}`))).toMatch(new RegExp(`^${round} x`));
  }
  expect(reusing.mock.calls.length).toBeGreaterThan(3);
  let entries = 0;
  for await (const [, value] of database.entries()) entries += Number(text(value).startsWith('2 x'));
  expect(entries).toBe(3000);
  await database.close();
  reusing.mockRestore();
});

test('the key and the value of a cursor stay as they are after it was closed, however much is written', async () => {
  const database = await Database.open(new WritableMemoryFolder(), OPTIONS);
  // A memtable that follows another does not move to a larger array.
  await fill(database, 0);
  await database.put('held', 'this value is in a memtable');
  const cursor = database.cursorSync();
  expect(cursor.seek('held')).toBe(true);
  const { key, value } = cursor;
  cursor.close();
  await fill(database, 1);
  expect([text(key), text(value)]).toEqual(['held', 'this value is in a memtable']);
  await database.close();
});

test('a view that is in use keeps its memtable', async () => {
  const database = await Database.open(new WritableMemoryFolder(), OPTIONS);
  await database.put('a', 'first');
  await database.put('b', 'second');
  const cursor = database.cursor();
  await cursor.seek('a');
  const snapshot = database.snapshot();
  await fill(database, 0);
  expect([text(cursor.key), text(cursor.value)]).toEqual(['a', 'first']);
  expect(await cursor.next()).toBe(true);
  expect([text(cursor.key), text(cursor.value)]).toEqual(['b', 'second']);
  expect(await cursor.next()).toBe(false);
  cursor.close();
  expect(text(await database.get('a', { sequence: snapshot.sequence }))).toBe('first');
  snapshot.release();
  await database.close();
});
