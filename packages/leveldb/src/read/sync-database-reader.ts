import type { Bytes } from '@bloom/bytes';
import type { SequenceOptions } from '@bloom/sstable/database';
import { PackedWalk } from '../cursor/packed-walk.js';
import { providePackedWalk } from '../cursor/load-packed-walk.js';
import type { DatabaseKeyRange } from './database-range.js';
import { runSync } from '../folder/folder-reading.js';
import { mustBeFolder, type SyncFolder } from '../folder/folder.js';
import type { LookupExplanation } from './lookup-explanation.js';
import { type DatabaseCursorOptions, ReadPath, type StoredVersion } from './read-path.js';
import { BaseReader } from './base-reader.js';
import { mustBeReaderOptions, type SyncReaderOptions } from './reader-options.js';
import type { SyncDatabaseCursor } from './sync-database-cursor.js';
import { ViewReader } from './view-reader.js';

/**
 * Reads a LevelDB database without promises, from a folder with synchronous methods. Nothing in the folder is changed, and no lock is taken.
 *
 * @example
 * ```ts
 * const database = SyncDatabaseReader.open(new SyncNodeFolder('path/to/database'));
 * database.get('hello'); // Uint8Array, or undefined
 * for (const [key, value] of database.entries({ gte: 'a', lt: 'b' })) …
 * database.close();
 * ```
 */
export class SyncDatabaseReader extends BaseReader implements Iterable<[Bytes, Bytes]> {
  readonly #path: ReadPath;
  readonly #folder: SyncFolder;
  readonly #viewReader: ViewReader;

  private constructor(path: ReadPath, folder: SyncFolder, viewReader: ViewReader) {
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
  static open(folder: SyncFolder, options: SyncReaderOptions = {}): SyncDatabaseReader {
    mustBeFolder(folder);
    mustBeReaderOptions('SyncDatabaseReader.open', options);
    // Its walks cannot wait until the code is loaded.
    providePackedWalk(PackedWalk);
    const viewReader = new ViewReader(folder, options);
    try {
      const view = runSync(folder, viewReader.read());
      return new SyncDatabaseReader(new ReadPath({ kind: 'reader', className: 'SyncDatabaseReader' }, folder, view), folder, viewReader);
    } catch (error) {
      viewReader.close().catch(() => undefined);
      throw error;
    }
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when the block or log that may hold it is damaged.
   */
  get(key: Uint8Array | string, options?: SequenceOptions): Bytes | undefined {
    return this.#path.getAtOnce('get', key, options);
  }

  /**
   * Looks up a key as `get` does, and reports each step: the memtables and tables that were searched, in order, and those that were not, the
   * answer of each filter, the blocks that were read, and the result. It counts in `stats` as `get` does. Damage is not thrown: it is the
   * outcome.
   *
   * @throws TypeError, or the folder's error, as `get` does.
   * @example
   * ```ts
   * const { steps, outcome } = database.explain('hello');
   * for (const step of steps) if (step.source === 'table' && step.asked) console.log(step.file, step.search.filter, step.found);
   * console.log(outcome.kind); // 'value', 'deletion', 'absent' or 'failed'
   * ```
   */
  explain(key: Uint8Array | string, options?: SequenceOptions): LookupExplanation {
    return this.#path.explainAtOnce('explain', key, options);
  }

  /** Whether there is a value for `key`. */
  has(key: Uint8Array | string, options?: SequenceOptions): boolean {
    return this.#path.hasAtOnce('has', key, options);
  }

  /** `get` for each of `keys`, in their order. */
  getMany(keys: Iterable<Uint8Array | string>, options?: SequenceOptions): (Bytes | undefined)[] {
    return this.#path.getManyAtOnce('getMany', keys, options);
  }

  /** `has` for each of `keys`, in their order. */
  hasMany(keys: Iterable<Uint8Array | string>, options?: SequenceOptions): boolean[] {
    return this.#path.hasManyAtOnce('hasMany', keys, options);
  }

  /** The entries of a range, as copies, in order. */
  entries(range: DatabaseKeyRange = {}): IterableIterator<[Bytes, Bytes]> {
    return this.#path.iterateAtOnce('entries', range, (cursor) => this.#path.copyPair(cursor));
  }

  /** The keys of a range, as copies, in order. */
  keys(range: DatabaseKeyRange = {}): IterableIterator<Bytes> {
    return this.#path.iterateAtOnce('keys', range, (cursor) => this.#path.copyKey(cursor));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: DatabaseKeyRange = {}): IterableIterator<Bytes> {
    return this.#path.iterateAtOnce('values', range, (cursor) => this.#path.copyValue(cursor));
  }

  [Symbol.iterator](): Iterator<[Bytes, Bytes]> {
    return this.entries();
  }

  /** A cursor, not on an entry yet. It shows the database as it is now until it is closed. */
  cursor(options?: DatabaseCursorOptions): SyncDatabaseCursor {
    return this.#path.cursorAtOnce('cursor', options);
  }

  /** All stored versions of a key, the newest first, including deletions and overwritten values. With a `sequence`, the versions up to it. */
  versions(key: Uint8Array | string, options?: SequenceOptions): StoredVersion[] {
    return this.#path.versionsAtOnce('versions', key, options);
  }

  /**
   * Makes everything visible that was written since. Cursors and walks that were begun earlier still show the earlier state.
   *
   * @returns whether anything was written.
   */
  refresh(): boolean {
    this.#path.mustBeOpen();
    return this.#path.show(runSync(this.#folder, this.#viewReader.read()));
  }

  /** Closes the files. Closing twice does nothing. */
  close(): void {
    if (this.#path.state.close()) void this.#viewReader.close();
  }

  /** Closes the reader, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}
