import { throwIfAborted } from '@bloom/bytes/internal';
import { type AsyncTableOptions, mustBeTableOptions, readAheadBytesFor, readingFor, type SyncTableOptions, TABLE_OPTIONS } from '../read/options.js';
import { SyncTable } from '../read/sync-table.js';
import { Table } from '../read/table.js';
import { FileSource, type FileSourceOptions, SyncFileSource } from './file-source.js';

/** How to open and read a table of a file. */
export interface FileTableOptions extends AsyncTableOptions, FileSourceOptions {}

/**
 * Opens a file and the table in it. Closing the table closes the file, and so does an opening that fails.
 *
 * @param path the table's file.
 * @param options those of `Table.open` and of `FileSource.open`. When `signal` is aborted, the promise is rejected at once, and the file is closed as
 *   soon as the system has finished the read that it is in.
 * @throws TypeError or RangeError for an option that is wrong.
 * @throws the system's error when the file cannot be opened or read; EISDIR or EINVAL when it is not a regular file.
 * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
 * @example
 * ```ts
 * const table = await openTable('words.ldb');
 * await table.get('hello'); // Uint8Array, or undefined
 * await table.close();
 * ```
 */
export async function openTable(path: string, options: FileTableOptions = {}): Promise<Table> {
  mustBeTableOptions('openTable', options, { ...TABLE_OPTIONS, readsAtOnce: true });
  readingFor(options);
  const { readsAtOnce, signal } = options;
  throwIfAborted(signal);
  const file = await FileSource.open(path, { readsAtOnce });
  try {
    return await Table.over(file, options, () => file.close());
  } catch (error) {
    // The caller gets the reason why the opening failed, even if the closing fails too.
    const closing = file.close().catch(() => undefined);
    if (signal?.aborted !== true) await closing;
    throw error;
  }
}

/**
 * {@link openTable}, synchronously.
 *
 * @param options those of `SyncTable.open`.
 * @throws as {@link openTable}.
 * @example
 * ```ts
 * const table = openTableSync('words.ldb');
 * table.get('hello'); // Uint8Array, or undefined
 * table.close();
 * ```
 */
export function openTableSync(path: string, options: SyncTableOptions = {}): SyncTable {
  mustBeTableOptions('openTableSync', options);
  readAheadBytesFor(options);
  const file = SyncFileSource.open(path);
  try {
    return SyncTable.over(file, options, () => file.close());
  } catch (error) {
    file.close();
    throw error;
  }
}
