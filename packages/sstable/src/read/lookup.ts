/**
 * Looking up a key: `locate` asks index and filter for the one data block that can hold it, and `search` looks for it
 * there. The block is read in between, by `Table` or `SyncTable`.
 *
 * Source: LevelDB, table/table.cc, `Table::InternalGet`.
 */
import { mustBeBytes, mustBeFunction } from '@bloom/bytes';
import { BlockSearch } from '../format/block-search.js';
import type { IndexBlock } from '../format/index-block.js';
import { ByteCopier } from './byte-copier.js';
import type { DataBlocks } from './data-blocks.js';
import type { OpenTable } from './open.js';
import type { MutableTableStats } from './stats.js';

/** No data block can hold the key. */
export const ABSENT = -1;

/** The block that was searched has no entry at or after the key: the first one of the next block is. */
export const GO_ON = Symbol('go on with the next block');

/** Looks up keys in an open table, and counts what came of it. */
export class Lookup {
  readonly #table: OpenTable;
  readonly #index: IndexBlock;
  readonly #blocks: DataBlocks;
  readonly #stats: MutableTableStats;
  /** Searches one block at a time. */
  readonly #block: BlockSearch;
  readonly #copier = new ByteCopier();

  constructor(table: OpenTable, blocks: DataBlocks, stats: MutableTableStats) {
    this.#table = table;
    this.#index = table.index;
    this.#blocks = blocks;
    this.#stats = stats;
    this.#block = new BlockSearch(table.lookupCompare, 'data block', table.file);
  }

  /**
   * The data block to search for `key`, or {@link ABSENT} when index or filter say that it is in none.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when the index does not say where that block is: its filter is not known
   *   then, and a filter of other keys would say no.
   */
  locate(key: Uint8Array): number {
    mustBeBytes('key', key);
    const index = this.#index;
    const i = index.seek(key, this.#table.lookupCompare);
    if (i === index.length) return ABSENT;
    if (index.sizeOf(i) < 0) this.#blocks.mustHaveHandle(i);
    if (this.#denies(i, key)) {
      this.#stats.filterNegatives++;
      return ABSENT;
    }
    return i;
  }

  /** A copy of the value of `key`, which `locate` said to look for in block `i`, with these contents. */
  search(i: number, contents: Uint8Array, key: Uint8Array): Uint8Array | undefined {
    const block = this.#block;
    block.reset(contents, this.#index.offsetOf(i));
    const found = block.seek(key) && this.#table.lookupCompare(block.keyBytes, 0, block.keyLength, key, 0, key.length) === 0;
    this.#count(found);
    return found ? this.#copier.copy(block.value) : undefined;
  }

  /**
   * The data block to search first for an entry at or after `key` that answers to it, or {@link ABSENT}.
   *
   * Such an entry is in the block that the index leads to, or it is the first one of the next block, and then the key is
   * in that block's filter.
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
   * Copies of the first entry at or after `key` in block `i`, if `matches` takes its key for the one that is looked up;
   * {@link GO_ON} when the block has no such entry.
   */
  searchFirst(
    i: number,
    contents: Uint8Array,
    key: Uint8Array,
    matches: (key: Uint8Array) => boolean,
  ): [Uint8Array, Uint8Array] | undefined | typeof GO_ON {
    const block = this.#block;
    block.reset(contents, this.#index.offsetOf(i));
    if (!block.seek(key)) return GO_ON;
    // Taken before the callback runs: it may keep the key, and may look up another.
    const stored = this.#copier.copyStart(block.keyBytes, block.keyLength);
    const { value } = block;
    const found = matches(stored);
    this.#count(found);
    return found ? [stored, this.#copier.copy(value)] : undefined;
  }

  /**
   * The data block to go on with after block `i`, or {@link ABSENT}.
   *
   * @throws CorruptionError `BLOOM_BAD_HANDLE` when the index does not say where it is.
   */
  locateNext(i: number, key: Uint8Array): number {
    const next = i + 1;
    if (!this.#mayBeIn(next, key)) {
      this.#count(false);
      return ABSENT;
    }
    this.#blocks.mustHaveHandle(next);
    return next;
  }

  /** Whether `key` may be in the table, as far as index and filter know. Not counted. */
  mayContain(key: Uint8Array): boolean {
    mustBeBytes('key', key);
    return this.#mayBeIn(this.#index.seek(key, this.#table.lookupCompare), key);
  }

  /**
   * Where `key` is in the file, or would be: the start of its data block, or the metaindex when it is past the last or
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
    const { filter } = this.#table;
    if (filter === undefined) return false;
    const offset = this.#index.offsetOf(i);
    // A block starts there, so there are keys: a filter of none contradicts the index, and is not believed.
    return !filter.keyMayMatch(offset, key) && !filter.isEmptyAt(offset);
  }

  /** Whether there is a data block `i`, and its filter, as far as it is known, lets `key` pass. */
  #mayBeIn(i: number, key: Uint8Array): boolean {
    return i < this.#index.length && (this.#index.sizeOf(i) < 0 || !this.#denies(i, key));
  }

  /** Counts what came of a lookup that the filter let pass. */
  #count(found: boolean): void {
    if (this.#table.filter === undefined) return;
    if (found) this.#stats.filterTruePositives++;
    else this.#stats.filterFalsePositives++;
  }
}
