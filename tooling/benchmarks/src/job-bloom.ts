// @bloom/leveldb as process-job.ts uses it: with its defaults.
import { Database, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import type { JobDatabase } from './job-database.js';

const MANY = 1000;

export async function open(path: string): Promise<JobDatabase> {
  const database = await Database.open(new WritableNodeFolder(path));
  const batch = new WriteBatch();
  return {
    put: (key, value) => database.put(key, value),
    async batch(start, end, entryAt) {
      for (let i = start; i < end; i++) batch.put(...entryAt(i));
      await database.write(batch);
      batch.clear();
    },
    compact: () => database.compactRange(),
    getSync: (key) => database.getSync(key),
    getMany: (keys) => database.getMany(keys),
    walks: {
      'scan-sync-cursor'(limit, visit) {
        const cursor = database.cursorSync();
        for (let i = 0, isThere = cursor.seekToFirst(); isThere && i < limit; i++, isThere = cursor.next()) visit(cursor.key, cursor.value);
      },
      async 'scan-cursor'(limit, visit) {
        const cursor = database.cursor();
        let isThere = await cursor.seekToFirst();
        for (let i = 0; isThere && i < limit; i++) {
          visit(cursor.key, cursor.value);
          const moved = cursor.next();
          isThere = typeof moved === 'boolean' ? moved : await moved;
        }
      },
      'scan-reverse'(limit, visit) {
        const cursor = database.cursorSync();
        for (let i = 0, isThere = cursor.seekToLast(); isThere && i < limit; i++, isThere = cursor.prev()) visit(cursor.key, cursor.value);
      },
      async 'scan-entries'(limit, visit) {
        for await (const [key, value] of database.entries({ limit })) visit(key, value);
      },
      async 'scan-many'(limit, visit) {
        const cursor = database.cursor();
        await cursor.seekToFirst();
        for (let left = limit; left > 0; ) {
          const entries = await cursor.nextMany(Math.min(left, MANY));
          if (entries.length === 0) return;
          for (const [key, value] of entries) visit(key, value);
          left -= entries.length;
        }
      },
    },
    close: () => database.close(),
  };
}
