import { getEventListeners } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BulkInputEntry, MemoryStore, writeParts } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { rejection } from '@bloom/fixtures/caught';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, onTestFinished, test } from 'vitest';

const reason = new Error('enough');

describe('an abort', () => {
  test('before the first part takes no entries', async () => {
    let taken = 0;
    function* entries(): Generator<BulkInputEntry[]> {
      taken++;
      yield [['a', '1']];
    }
    expect(await rejection(writeParts(new MemoryStore(), entries(), { sequence: 1n, signal: AbortSignal.abort(reason) }).next())).toBe(reason);
    expect(taken).toBe(0);
  });

  test('while entries are awaited ends the writing, and leaves no listener', async () => {
    const controller = new AbortController();
    async function* hanging(): AsyncGenerator<BulkInputEntry[]> {
      yield [['a', '1']];
      setImmediate(() => controller.abort(reason));
      await new Promise(() => undefined);
    }
    expect(await rejection(writeParts(new MemoryStore(), hanging(), { sequence: 1n, signal: controller.signal }).next())).toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

test('a consumer that leaves lets the entries clean up', async () => {
  let left = 0;
  function* entries(): Generator<BulkInputEntry[]> {
    try {
      for (let i = 100; i < 200; i++) yield [[`${i}`, 'x'.repeat(500)]];
    } finally {
      left++;
    }
  }
  for await (const part of writeParts(new MemoryStore(), entries(), { sequence: 1n, partBytes: 4096 })) {
    expect(part.entries).toBeGreaterThan(0);
    break;
  }
  expect(left).toBe(1);
});

test('the folder of a database that was not published takes no parts', async () => {
  const path = await mkdtemp(join(tmpdir(), 'bloom-write-parts-'));
  onTestFinished(() => rm(path, { recursive: true }));
  await (await Database.open(new WritableNodeFolder(path))).close();
  const before = (await readdir(path)).sort();
  expect(await rejection(writeParts(new FolderStore(path), [[['a', '1']]], { sequence: 1n }).next())).toMatchObject({ code: 'BLOOM_NOT_PUBLISHED' });
  expect((await readdir(path)).sort()).toEqual(before);
});
