import { mustBeBytes, mustBeIterable, type Signal } from '@bloom/bytes';
import type { SignalOptions } from '@bloom/sstable';
import { mustNotBeAborted, signalOf } from '@bloom/sstable/database';
import { AsyncRangeIterator } from './async-range.js';
import { DatabaseCursor } from './database-cursor.js';
import { type DatabaseKeyRange, DatabaseRange, mustBeDatabaseRange } from './database-range.js';
import { type FolderReading, inParallel, runAsync } from './folder-reading.js';
import type { Folder } from './folder.js';
import { CURSOR_OPTIONS, ReaderFace, type SequenceOptions, type StoredVersion, type TableFiles } from './reader-face.js';
import type { View } from './view.js';
import type { VisibleCursor } from './visible-cursor.js';

/** A range, the state of the database to look at, and a signal that ends the walk through it. */
export interface AsyncDatabaseKeyRange extends DatabaseKeyRange {
  readonly signal?: Signal | undefined;
}

/** Which state of the database to look at, and a signal that ends the call. */
export interface AsyncReadOptions extends SequenceOptions, SignalOptions {}

/** The methods for reading that `DatabaseReader` and `Database` share. */
export abstract class AsyncReaderFace extends ReaderFace implements AsyncIterable<[Uint8Array, Uint8Array]> {
  readonly #folder: Folder;

  constructor(folder: Folder, files: TableFiles, view: View) {
    super(files, view);
    this.#folder = folder;
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when what may hold it is damaged.
   */
  async get(key: Uint8Array, options?: AsyncReadOptions): Promise<Uint8Array | undefined> {
    mustNotBeAborted(options?.signal);
    const lookup = this.lookup(key, options);
    if (!lookup.run()) await this.#run(lookup.settle(), this.view, options?.signal);
    return this.valueOf(lookup);
  }

  /** Whether there is a value of `key`. */
  async has(key: Uint8Array, options?: AsyncReadOptions): Promise<boolean> {
    mustNotBeAborted(options?.signal);
    const lookup = this.lookup(key, options);
    if (!lookup.run()) await this.#run(lookup.settle(), this.view, options?.signal);
    return this.isFound(lookup);
  }

  /** `get` for each of `keys`, in their order. Keys of one block share its read. */
  async getMany(keys: Iterable<Uint8Array>, options?: AsyncReadOptions): Promise<(Uint8Array | undefined)[]> {
    this.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays');
    // Copies: an iterator may yield one array again and again, and the caller may change keys during the call.
    const wanted = Array.from(keys, (key, i) => {
      mustBeBytes(`keys[${i}]`, key);
      return new Uint8Array(key);
    });
    const values = new Array<Uint8Array | undefined>(wanted.length).fill(undefined);
    // All lookups see the same state, even if `refresh` is called meanwhile.
    const { view } = this;
    const sequence = this.sequenceOf(options);
    const signal = options?.signal;
    mustNotBeAborted(signal);
    view.pin();
    try {
      await inParallel(wanted.length, (i) => {
        const lookup = this.lookupAt(wanted[i]!, sequence, view);
        const take = (): void => {
          values[i] = this.valueOf(lookup);
        };
        if (!lookup.run()) return this.#run(lookup.settle(), view, signal).then(take);
        take();
        return undefined;
      });
    } finally {
      view.unpin();
    }
    return values;
  }

  /** The entries of a range, as copies, in order. */
  entries(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    return this.#iterate(range, (cursor) => [this.copyKey(cursor), this.copyValue(cursor)]);
  }

  /** The keys of a range, as copies, in order. */
  keys(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, (cursor) => this.copyKey(cursor));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, (cursor) => this.copyValue(cursor));
  }

  [Symbol.asyncIterator](): AsyncIterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /** A cursor, on no entry yet. It sees the database as it is now until it is closed. */
  cursor(options?: SequenceOptions): DatabaseCursor {
    this.mustBeOpen();
    const { view } = this;
    return new DatabaseCursor(view, this.cursorOf(view, this.sequenceOf(options, CURSOR_OPTIONS)), this, (reading, signal) => this.#run(reading, view, signal));
  }

  /** All that is stored of a key, the newest version first: also what is deleted or overwritten. */
  async versions(key: Uint8Array, options?: SignalOptions): Promise<StoredVersion[]> {
    this.mustBeOpen();
    const signal = signalOf('versions', options);
    return this.#run(this.allVersions(this.view, key), this.view, signal);
  }

  /** Runs a reading of `view`, whose files stay open meanwhile. */
  async #run<T>(reading: FolderReading<T>, view = this.view, signal?: Signal): Promise<T> {
    view.pin();
    try {
      const result = await runAsync(this.#folder, reading, signal);
      // A block that was read ahead is returned even if the call was aborted, or the reader closed, in the meantime.
      this.mustBeOpen();
      signal?.throwIfAborted();
      return result;
    } catch (error) {
      // An error from a file that was closed meanwhile is not the caller's error.
      this.mustBeOpen();
      throw error;
    } finally {
      view.unpin();
    }
  }

  #iterate<T>(range: AsyncDatabaseKeyRange, pick: (cursor: VisibleCursor) => T): AsyncIterableIterator<T> {
    this.mustBeOpen();
    mustBeDatabaseRange(range);
    const { view } = this;
    const walk = new DatabaseRange(this.cursorOf(view, this.visibleAt(range.sequence)), view.order, range);
    return new AsyncRangeIterator(walk, view, pick, this, (reading) => this.#run(reading, view, range.signal), range.signal);
  }
}
