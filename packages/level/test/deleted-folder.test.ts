// Cleanup code deletes folders under open levels. As in classic-level, what is called afterwards does not fail.
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

describe('after the folder was renamed, and another took its name,', () => {
  async function openThenRename(entries: number, isCompacted: boolean): Promise<{ readonly level: BloomLevel; readonly path: string; readonly renamed: string }> {
    const path = await mkdtemp(join(tmpdir(), 'renamed-folder-'));
    const level = new BloomLevel(path, { writeBufferSize: 65_536 });
    await level.batch(Array.from({ length: entries }, (_, i) => ({ type: 'put', key: `a${i}`, value: 'before' })));
    if (isCompacted) await level.compactRange('a', 'b');
    const renamed = `${path}-renamed`;
    await rename(path, renamed);
    await mkdir(path);
    return { level, path, renamed };
  }

  async function keysOf(path: string): Promise<string[]> {
    await using level = new BloomLevel(path, { readOnly: true });
    return await level.keys().all();
  }

  test.each([[3, undefined], [10_000, 'LEVEL_IO_ERROR']])('close does not fail, and the renamed folder has every acknowledged write (of %i)', async (writes, code) => {
    const { level, path, renamed } = await openThenRename(10, false);
    const written = await level.keys().all();
    let failure: unknown;
    for (let i = 0; i < writes && failure === undefined; i++) {
      const key = `b${String(i).padStart(5, '0')}`;
      await level.put(key, 'value'.repeat(50)).then(() => written.push(key), (error: unknown) => (failure = error));
    }
    expect(failure).toEqual(code && expect.objectContaining({ code }));
    await level.close();
    expect(await keysOf(renamed)).toEqual(written);
    expect(await readdir(path)).toEqual([]);
    for (const folder of [path, renamed]) await rm(folder, { recursive: true });
  });

  test('clear fails if it can delete nothing in the renamed folder', async () => {
    const { level, path, renamed } = await openThenRename(10, true);
    await expect(level.clear()).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
    await level.close();
    expect(await keysOf(renamed)).toHaveLength(10);
    expect(await readdir(path)).toEqual([]);
    for (const folder of [path, renamed]) await rm(folder, { recursive: true });
  });
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

test.each([
  ['another folder', false],
  ['another database', true],
])('clear fails, and deletes nothing, when the folder was moved and %s took its place', async (_, withDatabase) => {
  const path = await mkdtemp(join(tmpdir(), 'moved-folder-'));
  const level = new BloomLevel(path);
  await level.batch(Array.from({ length: 10 }, (__, i) => ({ type: 'put', key: String(i), value: 'value' })));
  // The entries of a table are not deleted by a record of the log.
  await level.compactRange('0', '9');
  await rename(path, `${path}-moved`);
  await mkdir(path);
  const next = withDatabase ? new BloomLevel(path) : undefined;
  await next?.put('a', '1');
  await expect(level.clear()).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  expect(await level.get('1')).toBe('value');
  await level.close();
  expect(await next?.keys().all()).toEqual(next && ['a']);
  await next?.close();
  const moved = new BloomLevel(`${path}-moved`);
  expect(await moved.keys().all()).toHaveLength(10);
  await moved.close();
  for (const folder of [path, `${path}-moved`]) await rm(folder, { recursive: true });
});
