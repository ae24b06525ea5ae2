import type { FilterPolicy } from '@bloom/policy';
import type { BlockCache, Codec, Comparator, ReadingOptions } from '@bloom/sstable';

/** How to read a database. All of it has a default. */
export interface ReaderOptions extends ReadingOptions {
  /** Orders of user keys beside the bytewise one. The database says by its name which one is its own. */
  readonly comparators?: readonly Comparator[] | undefined;
  /**
   * Reads a database of an unknown order as if its keys were in bytewise order, which is wrong for some of them: then
   * keys are missed, or come in another order than they should. Default: false, an unknown order is refused.
   */
  readonly insistOnBytewise?: boolean | undefined;
  /**
   * The policies whose filters can be asked; the one whose name a table carries is. They are asked with user keys.
   * Default: LevelDB's Bloom filter, or none where the comparator calls different bytes equal.
   */
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  /** Codecs beside none and Snappy. */
  readonly codecs?: readonly Codec[] | undefined;
  /** Keeps blocks that were read; null keeps none. Default: a cache of the reader's own, of 8 MiB. */
  readonly cache?: BlockCache | null | undefined;
  /** The most bytes that the contents of one block may have. Default: 256 MiB. */
  readonly maxBlockBytes?: number | undefined;
  /** How many bytes at the end of a table are read first, in the hope that index and filter are there. Default: 64 KiB. */
  readonly tailBytes?: number | undefined;
  /**
   * `'strict'` refuses a database whose logs are damaged, and throws at each damaged block. `'skip'` gives what LevelDB
   * gives by default: the rest; `describe` says what was left out. A `get` throws in both where the damage may hide the
   * answer. Default: `'strict'`.
   */
  readonly damage?: 'strict' | 'skip' | undefined;
  /**
   * How many tables are kept open. A database with no more of them opens all at once, and so stays readable as it was even
   * when another process deletes them. With more, tables are opened when needed, and one that is gone by then is an error
   * `BLOOM_FOLDER_CHANGED`. Default: 1000.
   */
  readonly maxOpenTables?: number | undefined;
  /** How often to start again when another process changes the folder meanwhile. Default: 100. */
  readonly maxRestarts?: number | undefined;
}

/** The default of {@link ReaderOptions.maxOpenTables}. */
export const DEFAULT_MAX_OPEN_TABLES = 1000;
/** The default of {@link ReaderOptions.maxRestarts}. */
export const DEFAULT_MAX_RESTARTS = 100;
