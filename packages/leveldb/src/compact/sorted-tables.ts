import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import type { TableBuilderOptions } from '@bloom/sstable';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import { runAsync } from '../folder/folder-reading.js';
import { SequenceRange } from '../format/sequence-range.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { KeyOrder } from '../format/version.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { LastKey } from './last-key.js';
import { Pacer } from '../folder/pacer.js';
import { ENTRIES_PER_LOOK, TableFile } from '../table/table-file.js';

export interface SortedTablesSettings {
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** Bytes of a table from which on the next user key begins another. */
  readonly maxFileSize: number;
  newFileNumber(): bigint;
}

/** A table, how many entries it has, and the lowest and the highest of their sequences. */
export interface SortedTable {
  readonly file: FileMetadata;
  readonly entries: number;
  readonly oldest: bigint;
  readonly newest: bigint;
}

/**
 * Writes all entries of a cursor to tables. Two tables share a user key only if the index gets too large for all of its versions. Of entries
 * with the same internal key the first is written: they are copies of one entry.
 */
export async function writeSortedTables(cursor: EntryCursor, folder: WritableFolder, settings: SortedTablesSettings): Promise<SortedTable[]> {
  const { order, building, maxFileSize } = settings;
  const pacer = new Pacer(ENTRIES_PER_LOOK);
  const last = new LastKey();
  const written: SortedTable[] = [];
  let table: TableFile | undefined;
  let sequences = new SequenceRange();
  try {
    for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
      if (!settled) await runAsync(folder, cursor.settle());
      if (!cursor.valid) break;
      if (pacer.isDue()) await pacer.pause();
      const { entry } = cursor;
      if (last.isEqual(order.compareInternalKeys, entry, 0)) continue;
      if (table !== undefined && (table.isCrowded || (table.byteLength >= maxFileSize && !last.isEqual(order.compareUserKeys, entry, INTERNAL_KEY_TRAILER_LENGTH)))) {
        written.push({ ...(await table.finish()), ...sequences.bounds });
        table = undefined;
        sequences = new SequenceRange();
      }
      // What the cursor lends holds until its next move.
      table ??= await TableFile.create(folder, settings.newFileNumber(), building);
      table.add(entry);
      sequences.add(entry.keyBytes, entry.keyEnd);
      last.set(entry);
      if (table.isFull) await table.drain();
    }
    if (table !== undefined) {
      written.push({ ...(await table.finish()), ...sequences.bounds });
      table = undefined;
    }
    return written;
  } finally {
    cursor.close();
    await table?.abandon();
  }
}
