import { mustBeSignal, type Signal } from '@bloom/bytes';
import { AsyncReaderFace } from './async-reader-face.js';
import { runAsync } from './folder-reading.js';
import { type Folder, mustBeFolder } from './folder.js';
import { type AsyncReaderOptions, mustBeReaderOptions } from './reader-options.js';
import type { View } from './view.js';
import { ViewReader } from './view-reader.js';

/**
 * Reads a LevelDB database from any folder. Nothing in the folder is changed, and no lock is taken.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new NodeFolder('path/to/database'));
 * await database.get(utf8('hello')); // Uint8Array, or undefined
 * for await (const [key, value] of database.entries({ gte: utf8('a'), lt: utf8('b') })) …
 * await database.close();
 * ```
 */
export class DatabaseReader extends AsyncReaderFace {
  readonly #folder: Folder;
  readonly #viewReader: ViewReader;
  /** The last call of `refresh`. */
  #refreshing: Promise<boolean> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(folder: Folder, viewReader: ViewReader, view: View) {
    super(folder, viewReader, view);
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
      return new DatabaseReader(folder, viewReader, await runAsync(folder, viewReader.read(), options.signal));
    } catch (error) {
      await viewReader.close();
      throw error;
    }
  }

  /** Closes the reader, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Sees what was written since. Cursors and walks that were begun go on to see what they saw.
   *
   * @returns whether anything was written.
   */
  refresh(signal?: Signal): Promise<boolean> {
    // Two at a time would replay the same records, and one that runs may have read before what this call is to see.
    const refreshing = this.#refresh(this.#refreshing, signal);
    this.#refreshing = refreshing;
    return refreshing;
  }

  /** Closes the files. Closing twice does so once. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.markClosed();
    await this.#refreshing?.catch(() => undefined);
    await this.#viewReader.close();
  }

  async #refresh(before: Promise<boolean> | undefined, signal: Signal | undefined): Promise<boolean> {
    this.mustBeOpen();
    if (signal !== undefined) mustBeSignal('signal', signal);
    await before?.catch(() => undefined);
    this.mustBeOpen();
    return this.show(await runAsync(this.#folder, this.#viewReader.read(), signal));
  }
}
