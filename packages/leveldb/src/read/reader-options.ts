import type { Signal } from '@bloom/bytes';
import { mustBeArray, mustBeBoolean, mustBeOptions, mustBeSignal, mustBeWhole } from '@bloom/bytes/internal';
import type { FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type BlockCache, type Codec, type Comparator, type FilterReading, type ReadingOptions } from '@bloom/sstable';
import { internalTableOptions } from '@bloom/sstable/database';
import { mustBeComparator, mustBeReading } from '@bloom/sstable/internal';

/** How to read a database. Every option has a default. */
export interface ReaderOptions extends ReadingOptions {
  /** Orders of user keys in addition to the bytewise one. The database names its own. */
  readonly comparators?: readonly Comparator[] | undefined;
  /**
   * Reads a database with an unknown order as if its keys were in bytewise order. Where they are not, keys are missed, or come in another
   * order. Default: false, an unknown order is refused.
   */
  readonly insistOnBytewise?: boolean | undefined;
  /**
   * The policies whose filters can be used; they get user keys. A table names the policy of its filters. Default:
   * LevelDB's Bloom filter, or none if the comparator treats different bytes as equal.
   */
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  /** When the filters of a table are read, as in `@bloom/sstable`. Default: `'when-needed'` over HTTP, otherwise `'at-opening'`. */
  readonly filters?: FilterReading | undefined;
  /** Codecs in addition to none and Snappy. */
  readonly codecs?: readonly Codec[] | undefined;
  /**
   * The largest gap between two blocks of a remote file that are still fetched in one read, in bytes. Blocks of other files are read one by one.
   * Default: 16 KiB.
   */
  readonly gapBytes?: number | undefined;
  /** Keeps blocks that were read; null keeps none. Default: the reader's own cache of 8 MiB. */
  readonly cache?: BlockCache | null | undefined;
  /** The most bytes that the contents of one block may have. Default: 256 MiB. */
  readonly maxBlockBytes?: number | undefined;
  /**
   * The number of bytes at the end of a table to read first, which usually contain index and filter. Default: a 32nd of the table, but at least
   * 64 KiB and at most 256 KiB.
   */
  readonly tailBytes?: number | undefined;
  /**
   * `'strict'` refuses a database whose logs are damaged, and throws at each damaged block. `'skip'` returns what LevelDB returns by default,
   * that is, everything else; `describe` lists the first 10,000 places that were left out so far. With both, a `get` throws if the damage of a
   * table may hide its result. Default: `'strict'`.
   */
  readonly damage?: 'strict' | 'skip' | undefined;
  /**
   * The most files to keep open, ten of which are not tables; at least 11 and at most 50,000 are used. A database with no more tables than that
   * is opened completely, and so stays readable in its state even when another process deletes the tables. With more, tables are opened when
   * needed, and reading one that was deleted by then fails with `BLOOM_FOLDER_CHANGED`. Default: 1000.
   */
  readonly maxOpenFiles?: number | undefined;
  /**
   * `'at-opening'` opens all tables with the database, if `maxOpenFiles` allows it. `'when-needed'` opens each table when it is first needed,
   * and keeps it open as long as `maxOpenFiles` allows it: reading a table that was deleted by then fails with `BLOOM_FOLDER_CHANGED`, and
   * so does one that was missing before, where the folder cannot be listed. Default: `'when-needed'` for a remote folder, such as `HttpFolder`, otherwise
   * `'at-opening'`.
   */
  readonly openTables?: 'at-opening' | 'when-needed' | undefined;
  /**
   * How often to restart when another process changes the folder while it is read. Missing and truncated files are read a second time in any
   * case. Default: 100.
   */
  readonly maxRestarts?: number | undefined;
}

/** The number of open files that are reserved for files other than tables, as in LevelDB. */
const OTHER_FILES = 10;
/** More are not kept open, as in LevelDB. */
const MOST_OPEN_FILES = 50_000;
const DEFAULT_MAX_OPEN_FILES = 1000;
/** The default of {@link ReaderOptions.maxRestarts}. */
export const DEFAULT_MAX_RESTARTS = 100;

/** How to open a `SyncDatabaseReader`, which does not join reads. Every option has a default. */
export type SyncReaderOptions = Omit<ReaderOptions, 'gapBytes'>;

/** How to open a `DatabaseReader`. Every option has a default. */
export interface AsyncReaderOptions extends ReaderOptions {
  /** Ends the opening early. */
  readonly signal?: Signal | undefined;
}

/** The names for both readers, so that one object can be used for both. `SyncDatabaseReader` ignores the signal. */
const READER_OPTIONS: Record<keyof AsyncReaderOptions, true> = {
  comparators: true,
  insistOnBytewise: true,
  filterPolicies: true,
  filters: true,
  codecs: true,
  cache: true,
  maxBlockBytes: true,
  tailBytes: true,
  readAheadBytes: true,
  gapBytes: true,
  damage: true,
  maxOpenFiles: true,
  openTables: true,
  maxRestarts: true,
  signal: true,
};

/** Checks options before anything is read. @throws TypeError or RangeError, which names the option that is wrong. */
export function mustBeReaderOptions(owner: string, options: AsyncReaderOptions): void {
  mustBeOptions(owner, options, READER_OPTIONS);
  const { comparators = [], insistOnBytewise, filterPolicies, maxOpenFiles, openTables, maxRestarts, signal } = options;
  mustBeComparators(comparators, filterPolicies);
  if (insistOnBytewise !== undefined) mustBeBoolean('insistOnBytewise', insistOnBytewise);
  mustBeReading(options);
  mustBeDamageMode(options.damage);
  openTablesFor(maxOpenFiles);
  mustBeEither('openTables', openTables, 'at-opening', 'when-needed');
  if (maxRestarts !== undefined) mustBeWhole('maxRestarts', maxRestarts, 0);
  if (signal !== undefined) mustBeSignal('signal', signal);
}

/**
 * The number of tables that may be open if `maxOpenFiles` files may be.
 *
 * @param least the smallest result: a reader needs one.
 * @throws RangeError unless it is a whole number.
 */
export function openTablesFor(maxOpenFiles = DEFAULT_MAX_OPEN_FILES, least = 1): number {
  return Math.min(Math.max(mustBeWhole('maxOpenFiles', maxOpenFiles, 0) - OTHER_FILES, least), MOST_OPEN_FILES - OTHER_FILES);
}

/** @throws TypeError or RangeError unless they are orders, and `filterPolicies` policies that agree with each of them. */
export function mustBeComparators(comparators: unknown, filterPolicies?: ReaderOptions['filterPolicies']): void {
  mustBeArray('comparators', comparators, 'comparators');
  for (const [i, comparator] of comparators.entries()) mustBeComparator(`comparators[${i}]`, comparator);
  for (const comparator of [bytewiseComparator, ...(comparators as readonly Comparator[])]) internalTableOptions({ comparator, filterPolicies });
}

/** @throws RangeError unless it is undefined, `'strict'` or `'skip'`. */
export function mustBeDamageMode(damage: unknown): void {
  mustBeEither('damage', damage, 'strict', 'skip');
}

/** @throws RangeError unless the option is undefined or one of two words. */
export function mustBeEither(name: string, value: unknown, one: string, other: string): void {
  if (value === undefined || value === one || value === other) return;
  throw new RangeError(`${name} must be '${one}' or '${other}', got ${typeof value === 'string' ? JSON.stringify(value) : typeof value}`);
}
