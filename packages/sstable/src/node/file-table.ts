import { type OpenTable, readOpenTable } from '../read/open.js';
import { type AsyncTableOptions, mustBeTableOptions, readAheadBytesFor, readingFor, type SyncTableOptions, TABLE_OPTIONS } from '../read/options.js';
import { runAsync, runSync } from '../read/reading.js';
import { SyncTable } from '../read/sync-table.js';
import { Table } from '../read/table.js';
import { FileSource, type FileSourceOptions, SyncFileSource } from './file-source.js';

/** How to open and read a table of a file. */
export interface FileTableOptions extends AsyncTableOptions, FileSourceOptions {}

/** A {@link Table} that owns its file: see {@link openTable}. */
export class FileTable extends Table {
  readonly #file: FileSource;

  constructor(table: OpenTable, file: FileSource, options: AsyncTableOptions) {
    super(table, file, options);
    this.#file = file;
  }

  /**
   * Closes the table, as {@link Table.close} does, and then its file. Closing twice does nothing.
   *
   * @returns a promise that is fulfilled when the file is closed, which waits for reads that the system has begun. There
   *   is no need to await it, unless the file is to be replaced or deleted next on a system such as Windows.
   */
  override close(): Promise<void> {
    void super.close();
    const closing = this.#file.close();
    closing.catch(() => undefined);
    return closing;
  }
}

/** A {@link SyncTable} that owns its file: see {@link openTableSync}. */
export class SyncFileTable extends SyncTable {
  readonly #file: SyncFileSource;

  constructor(table: OpenTable, file: SyncFileSource, options: SyncTableOptions) {
    super(table, file, options);
    this.#file = file;
  }

  /** Closes the table, as {@link SyncTable.close} does, and its file. Closing twice does nothing. */
  override close(): void {
    super.close();
    this.#file.close();
  }
}

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
 * await table.get(utf8('hello')); // Uint8Array, or undefined
 * await table.close();
 * ```
 */
export async function openTable(path: string, options: FileTableOptions = {}): Promise<FileTable> {
  mustBeTableOptions('openTable', options, { ...TABLE_OPTIONS, readsAtOnce: true });
  readingFor(options);
  const { readsAtOnce, signal } = options;
  signal?.throwIfAborted();
  const file = await FileSource.open(path, { readsAtOnce });
  try {
    return new FileTable(await runAsync(file, readOpenTable(file, options), signal), file, options);
  } catch (error) {
    // The caller gets the reason why the opening failed, even if the closing fails too.
    const closing = file.close().catch(() => undefined);
    if (signal?.aborted !== true) await closing;
    throw error;
  }
}

/**
 * {@link openTable} without promises.
 *
 * @param options those of `SyncTable.open`.
 * @throws as {@link openTable}.
 * @example
 * ```ts
 * const table = openTableSync('words.ldb');
 * table.get(utf8('hello')); // Uint8Array, or undefined
 * table.close();
 * ```
 */
export function openTableSync(path: string, options: SyncTableOptions = {}): SyncFileTable {
  mustBeTableOptions('openTableSync', options);
  readAheadBytesFor(options);
  const file = SyncFileSource.open(path);
  try {
    return new SyncFileTable(runSync(file, readOpenTable(file, options)), file, options);
  } catch (error) {
    file.close();
    throw error;
  }
}
