/**
 * Looking up a key: `locate` finds the one data block that can hold it, by index and filter, and `search` looks for it
 * there. In between, `Table` or `SyncTable` reads the block.
 *
 * Source: LevelDB, table/table.cc, `Table::InternalGet`.
 */
import type { Bytes } from '@bloom/bytes';
import { bytesOf, mustBeBytes, mustBeFunction } from '@bloom/bytes/internal';
import { type BlockSearch, dataBlockSearches } from '../format/block-search.js';
import { compareBytes } from '../format/bytewise-order.js';
import { SAME, UNKNOWN } from '../format/bytewise-search.js';
import type { IndexBlock } from '../format/index-block.js';
import { ByteCopier } from './byte-copier.js';
import type { DataBlocks } from './data-blocks.js';
import type { OpenTable } from './open.js';
import type { MutableTableStats } from './stats.js';
import type { TableTrace } from './table-explanation.js';

/** No data block can hold the key. */
export const ABSENT = -1;

/** The searched block has no entry at or after the key, so it is the first entry of the next block. */
export const GO_ON = Symbol('go on with the next block');

/** The bytes of `keys[i]`. @throws TypeError or RangeError for a key that is neither bytes nor text. */
export function keyOf(key: Uint8Array | string, i: number): Uint8Array {
  return bytesOf(`keys[${i}]`, key);
}

/** Looks up keys in an open table, and counts the results. */
export class TableLookup {
  readonly #table: OpenTable;
  readonly #index: IndexBlock;
  readonly #blocks: DataBlocks;
  readonly #stats: MutableTableStats;
  readonly #blockSearch: () => BlockSearch;
  /** Whether {@link SAME} means that the whole key is equal. For internal keys it means the user key only. */
  readonly #isBytewise: boolean;
  readonly #copier = new ByteCopier();

  constructor(table: OpenTable, blocks: DataBlocks, stats: MutableTableStats) {
    this.#table = table;
    this.#index = table.index;
    this.#blocks = blocks;
    this.#stats = stats;
    this.#isBytewise = table.lookupCompare === compareBytes;
    this.#blockSearch = dataBlockSearches(table.lookupCompare, table.file);
  }

  /**
   * The data block to search for `key`, or {@link ABSENT} when index or filter exclude it from all.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when the handle of that block is damaged. Its filter is then unknown too, and
   *   the filter of another block might not match the key.
   */
  locate(key: Uint8Array, trace?: TableTrace): number {
    mustBeBytes('key', key);
    const index = this.#index;
    const i = index.seek(key, this.#table.lookupCompare);
    trace?.located(this.#table, i);
    if (i === index.length) return ABSENT;
    if (index.sizeOf(i) < 0) this.#blocks.mustHaveHandle(i);
    const isDenied = this.#denies(i, key);
    trace?.filtered(this.#table, i, isDenied);
    if (isDenied) {
      this.#stats.filterNegatives++;
      return ABSENT;
    }
    return i;
  }

  /** A copy of the value of `key`. @param i the block that `locate` returned. @param contents of that block. */
  search(i: number, contents: Uint8Array, key: Uint8Array, trace?: TableTrace): Bytes | undefined {
    const block = this.#blockSearch();
    if (this.#isBytewise) {
      const { entries } = block;
      const outcome = entries.search(contents, key, 0, key.length);
      if (outcome !== UNKNOWN) {
        trace?.searched(contents, block, outcome);
        this.count(outcome === SAME);
        return outcome === SAME ? this.#copier.copy(contents.subarray(entries.valueStart, entries.valueEnd)) : undefined;
      }
    }
    const found = this.#seek(block, i, contents, key);
    trace?.searched(contents, block, UNKNOWN);
    this.count(found);
    return found ? this.#copier.copyRange(block.bytes, block.valueStart, block.valueEnd) : undefined;
  }

  /** Whether block `i` has `key`: {@link search} without a copy of the value. */
  has(i: number, contents: Uint8Array, key: Uint8Array): boolean {
    const block = this.#blockSearch();
    const outcome = this.#isBytewise ? block.entries.search(contents, key, 0, key.length) : UNKNOWN;
    const found = outcome === UNKNOWN ? this.#seek(block, i, contents, key) : outcome === SAME;
    this.count(found);
    return found;
  }

  /**
   * The data block to search first for an entry at or after `key` that matches it, or {@link ABSENT}.
   *
   * Such an entry is in the block that the index leads to, or it is the first entry of the next block, and then that
   * block's filter matches the key.
   */
  locateFirst(key: Uint8Array, matches: unknown): number {
    mustBeBytes('key', key);
    mustBeFunction('matches', matches);
    const index = this.#index;
    const i = index.seek(key, this.#table.lookupCompare);
    if (i === index.length) return ABSENT;
    this.#blocks.mustHaveHandle(i);
    if (this.#denies(i, key) && !this.#mayBeIn(i + 1, key)) {
      this.#stats.filterNegatives++;
      return ABSENT;
    }
    return i;
  }

  /**
   * Copies of the first entry at or after `key` in block `i`, if `matches` accepts its key; {@link GO_ON} when the block has
   * no entry at or after `key`.
   */
  searchFirst(
    i: number,
    contents: Uint8Array,
    key: Uint8Array,
    matches: (key: Uint8Array) => boolean,
  ): [Bytes, Bytes] | undefined | typeof GO_ON {
    const block = this.#blockSearch();
    block.reset(contents, this.#index.offsetOf(i));
    if (!block.seek(key)) return GO_ON;
    // Copied before the callback runs, which may keep the key, or look up another one.
    const stored = this.#copier.copyRange(block.keyBytes, 0, block.keyLength);
    const { value } = block;
    const found = matches(stored);
    this.count(found);
    return found ? [stored, this.#copier.copy(value)] : undefined;
  }

  /**
   * The data block with which to continue after block `i`, or {@link ABSENT}.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when the handle of that block is damaged.
   */
  locateNext(i: number, key: Uint8Array): number {
    const next = i + 1;
    if (!this.#mayBeIn(next, key)) {
      this.count(false);
      return ABSENT;
    }
    this.#blocks.mustHaveHandle(next);
    return next;
  }

  /** Whether `key` may be in the table, by index and filter. Does not count. */
  mayContain(key: Uint8Array): boolean {
    mustBeBytes('key', key);
    return this.#mayBeIn(this.#index.seek(key, this.#table.lookupCompare), key);
  }

  /**
   * Where `key` is in the file, or would be: the start of its data block, or of the metaindex when it is past the last or
   * its block's handle is damaged.
   *
   * Source: LevelDB, table/table.cc, `ApproximateOffsetOf`.
   */
  approximateOffset(key: Uint8Array): number {
    mustBeBytes('key', key);
    const index = this.#index;
    const i = index.seek(key, this.#table.lookupCompare);
    return i < index.length && index.sizeOf(i) >= 0 ? index.offsetOf(i) : this.#table.metaindexHandle.offset;
  }

  /** Whether the filter says that `key` is not in data block `i`. */
  #denies(i: number, key: Uint8Array): boolean {
    return this.#table.filter?.denies(this.#index.offsetOf(i), key, 0, key.length) ?? false;
  }

  /** Whether there is a data block `i` whose filter, if it is known, matches `key`. */
  #mayBeIn(i: number, key: Uint8Array): boolean {
    return i < this.#index.length && (this.#index.sizeOf(i) < 0 || !this.#denies(i, key));
  }

  /**
   * Counts a lookup that is to read data block `i` although a filter that has not been read might end it.
   *
   * @returns what is to be called once, with whether the block was needed; undefined where no filter is waiting to be read.
   */
  countUnread(i: number): ((isNeeded: boolean) => void) | undefined {
    return this.#table.unread?.count(i, this.#index.sizeOf(i));
  }

  /** Goes to `key` in block `i`. @returns whether it is there. */
  #seek(block: BlockSearch, i: number, contents: Uint8Array, key: Uint8Array): boolean {
    block.reset(contents, this.#index.offsetOf(i));
    return block.seek(key) && this.#table.lookupCompare(block.keyBytes, 0, block.keyLength, key, 0, key.length) === 0;
  }

  /** Counts the result of a lookup that the filter did not end. */
  count(found: boolean): void {
    if (this.#table.filter === undefined) {
      if (this.#table.filterStatus.state === 'unread') this.#stats.filtersUnread++;
      return;
    }
    if (found) this.#stats.filterTruePositives++;
    else this.#stats.filterFalsePositives++;
  }
}
