// Cleanup code deletes folders under open levels. As in classic-level, what is called afterwards does not fail.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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

test('close fails when another folder took the place of the deleted one: its writes are lost', async () => {
  const { level, path } = await openThenDelete();
  await mkdir(path);
  await expect(level.close()).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_CLOSED', cause: { code: 'LEVEL_IO_ERROR' } });
  await rm(path, { recursive: true });
});
