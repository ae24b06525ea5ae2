// What a folder of a browser does while another worker has its lock or its files, with a file system in memory.
import { setTimeout as delay } from 'node:timers/promises';
import { Database } from '@bloom/leveldb';
import { WritableOpfsFolder } from '@bloom/leveldb/opfs';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { MemoryOpfs } from '../memory-opfs.js';

const LOCK = '@bloom/leveldb db';
let opfs: MemoryOpfs;
beforeEach(async () => {
  opfs = new MemoryOpfs();
  vi.stubGlobal('navigator', opfs);
  const database = await Database.open(new WritableOpfsFolder('db'));
  await database.put('key', 'value');
  await database.close();
  // Another worker has the database open.
  opfs.held.add(LOCK);
  opfs.setOpen('db', 'MANIFEST-000002', true);
});
afterAll(() => vi.unstubAllGlobals());

/** Opens and reads the database, while the other worker lets go of the lock and of its file at these times in milliseconds. */
async function openWhile(steps: readonly (readonly [milliseconds: number, step: 'lock' | 'unlock' | 'close file'])[]): Promise<string> {
  const opening = Database.open(new WritableOpfsFolder('db'));
  opening.catch(() => undefined);
  let passed = 0;
  for (const [milliseconds, step] of steps) {
    await delay(milliseconds - passed);
    passed = milliseconds;
    if (step === 'lock') opfs.held.add(LOCK);
    else if (step === 'unlock') opfs.held.delete(LOCK);
    else opfs.setOpen('db', 'MANIFEST-000002', false);
  }
  const database = await opening;
  const value = new TextDecoder().decode(await database.get('key'));
  await database.close();
  return value;
}

test.each([
  [20, 60],
  [150, 200],
])('opens a database whose worker was terminated: the lock is free after %i ms, the files after %i ms', async (unlocked, closed) => {
  expect(await openWhile([[unlocked, 'unlock'], [closed, 'close file']])).toBe('value');
});

test('opens a database that two terminated workers had locked, one after the other', async () => {
  expect(await openWhile([[200, 'unlock'], [400, 'lock'], [600, 'unlock'], [650, 'close file']])).toBe('value');
});

test.each<[string, () => Promise<unknown>]>([
  ['opened', () => Database.open(new WritableOpfsFolder('db'))],
  ['destroyed', () => Database.destroy(new WritableOpfsFolder('db'))],
])('a database that another worker has open is not %s, and its files are not waited for', async (_, call) => {
  const start = performance.now();
  expect(await rejection(call())).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining('already open for writing') as string });
  expect(performance.now() - start).toBeLessThan(3000);
});

test('a folder is removed before its lock is released: another worker may create a database in it then', async () => {
  opfs.held.delete(LOCK);
  opfs.setOpen('db', 'MANIFEST-000002', false);
  const folder = new WritableOpfsFolder('db');
  const remove = folder.removeFolder.bind(folder);
  const held: boolean[] = [];
  folder.removeFolder = () => (held.push(opfs.held.has(LOCK)), remove());
  await Database.destroy(folder);
  expect(held).toEqual([true]);
  expect(opfs.has('db')).toBe(false);
});
