import { bytesOf } from '@bloom/bytes/internal';
import type { DataBlocks } from './data-blocks.js';
import type { FilterStatus } from './filter-status.js';
import { mayHavePrefix } from './key-prefix.js';
import type { TableLookup } from './table-lookup.js';
import type { OpenTable } from './open.js';
import type { TableStats } from './stats.js';

/** What `Table` and `SyncTable` share: everything that does not read. */
export abstract class BaseTable {
  readonly #table: OpenTable;
  readonly #blocks: DataBlocks;
  readonly #lookup: TableLookup;
  readonly #stats: TableStats;

  /** @internal */
  constructor(table: OpenTable, blocks: DataBlocks, lookup: TableLookup, stats: TableStats) {
    this.#table = table;
    this.#blocks = blocks;
    this.#lookup = lookup;
    this.#stats = stats;
  }

  /** The file's name, if the source has one. */
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

  /** Whether filters are in use, and why if they are not. */
  get filterStatus(): FilterStatus {
    return this.#table.filterStatus;
  }

  /** Counts of what lookups have done so far: a copy. */
  get stats(): TableStats {
    return { ...this.#stats };
  }

  /**
   * Whether `key` may be in the table: false only when it is certainly not. Reads nothing, and does not change `stats`.
   */
  mayContain(key: Uint8Array | string): boolean {
    this.#blocks.mustBeOpen();
    return this.#lookup.mayContain(bytesOf('key', key));
  }

  /**
   * Whether a key that begins with `prefix` may be in the table: false only when index or filters exclude it. Filters know prefixes
   * with a policy such as `PrefixFilterPolicy` of `@bloom/policy`. In a database's table, the prefix is one of user keys. Reads nothing.
   *
   * @throws RangeError when the keys are in another order than bytewise.
   */
  mayContainPrefix(prefix: Uint8Array | string): boolean {
    this.#blocks.mustBeOpen();
    return mayHavePrefix(this.#table, prefix);
  }

  /** Compares two keys by the table's order. */
  compare(a: Uint8Array | string, b: Uint8Array | string): number {
    const aBytes = bytesOf('a', a);
    const bBytes = bytesOf('b', b);
    return this.#table.comparator.compare(aBytes, bBytes);
  }

  /**
   * Where `key` is in the file, or would be, in bytes from the start: the offset of its data block or, past the last key,
   * of the metaindex. The difference of two keys' offsets is about the size of what lies between them.
   *
   * Source: LevelDB, table/table.cc, `ApproximateOffsetOf`.
   */
  approximateOffset(key: Uint8Array | string): number {
    this.#blocks.mustBeOpen();
    return this.#lookup.approximateOffset(bytesOf('key', key));
  }
}
