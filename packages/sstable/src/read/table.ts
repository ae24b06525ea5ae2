import type { Bytes, Signal } from '@bloom/bytes';
import { bytesOf, mustBeBytes, mustBeIterable, undefinedSlots } from '@bloom/bytes/internal';
import { BaseTable } from './base-table.js';
import { BatchWalk } from './batch-walk.js';
import { BlockReader } from './block-reader.js';
import { ByteCopier } from './byte-copier.js';
import { Cursor } from './cursor.js';
import { DataBlocks } from './data-blocks.js';
import type { EntryBatch } from './entry-batch.js';
import { tableCursorWithin } from './bounded-table-cursor.js';
import { type AsyncKeyRange, type CursorOptions, fillsCache, mustBeKeyRange } from './key-range.js';
import { ABSENT, GO_ON, keyOf, TableLookup } from './table-lookup.js';
import { type OpenTable, readOpenTable } from './open.js';
import { type AsyncTableOptions, mustBeTableOptions, readingFor, signalOf, type SignalOptions } from './options.js';
import { RangeIterator } from './range-iterator.js';
import { RangeWalk, type Walk } from './range-walk.js';
import { runAsync } from './reading.js';
import { mustBeSource, type Source } from './source.js';
import { newTableStats } from './stats.js';
import { type TableCursor } from './table-cursor.js';
import { failedOutcome, outcomeOf, type TableExplanation, TableTrace } from './table-explanation.js';

/**
 * Reads a table from any source.
 *
 * @example
 * ```ts
 * const table = await Table.open(source);
 * await table.get('hello'); // Uint8Array, or undefined
 * for await (const [key, value] of table.entries({ gte: 'a', lt: 'b' })) …
 * await table.close();
 * ```
 */
export class Table extends BaseTable implements AsyncIterable<[Bytes, Bytes]> {
  readonly #table: OpenTable;
  readonly #blocks: DataBlocks;
  readonly #lookup: TableLookup;
  readonly #reader: BlockReader;
  readonly #copier = new ByteCopier();
  readonly #closeFile: (() => Promise<void>) | undefined;

  private constructor(table: OpenTable, source: Source, options: AsyncTableOptions, closeFile?: () => Promise<void>) {
    const stats = newTableStats(table.bytesRead);
    const blocks = new DataBlocks(table, options.cache, stats);
    const lookup = new TableLookup(table, blocks, stats);
    super(table, blocks, lookup, stats);
    this.#table = table;
    this.#blocks = blocks;
    this.#lookup = lookup;
    const { readAheadBytes, gapBytes } = readingFor(options);
    this.#reader = new BlockReader(blocks, source, readAheadBytes, gapBytes);
    this.#closeFile = closeFile;
  }

  /**
   * Opens a table: reads footer and index, and the filter, unless it is to be read when needed.
   *
   * @throws TypeError or RangeError for an invalid option.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<Table> {
    mustBeSource(source);
    mustBeTableOptions('Table.open', options);
    readingFor(options);
    return Table.over(source, options);
  }

  /** @internal {@link open} with options that were checked. @param closeFile closes the file that the table owns. */
  static async over(source: Source, options: AsyncTableOptions, closeFile?: () => Promise<void>): Promise<Table> {
    return new Table(await runAsync(source, readOpenTable(source, options), options.signal), source, options, closeFile);
  }

  /**
   * A copy of the value of `key`, where text stands for its UTF-8 bytes; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block, or the handle of its block, is damaged.
   */
  get(key: Uint8Array | string, options?: SignalOptions): Promise<Bytes | undefined> {
    return this.#get('Table.get', key, options);
  }

  /**
   * Looks up `key` as `get` does, and says how: which data block the index led to, what its filter said, whether the block was
   * read, and what was found. Counted in `stats` as `get` is. Damage is not thrown: it is the outcome.
   *
   * @throws TypeError, or the source's error, as `get` does.
   * @example
   * ```ts
   * const { filter, searched, outcome } = await table.explain('hello');
   * if (outcome.kind === 'absent' && filter?.answer === 'maybe') console.log('a false positive');
   * ```
   */
  async explain(key: Uint8Array | string, options?: SignalOptions): Promise<TableExplanation> {
    const bytes = bytesOf('key', key);
    const own = new Uint8Array(bytes);
    const trace = new TableTrace();
    const outcome = await this.#get('Table.explain', own, options, trace).then(outcomeOf, failedOutcome);
    return { key: own, ...trace.search, outcome };
  }

  /** Whether there is an entry for `key`. @throws as {@link get}. */
  async has(key: Uint8Array | string, options?: SignalOptions): Promise<boolean> {
    this.#blocks.mustBeOpen();
    const signal = signalOf('Table.has', options);
    const bytes = bytesOf('key', key);
    // The caller may change its key while something is read.
    const own = new Uint8Array(bytes);
    if (this.#table.unread?.isDue === true) {
      await this.#reader.readFilterIfDue(signal);
      this.#blocks.mustBeOpen();
    }
    const i = this.#lookup.locate(own);
    if (i === ABSENT) return false;
    const cached = this.#blocks.borrowed(i);
    if (cached !== undefined) return this.#lookup.has(i, cached, own);
    const found = await this.#readAndSearch(i, (contents) => this.#lookup.has(i, contents, own) || undefined, signal);
    return found ?? false;
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
    key: Uint8Array | string,
    matches: (key: Uint8Array) => boolean,
    options?: SignalOptions,
  ): Promise<[Bytes, Bytes] | undefined> {
    this.#blocks.mustBeOpen();
    const signal = signalOf('Table.find', options);
    const bytes = bytesOf('key', key);
    let wanted = bytes;
    if (this.#table.unread?.isDue === true) {
      wanted = new Uint8Array(bytes);
      await this.#reader.readFilterIfDue(signal);
      this.#blocks.mustBeOpen();
    }
    for (let i = this.#lookup.locateFirst(wanted, matches); i !== ABSENT; i = this.#lookup.locateNext(i, wanted)) {
      const cached = this.#blocks.cached(i);
      // The caller may change its key while the block is read.
      if (cached === undefined && wanted === bytes) wanted = new Uint8Array(bytes);
      const own = wanted;
      const search = (contents: Uint8Array) => this.#lookup.searchFirst(i, contents, own, matches);
      const found = cached === undefined ? await this.#readAndSearch(i, search, signal) : search(cached);
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
  async getMany(keys: Iterable<Uint8Array | string>, options?: SignalOptions): Promise<(Bytes | undefined)[]> {
    this.#blocks.mustBeOpen();
    const signal = signalOf('Table.getMany', options);
    mustBeIterable('keys', keys, 'Uint8Arrays');
    const wanted: Uint8Array[] = [];
    let keysOf = new Map<number, number[]>();
    let count = 0;
    for (const given of keys) {
      const key = given instanceof Uint8Array && given.length > 0 ? given : keyOf(given, count);
      // A copy, because an iterator may yield one array again and again, and the caller may change its keys.
      if (this.#locate(key, count, keysOf)) wanted[count] = new Uint8Array(key);
      count++;
    }
    const values = undefinedSlots<Bytes>(count);
    const isDue = (): boolean => this.#table.unread?.isDue === true;
    const take = (i: number, contents: Uint8Array, isRead: boolean): void => {
      const settle = isRead ? this.#lookup.countUnread(i) : undefined;
      let isFound = false;
      for (const k of keysOf.get(i)!) {
        values[k] = this.#lookup.search(i, contents, wanted[k]!);
        isFound ||= values[k] !== undefined;
      }
      settle?.(isFound);
      keysOf.delete(i);
    };
    while (keysOf.size > 0) {
      const blocks = [...keysOf.keys()].sort((a, b) => a - b);
      await this.#reader.each(blocks, take, signal, isDue);
      if (keysOf.size === 0) break;
      // So many keys are absent that it pays to ask the filter about the rest of them.
      await this.#reader.readFilterIfDue(signal);
      this.#blocks.mustBeOpen();
      const left = [...keysOf.values()].flat();
      keysOf = new Map();
      for (const k of left) this.#locate(wanted[k]!, k, keysOf);
    }
    return values;
  }

  /** Copies of the entries of a range, in order. */
  entries(range: AsyncKeyRange = {}): AsyncIterableIterator<[Bytes, Bytes]> {
    return this.#iterate('Table.entries', range, ({ block }) => [this.#copier.copyRange(block.keyBytes, 0, block.keyLength), this.#copier.copyRange(block.bytes, block.valueStart, block.valueEnd)]);
  }

  /** Copies of the keys of a range, in order. */
  keys(range: AsyncKeyRange = {}): AsyncIterableIterator<Bytes> {
    return this.#iterate('Table.keys', range, ({ block }) => this.#copier.copyRange(block.keyBytes, 0, block.keyLength));
  }

  /** Copies of the values of a range, in the order of their keys. */
  values(range: AsyncKeyRange = {}): AsyncIterableIterator<Bytes> {
    return this.#iterate('Table.values', range, ({ block }) => this.#copier.copyRange(block.bytes, block.valueStart, block.valueEnd));
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
    this.#blocks.mustBeOpen();
    mustBeKeyRange('Table.batches', range);
    const walk = new BatchWalk(new RangeWalk(this.#table, range));
    return this.#iterator(walk, range, () => walk.batch);
  }

  [Symbol.asyncIterator](): AsyncIterator<[Bytes, Bytes]> {
    return this.entries();
  }

  /**
   * Drops the table's blocks from the cache, and ends what is under way: calls that wait for a read are rejected with a
   * TypeError, as all later calls are except `compare` and the getters, and their reads are aborted. Closes the file of an `openTable`, but not a source of
   * `Table.open`. Closing twice does nothing.
   *
   * @returns a promise that is fulfilled when the file is closed, which waits for reads that the system has begun. It need not
   *   be awaited, unless the file is to be replaced or deleted next on a system such as Windows.
   */
  close(): Promise<void> {
    this.#blocks.close();
    this.#reader.close(new TypeError('the table was closed'));
    const closing = this.#closeFile?.() ?? Promise.resolve();
    closing.catch(() => undefined);
    return closing;
  }

  /** Closes the table, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #get(call: string, given: Uint8Array | string, options: SignalOptions | undefined, trace?: TableTrace): Promise<Bytes | undefined> {
    this.#blocks.mustBeOpen();
    const key = bytesOf('key', given);
    const signal = signalOf(call, options);
    if (this.#table.unread !== undefined) return this.#getUnfiltered(key, signal, trace);
    const i = this.#lookup.locate(key, trace);
    if (i === ABSENT) return undefined;
    const cached = this.#blocks.borrowed(i);
    trace?.takes(cached !== undefined);
    const contents = cached ?? this.#reader.borrowAtOnce(i, signal);
    if (contents !== undefined) return this.#lookup.search(i, contents, key, trace);
    // The caller may change its key while the block is read.
    const own = new Uint8Array(key);
    return this.#lookup.search(i, await this.#reader.readLater(i, signal), own, trace);
  }

  /** `get` while the filter has not been read: first reads it, once that pays. */
  async #getUnfiltered(key: Uint8Array, signal: Signal | undefined, trace: TableTrace | undefined): Promise<Bytes | undefined> {
    mustBeBytes('key', key);
    // The caller may change its key while something is read.
    const own = new Uint8Array(key);
    // Not awaited needlessly, so that a lookup is counted before the next call asks whether the filter is due.
    if (this.#table.unread?.isDue === true) {
      await this.#reader.readFilterIfDue(signal);
      this.#blocks.mustBeOpen();
    }
    const i = this.#lookup.locate(own, trace);
    if (i === ABSENT) return undefined;
    const cached = this.#blocks.borrowed(i);
    trace?.takes(cached !== undefined);
    if (cached !== undefined) return this.#lookup.search(i, cached, own, trace);
    return this.#readAndSearch(i, (contents) => this.#lookup.search(i, contents, own, trace), signal);
  }

  /** Reads data block `i` for a lookup, and counts it if a filter that has not been read might have ended the lookup. */
  async #readAndSearch<T>(i: number, search: (contents: Uint8Array) => T, signal: Signal | undefined): Promise<T> {
    const settle = this.#lookup.countUnread(i);
    let isNeeded = true;
    try {
      const found = search(await this.#reader.read(i, signal));
      isNeeded = found !== undefined;
      return found;
    } finally {
      settle?.(isNeeded);
    }
  }

  /** Adds the number of a key to those of the data block that may have it. @returns false where index or filter exclude it. */
  #locate(key: Uint8Array, number: number, keysOf: Map<number, number[]>): boolean {
    const i = this.#lookup.locate(key);
    if (i === ABSENT) return false;
    const others = keysOf.get(i);
    if (others === undefined) keysOf.set(i, [number]);
    else others.push(number);
    return true;
  }

  /** A new cursor, which is not on an entry, and moves between the bounds of the options. */
  cursor(options: CursorOptions = {}): Cursor {
    this.#blocks.mustBeOpen();
    const fills = fillsCache('Table.cursor', options);
    return new Cursor(tableCursorWithin(this.#table, options), this.#blocks, this.#reader, fills, this.#table.compare, this.#copier);
  }

  #iterate<T>(call: string, range: AsyncKeyRange, pick: (cursor: TableCursor) => T): AsyncIterableIterator<T> {
    this.#blocks.mustBeOpen();
    mustBeKeyRange(call, range);
    const walk = new RangeWalk(this.#table, range);
    const { cursor } = walk;
    return this.#iterator(walk, range, () => pick(cursor));
  }

  #iterator<T>(walk: Walk, range: AsyncKeyRange, pick: () => T): AsyncIterableIterator<T> {
    const ahead = this.#reader.ahead(range.reverse ?? false, true, range.fillCache ?? true, range.signal);
    return new RangeIterator(walk, this.#blocks, ahead, pick, range.signal);
  }
}
