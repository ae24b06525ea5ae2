import { link, mkdtemp, rename, rm, mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FolderPin, mustBePinned, pinFolder } from '../src/node/folder-pin.js';

let root: string;
let path: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'folder-pin-'));
  path = join(root, 'database');
  await mkdir(path);
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

/** The pin of a folder whose numbers are too large to be exact as numbers. */
async function exactPin(): Promise<FolderPin> {
  const { dev, ino } = await stat(path, { bigint: true });
  return { ...pinFolder(path), folder: { dev, ino } };
}

test.each([
  ['as the system gives them', () => Promise.resolve(pinFolder(path))],
  ['as bigints', exactPin],
])('a folder is told from another one by its numbers %s', async (_, pinned) => {
  const pin = await pinned();
  expect(() => mustBePinned(pin)).not.toThrow();
  await rename(path, join(root, 'moved'));
  expect(() => mustBePinned(pin)).toThrow(expect.objectContaining({ code: 'BLOOM_FOLDER_CHANGED' }));
  await mkdir(path);
  expect(() => mustBePinned(pin)).toThrow(expect.objectContaining({ code: 'BLOOM_FOLDER_CHANGED' }));
});

test('a copy of a locked folder that shares its files, LOCK too, is not taken for it', async () => {
  const folder = new WritableNodeFolder(path);
  const lock = await folder.lock();
  try {
    const pin = pinFolder(path);
    const copy = join(root, 'copy');
    await mkdir(copy);
    await link(join(path, 'LOCK'), join(copy, 'LOCK'));
    expect(() => mustBePinned(pin)).not.toThrow();
    await rename(path, join(root, 'moved'));
    await rename(copy, path);
    expect(() => mustBePinned(pin)).toThrow(expect.objectContaining({ code: 'BLOOM_FOLDER_CHANGED' }));
  } finally {
    await lock.release();
  }
});

test('a pinned folder is synced by the method of its class', async () => {
  let syncs = 0;
  class SyncedFolder extends WritableNodeFolder {
    override async syncFolder(): Promise<void> {
      syncs++;
      await super.syncFolder();
    }
  }
  const pinned = new SyncedFolder(path).pin();
  await pinned.syncFolder();
  await pinned.unpin();
  expect(syncs).toBe(1);
});
