import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { collect } from './collect.js';

const value = new Uint8Array(1000).fill(120);

test('a memtable that is flushed during a merge gets no table where the merge writes, though its keys are in a gap between the inputs', async () => {
  const folder = new WritableMemoryFolder();
  const writes: Promise<void>[] = [];
  let isWatched = false;
  const flushedTo: (number | undefined)[] = [];
  const fill = (prefix: string, count: number): Promise<void>[] => Array.from({ length: count }, (_, i) => database.put(`${prefix}${String(i).padStart(6, '0')}`, value));
  const database = await Database.open(folder, {
    writeBufferSize: 65_536,
    compression: 'none',
    onEvent(event) {
      if (event.kind === 'flush-ended' && event.table !== undefined) flushedTo.push(event.level);
      if (event.kind !== 'compaction-chosen' || !isWatched) return;
      isWatched = false;
      flushedTo.length = 0;
      writes.push(...fill('m', 130));
    },
  });
  async function flush(prefix: string, count: number): Promise<void> {
    await Promise.all(fill(prefix, count));
    await database.flush();
    await database.idle();
  }
  // Level 1 gets tables at `b` and at `y`, and level 2 tables at the same keys.
  for (const count of [400, 60]) for (const prefix of ['b', 'y']) await flush(prefix, count);
  await database.compactRange('a', 'c');
  await database.compactRange('x', 'z');
  for (const prefix of ['b', 'y']) await flush(prefix, 60);
  expect([0, 1].map((level) => database.describe().levels[level]!.length)).toEqual([0, 2]);
  isWatched = true;
  await database.compactRange();
  await Promise.all(writes);
  await database.idle();
  expect(flushedTo[0]).toBe(1);
  await database.put('n', 'later');
  await database.close();
  const again = await Database.open(folder);
  expect(await collect(again.keys())).toHaveLength(400 + 400 + 130 + 1);
  await again.close();
});
