import { CursorFace } from './cursor-face.js';
import { type KeyRange, RangeWalk } from './key-range.js';
import { ABSENT, OpenTable } from './open-table.js';
import { readRangeSync, runSync } from './reading.js';
import type { SyncSource } from './source.js';
import { SETTLED, TableCursor } from './table-cursor.js';
import { TableFace } from './table-face.js';
import type { TableOptions } from './table-options.js';

/**
 * A table read without promises, from memory or a file descriptor.
 *
 * @example
 * ```ts
 * const table = SyncTable.open(new MemorySource(bytes));
 * table.get(utf8('hello')); // Uint8Array, or undefined
 * ```
 */
export class SyncTable extends TableFace implements Iterable<[Uint8Array, Uint8Array]> {
  readonly #table: OpenTable;
  readonly #source: SyncSource;

  private constructor(table: OpenTable, source: SyncSource) {
    super(table);
    this.#table = table;
    this.#source = source;
  }

  /**
   * Opens a table: reads footer, index and filter.
   *
   * @throws RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static open(source: SyncSource, options: TableOptions = {}): SyncTable {
    return new SyncTable(runSync(source, OpenTable.open(source, options)), source);
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block is damaged.
   */
  get(key: Uint8Array): Uint8Array | undefined {
    this.mustBeOpen();
    const i = this.#table.locate(key);
    return i === ABSENT ? undefined : this.#table.search(i, this.#block(i), key);
  }

  /**
   * The first entry at or after `key`, if the filter lets `key` pass and `matches` takes the entry's key for the one
   * that is looked up: for orders in which several stored keys answer to one, such as the versions of a key.
   */
  find(key: Uint8Array, matches: (key: Uint8Array) => boolean): [Uint8Array, Uint8Array] | undefined {
    this.mustBeOpen();
    const i = this.#table.locate(key);
    return i === ABSENT ? undefined : this.#table.searchFrom(i, this.#block(i), key, matches);
  }

  /** `get` for each of `keys`, in their order. */
  getMany(keys: Iterable<Uint8Array>): (Uint8Array | undefined)[] {
    return Array.from(keys, (key) => this.get(key));
  }

  /** The entries of a range, as copies, in order. */
  entries(range: KeyRange = {}): Generator<[Uint8Array, Uint8Array], void, undefined> {
    return this.#iterate(range, ({ block }) => [this.#table.copyKey(block), this.#table.copyValue(block)]);
  }

  /** The keys of a range, as copies, in order. */
  keys(range: KeyRange = {}): Generator<Uint8Array, void, undefined> {
    return this.#iterate(range, ({ block }) => this.#table.copyKey(block));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: KeyRange = {}): Generator<Uint8Array, void, undefined> {
    return this.#iterate(range, ({ block }) => this.#table.copyValue(block));
  }

  [Symbol.iterator](): Iterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /** A cursor, on no entry yet. */
  cursor(): SyncCursor {
    this.mustBeOpen();
    return new SyncCursor(new TableCursor(this.#table), (i) => this.#block(i));
  }

  #iterate<T>(range: KeyRange, pick: (cursor: TableCursor) => T): Generator<T, void, undefined> {
    this.mustBeOpen();
    return this.#walk(new RangeWalk(this.#table, range), pick);
  }

  *#walk<T>(walk: RangeWalk, pick: (cursor: TableCursor) => T): Generator<T, void, undefined> {
    for (;;) {
      let wanted = walk.next();
      while (wanted !== SETTLED) wanted = walk.supply(this.#block(wanted));
      if (!walk.accept()) return;
      yield pick(walk.cursor);
    }
  }

  #block(i: number): Uint8Array {
    const cached = this.#table.cached(i);
    if (cached !== undefined) return cached;
    this.mustBeOpen();
    return this.#table.decode(i, readRangeSync(this.#source, this.#table.rangeOf(i)));
  }
}

/**
 * Moves over a table's entries without promises.
 *
 * On an entry after a move that returned true. Key and value are views that hold until the next move.
 */
export class SyncCursor extends CursorFace {
  readonly #cursor: TableCursor;
  readonly #block: (i: number) => Uint8Array;

  /** Made by `SyncTable.cursor`. */
  constructor(cursor: TableCursor, block: (i: number) => Uint8Array) {
    super(cursor);
    this.#cursor = cursor;
    this.#block = block;
  }

  /** Moves to the first entry. @returns whether there is one. */
  seekToFirst(): boolean {
    return this.#settle(this.#cursor.seekToFirst());
  }

  /** Moves to the last entry. @returns whether there is one. */
  seekToLast(): boolean {
    return this.#settle(this.#cursor.seekToLast());
  }

  /** Moves to the first entry at or after `key`. @returns whether there is one. */
  seek(key: Uint8Array): boolean {
    return this.#settle(this.#cursor.seek(key, 'at-or-after'));
  }

  /** Moves to the next entry. On none, it stays there. @returns whether there is one. */
  next(): boolean {
    const wanted = this.#cursor.next();
    return wanted === SETTLED ? this.#cursor.valid : this.#settle(wanted);
  }

  /** Moves to the entry before. On none, it stays there. @returns whether there is one. */
  prev(): boolean {
    return this.#settle(this.#cursor.prev());
  }

  #settle(wanted: number): boolean {
    while (wanted !== SETTLED) wanted = this.#cursor.supply(this.#block(wanted));
    return this.#cursor.valid;
  }
}
