import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { afterEach, expect, test, vi } from 'vitest';
import { TableMaker } from '../src/write/table-maker.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test('a compaction keeps no memtable in memory until it has ended', async () => {
  const merge = vi.spyOn(TableMaker.prototype, 'merge');
  const database = await Database.open(new WritableMemoryFolder(), { writeBufferSize: 2 ** 16 });
  for (let i = 0; i < 4000; i++) await database.put(`key ${(i * 7) % 1000}`, 'x'.repeat(100));
  await database.compactRange();
  await database.close();
  expect(merge.mock.calls.length).toBeGreaterThan(0);
  for (const [, view] of merge.mock.calls) expect(view.logs).toEqual([]);
});
