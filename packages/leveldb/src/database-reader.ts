import type { Signal } from '@bloom/bytes';
import { DatabaseCursorFace } from './cursor-face.js';
import { DatabaseRange } from './database-range.js';
import { type FolderReading, runAsync } from './folder-reading.js';
import type { Folder } from './folder.js';
import { ReaderFace, type SequenceOptions, type StoredVersion } from './reader-face.js';
import type { ReaderOptions } from './reader-options.js';
import type { DatabaseKeyRange } from './sync-database-reader.js';
import type { View } from './view.js';
import { ViewReader } from './view-reader.js';
import type { VisibleCursor } from './visible-cursor.js';

/** A range, the state of the database to look at, and a signal that ends the walk through it. */
export interface AsyncDatabaseKeyRange extends DatabaseKeyRange {
  readonly signal?: Signal | undefined;
}

/** How to open a {@link DatabaseReader}. All of it has a default. */
export interface AsyncReaderOptions extends ReaderOptions {
  /** Ends the opening early. */
  readonly signal?: Signal | undefined;
}

/** Lookups of `getMany` that are under way at once. */
const PARALLEL_LOOKUPS = 16;

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
export class DatabaseReader extends ReaderFace implements AsyncIterable<[Uint8Array, Uint8Array]> {
  readonly #folder: Folder;
  #refreshing: Promise<boolean> | undefined;

  private constructor(folder: Folder, viewReader: ViewReader, view: View) {
    super(viewReader, view);
    this.#folder = folder;
  }

  /**
   * Opens the database of a folder: reads its MANIFEST and its logs, and opens its tables.
   *
   * @throws RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the folder is not a database that can be read.
   * @throws FolderError when another process changes it all the time.
   */
  static async open(folder: Folder, options: AsyncReaderOptions = {}): Promise<DatabaseReader> {
    const viewReader = new ViewReader(folder, options);
    try {
      return new DatabaseReader(folder, viewReader, await runAsync(folder, viewReader.read(), options.signal));
    } catch (error) {
      await viewReader.close();
      throw error;
    }
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when what may hold it is damaged.
   */
  async get(key: Uint8Array, options?: SequenceOptions): Promise<Uint8Array | undefined> {
    const lookup = this.lookup(key, options);
    if (!lookup.run()) await this.#run(lookup.settle());
    return this.valueOf(lookup);
  }

  /** Whether there is a value of `key`. */
  async has(key: Uint8Array, options?: SequenceOptions): Promise<boolean> {
    const lookup = this.lookup(key, options);
    if (!lookup.run()) await this.#run(lookup.settle());
    return this.isFound(lookup);
  }

  /** `get` for each of `keys`, in their order. Keys of one block share its read. */
  async getMany(keys: Iterable<Uint8Array>, options?: SequenceOptions): Promise<(Uint8Array | undefined)[]> {
    this.mustBeOpen();
    const wanted = Array.from(keys);
    const values = new Array<Uint8Array | undefined>(wanted.length).fill(undefined);
    // All of them see one state, whatever `refresh` does meanwhile.
    const { view } = this;
    const sequence = this.sequenceOf(options);
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < wanted.length) {
        const i = next++;
        const lookup = this.lookup(wanted[i]!, { sequence }, view);
        if (!lookup.run()) await this.#run(lookup.settle(), view);
        values[i] = this.valueOf(lookup);
      }
    };
    view.pin();
    try {
      await Promise.all(Array.from({ length: Math.min(PARALLEL_LOOKUPS, wanted.length) }, work));
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

  /** Closes the reader, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A cursor, on no entry yet. It sees the database as it is now until it is closed. */
  cursor(options?: SequenceOptions): DatabaseCursor {
    this.mustBeOpen();
    const { view } = this;
    return new DatabaseCursor(view, view.cursor(this.sequenceOf(options)), this, (reading) => this.#run(reading, view));
  }

  /** All that is stored of a key, the newest version first: also what is deleted or overwritten. */
  async versions(key: Uint8Array): Promise<StoredVersion[]> {
    this.mustBeOpen();
    return this.#run(this.allVersions(this.view, key));
  }

  /**
   * Sees what was written since. Cursors and walks that were begun go on to see what they saw.
   *
   * @returns whether anything was written.
   */
  refresh(signal?: Signal): Promise<boolean> {
    // Two at a time would replay the same records.
    this.#refreshing ??= this.#refresh(signal).finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  /** Closes the files. Closing twice does nothing. */
  async close(): Promise<void> {
    if (!this.markClosed()) return;
    await this.#refreshing?.catch(() => undefined);
    await this.viewReader.close();
  }

  async #refresh(signal: Signal | undefined): Promise<boolean> {
    this.mustBeOpen();
    return this.show(await runAsync(this.#folder, this.viewReader.read(), signal));
  }

  /** Runs what reads files of `view`, which stay open meanwhile. */
  async #run<T>(reading: FolderReading<T>, view = this.view, signal?: Signal): Promise<T> {
    view.pin();
    try {
      return await runAsync(this.#folder, reading, signal);
    } catch (error) {
      // What a closed file says is no answer.
      this.mustBeOpen();
      throw error;
    } finally {
      view.unpin();
    }
  }

  #iterate<T>(range: AsyncDatabaseKeyRange, pick: (cursor: VisibleCursor) => T): AsyncIterableIterator<T> {
    this.mustBeOpen();
    const { view } = this;
    const walk = new DatabaseRange(view.cursor(this.sequenceOf(range)), view.order, range);
    return new RangeIterator(walk, view, pick, this, (reading) => this.#run(reading, view, range.signal), range.signal);
  }
}

/** Goes through a range: an async generator would take several times as long for each entry. */
class RangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #range: DatabaseRange;
  readonly #view: View;
  readonly #pick: (cursor: VisibleCursor) => T;
  readonly #face: ReaderFace;
  readonly #run: (reading: FolderReading<void>) => Promise<void>;
  readonly #signal: Signal | undefined;
  #over = false;
  /** The last of the calls of `next` that are not over, so that they end in the order in which they were made. */
  #pending: Promise<unknown> | undefined;

  constructor(
    range: DatabaseRange,
    view: View,
    pick: (cursor: VisibleCursor) => T,
    face: ReaderFace,
    run: (reading: FolderReading<void>) => Promise<void>,
    signal: Signal | undefined,
  ) {
    this.#range = range;
    this.#view = view;
    this.#pick = pick;
    this.#face = face;
    this.#run = run;
    this.#signal = signal;
    view.pin();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#track(this.#queued(this.#pending));
    if (this.#over) return Promise.resolve({ value: undefined, done: true });
    try {
      return this.#step() ? Promise.resolve(this.#result()) : this.#track(this.#settled());
    } catch (error) {
      this.#end();
      return Promise.reject(error);
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#range.end();
    await this.#pending?.catch(() => undefined);
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #step(): boolean {
    this.#face.mustBeOpen();
    this.#signal?.throwIfAborted();
    return this.#range.next();
  }

  async #queued(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    await pending.catch(() => undefined);
    if (this.#over) return { value: undefined, done: true };
    try {
      if (this.#step()) return this.#result();
    } catch (error) {
      this.#end();
      throw error;
    }
    return this.#settled();
  }

  async #settled(): Promise<IteratorResult<T, undefined>> {
    try {
      await this.#run(this.#range.cursor.settle());
      return this.#result();
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  #track<R>(call: Promise<R>): Promise<R> {
    this.#pending = call;
    const done = (): void => {
      if (this.#pending === call) this.#pending = undefined;
    };
    call.then(done, done);
    return call;
  }

  #result(): IteratorResult<T, undefined> {
    if (this.#range.accept()) return { value: this.#pick(this.#range.cursor), done: false };
    this.#end();
    return { value: undefined, done: true };
  }

  #end(): void {
    this.#range.end();
    if (this.#over) return;
    this.#over = true;
    this.#range.cursor.close();
    this.#view.unpin();
  }
}

const TRUE = Promise.resolve(true);

/**
 * Moves over a database's entries.
 *
 * On an entry after a move that gave true. Key and value are views that hold until the next move; a move must be over
 * before the next is asked for. Close it: it keeps open what it sees.
 */
export class DatabaseCursor extends DatabaseCursorFace {
  readonly #cursor: VisibleCursor;
  readonly #run: (reading: FolderReading<void>) => Promise<void>;
  #moving = false;

  /** Made by `DatabaseReader.cursor`. */
  constructor(view: View, cursor: VisibleCursor, face: ReaderFace, run: (reading: FolderReading<void>) => Promise<void>) {
    super(view, cursor, face);
    this.#cursor = cursor;
    this.#run = run;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): Promise<boolean> {
    return this.#move((cursor) => cursor.seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): Promise<boolean> {
    return this.#move((cursor) => cursor.seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array): Promise<boolean> {
    return this.#move((cursor) => cursor.seek(key, 'at-or-after'));
  }

  /** Moves to the next entry; a no-op unless on an entry. @returns whether there is one. */
  next(): Promise<boolean> {
    return this.#move((cursor) => cursor.next());
  }

  /** Moves to the previous entry; a no-op unless on an entry. @returns whether there is one. */
  prev(): Promise<boolean> {
    return this.#move((cursor) => cursor.prev());
  }

  #move(move: (cursor: VisibleCursor) => boolean): Promise<boolean> {
    try {
      if (this.#moving) throw new TypeError('the cursor is still moving: await a move before the next');
      if (!move(this.open())) return this.#settle();
      // Inside a block, a promise that is there already costs nothing.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #settle(): Promise<boolean> {
    this.#moving = true;
    try {
      await this.#run(this.#cursor.settle());
      return this.#cursor.valid;
    } finally {
      this.#moving = false;
    }
  }
}
