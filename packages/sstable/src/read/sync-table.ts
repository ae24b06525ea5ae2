import { mustBeBytes, mustBeIterable } from '@bloom/bytes';
import { BaseTable } from './base-table.js';
import { BatchWalk } from './batch-walk.js';
import { ByteCopier } from './byte-copier.js';
import { DataBlocks } from './data-blocks.js';
import type { EntryBatch } from './entry-batch.js';
import { type KeyRange, mustBeKeyRange } from './key-range.js';
import { ABSENT, GO_ON, Lookup } from './lookup.js';
import { type OpenTable, readOpenTable } from './open.js';
import { mustBeTableOptions, readAheadBytesFor, type SyncTableOptions } from './options.js';
import { RangeWalk, type Walk } from './range-walk.js';
import { readRangeSync, runSync } from './reading.js';
import { mustBeSource, type SyncSource } from './source.js';
import { newTableStats } from './stats.js';
import { SyncCursor } from './sync-cursor.js';
import { SyncReadAhead } from './sync-read-ahead.js';
import { SETTLED, TableCursor } from './table-cursor.js';

/**
 * Reads a table without promises, from memory or a file descriptor.
 *
 * @example
 * ```ts
 * const table = SyncTable.open(new MemorySource(bytes));
 * table.get(utf8('hello')); // Uint8Array, or undefined
 * ```
 */
export class SyncTable extends BaseTable implements Iterable<[Uint8Array, Uint8Array]> {
  readonly #table: OpenTable;
  readonly #source: SyncSource;
  readonly #blocks: DataBlocks;
  readonly #lookup: Lookup;
  readonly #readAheadBytes: number;
  readonly #copier = new ByteCopier();

  /** For `openTable` of the Node entry point. Call {@link SyncTable.open}. */
  protected constructor(table: OpenTable, source: SyncSource, options: SyncTableOptions) {
    const stats = newTableStats(table.bytesRead);
    const blocks = new DataBlocks(table, options.cache, stats);
    const lookup = new Lookup(table, blocks, stats);
    super(table, blocks, lookup, stats);
    this.#table = table;
    this.#source = source;
    this.#blocks = blocks;
    this.#lookup = lookup;
    this.#readAheadBytes = readAheadBytesFor(options);
  }

  /**
   * Opens a table: reads footer, index and filter.
   *
   * @throws TypeError or RangeError for an invalid option.
   * @throws CorruptionError or UnsupportedError when the file is not a LevelDB table, or its index cannot be read.
   */
  static open(source: SyncSource, options: SyncTableOptions = {}): SyncTable {
    mustBeSource(source);
    mustBeTableOptions('SyncTable.open', options);
    readAheadBytesFor(options);
    return new SyncTable(runSync(source, readOpenTable(source, options)), source, options);
  }

  /**
   * A copy of the value of `key`; undefined when it is absent. Short copies share a buffer with others.
   *
   * @throws CorruptionError when its block, or the handle of its block, is damaged.
   */
  get(key: Uint8Array): Uint8Array | undefined {
    this.mustBeOpen();
    const i = this.#lookup.locate(key);
    return i === ABSENT ? undefined : this.#lookup.search(i, this.#block(i), key);
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
  find(key: Uint8Array, matches: (key: Uint8Array) => boolean): [Uint8Array, Uint8Array] | undefined {
    this.mustBeOpen();
    for (let i = this.#lookup.locateFirst(key, matches); i !== ABSENT; i = this.#lookup.locateNext(i, key)) {
      const found = this.#lookup.searchFirst(i, this.#block(i), key, matches);
      if (found !== GO_ON) return found;
    }
    return undefined;
  }

  /** `get` for each of `keys`, in their order. */
  getMany(keys: Iterable<Uint8Array>): (Uint8Array | undefined)[] {
    this.mustBeOpen();
    mustBeIterable('keys', keys, 'Uint8Arrays');
    return Array.from(keys, (key, k) => {
      mustBeBytes(`keys[${k}]`, key);
      return this.get(key);
    });
  }

  /** Copies of the entries of a range, in order. */
  entries(range: KeyRange = {}): Generator<[Uint8Array, Uint8Array], void, undefined> {
    return this.#iterate(range, ({ block }) => [this.#copier.copyStart(block.keyBytes, block.keyLength), this.#copier.copy(block.value)]);
  }

  /** Copies of the keys of a range, in order. */
  keys(range: KeyRange = {}): Generator<Uint8Array, void, undefined> {
    return this.#iterate(range, ({ block }) => this.#copier.copyStart(block.keyBytes, block.keyLength));
  }

  /** Copies of the values of a range, in the order of their keys. */
  values(range: KeyRange = {}): Generator<Uint8Array, void, undefined> {
    return this.#iterate(range, ({ block }) => this.#copier.copy(block.value));
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
  batches(range: KeyRange = {}): Generator<EntryBatch, void, undefined> {
    this.mustBeOpen();
    mustBeKeyRange(range);
    const walk = new BatchWalk(new RangeWalk(this.#table, range));
    return this.#walk(walk, () => walk.batch);
  }

  [Symbol.iterator](): Iterator<[Uint8Array, Uint8Array]> {
    return this.entries();
  }

  /** A new cursor, which is not on an entry. */
  cursor(): SyncCursor {
    this.mustBeOpen();
    const ahead = this.#ahead();
    return new SyncCursor(new TableCursor(this.#table), this.#blocks, (i) => ahead.block(i));
  }

  #iterate<T>(range: KeyRange, pick: (cursor: TableCursor) => T): Generator<T, void, undefined> {
    this.mustBeOpen();
    mustBeKeyRange(range);
    const walk = new RangeWalk(this.#table, range);
    const { cursor } = walk;
    return this.#walk(walk, () => pick(cursor));
  }

  *#walk<T>(walk: Walk, pick: () => T): Generator<T, void, undefined> {
    const ahead = this.#ahead();
    for (;;) {
      this.#blocks.mustBeOpen();
      let wanted = walk.next();
      while (wanted !== SETTLED) wanted = walk.supply(ahead.block(wanted));
      if (!walk.accept()) return;
      yield pick();
    }
  }

  #ahead(): SyncReadAhead {
    return new SyncReadAhead(this.#blocks, this.#source, this.#readAheadBytes, true);
  }

  #block(i: number): Uint8Array {
    const cached = this.#blocks.cached(i);
    if (cached !== undefined) return cached;
    return this.#blocks.decode(i, readRangeSync(this.#source, this.#blocks.rangeOf(i)));
  }
}
