/**
 * Looking up a key: `locate` asks index and filter for the one data block that can hold it, and `search` looks for it
 * there. The block is read in between, by `Table` or `SyncTable`.
 *
 * Source: LevelDB, table/table.cc, `Table::InternalGet`.
 */
import { mustBeBytes } from '@bloom/bytes';
import { BlockSearch } from '../format/block-search.js';
import type { IndexBlock } from '../format/index-block.js';
import { ByteCopier } from './byte-copier.js';
import type { OpenTable } from './open.js';
import type { MutableTableStats } from './stats.js';

/** No data block can hold the key. */
export const ABSENT = -1;

/** Looks up keys in an open table, and counts what came of it. */
export class Lookup {
  readonly #table: OpenTable;
  readonly #index: IndexBlock;
  readonly #stats: MutableTableStats;
  /** Searches one block at a time. */
  readonly #cursor: BlockSearch;
  readonly #copier = new ByteCopier();

  constructor(table: OpenTable, stats: MutableTableStats) {
    this.#table = table;
    this.#index = table.index;
    this.#stats = stats;
    this.#cursor = new BlockSearch(table.compare, 'data block', table.file);
  }

  /** The data block to search for `key`, or {@link ABSENT} when index or filter say that it is in none. */
  locate(key: Uint8Array): number {
    mustBeBytes('key', key);
    const index = this.#index;
    const { compare, filter } = this.#table;
    const i = index.seek(key, compare);
    if (i === index.length) return ABSENT;
    if (filter !== undefined && !filter.keyMayMatch(index.offsetOf(i), key)) {
      this.#stats.filterNegatives++;
      return ABSENT;
    }
    return i;
  }

  /** A copy of the value of `key`, which `locate` said to look for in block `i`, with these contents. */
  search(i: number, contents: Uint8Array, key: Uint8Array): Uint8Array | undefined {
    const cursor = this.#cursor;
    cursor.reset(contents, this.#index.offsetOf(i));
    const found = cursor.seek(key) && this.#table.compare(cursor.keyBytes, 0, cursor.keyLength, key, 0, key.length) === 0;
    this.#count(found);
    return found ? this.#copier.copy(cursor.value) : undefined;
  }

  /** As `search`, for the first entry at or after `key`, if `matches` takes its key for the one that is looked up. */
  searchFrom(
    i: number,
    contents: Uint8Array,
    key: Uint8Array,
    matches: (key: Uint8Array) => boolean,
  ): [Uint8Array, Uint8Array] | undefined {
    const cursor = this.#cursor;
    cursor.reset(contents, this.#index.offsetOf(i));
    const found = cursor.seek(key) && matches(cursor.key);
    this.#count(found);
    return found ? [this.#copier.copyStart(cursor.keyBytes, cursor.keyLength), this.#copier.copy(cursor.value)] : undefined;
  }

  /** Whether `key` may be in the table, as far as index and filter know. Not counted. */
  mayContain(key: Uint8Array): boolean {
    mustBeBytes('key', key);
    const { index, compare, filter } = this.#table;
    const i = index.seek(key, compare);
    return i < index.length && (filter?.keyMayMatch(index.offsetOf(i), key) ?? true);
  }

  /**
   * Where `key` is in the file, or would be: the start of its data block, or the metaindex past the last.
   *
   * Source: LevelDB, table/table.cc, `ApproximateOffsetOf`.
   */
  approximateOffset(key: Uint8Array): number {
    mustBeBytes('key', key);
    const { index, compare, metaindexHandle } = this.#table;
    const i = index.seek(key, compare);
    return i < index.length ? index.offsetOf(i) : metaindexHandle.offset;
  }

  /** Counts what came of a lookup that the filter let pass. */
  #count(found: boolean): void {
    if (this.#table.filter === undefined) return;
    if (found) this.#stats.filterTruePositives++;
    else this.#stats.filterFalsePositives++;
  }
}
