import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type WritableFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

let root = '';
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'bloom-created-'))));
afterAll(() => rmSync(root, { recursive: true }));

test('a database is created with the folders that it is in, which stay when it is destroyed', async () => {
  const path = join(root, 'a', 'b', 'c');
  const database = await Database.open(new WritableNodeFolder(path));
  await database.put(new Uint8Array([1]), new Uint8Array([2]));
  await database.close();
  await Database.destroy(new WritableNodeFolder(path));
  expect([existsSync(path), existsSync(join(root, 'a', 'b'))]).toEqual([false, true]);
});

test('a folder that is missing is created within the call that opens it', async () => {
  const path = join(root, 'at once', 'd');
  const opening = Database.open(new WritableNodeFolder(path));
  const isCreated = existsSync(path);
  await (await opening).close();
  expect(isCreated).toBe(true);
});

test('a folder is created again if its parent is deleted right after the call that opens it', async () => {
  const path = join(root, 'parent', 'd');
  const opening = Database.open(new WritableNodeFolder(path));
  rmSync(join(root, 'parent'), { recursive: true });
  await (await opening).close();
  expect(existsSync(join(path, 'CURRENT'))).toBe(true);
});

test('a folder that is being deleted is created after that', async () => {
  const path = join(root, 'destroyed');
  await (await Database.open(new WritableNodeFolder(path))).close();
  const destroying = Database.destroy(new WritableNodeFolder(path));
  const opening = Database.open(new WritableNodeFolder(path));
  await destroying;
  const database = await opening;
  await database.put('key', 'value');
  await database.close();
  expect(existsSync(join(path, 'CURRENT'))).toBe(true);
});

test('a folder is not created by an opening that is refused because of its options', async () => {
  const path = join(root, 'refused');
  expect(await rejection(Database.open(new WritableNodeFolder(path), { writeBufferSize: -1 }))).toBeInstanceOf(RangeError);
  expect(existsSync(path)).toBe(false);
});

test('a folder is not created within a file', async () => {
  const file = join(root, 'file');
  mkdirSync(file);
  await new WritableNodeFolder(file).create('CURRENT').close();
  expect(await rejection(new WritableNodeFolder(join(file, 'CURRENT', 'd')).createFolder())).toMatchObject({ code: 'ENOTDIR' });
});

test('lost is not created where its database is gone', async () => {
  const path = join(root, 'gone');
  expect(await rejection(Promise.resolve(new WritableNodeFolder(path).lostFolder().createFolder()))).toMatchObject({ code: 'ENOENT' });
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['there is no database', [], { createIfMissing: false }],
  ['there is a log without a database', ['000003.log'], {}],
  ['there is a table without a database', ['000005.ldb'], { createIfMissing: true }],
  ['there is a database already', ['CURRENT'], { errorIfExists: true }],
])('an opening that is refused because %s leaves no file behind', async (what, names, options) => {
  const path = join(root, what);
  const folder = new WritableNodeFolder(path);
  if (names[0] === 'CURRENT') {
    await (await Database.open(folder)).close();
    rmSync(join(path, 'LOCK'));
  } else mkdirSync(path);
  for (const name of names) if (name !== 'CURRENT') await folder.create(name).close();
  const before = readdirSync(path);
  expect(await rejection(Database.open(folder, options))).toBeInstanceOf(Error);
  expect(readdirSync(path)).toEqual(before);
});

test('an opening creates its folder first, and lists it once before it is locked and once after', async () => {
  const path = join(root, 'listed');
  const calls: string[] = [];
  const folder = new WritableNodeFolder(path);
  for (const name of ['list', 'createFolder', 'lock'] as const) {
    const call = folder[name].bind(folder) as () => Promise<never>;
    folder[name] = () => (calls.push(name), call());
  }
  await (await Database.open(folder)).close();
  expect(calls).toEqual(['createFolder', 'list', 'lock', 'list']);
  calls.length = 0;
  await (await Database.open(folder)).close();
  expect(calls).toEqual(['createFolder', 'list', 'lock', 'list']);
  calls.length = 0;
  await (await Database.open(folder, { createIfMissing: false })).close();
  expect(calls).toEqual(['list', 'lock', 'list']);
});

test('a folder that is deleted between its listing and its lock is created again', async () => {
  const path = join(root, 'deleted');
  const folder = new WritableNodeFolder(path);
  await (await Database.open(folder)).close();
  const lock = folder.lock.bind(folder);
  folder.lock = () => {
    folder.lock = lock;
    rmSync(path, { recursive: true });
    return lock();
  };
  const database = await Database.open(folder);
  await database.put('key', 'value');
  await database.close();
  expect(readdirSync(path)).toContain('CURRENT');
});

test('a folder whose lock is not in it, and which is deleted between its listing and its lock, is created again', async () => {
  const path = join(root, 'deleted-before-lock');
  await (await Database.open(new WritableNodeFolder(path))).close();
  // As in browsers.
  const folder: WritableFolder = Object.assign(new WritableNodeFolder(path), { pin: undefined });
  folder.lock = () => {
    rmSync(path, { recursive: true });
    return { release: () => undefined };
  };
  expect(await rejection(Database.open(folder, { createIfMissing: false }))).toMatchObject({ code: 'BLOOM_DATABASE_MISSING' });
  expect(existsSync(path)).toBe(false);
  await (await Database.open(new WritableNodeFolder(path))).close();
  const database = await Database.open(folder);
  await database.put('key', 'value');
  await database.close();
  expect(readdirSync(path)).toContain('CURRENT');
});

test('a database is created without reading back what was written', async () => {
  const read: string[] = [];
  class WatchedFolder extends WritableMemoryFolder {
    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      read.push(name);
      return super.open(name);
    }
  }
  const folder = new WatchedFolder();
  await (await Database.open(folder)).close();
  expect(read).toEqual([]);
  await (await Database.open(folder)).close();
  expect(read).toContain('CURRENT');
});
