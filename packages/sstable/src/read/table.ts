import { mustBeWhole } from '@bloom/bytes';
import { BaseTable } from './base-table.js';
import { BlockReader } from './block-reader.js';
import { ByteCopier } from './byte-copier.js';
import { Cursor } from './cursor.js';
import { DataBlocks } from './data-blocks.js';
import type { AsyncKeyRange } from './key-range.js';
import { ABSENT, Lookup } from './lookup.js';
import { type OpenTable, openTable } from './open.js';
import { type AsyncTableOptions, DEFAULT_GAP_BYTES, DEFAULT_READ_AHEAD_BYTES } from './options.js';
import { RangeIterator } from './range-iterator.js';
import { RangeWalk } from './range-walk.js';
import { runAsync } from './reading.js';
import type { Source } from './source.js';
import { newTableStats } from './stats.js';
import { TableCursor } from './table-cursor.js';

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
export class Table extends BaseTable implements AsyncIterable<[Uint8Array, Uint8Array]> {
  readonly #table: OpenTable;
  readonly #blocks: DataBlocks;
  readonly #lookup: Lookup;
  readonly #reader: BlockReader;
  readonly #copier = new ByteCopier();

  private constructor(table: OpenTable, source: Source, options: AsyncTableOptions) {
    const stats = newTableStats(table.bytesRead);
    const blocks = new DataBlocks(table, options.cache, stats);
    const lookup = new Lookup(table, stats);
    super(table, blocks, lookup, stats);
    this.#table = table;
    this.#blocks = blocks;
    this.#lookup = lookup;
    const readAheadBytes = mustBeWhole('readAheadBytes', options.readAheadBytes ?? DEFAULT_READ_AHEAD_BYTES, 0);
    const gapBytes = mustBeWhole('gapBytes', options.gapBytes ?? DEFAULT_GAP_BYTES, 0);
    this.#reader = new BlockReader(blocks, source, readAheadBytes, gapBytes);
  }

  /**
   * Opens a table: reads footer, index and filter.
   *
   * @throws RangeError for an option that is wrong.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<Table> {
    return new Table(await runAsync(source, openTable(source, options), options.signal), source, options);
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block is damaged.
   */
  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.mustBeOpen();
    const i = this.#lookup.locate(key);
    if (i === ABSENT) return undefined;
    return this.#lookup.search(i, this.#blocks.cached(i) ?? (await this.#reader.read(i)), key);
  }

  /**
   * The first entry at or after `key`, if the filter lets `key` pass and `matches` takes the entry's key for the one
   * that is looked up: for orders in which several stored keys answer to one, such as the versions of a key.
   */
  async find(key: Uint8Array, matches: (key: Uint8Array) => boolean): Promise<[Uint8Array, Uint8Array] | undefined> {
    this.mustBeOpen();
    const i = this.#lookup.locate(key);
    if (i === ABSENT) return undefined;
    return this.#lookup.searchFrom(i, this.#blocks.cached(i) ?? (await this.#reader.read(i)), key, matches);
  }

  /** `get` for each of `keys`, in their order. Keys of one block share its read, blocks near one another too. */
  async getMany(keys: Iterable<Uint8Array>): Promise<(Uint8Array | undefined)[]> {
    this.mustBeOpen();
    const wanted = Array.from(keys);
    const values = new Array<Uint8Array | undefined>(wanted.length).fill(undefined);
    const keysOf = new Map<number, number[]>();
    for (const [k, key] of wanted.entries()) {
      const i = this.#lookup.locate(key);
      if (i === ABSENT) continue;
      const others = keysOf.get(i);
      if (others === undefined) keysOf.set(i, [k]);
      else others.push(k);
    }
    const blocks = [...keysOf.keys()].sort((a, b) => a - b);
    await this.#reader.each(blocks, (i, contents) => {
      for (const k of keysOf.get(i)!) values[k] = this.#lookup.search(i, contents, wanted[k]!);
    });
    return values;
  }

  /** The entries of a range, as copies, in order. */
  entries(range: AsyncKeyRange = {}): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    return this.#iterate(range, ({ block }) => [this.#copier.copyStart(block.keyBytes, block.keyLength), this.#copier.copy(block.value)]);
  }

  /** The keys of a range, as copies, in order. */
  keys(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#copier.copyStart(block.keyBytes, block.keyLength));
  }

  /** The values of a range, as copies, in the order of their keys. */
  values(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#copier.copy(block.value));
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
    return this.#blocks.cached(i) ?? (await this.#reader.read(i));
  }
}
