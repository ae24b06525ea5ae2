import { mustBeIterable } from '@bloom/bytes';
import { DatabaseCursorFace } from './cursor-face.js';
import { type DatabaseKeyRange, DatabaseRange, mustBeDatabaseRange } from './database-range.js';
import { type FolderReading, runSync } from './folder-reading.js';
import { mustBeFolder, type SyncFolder } from './folder.js';
import { CURSOR_OPTIONS, ReaderFace, type SequenceOptions, type StoredVersion } from './reader-face.js';
import { mustBeReaderOptions, type ReaderOptions } from './reader-options.js';
import type { View } from './view.js';
import { ViewReader } from './view-reader.js';
import type { VisibleCursor } from './visible-cursor.js';

/**
 * Reads a LevelDB database without promises, from a folder that answers at once. Nothing in the folder is changed, and no
 * lock is taken.
 *
 * @example
 * ```ts
 * const database = SyncDatabaseReader.open(new SyncNodeFolder('path/to/database'));
 * database.get(utf8('hello')); // Uint8Array, or undefined
 * for (const [key, value] of database.entries({ gte: utf8('a'), lt: utf8('b') })) …
 * database.close();
 * ```
 */
export class SyncDatabaseReader extends ReaderFace implements Iterable<[Uint8Array, Uint8Array]> {
  readonly #folder: SyncFolder;
  readonly #viewReader: ViewReader;

  private constructor(folder: SyncFolder, viewReader: ViewReader, view: View) {
    super(viewReader, view);
    this.#viewReader = viewReader;
    this.#folder = folder;
  }

  /**
   * Opens the database of a folder: reads its MANIFEST and its logs, and opens its tables.
   *
   * @throws TypeError or RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the folder is not a database that can be read.
   * @throws FolderError when another process changes it all the time.
   */
  static open(folder: SyncFolder, options: ReaderOptions = {}): SyncDatabaseReader {
    mustBeFolder(folder);
    mustBeReaderOptions('SyncDatabaseReader.open', options);
    const viewReader = new ViewReader(folder, options);
    try {
      return new SyncDatabaseReader(folder, viewReader, runSync(folder, viewReader.read()));
    } catch (error) {
      viewReader.close().catch(() => undefined);
      throw error;
    }
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when what may hold it is damaged.
   */
  get(key: Uint8Array, options?: SequenceOptions): Uint8Array | undefined {
    const lookup = this.lookup(key, options);
    if (!lookup.run()) this.#run(lookup.settle());
    return this.valueOf(lookup);
  }

  /** Whether there is a value of `key`. */
  has(key: Uint8Array, options?: SequenceOptions): boolean {
    const lookup = this.lookup(key, options);
    if (!lookup.run()) this.#run(lookup.settle());
    return this.isFound(lookup);
  }

  /** `get` for each of `keys`, in their order. */
  getMany(keys: Iterable<Uint8Array>, options?: SequenceOptions): (Uint8Array | undefined)[] {
    this.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays');
    return Array.from(keys, (key) => this.get(key, options));
  }

  /** The entries of a range, as copies, in order. */
  entries(range: DatabaseKeyRange = {}): IterableIterator<[Uint8Array, Uint8Array]> {
    return this.#iterate(range, (cursor) => [this.copyKey(cursor), this.copyValue(cursor)]);
  }

  /** The keys of a range, as copies, in order. */
  keys(range: DatabaseKeyRange = {}): IterableIterator<Uint8Array> {
    return this.#iterate(range, (cursor) => this.copyKey(cursor));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: DatabaseKeyRange = {}): IterableIterator<Uint8Array> {
    return this.#iterate(range, (cursor) => this.copyValue(cursor));
  }

  [Symbol.iterator](): Iterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /** A cursor, on no entry yet. It sees the database as it is now until it is closed. */
  cursor(options?: SequenceOptions): SyncDatabaseCursor {
    this.mustBeOpen();
    return new SyncDatabaseCursor(this.view, this.cursorOf(this.view, this.sequenceOf(options, CURSOR_OPTIONS)), this, (reading) => this.#run(reading));
  }

  /** All that is stored of a key, the newest version first: also what is deleted or overwritten. */
  versions(key: Uint8Array): StoredVersion[] {
    this.mustBeOpen();
    return this.#run(this.allVersions(this.view, key));
  }

  /**
   * Sees what was written since. Cursors and walks that were begun go on to see what they saw.
   *
   * @returns whether anything was written.
   */
  refresh(): boolean {
    this.mustBeOpen();
    return this.show(this.#run(this.#viewReader.read()));
  }

  /** Closes the files. Closing twice does nothing. */
  close(): void {
    if (this.markClosed()) void this.#viewReader.close();
  }

  #run<T>(reading: FolderReading<T>): T {
    return runSync(this.#folder, reading);
  }

  #iterate<T>(range: DatabaseKeyRange, pick: (cursor: VisibleCursor) => T): IterableIterator<T> {
    this.mustBeOpen();
    mustBeDatabaseRange(range);
    const cursor = this.cursorOf(this.view, this.visibleAt(range.sequence));
    const walk = new DatabaseRange(cursor, this.view.order, range);
    return new SyncRangeIterator(walk, this.view, pick, this, (reading) => this.#run(reading));
  }
}

/** Goes through a range. */
class SyncRangeIterator<T> implements IterableIterator<T> {
  readonly #range: DatabaseRange;
  readonly #view: View;
  readonly #pick: (cursor: VisibleCursor) => T;
  readonly #face: ReaderFace;
  readonly #run: (reading: FolderReading<void>) => void;
  #over = false;

  constructor(range: DatabaseRange, view: View, pick: (cursor: VisibleCursor) => T, face: ReaderFace, run: (reading: FolderReading<void>) => void) {
    this.#range = range;
    this.#view = view;
    this.#pick = pick;
    this.#face = face;
    this.#run = run;
    view.pin();
  }

  next(): IteratorResult<T, undefined> {
    if (this.#over) return { value: undefined, done: true };
    try {
      this.#face.mustBeOpen();
      if (!this.#range.next()) this.#run(this.#range.cursor.settle());
      if (this.#range.accept()) return { value: this.#pick(this.#range.cursor), done: false };
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.return();
  }

  return(): IteratorResult<T, undefined> {
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.iterator](): this {
    return this;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#range.cursor.close();
    this.#view.unpin();
  }
}

/**
 * Moves over a database's entries without promises.
 *
 * On an entry after a move that returned true. Key and value are views that hold until the next move. Close it: it keeps
 * open what it sees.
 */
export class SyncDatabaseCursor extends DatabaseCursorFace {
  readonly #cursor: VisibleCursor;
  readonly #run: (reading: FolderReading<void>) => void;

  /** Made by `SyncDatabaseReader.cursor`. */
  constructor(view: View, cursor: VisibleCursor, face: ReaderFace, run: (reading: FolderReading<void>) => void) {
    super(view, cursor, face);
    this.#cursor = cursor;
    this.#run = run;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    return this.#settle(this.open().seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    return this.#settle(this.open().seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array): boolean {
    return this.#settle(this.open().seek(key, 'at-or-after'));
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(): boolean {
    return this.#settle(this.open().next());
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(): boolean {
    return this.#settle(this.open().prev());
  }

  #settle(settled: boolean): boolean {
    if (!settled) this.#run(this.#cursor.settle());
    return this.#cursor.valid;
  }
}
