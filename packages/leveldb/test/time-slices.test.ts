import { Database, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.restoreAllMocks());

test('a memtable is flushed after the batch that found it full is inserted, however slow the machine is', async () => {
  const key = (i: number): Uint8Array => new TextEncoder().encode(`key${i}`);
  const batchOf = (start: number): WriteBatch => {
    const batch = new WriteBatch();
    for (let i = start; i < start + 1000; i++) batch.put(key(i), new Uint8Array(100));
    return batch;
  };
  const opened: Database[] = [];
  const isInserted: boolean[] = [];
  const folder = new (class extends WritableMemoryFolder {
    override create(name: string): ReturnType<WritableMemoryFolder['create']> {
      if (name.endsWith('.ldb')) isInserted.push(opened[0]?.getSync(key(1999)) !== undefined);
      return super.create(name);
    }
  })();
  const database = await Database.open(folder, { writeBufferSize: 65_536 });
  opened.push(database);
  await database.write(batchOf(0));
  // Every time slice is over as soon as the clock is looked at.
  let milliseconds = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (milliseconds += 1000));
  await database.write(batchOf(1000));
  await database.idle();
  expect(isInserted).toEqual([true]);
  await database.close();
});
