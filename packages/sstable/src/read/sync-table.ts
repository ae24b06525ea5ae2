import type { Bytes } from '@bloom/bytes';
import { bytesOf, mustBeIterable } from '@bloom/bytes/internal';
import { BaseTable } from './base-table.js';
import { BatchWalk } from './batch-walk.js';
import { ByteCopier } from './byte-copier.js';
import { DataBlocks } from './data-blocks.js';
import type { EntryBatch } from './entry-batch.js';
import { tableCursorWithin } from './bounded-table-cursor.js';
import { type CursorOptions, fillsCache, type KeyRange, mustBeKeyRange } from './key-range.js';
import { ABSENT, GO_ON, keyOf, TableLookup } from './table-lookup.js';
import { type OpenTable, readOpenTable } from './open.js';
import { mustBeTableOptions, readAheadBytesFor, type SyncTableOptions } from './options.js';
import { RangeWalk, type Walk } from './range-walk.js';
import { runSync } from './reading.js';
import { mustBeSource, type SyncSource } from './source.js';
import { newTableStats } from './stats.js';
import { StoredScratch } from './stored-scratch.js';
import { SyncCursor } from './sync-cursor.js';
import { SyncReadAhead } from './sync-read-ahead.js';
import { SETTLED, type TableCursor } from './table-cursor.js';
import { failedOutcome, outcomeOf, type TableExplanation, TableTrace } from './table-explanation.js';

/**
 * Reads a table synchronously, from memory or a file descriptor.
 *
 * @example
 * ```ts
 * const table = SyncTable.open(new MemorySource(bytes));
 * table.get('hello'); // Uint8Array, or undefined
 * ```
 */
export class SyncTable extends BaseTable implements Iterable<[Bytes, Bytes]> {
  readonly #table: OpenTable;
  readonly #source: SyncSource;
  readonly #blocks: DataBlocks;
  readonly #lookup: TableLookup;
  readonly #readAheadBytes: number;
  readonly #copier = new ByteCopier();
  readonly #scratch = new StoredScratch();
  readonly #closeFile: (() => void) | undefined;

  private constructor(table: OpenTable, source: SyncSource, options: SyncTableOptions, closeFile?: () => void) {
    const stats = newTableStats(table.bytesRead);
    const blocks = new DataBlocks(table, options.cache, stats);
    const lookup = new TableLookup(table, blocks, stats);
    super(table, blocks, lookup, stats);
    this.#table = table;
    this.#source = source;
    this.#blocks = blocks;
    this.#lookup = lookup;
    this.#readAheadBytes = readAheadBytesFor(options);
    this.#closeFile = closeFile;
  }

  /**
   * Opens a table: reads footer and index, and the filter, unless it is to be read when needed.
   *
   * @throws TypeError or RangeError for an invalid option.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static open(source: SyncSource, options: SyncTableOptions = {}): SyncTable {
    mustBeSource(source);
    mustBeTableOptions('SyncTable.open', options);
    readAheadBytesFor(options);
    return SyncTable.over(source, options);
  }

  /** @internal {@link open} with options that were checked. @param closeFile closes the file that the table owns. */
  static over(source: SyncSource, options: SyncTableOptions, closeFile?: () => void): SyncTable {
    return new SyncTable(runSync(source, readOpenTable(source, options)), source, options, closeFile);
  }

  /**
   * A copy of the value of `key`, where text stands for its UTF-8 bytes; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block, or the handle of its block, is damaged.
   */
  get(key: Uint8Array | string): Bytes | undefined {
    return this.#get(bytesOf('key', key));
  }

  /**
   * Looks up `key` as `get` does, and says how: which data block the index led to, what its filter said, whether the block was
   * read, and what was found. Counted in `stats` as `get` is. Damage is not thrown: it is the outcome.
   *
   * @throws TypeError, or the source's error, as `get` does.
   * @example
   * ```ts
   * const { filter, searched, outcome } = table.explain('hello');
   * if (outcome.kind === 'absent' && filter?.answer === 'maybe') console.log('a false positive');
   * ```
   */
  explain(key: Uint8Array | string): TableExplanation {
    const bytes = bytesOf('key', key);
    const own = new Uint8Array(bytes);
    const trace = new TableTrace();
    let outcome: TableExplanation['outcome'];
    try {
      outcome = outcomeOf(this.#get(own, trace));
    } catch (error) {
      outcome = failedOutcome(error);
    }
    return { key: own, ...trace.search, outcome };
  }

  /** Whether there is an entry for `key`. @throws as {@link get}. */
  has(key: Uint8Array | string): boolean {
    this.#blocks.mustBeOpen();
    const bytes = bytesOf('key', key);
    const { unread } = this.#table;
    if (unread?.isDue === true) this.#blocks.readFilterSync(unread, this.#source);
    const i = this.#lookup.locate(bytes);
    if (i === ABSENT) return false;
    if (unread === undefined) return this.#lookup.has(i, this.#borrowed(i), bytes);
    return this.#searchUnread(i, (contents) => this.#lookup.has(i, contents, bytes) || undefined) ?? false;
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
  find(key: Uint8Array | string, matches: (key: Uint8Array) => boolean): [Bytes, Bytes] | undefined {
    this.#blocks.mustBeOpen();
    const bytes = bytesOf('key', key);
    const { unread } = this.#table;
    if (unread?.isDue === true) this.#blocks.readFilterSync(unread, this.#source);
    for (let i = this.#lookup.locateFirst(bytes, matches); i !== ABSENT; i = this.#lookup.locateNext(i, bytes)) {
      const search = (contents: Uint8Array) => this.#lookup.searchFirst(i, contents, bytes, matches);
      const found = unread === undefined ? search(this.#block(i)) : this.#searchUnread(i, search);
      if (found !== GO_ON) return found;
    }
    return undefined;
  }

  /** `get` for each of `keys`, in their order. */
  getMany(keys: Iterable<Uint8Array | string>): (Bytes | undefined)[] {
    this.#blocks.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays');
    return Array.from(keys, (key, k) => this.#get(key instanceof Uint8Array && key.length > 0 ? key : keyOf(key, k)));
  }

  /** Copies of the entries of a range, in order. */
  entries(range: KeyRange = {}): IterableIterator<[Bytes, Bytes]> {
    return this.#iterate('SyncTable.entries', range, ({ block }) => [this.#copier.copyRange(block.keyBytes, 0, block.keyLength), this.#copier.copyRange(block.bytes, block.valueStart, block.valueEnd)]);
  }

  /** Copies of the keys of a range, in order. */
  keys(range: KeyRange = {}): IterableIterator<Bytes> {
    return this.#iterate('SyncTable.keys', range, ({ block }) => this.#copier.copyRange(block.keyBytes, 0, block.keyLength));
  }

  /** Copies of the values of a range, in the order of their keys. */
  values(range: KeyRange = {}): IterableIterator<Bytes> {
    return this.#iterate('SyncTable.values', range, ({ block }) => this.#copier.copyRange(block.bytes, block.valueStart, block.valueEnd));
  }

  /**
   * The entries of a range in batches of views, in order: for programs that cannot afford two copies for each entry. Batch,
   * keys and values are valid until the next batch is asked for.
   *
   * @example
   * ```ts
   * for (const batch of table.batches()) for (let i = 0; i < batch.length; i++) index.add(batch.key(i), batch.value(i));
   * ```
   */
  batches(range: KeyRange = {}): IterableIterator<EntryBatch> {
    this.#blocks.mustBeOpen();
    mustBeKeyRange('SyncTable.batches', range);
    const walk = new BatchWalk(new RangeWalk(this.#table, range));
    return this.#walk(walk, range, () => walk.batch);
  }

  [Symbol.iterator](): Iterator<[Bytes, Bytes]> {
    return this.entries();
  }

  /** A new cursor, which is not on an entry, and moves between the bounds of the options. */
  cursor(options: CursorOptions = {}): SyncCursor {
    this.#blocks.mustBeOpen();
    const ahead = this.#ahead(fillsCache('SyncTable.cursor', options));
    return new SyncCursor(tableCursorWithin(this.#table, options), this.#blocks, (i) => ahead.block(i), this.#table.compare, this.#copier);
  }

  /**
   * Drops the table's blocks from the cache, and closes the file of an `openTableSync`, but not a source of `SyncTable.open`.
   * Later calls throw, except `compare` and the getters; closing twice does nothing.
   */
  close(): void {
    this.#blocks.close();
    this.#closeFile?.();
  }

  /** Closes the table, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #iterate<T>(call: string, range: KeyRange, pick: (cursor: TableCursor) => T): Generator<T, void, undefined> {
    this.#blocks.mustBeOpen();
    mustBeKeyRange(call, range);
    const walk = new RangeWalk(this.#table, range);
    const { cursor } = walk;
    return this.#walk(walk, range, () => pick(cursor));
  }

  *#walk<T>(walk: Walk, range: KeyRange, pick: () => T): Generator<T, void, undefined> {
    const ahead = this.#ahead(range.fillCache ?? true);
    for (;;) {
      this.#blocks.mustBeOpen();
      let wanted = walk.next();
      while (wanted !== SETTLED) wanted = walk.supply(ahead.block(wanted));
      if (!walk.accept()) return;
      yield pick();
    }
  }

  #get(key: Uint8Array, trace?: TableTrace): Bytes | undefined {
    this.#blocks.mustBeOpen();
    const { unread } = this.#table;
    if (unread?.isDue === true) this.#blocks.readFilterSync(unread, this.#source);
    const i = this.#lookup.locate(key, trace);
    if (i === ABSENT) return undefined;
    trace?.takes(this.#blocks.inMemory(i) !== undefined);
    return unread === undefined ? this.#lookup.search(i, this.#borrowed(i), key, trace) : this.#getUnread(i, key, trace);
  }

  /** Apart, as a closure in `get` itself makes each lookup allocate what it captures. */
  #getUnread(i: number, key: Uint8Array, trace: TableTrace | undefined): Bytes | undefined {
    return this.#searchUnread(i, (contents) => this.#lookup.search(i, contents, key, trace));
  }

  #ahead(fillsCache: boolean): SyncReadAhead {
    return new SyncReadAhead(this.#blocks, this.#source, this.#readAheadBytes, true, fillsCache);
  }

  /** Searches data block `i`, and if it had to be read, counts that as a lookup that a filter might have ended. */
  #searchUnread<T>(i: number, search: (contents: Uint8Array) => T): T {
    if (this.#blocks.inMemory(i) !== undefined) return search(this.#block(i));
    const found = search(this.#block(i));
    this.#lookup.countUnread(i)?.(found !== undefined);
    return found;
  }

  /** {@link #block} for a search that ends before anything else is called. */
  #borrowed(i: number): Uint8Array {
    return this.#blocks.borrowed(i) ?? this.#blocks.readSync(i, this.#source, this.#scratch, true);
  }

  #block(i: number): Uint8Array {
    const cached = this.#blocks.cached(i);
    if (cached !== undefined) return cached;
    return this.#blocks.readSync(i, this.#source, this.#scratch);
  }
}
