import { INTERNAL_KEY_TRAILER_LENGTH, type CompareRange } from '@bloom/sstable/database';
import type { TableBuilderOptions } from '@bloom/sstable';
import type { EntryCursor } from '../entry-cursor.js';
import { runAsync } from '../folder-reading.js';
import type { FileMetadata } from '../version-edit.js';
import type { KeyOrder } from '../version.js';
import type { WritableFolder } from '../writable-folder.js';
import { Pacer } from './pacer.js';
import { ENTRIES_PER_LOOK, TableFile } from './table-file.js';

/** How tables are written. */
export interface SortedTablesSettings {
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** Bytes of a table from which on the next user key begins another. */
  readonly maxFileSize: number;
  newFileNumber(): bigint;
}

/** A table that was written, and how many entries it has. */
export interface SortedTable {
  readonly file: FileMetadata;
  readonly entries: number;
}

/**
 * Writes all entries of a cursor to tables that share no user key. Of entries with the same internal key the first is
 * written: they are copies of one entry.
 */
export async function writeSortedTables(cursor: EntryCursor, folder: WritableFolder, settings: SortedTablesSettings): Promise<SortedTable[]> {
  const { order, building, maxFileSize } = settings;
  const pacer = new Pacer(ENTRIES_PER_LOOK);
  const last = new LastKey();
  const written: SortedTable[] = [];
  let table: TableFile | undefined;
  let entries = 0;
  try {
    for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
      if (!settled) await runAsync(folder, cursor.settle());
      if (!cursor.valid) break;
      if (pacer.isDue()) await pacer.pause();
      const { keyBytes, keyStart, keyEnd } = cursor;
      if (last.isEqual(order.compareInternalKeys, cursor, 0)) continue;
      if (table !== undefined && table.byteLength >= maxFileSize && !last.isEqual(order.compareUserKeys, cursor, INTERNAL_KEY_TRAILER_LENGTH)) {
        written.push({ file: await table.finish(), entries });
        table = undefined;
      }
      if (table === undefined) {
        // What the cursor lends holds until its next move.
        table = await TableFile.create(folder, settings.newFileNumber(), building);
        entries = 0;
      }
      table.add(keyBytes.subarray(keyStart, keyEnd), cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd));
      entries++;
      last.set(cursor);
      if (table.isFull) await table.drain();
    }
    if (table !== undefined) {
      written.push({ file: await table.finish(), entries });
      table = undefined;
    }
    return written;
  } finally {
    cursor.close();
    await table?.abandon();
  }
}

/** The internal key that was written last. */
class LastKey {
  #bytes = new Uint8Array(64);
  #length = -1;

  set({ keyBytes, keyStart, keyEnd }: EntryCursor): void {
    this.#length = keyEnd - keyStart;
    if (this.#length > this.#bytes.length) this.#bytes = new Uint8Array(this.#length * 2);
    this.#bytes.set(keyBytes.subarray(keyStart, keyEnd));
  }

  /** Whether the cursor's key is equal to it, both without their last bytes. */
  isEqual(compare: CompareRange, { keyBytes, keyStart, keyEnd }: EntryCursor, lastBytes: number): boolean {
    return this.#length >= 0 && compare(this.#bytes, 0, this.#length - lastBytes, keyBytes, keyStart, keyEnd - lastBytes) === 0;
  }
}
