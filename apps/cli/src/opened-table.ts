import { SyncTable, type TableOptions } from '@bloom/sstable';
import { allCodecs } from '@bloom/sstable/codecs';
import { SyncDatabaseTable } from '@bloom/sstable/database';
import { SyncFileSource } from '@bloom/sstable/node';
import { failureOf } from './failure.js';

/** Keys that a table's filters are tried on. */
const TRIED_KEYS = 16;

/** Opens a file, does `work` with it, and closes it. What goes wrong with it is told with its name. */
export async function withFile<T>(path: string, work: (source: SyncFileSource) => T | Promise<T>): Promise<T> {
  try {
    const source = SyncFileSource.open(path);
    try {
      return await work(source);
    } finally {
      source.close();
    }
  } catch (error) {
    throw failureOf(path, error);
  }
}

/** Opens a table, whatever it is compressed with, does `work` with it, and closes it. */
export function withTable<T>(
  path: string,
  options: TableOptions,
  work: (table: SyncTable) => T | Promise<T>,
): Promise<T> {
  return withFile(path, (source) => work(SyncTable.open(source, { codecs: allCodecs, ...options })));
}

/** As `withTable`, for a table out of a database. */
export function withDatabaseTable<T>(
  path: string,
  options: TableOptions,
  work: (table: SyncDatabaseTable) => T | Promise<T>,
): Promise<T> {
  return withFile(path, (source) => work(SyncDatabaseTable.open(source, { codecs: allCodecs, ...options })));
}

/**
 * Whether the filters say no to keys that are there, as they do when they were made over other keys.
 *
 * So it is in the tables of a database: they store the user's key and 8 bytes more, and filter the user's key alone.
 * Nothing in such a table says it.
 */
export function filtersOtherKeys(table: SyncTable): boolean {
  if (table.filterStatus.state !== 'used') return false;
  const cursor = table.cursor();
  let more = cursor.seekToFirst();
  for (let i = 0; i < TRIED_KEYS && more; i++, more = cursor.next()) {
    if (!table.mayContain(cursor.key)) return true;
  }
  return false;
}
