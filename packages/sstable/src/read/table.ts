import {
  BlockReader,
  DEFAULT_GAP_BYTES,
  DEFAULT_READ_AHEAD_BYTES,
  type ReadingOptions,
} from './block-reader.js';
import { CursorFace } from './cursor-face.js';
import { type KeyRange, RangeWalk } from './key-range.js';
import { ABSENT, OpenTable } from './open-table.js';
import { runAsync } from './reading.js';
import type { Source } from './source.js';
import { SETTLED, TableCursor } from './table-cursor.js';
import { TableFace } from './table-face.js';
import type { TableOptions } from './table-options.js';
import { mustBeWhole } from '@bloom/bytes';

/** A range, and a signal that ends the walk through it. */
export interface AsyncKeyRange extends KeyRange {
  readonly signal?: AbortSignal | undefined;
}

/** How to open a {@link Table}. All of it has a default. */
export interface AsyncTableOptions extends TableOptions, ReadingOptions {
  /** Ends the opening early. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A table read from any source.
 *
 * @example
 * ```ts
 * const table = await Table.open(source);
 * await table.get(utf8('hello')); // Uint8Array, or undefined
 * for await (const [key, value] of table.entries({ gte: utf8('a'), lt: utf8('b') })) …
 * ```
 */
export class Table extends TableFace implements AsyncIterable<[Uint8Array, Uint8Array]> {
  readonly #table: OpenTable;
  readonly #reader: BlockReader;

  private constructor(table: OpenTable, source: Source, options: AsyncTableOptions) {
    super(table);
    this.#table = table;
    const readAheadBytes = mustBeWhole('readAheadBytes', options.readAheadBytes ?? DEFAULT_READ_AHEAD_BYTES, 0);
    const gapBytes = mustBeWhole('gapBytes', options.gapBytes ?? DEFAULT_GAP_BYTES, 0);
    this.#reader = new BlockReader(table, source, readAheadBytes, gapBytes);
  }

  /**
   * Opens a table: reads footer, index and filter.
   *
   * @throws RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<Table> {
    return new Table(await runAsync(source, OpenTable.open(source, options), options.signal), source, options);
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block is damaged.
   */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.mustBeOpen();
    const i = this.#table.locate(key);
    if (i === ABSENT) return undefined;
    return this.#table.search(i, this.#table.cached(i) ?? (await this.#reader.read(i)), key);
  }

  /**
   * The first entry at or after `key`, if the filter lets `key` pass and `matches` takes the entry's key for the one
   * that is looked up: for orders in which several stored keys answer to one, such as the versions of a key.
   */
  async find(key: Uint8Array, matches: (key: Uint8Array) => boolean): Promise<[Uint8Array, Uint8Array] | undefined> {
    this.mustBeOpen();
    const i = this.#table.locate(key);
    if (i === ABSENT) return undefined;
    return this.#table.searchFrom(i, this.#table.cached(i) ?? (await this.#reader.read(i)), key, matches);
  }

  /** `get` for each of `keys`, in their order. Keys of one block share its read, blocks near one another too. */
  async getMany(keys: Iterable<Uint8Array>): Promise<(Uint8Array | undefined)[]> {
    this.mustBeOpen();
    const wanted = Array.from(keys);
    const values = new Array<Uint8Array | undefined>(wanted.length).fill(undefined);
    const keysOf = new Map<number, number[]>();
    for (const [k, key] of wanted.entries()) {
      const i = this.#table.locate(key);
      if (i === ABSENT) continue;
      const others = keysOf.get(i);
      if (others === undefined) keysOf.set(i, [k]);
      else others.push(k);
    }
    const blocks = [...keysOf.keys()].sort((a, b) => a - b);
    await this.#reader.each(blocks, (i, contents) => {
      for (const k of keysOf.get(i)!) values[k] = this.#table.search(i, contents, wanted[k]!);
    });
    return values;
  }

  /** The entries of a range, as copies, in order. */
  entries(range: AsyncKeyRange = {}): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    return this.#iterate(range, ({ block }) => [this.#table.copyKey(block), this.#table.copyValue(block)]);
  }

  /** The keys of a range, as copies, in order. */
  keys(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#table.copyKey(block));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#table.copyValue(block));
  }

  [Symbol.asyncIterator](): AsyncIterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /** Closes the table, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** A cursor, on no entry yet. */
  cursor(): Cursor {
    this.mustBeOpen();
    return new Cursor(new TableCursor(this.#table), (i) => this.#block(i));
  }

  #iterate<T>(range: AsyncKeyRange, pick: (cursor: TableCursor) => T): AsyncIterableIterator<T> {
    this.mustBeOpen();
    const ahead = this.#reader.ahead(range.reverse ?? false, range.signal);
    const block = async (i: number): Promise<Uint8Array> => {
      this.mustBeOpen();
      return ahead.block(i);
    };
    return new RangeIterator(new RangeWalk(this.#table, range), block, pick, range.signal);
  }

  /** The contents of data block `i`. */
  async #block(i: number): Promise<Uint8Array> {
    this.mustBeOpen();
    return this.#table.cached(i) ?? (await this.#reader.read(i));
  }
}

const TRUE = Promise.resolve(true);

/**
 * Moves over a table's entries.
 *
 * On an entry after a move that gave true. Key and value are views that hold until the next move; a move must be
 * over before the next is asked for.
 */
export class Cursor extends CursorFace {
  readonly #cursor: TableCursor;
  readonly #block: (i: number) => Promise<Uint8Array>;
  #moving = false;

  /** Made by `Table.cursor`. */
  constructor(cursor: TableCursor, block: (i: number) => Promise<Uint8Array>) {
    super(cursor);
    this.#cursor = cursor;
    this.#block = block;
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

  /** Moves to the next entry. On none, it stays there. @returns whether there is one. */
  next(): Promise<boolean> {
    return this.#move((cursor) => cursor.next());
  }

  /** Moves to the entry before. On none, it stays there. @returns whether there is one. */
  prev(): Promise<boolean> {
    return this.#move((cursor) => cursor.prev());
  }

  #move(move: (cursor: TableCursor) => number): Promise<boolean> {
    try {
      if (this.#moving) throw new TypeError('the cursor is still moving: await a move before the next');
      const wanted = move(this.#cursor);
      if (wanted !== SETTLED) return this.#settle(wanted);
      // Inside a block, a promise that is there already costs nothing.
      return this.#cursor.valid ? TRUE : Promise.resolve(false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #settle(wanted: number): Promise<boolean> {
    this.#moving = true;
    try {
      while (wanted !== SETTLED) wanted = this.#cursor.supply(await this.#block(wanted));
      return this.#cursor.valid;
    } finally {
      this.#moving = false;
    }
  }
}

/** Goes through a range: an async generator would take several times as long for each entry. */
class RangeIterator<T> implements AsyncIterableIterator<T> {
  readonly #walk: RangeWalk;
  readonly #block: (i: number) => Promise<Uint8Array>;
  readonly #pick: (cursor: TableCursor) => T;
  readonly #signal: AbortSignal | undefined;
  /** The last of the calls of `next` that are not over, so that they end in the order in which they were made. */
  #pending: Promise<unknown> | undefined;

  constructor(
    walk: RangeWalk,
    block: (i: number) => Promise<Uint8Array>,
    pick: (cursor: TableCursor) => T,
    signal: AbortSignal | undefined,
  ) {
    this.#walk = walk;
    this.#block = block;
    this.#pick = pick;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#pending !== undefined) return this.#queue(this.#pending);
    if (this.#walk.isOver) return Promise.resolve(this.#result());
    try {
      this.#signal?.throwIfAborted();
      const wanted = this.#walk.next();
      return wanted === SETTLED ? Promise.resolve(this.#result()) : this.#track(this.#settle(wanted));
    } catch (error) {
      this.#walk.end();
      return Promise.reject(error);
    }
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#walk.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #queue(pending: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    return this.#track(
      (async () => {
        await pending.catch(() => undefined);
        if (!this.#walk.isOver && this.#signal?.aborted === true) {
          this.#walk.end();
          throw this.#signal.reason;
        }
        const wanted = this.#walk.next();
        return wanted === SETTLED ? this.#result() : this.#settle(wanted);
      })(),
    );
  }

  #track<R>(call: Promise<R>): Promise<R> {
    this.#pending = call;
    const done = (): void => {
      if (this.#pending === call) this.#pending = undefined;
    };
    call.then(done, done);
    return call;
  }

  async #settle(wanted: number): Promise<IteratorResult<T, undefined>> {
    try {
      while (wanted !== SETTLED) {
        const contents = await this.#block(wanted);
        this.#signal?.throwIfAborted();
        wanted = this.#walk.supply(contents);
      }
      return this.#result();
    } catch (error) {
      this.#walk.end();
      throw error;
    }
  }

  #result(): IteratorResult<T, undefined> {
    return this.#walk.accept() ? { value: this.#pick(this.#walk.cursor), done: false } : { value: undefined, done: true };
  }
}
