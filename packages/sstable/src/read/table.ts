import { mustBeBytes, mustBeIterable } from '@bloom/bytes';
import { BaseTable } from './base-table.js';
import { BatchWalk } from './batch-walk.js';
import { BlockReader } from './block-reader.js';
import { ByteCopier } from './byte-copier.js';
import { Cursor } from './cursor.js';
import { DataBlocks } from './data-blocks.js';
import type { EntryBatch } from './entry-batch.js';
import { type AsyncKeyRange, mustBeKeyRange } from './key-range.js';
import { ABSENT, GO_ON, Lookup } from './lookup.js';
import { type OpenTable, readOpenTable } from './open.js';
import { type AsyncTableOptions, mustBeTableOptions, readingFor, signalOf, type SignalOptions } from './options.js';
import { RangeIterator } from './range-iterator.js';
import { RangeWalk, type Walk } from './range-walk.js';
import { runAsync } from './reading.js';
import { mustBeSource, type Source } from './source.js';
import { newTableStats } from './stats.js';
import { TableCursor } from './table-cursor.js';

/**
 * Reads a table from any source.
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

  /** For `openTable` of the Node entry point. Call {@link Table.open}. */
  protected constructor(table: OpenTable, source: Source, options: AsyncTableOptions) {
    const stats = newTableStats(table.bytesRead);
    const blocks = new DataBlocks(table, options.cache, stats);
    const lookup = new Lookup(table, blocks, stats);
    super(table, blocks, lookup, stats);
    this.#table = table;
    this.#blocks = blocks;
    this.#lookup = lookup;
    const { readAheadBytes, gapBytes } = readingFor(options);
    this.#reader = new BlockReader(blocks, source, readAheadBytes, gapBytes);
  }

  /**
   * Opens a table: reads footer, index and filter.
   *
   * @throws TypeError or RangeError for an invalid option.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<Table> {
    mustBeSource(source);
    mustBeTableOptions('Table.open', options);
    readingFor(options);
    return new Table(await runAsync(source, readOpenTable(source, options), options.signal), source, options);
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block, or the handle of its block, is damaged.
   */
  async get(key: Uint8Array, options?: SignalOptions): Promise<Uint8Array | undefined> {
    this.mustBeOpen();
    const signal = signalOf('Table.get', options);
    const i = this.#lookup.locate(key);
    if (i === ABSENT) return undefined;
    const cached = this.#blocks.cached(i);
    if (cached !== undefined) return this.#lookup.search(i, cached, key);
    // The caller may change its key while the block is read.
    const own = new Uint8Array(key);
    return this.#lookup.search(i, await this.#reader.read(i, signal), own);
  }

  /**
   * The first entry at or after `key`, as copies, if `matches` accepts its key: for orders in which several stored keys
   * match one lookup, such as the versions of a key.
   *
   * The filters are tested with `key`, so the entry is only found if the filter of its block matches `key`, as it does when
   * `key` and the entry's key are equal to the filter policy.
   *
   * @param matches is called at most once, with a copy of the entry's key that it may keep.
   * @throws CorruptionError when a block or its handle is damaged.
   */
  async find(
    key: Uint8Array,
    matches: (key: Uint8Array) => boolean,
    options?: SignalOptions,
  ): Promise<[Uint8Array, Uint8Array] | undefined> {
    this.mustBeOpen();
    const signal = signalOf('Table.find', options);
    let wanted = key;
    for (let i = this.#lookup.locateFirst(key, matches); i !== ABSENT; i = this.#lookup.locateNext(i, wanted)) {
      let contents = this.#blocks.cached(i);
      if (contents === undefined) {
        // The caller may change its key while the block is read.
        if (wanted === key) wanted = new Uint8Array(key);
        contents = await this.#reader.read(i, signal);
      }
      const found = this.#lookup.searchFirst(i, contents, wanted, matches);
      if (found !== GO_ON) return found;
    }
    return undefined;
  }

  /**
   * `get` for each of `keys`, in their order. Keys in the same block share one read, and so do blocks close to each other.
   *
   * @param keys each is copied when it is iterated, so an iterator may reuse its buffer.
   * @throws CorruptionError when a block or its handle is damaged. No further read is started then.
   */
  async getMany(keys: Iterable<Uint8Array>, options?: SignalOptions): Promise<(Uint8Array | undefined)[]> {
    this.mustBeOpen();
    const signal = signalOf('Table.getMany', options);
    mustBeIterable('keys', keys, 'Uint8Arrays');
    const wanted: Uint8Array[] = [];
    const keysOf = new Map<number, number[]>();
    let k = 0;
    for (const key of keys) {
      mustBeBytes(`keys[${k}]`, key);
      const i = this.#lookup.locate(key);
      if (i !== ABSENT) {
        wanted[k] = new Uint8Array(key);
        const others = keysOf.get(i);
        if (others === undefined) keysOf.set(i, [k]);
        else others.push(k);
      }
      k++;
    }
    const values = new Array<Uint8Array | undefined>(k).fill(undefined);
    const blocks = [...keysOf.keys()].sort((a, b) => a - b);
    const take = (i: number, contents: Uint8Array): void => {
      for (const at of keysOf.get(i)!) values[at] = this.#lookup.search(i, contents, wanted[at]!);
    };
    await this.#reader.each(blocks, take, signal);
    return values;
  }

  /** Copies of the entries of a range, in order. */
  entries(range: AsyncKeyRange = {}): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    return this.#iterate(range, ({ block }) => [this.#copier.copyStart(block.keyBytes, block.keyLength), this.#copier.copy(block.value)]);
  }

  /** Copies of the keys of a range, in order. */
  keys(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#copier.copyStart(block.keyBytes, block.keyLength));
  }

  /** Copies of the values of a range, in the order of their keys. */
  values(range: AsyncKeyRange = {}): AsyncIterableIterator<Uint8Array> {
    return this.#iterate(range, ({ block }) => this.#copier.copy(block.value));
  }

  /**
   * The entries of a range in batches of views, in order: for programs that cannot afford a promise and two copies for each
   * entry. Batch, keys and values are valid until the next call of the iterator's `next` or `return`.
   *
   * @example
   * ```ts
   * for await (const batch of table.batches()) for (let i = 0; i < batch.length; i++) index.add(batch.key(i), batch.value(i));
   * ```
   */
  batches(range: AsyncKeyRange = {}): AsyncIterableIterator<EntryBatch> {
    this.mustBeOpen();
    mustBeKeyRange(range);
    const walk = new BatchWalk(new RangeWalk(this.#table, range));
    return this.#iterator(walk, range, () => walk.batch);
  }

  [Symbol.asyncIterator](): AsyncIterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /**
   * Drops the table's blocks from the cache, and ends what is under way: calls that wait for a read are rejected with a
   * TypeError, as all later calls are, and their reads are aborted. Does not close the source. Closing twice does nothing.
   */
  override close(): void {
    super.close();
    this.#reader.close(new TypeError('the table was closed'));
  }

  /** Closes the table, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** A new cursor, which is not on an entry. */
  cursor(): Cursor {
    this.mustBeOpen();
    return new Cursor(new TableCursor(this.#table), this.#blocks, this.#reader);
  }

  #iterate<T>(range: AsyncKeyRange, pick: (cursor: TableCursor) => T): AsyncIterableIterator<T> {
    this.mustBeOpen();
    mustBeKeyRange(range);
    const walk = new RangeWalk(this.#table, range);
    const { cursor } = walk;
    return this.#iterator(walk, range, () => pick(cursor));
  }

  #iterator<T>(walk: Walk, range: AsyncKeyRange, pick: () => T): AsyncIterableIterator<T> {
    const ahead = this.#reader.ahead(range.reverse ?? false, true, range.signal);
    return new RangeIterator(walk, this.#blocks, ahead, pick, range.signal);
  }
}
