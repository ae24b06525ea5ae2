import type { FilterStatus } from './filter-status.js';
import type { OpenTable, TableStats } from './open-table.js';

/** What `Table` and `SyncTable` say alike: all that needs no reading. */
export abstract class TableFace {
  readonly #table: OpenTable;
  #closed = false;

  constructor(table: OpenTable) {
    this.#table = table;
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
    return { ...this.#table.stats };
  }

  /**
   * Whether `key` may be in the table: false only when it certainly is not. Reads nothing, and is not counted.
   */
  mayContain(key: Uint8Array): boolean {
    this.mustBeOpen();
    return this.#table.mayContain(key);
  }

  /** Compares two keys by the table's order. */
  compare(a: Uint8Array, b: Uint8Array): number {
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
    return this.#table.approximateOffset(key);
  }

  /** Drops the table's blocks from the cache. The source is its owner's to close. Closing twice does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#table.close();
  }

  /** @throws TypeError when the table is closed. */
  protected mustBeOpen(): void {
    if (this.#closed) throw new TypeError('the table is closed');
  }
}
