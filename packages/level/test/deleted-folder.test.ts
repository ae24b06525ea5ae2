// Cleanup code deletes folders under open levels. As in classic-level, what is called afterwards does not fail.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BloomLevel } from '../src/node.js';

async function openThenDelete(): Promise<{ readonly level: BloomLevel; readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'deleted-folder-'));
  const level = new BloomLevel(path);
  await level.put('a', '1');
  await rm(path, { recursive: true });
  return { level, path };
}

test('put, del, clear of a range and close do not fail after the folder was deleted', async () => {
  const { level } = await openThenDelete();
  await level.put('b', '2');
  await level.del('a');
  await level.clear({ gte: 'b' });
  await level.close();
  expect(level.status).toBe('closed');
});

test('clear and close do not fail after the folder was deleted', async () => {
  const { level } = await openThenDelete();
  await level.clear();
  await level.close();
  expect(level.status).toBe('closed');
});

test('close does not fail when another folder took the place of the deleted one', async () => {
  const { level, path } = await openThenDelete();
  await mkdir(path);
  await level.close();
  expect(level.status).toBe('closed');
  await rm(path, { recursive: true });
});

test('clear and close do not fail, and change nothing, when another database took the place of the deleted one', async () => {
  const { level, path } = await openThenDelete();
  const next = new BloomLevel(path);
  await next.put('a', '2');
  await level.clear();
  await level.close();
  await next.put('b', '3');
  await next.close();
  expect(await new BloomLevel(path, { readOnly: true }).iterator().all()).toEqual([['a', '2'], ['b', '3']]);
  await rm(path, { recursive: true });
});

test('close does not fail after all files in the folder were deleted', async () => {
  const path = await mkdtemp(join(tmpdir(), 'deleted-folder-'));
  const level = new BloomLevel(path);
  await level.put('a', '1');
  for (const name of await readdir(path)) await rm(join(path, name));
  await level.close();
  expect(level.status).toBe('closed');
  await rm(path, { recursive: true });
});

test('close fails when only the log was deleted: its writes are lost', async () => {
  const path = await mkdtemp(join(tmpdir(), 'deleted-folder-'));
  const level = new BloomLevel(path);
  await level.put('a', '1');
  for (const name of await readdir(path)) if (name.endsWith('.log')) await rm(join(path, name));
  await expect(level.close()).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_CLOSED', cause: { code: 'LEVEL_IO_ERROR' } });
  await rm(path, { recursive: true });
});
