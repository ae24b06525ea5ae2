import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeFunction, mustBeIterable, throwIfAborted } from '@bloom/bytes/internal';
import type { SignalOptions } from '@bloom/sstable';
import type { SequenceOptions } from '@bloom/sstable/database';
import { mustNotBeAborted } from '@bloom/sstable/internal';
import { AsyncRangeIterator, LaterIterator } from './async-range.js';
import { CursorState } from './cursor-state.js';
import { type CursorParts, DatabaseCursor } from './database-cursor.js';
import { type DatabaseKeyRange, DatabaseRange, inBytes, mustBeDatabaseRange, ownKey, ownRange } from './database-range.js';
import { type FolderReading, inParallel, runAtOnce } from '../folder/folder-reading.js';
import type { LookupExplanation } from './lookup-explanation.js';
import { lookUpTheRest } from './many-lookups.js';
import { type DatabaseCursorOptions, keyAt, type MakeOfBytes, type Moment, type ReadPath, type StoredVersion } from './read-path.js';
import { BaseReader, type TableFiles } from './base-reader.js';
import type { TableHandle } from '../table/table-handle.js';
import type { View } from './view.js';
import type { ViewLookup } from './view-lookup.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** The most lookups of one call that wait for blocks of a remote folder. The tables of such a folder bound the reads themselves. */
const PARALLEL_REMOTE_LOOKUPS = 512;

/** Makes the result of `has` for a key that has a value. */
const IS_THERE: MakeOfBytes<true> = () => true;

/** A range, the state of the database to read, and a signal that ends the walk through it. */
export interface AsyncDatabaseKeyRange extends DatabaseKeyRange {
  readonly signal?: Signal | undefined;
}

/** The state of the database to read, and a signal that ends the call. */
export interface AsyncReadOptions extends SequenceOptions, SignalOptions {}

/** The methods for reading that `DatabaseReader` and `Database` share. */
export abstract class AsyncBaseReader extends BaseReader implements AsyncIterable<[Bytes, Bytes]> {
  readonly #path: ReadPath;

  /** @internal */
  constructor(path: ReadPath, files: TableFiles) {
    super(path, files);
    this.#path = path;
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when the block or log that may hold it is damaged.
   */
  async get(key: Uint8Array | string, options?: AsyncReadOptions): Promise<Bytes | undefined> {
    const value = this.#get('get', key, this.#path.copyOf, options);
    return value instanceof Promise ? await value : value;
  }

  /**
   * Looks up a key as `get` does, passes its value to a function of yours, and returns the function's result: for programs that need something
   * other than a copy, such as text. It returns a promise only if the call has to wait, or lets other work run.
   *
   * @param make is called once, unless the key is absent. The bytes are lent for the call: `make` must not write to them, must copy what it
   *   keeps, and must not read from any database or table. All of them share the memory into which Snappy decompresses blocks, so a read from
   *   another database can overwrite the bytes, too.
   * @returns undefined when the key is absent.
   * @throws what `get` and `make` throw, synchronously or in the promise, and a TypeError when `make` is not a function.
   * @example
   * ```ts
   * const text = await database.getAs('hello', (bytes, start, end) => decoder.decode(bytes.subarray(start, end)));
   * ```
   */
  getAs<T>(key: Uint8Array | string, make: MakeOfBytes<T>, options?: AsyncReadOptions): T | undefined | Promise<T | undefined> {
    mustBeFunction('make', make);
    return this.#get('getAs', key, make, options);
  }

  /**
   * Looks up a key as `get` does, and reports each step: the memtables and tables that were searched, in order, and those that were not, the
   * answer of each filter, the blocks that were read, and the result. It counts in `stats` as `get` does. Damage is not thrown: it is the
   * outcome.
   *
   * @throws TypeError, or the folder's error, as `get` does.
   * @example
   * ```ts
   * const { steps, outcome } = await database.explain('hello');
   * for (const step of steps) if (step.source === 'table' && step.asked) console.log(step.file, step.search.filter, step.found);
   * console.log(outcome.kind); // 'value', 'deletion', 'absent' or 'failed'
   * ```
   */
  async explain(key: Uint8Array | string, options?: AsyncReadOptions): Promise<LookupExplanation> {
    mustNotBeAborted(options?.signal);
    return this.#read(key, options?.signal, (view, of, last) => this.#path.explained(view, 'explain', of, options, last));
  }

  /** Whether there is a value for `key`. */
  async has(key: Uint8Array | string, options?: AsyncReadOptions): Promise<boolean> {
    const isThere = this.#get('has', key, IS_THERE, options);
    return (isThere instanceof Promise ? await isThere : isThere) === true;
  }

  /** `get` for each of `keys`, in their order. Keys of one block share its read if there is a cache. */
  getMany(keys: Iterable<Uint8Array | string>, options?: AsyncReadOptions): Promise<(Bytes | undefined)[]> {
    return this.#lookUpAll<Bytes | undefined>('getMany', keys, options, (lookup) => this.#path.valueOf(lookup));
  }

  /**
   * `getAs` for each of `keys`, in their order. Keys of one block share its read if there is a cache.
   *
   * @param make may be called in another order. If another program overwrites a table, `make` may get wrong bytes before the call fails with
   *   `BLOOM_FOLDER_CHANGED`.
   * @throws what `getMany` and `make` throw, and a TypeError when `make` is not a function.
   */
  async getManyAs<T>(keys: Iterable<Uint8Array | string>, make: MakeOfBytes<T>, options?: AsyncReadOptions): Promise<(T | undefined)[]> {
    mustBeFunction('make', make);
    return this.#lookUpAll<T | undefined>('getManyAs', keys, options, (lookup) => this.#path.madeOf(lookup, make));
  }

  /** `has` for each of `keys`, in their order. Keys of one block share its read if there is a cache. */
  hasMany(keys: Iterable<Uint8Array | string>, options?: AsyncReadOptions): Promise<boolean[]> {
    return this.#lookUpAll('hasMany', keys, options, (lookup) => this.#path.isFound(lookup));
  }

  /** Looks up keys one after another as long as their blocks are in memory, and then several at once. */
  async #lookUpAll<T>(call: string, keys: Iterable<Uint8Array | string>, options: AsyncReadOptions | undefined, take: (lookup: ViewLookup) => T): Promise<T[]> {
    this.#path.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays or strings');
    if (!this.#path.isBehind()) {
      const sequence = this.#path.sequenceOf(call, options);
      return this.#lookUpAllIn(this.#path.view, keys, sequence, options?.signal, take);
    }
    const own = Array.from(keys, (key, i) => new Uint8Array(keyAt(key, i)));
    mustNotBeAborted(options?.signal);
    return this.#later(options?.signal, ({ view, lastSequence }) => this.#lookUpAllIn(view, own, this.#path.sequenceOf(call, options, lastSequence), options?.signal, take));
  }

  /** All lookups see the same state, even if `refresh` is called before they end. */
  async #lookUpAllIn<T>(view: View, keys: Iterable<Uint8Array | string>, sequence: bigint, signal: Signal | undefined, take: (lookup: ViewLookup) => T): Promise<T[]> {
    mustNotBeAborted(signal);
    const isRemote = this.#path.folder.isRemote === true;
    const unsure = new Set<TableHandle>();
    const results: T[] = [];
    /** See {@link lookUpTheRest}. */
    let readsAtOnce = false;
    const lookUp = (key: Uint8Array, i: number): Promise<void> | undefined => {
      const lookup = this.#path.lookupAt(key, sequence, view);
      const settling = this.#settle(lookup, view, signal, unsure);
      if (settling !== undefined) return settling.then(() => void (results[i] = take(lookup)));
      readsAtOnce ||= lookup.hasRead;
      results[i] = take(lookup);
      if (!this.#path.pacer.isDue()) return undefined;
      readsAtOnce = true;
      return this.#pause(signal);
    };
    view.pin();
    try {
      let i = 0;
      /** The lookup of the first key whose blocks are not in memory, or after which other work is to run. */
      let begun: Promise<void> | undefined;
      /** The keys after it. Copies: an iterator may yield one array again and again, and the caller may change keys during the call. */
      const waiting: { readonly key: Uint8Array; readonly i: number }[] = [];
      for (const given of keys) {
        const key = keyAt(given, i);
        if (isRemote || begun !== undefined) {
          waiting.push({ key: new Uint8Array(key), i });
        } else {
          begun = lookUp(key, i);
          // The iterator may throw before the lookup is awaited.
          begun?.catch(() => undefined);
        }
        i++;
      }
      // An iterator is a function of the caller's: it may have closed the reader, or aborted the call.
      this.#path.mustBeOpen();
      throwIfAborted(signal);
      const lookUpWaiting = (n: number) => lookUp(waiting[n]!.key, waiting[n]!.i);
      if (isRemote) {
        // So that blocks that are close to each other are requested at the same time, and read together.
        waiting.sort((a, b) => view.comparator.compare(a.key, b.key));
        await inParallel(waiting.length, lookUpWaiting, PARALLEL_REMOTE_LOOKUPS);
      } else if (begun !== undefined) {
        await lookUpTheRest(begun, waiting.length, lookUpWaiting, readsAtOnce);
      }
    } finally {
      try {
        for (const table of unsure) table.mustBeSure();
      } finally {
        view.unpin();
      }
    }
    return results;
  }

  /** The entries of a range, as copies, in order. */
  entries(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<[Bytes, Bytes]> {
    return this.#iterate('entries', range, (cursor) => this.#path.copyPair(cursor));
  }

  /** The keys of a range, as copies, in order. */
  keys(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<Bytes> {
    return this.#iterate('keys', range, (cursor) => this.#path.copyKey(cursor));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: AsyncDatabaseKeyRange = {}): AsyncIterableIterator<Bytes> {
    return this.#iterate('values', range, (cursor) => this.#path.copyValue(cursor));
  }

  [Symbol.asyncIterator](): AsyncIterator<[Bytes, Bytes]> {
    return this.entries();
  }

  /** A cursor, not on an entry yet. It shows the database as it is now until it is closed. */
  cursor(options?: DatabaseCursorOptions): DatabaseCursor {
    this.#path.mustBeOpen();
    const isBehind = this.#path.isBehind();
    const partsAt = (moment: Moment, of: DatabaseCursorOptions | undefined): CursorParts => {
      const { view } = moment;
      return { view, cursor: this.#path.cursorFor('cursor', of, moment), run: (reading, signal) => this.#run(reading, view, signal) };
    };
    const { view, cursor, run } = partsAt(this.#path.present, options);
    const state = new CursorState(view, cursor, this.#path.state);
    if (!isBehind) return new DatabaseCursor(state, run, this.#path.pacer);
    const own = options && ownRange(options);
    return new DatabaseCursor(state, run, this.#path.pacer, this.#path.moment().then((moment) => partsAt(moment, own)));
  }

  /** All stored versions of a key, the newest first, including deletions and overwritten values. With a `sequence`, the versions up to it. */
  async versions(key: Uint8Array | string, options?: AsyncReadOptions): Promise<StoredVersion[]> {
    this.#path.mustBeOpen();
    return this.#read(key, options?.signal, (view, of, last) => this.#path.versionsIn(view, 'versions', of, options, last));
  }

  #get<T>(call: string, key: Uint8Array | string, make: MakeOfBytes<T>, options: AsyncReadOptions | undefined): T | undefined | Promise<T | undefined> {
    mustNotBeAborted(options?.signal);
    if (this.#path.isBehind(key)) return this.#lookUpLater(call, key, options, (lookup) => this.#path.madeOf(lookup, make));
    const lookup = this.#path.lookup(call, key, options);
    const settling = this.#settle(lookup, this.#path.view, options?.signal);
    if (settling !== undefined) return settling.then(() => this.#path.madeOf(lookup, make));
    return this.#paced(this.#path.madeOf(lookup, make));
  }

  /** Reads about one key, once all writes that were issued earlier are visible. */
  async #read<T>(key: Uint8Array | string, signal: Signal | undefined, readingOf: (view: View, key: Uint8Array | string, last?: bigint) => FolderReading<T>): Promise<T> {
    const read = (view: View, of: Uint8Array | string, last?: bigint): T | Promise<T> => {
      const reading = readingOf(view, of, last);
      mustNotBeAborted(signal);
      return this.#run(reading, view, signal);
    };
    if (!this.#path.isBehind(key)) return this.#paced(await read(this.#path.view, key));
    const own = ownKey(key);
    mustNotBeAborted(signal);
    return this.#later(signal, ({ view, lastSequence }) => read(view, own, lastSequence));
  }

  /** Looks up a key once all writes that were issued earlier are visible. */
  #lookUpLater<T>(call: string, key: Uint8Array | string, options: AsyncReadOptions | undefined, take: (lookup: ViewLookup) => T): Promise<T> {
    const own = ownKey(key);
    return this.#later(options?.signal, async ({ view, lastSequence }) => {
      const lookup = this.#path.lookupAt(own, this.#path.sequenceOf(call, options, lastSequence), view);
      const settling = this.#settle(lookup, view, options?.signal);
      // Not awaited needlessly: other lookups could overwrite the value, which is lent.
      if (settling !== undefined) await settling;
      return take(lookup);
    });
  }

  /** Reads once all writes that were issued earlier are visible. */
  async #later<T>(signal: Signal | undefined, read: (moment: Moment) => T | Promise<T>): Promise<T> {
    const moment = await this.#path.moment(signal);
    try {
      return await read(moment);
    } finally {
      moment.view.unpin();
    }
  }

  /** The result of a call, after other work if that is due: a loop of calls whose data is in memory would keep it from running. */
  #paced<T>(result: T): T | Promise<T> {
    return this.#path.pacer.isDue() ? this.#path.pacer.pause().then(() => result) : result;
  }

  /** Lets other work run between two lookups of one call. */
  async #pause(signal: Signal | undefined): Promise<void> {
    await this.#path.pacer.pause();
    this.#path.mustBeOpen();
    throwIfAborted(signal);
  }

  /** Runs a lookup in `view`. Returns no promise when everything that it needs is in memory. */
  #settle(lookup: ViewLookup, view: View, signal: Signal | undefined, unsure?: Set<TableHandle>): void | Promise<void> {
    if (!lookup.run('at hand', signal, unsure)) return this.#run(lookup.settle(), view, signal);
    if (!lookup.hasRead) return undefined;
    // A codec or a file may have closed the reader, or aborted the call.
    this.#path.mustBeOpen();
    if (signal === undefined) return undefined;
    // The getter of a caller's signal may do that too.
    lookup.keepValue();
    throwIfAborted(signal);
    return undefined;
  }

  /** Runs a reading of `view`, whose files stay open until it ends. Returns no promise when everything that it needs is in memory. */
  #run<T>(reading: FolderReading<T>, view = this.#path.view, signal?: Signal): T | Promise<T> {
    view.pin();
    let running: T | Promise<T>;
    try {
      running = runAtOnce(this.#path.folder, reading, signal);
    } catch (error) {
      view.unpin();
      throw error;
    }
    if (running instanceof Promise) return this.#ran(running, view, signal);
    view.unpin();
    // A comparator, a codec or a file may have closed the reader, or aborted the call.
    this.#path.mustBeOpen();
    throwIfAborted(signal);
    return running;
  }

  async #ran<T>(running: Promise<T>, view: View, signal: Signal | undefined): Promise<T> {
    try {
      const result = await running;
      // A block that was read ahead is returned even if the call was aborted, or the reader closed, in the meantime.
      this.#path.mustBeOpen();
      throwIfAborted(signal);
      return result;
    } catch (error) {
      // An error from a file that `close` has closed is not the caller's error.
      this.#path.mustBeOpen();
      throw error;
    } finally {
      view.unpin();
    }
  }

  #iterate<T>(call: string, given: AsyncDatabaseKeyRange, pick: (cursor: VisibleCursor) => T): AsyncIterableIterator<T> {
    this.#path.mustBeOpen();
    const range = inBytes(given);
    mustBeDatabaseRange(this.#path.nameOf(call), range);
    const walkAt = ({ view, lastSequence }: Moment, of: typeof range): AsyncRangeIterator<T> => {
      const sequence = this.#path.visibleAt(of.sequence, lastSequence);
      const walk = new DatabaseRange(this.#path.cursorOf(view, sequence, of.fillCache ?? true, of.prefix), view.order, of);
      return new AsyncRangeIterator(walk, view, pick, this.#path.state, (reading) => this.#run(reading, view, of.signal), of.signal, this.#path.pacer);
    };
    if (!this.#path.isBehind()) return walkAt(this.#path.present, range);
    // Wrong arguments are refused synchronously.
    void walkAt(this.#path.present, range).return();
    const own = ownRange(range);
    return new LaterIterator(this.#later(range.signal, (moment) => walkAt(moment, own)));
  }
}
