import { type SignalController, throwIfAborted } from '@bloom/bytes/internal';
import type { SignalOptions } from '@bloom/sstable';
import { isRequestBound, onAbort, signalOf, untilAborted } from '@bloom/sstable/internal';
import { AsyncBaseReader } from './async-base-reader.js';
import { runAsync } from '../folder/folder-reading.js';
import { type Folder, mustBeFolder } from '../folder/folder.js';
import { type AsyncReaderOptions, mustBeReaderOptions } from './reader-options.js';
import { ReadPath } from './read-path.js';
import { ViewReader } from './view-reader.js';

/**
 * Reads a LevelDB database from any folder. Nothing in the folder is changed, and no lock is taken.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new NodeFolder('path/to/database'));
 * await database.get('hello'); // Uint8Array, or undefined
 * for await (const [key, value] of database.entries({ gte: 'a', lt: 'b' })) …
 * await database.close();
 * ```
 */
export class DatabaseReader extends AsyncBaseReader {
  readonly #path: ReadPath;
  readonly #folder: Folder;
  readonly #viewReader: ViewReader;
  /** Resolves when all calls of `refresh` so far have ended. Never rejected. */
  #refreshing: Promise<void> = Promise.resolve();
  /** Aborts the latest refresh. */
  #controller: SignalController | undefined;
  /** The number of refreshes that were begun, and the number of the one that is visible. */
  #begun = 0;
  #shown = 0;
  #closing: Promise<void> | undefined;

  private constructor(path: ReadPath, folder: Folder, viewReader: ViewReader) {
    super(path, viewReader);
    this.#path = path;
    this.#folder = folder;
    this.#viewReader = viewReader;
  }

  /**
   * Opens the database of a folder: reads its MANIFEST and its logs, and opens its tables.
   *
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the folder is not a database that can be read.
   * @throws FolderError when another process changes it all the time.
   */
  static async open(folder: Folder, options: AsyncReaderOptions = {}): Promise<DatabaseReader> {
    mustBeFolder(folder);
    mustBeReaderOptions('DatabaseReader.open', options);
    const viewReader = new ViewReader(folder, options);
    try {
      const view = await runAsync(folder, viewReader.read(), options.signal);
      return new DatabaseReader(new ReadPath({ kind: 'reader', className: 'DatabaseReader' }, folder, view), folder, viewReader);
    } catch (error) {
      await viewReader.close();
      throw error;
    }
  }

  /**
   * Makes everything visible that was written before the call. Cursors and walks that were begun earlier still show the earlier state.
   *
   * @returns whether anything was written.
   */
  refresh(options?: SignalOptions): Promise<boolean> {
    // Two refreshes at a time would replay the same records. A refresh that is running may have read the folder before a write that this call must
    // see, so its result cannot be shared. Where reads are bound to a request, that of another request may never end, so there the records are
    // replayed twice.
    const before = isRequestBound() ? Promise.resolve() : this.#refreshing;
    const refreshed = this.#refreshAfter(before, options);
    // The next call waits for both, because a call that is aborted while it waits ends before the one it waits for.
    this.#refreshing = Promise.allSettled([before, refreshed]).then(() => undefined);
    return refreshed;
  }

  /** Closes the files. Further calls return the promise of the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Closes the reader, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#path.state.close();
    if (!isRequestBound()) {
      this.#controller?.abort(new TypeError('the reader was closed'));
      await this.#refreshing;
    }
    await this.#viewReader.close();
  }

  async #refreshAfter(before: Promise<void>, options: SignalOptions | undefined): Promise<boolean> {
    this.#path.mustBeOpen();
    const signal = signalOf('DatabaseReader.refresh', options);
    await (signal === undefined ? before : untilAborted(before, signal));
    this.#path.mustBeOpen();
    throwIfAborted(signal);
    const { lastSequence } = this;
    const begun = ++this.#begun;
    const controller: SignalController = new AbortController();
    const endWait = signal && onAbort(signal, () => controller.abort(signal.reason));
    this.#controller = controller;
    try {
      const view = await runAsync(this.#folder, this.#viewReader.read(), controller.signal);
      this.#path.mustBeOpen();
      if (begun > this.#shown) {
        this.#shown = begun;
        return this.#path.show(view);
      }
      // A refresh that was begun later has ended first.
      view.unpin();
      return this.lastSequence !== lastSequence;
    } catch (error) {
      this.#path.mustBeOpen();
      throw error;
    } finally {
      endWait?.();
    }
  }
}
