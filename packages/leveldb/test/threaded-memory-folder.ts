import { WritableMemoryFolder } from '@bloom/leveldb';
import type { TableThread, TableThreadSettings } from '@bloom/leveldb/internal';
import { ThreadTables } from '../src/write/table-thread-work.js';

/** A folder whose tables are written by what a worker thread runs. */
export class ThreadedMemoryFolder extends WritableMemoryFolder {
  jobs = 0;

  startTableThread(settings: TableThreadSettings): TableThread {
    const tables = new ThreadTables(this, settings, {});
    return {
      hasEnded: false,
      compact: async ({ plan, oldestSequence, newFileNumber, bitsPerKey }) => {
        this.jobs++;
        return tables.compact(plan, bitsPerKey, { oldestSequence, newFileNumber, interlude: () => undefined });
      },
      flush: async (memtable, number, bitsPerKey) => {
        this.jobs++;
        return tables.flush(memtable, number, bitsPerKey);
      },
      close: () => Promise.resolve(),
    };
  }
}
