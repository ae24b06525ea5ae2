import { mustBeBytes } from '@bloom/bytes';
import type { DataBlocks } from './data-blocks.js';
import type { FilterStatus } from './filter-status.js';
import type { Lookup } from './lookup.js';
import type { OpenTable } from './open.js';
import type { TableStats } from './stats.js';

/** What `Table` and `SyncTable` have in common: all that needs no reading. */
export abstract class BaseTable {
  readonly #table: OpenTable;
  readonly #blocks: DataBlocks;
  readonly #lookup: Lookup;
  readonly #stats: TableStats;

  constructor(table: OpenTable, blocks: DataBlocks, lookup: Lookup, stats: TableStats) {
    this.#table = table;
    this.#blocks = blocks;
    this.#lookup = lookup;
    this.#stats = stats;
  }

  /** The file's name, where the source has one. */
  get name(): string | undefined {
    return this.#table.file;
  }

  /** Bytes of the file. */
  get byteLength(): number {
    return this.#table.byteLength;
  }

  /** How many data blocks there are. */
  get blockCount(): number {
    return this.#table.index.length;
  }

  /** Whether filters are in use, and if not, why. */
  get filterStatus(): FilterStatus {
    return this.#table.filterStatus;
  }

  /** What lookups did so far: a copy of the counts. */
  get stats(): TableStats {
    return { ...this.#stats };
  }

  /**
   * Whether `key` may be in the table: false only when it certainly is not. Reads nothing, and is not counted.
   */
  mayContain(key: Uint8Array): boolean {
    this.mustBeOpen();
    return this.#lookup.mayContain(key);
  }

  /** Compares two keys by the table's order. */
  compare(a: Uint8Array, b: Uint8Array): number {
    mustBeBytes('a', a);
    mustBeBytes('b', b);
    return this.#table.comparator.compare(a, b);
  }

  /**
   * Where `key` is in the file, or would be, in bytes from its start: that of its data block, or of the metaindex
   * past the last. The difference of two keys' offsets is about what lies between them.
   *
   * Source: LevelDB, table/table.cc, `ApproximateOffsetOf`.
   */
  approximateOffset(key: Uint8Array): number {
    this.mustBeOpen();
    return this.#lookup.approximateOffset(key);
  }

  /** Drops the table's blocks from the cache. The source is its owner's to close. Closing twice does nothing. */
  close(): void {
    this.#blocks.close();
  }

  /** @throws TypeError when the table is closed. */
  protected mustBeOpen(): void {
    this.#blocks.mustBeOpen();
  }
}
