import { mustBeBoolean, mustBeOptions, mustBeWhole } from '@bloom/bytes';
import { BloomFilterPolicy, type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { BlockCache, bytewiseComparator, type Codec, type Comparator, MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { DEFAULT_CACHE_BYTES, internalKeyComparator, internalKeyPolicy, internalTableOptions } from '@bloom/sstable/database';
import type { ReaderOptions } from '../reader-options.js';
import type { TableThreadSettings } from './table-thread.js';

/** How to open a {@link Database}. All of it has a default. */
export interface DatabaseOptions extends Pick<ReaderOptions, 'filterPolicies' | 'codecs' | 'cache' | 'tailBytes' | 'readAheadBytes' | 'gapBytes'> {
  /** Makes a new database where there is none. Default: true. */
  readonly createIfMissing?: boolean | undefined;
  /** Refuses a folder that has a database. Default: false. */
  readonly errorIfExists?: boolean | undefined;
  /** The order of the keys; the database must be of the same. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /** Makes the filters of new tables; null for tables without. Default: LevelDB's Bloom filter with 10 bits a key. */
  readonly filterPolicy?: FilterPolicy | null | undefined;
  /** Of new tables. Default: `'snappy'`. */
  readonly compression?: 'none' | 'snappy' | Codec | undefined;
  /** Bytes of a memtable, counted as LevelDB does, from which on it becomes a table. 64 KiB to 1 GiB; default: 4 MiB. */
  readonly writeBufferSize?: number | undefined;
  /** Bytes of a table from which on a compaction begins the next one. 1 MiB to 1 GiB; default: 2 MiB. */
  readonly maxFileSize?: number | undefined;
  /** Bytes of a block before compression. 1 KiB to 4 MiB; default: 4 KiB. */
  readonly blockSize?: number | undefined;
  /** Entries from one restart of a block to the next. Default: 16. */
  readonly blockRestartInterval?: number | undefined;
  /**
   * How many bytes of a new table one filter covers: a power of two. Default: 2,048, as LevelDB has it. Raise it where
   * values are larger than some hundred bytes: see `TableBuilderOptions.filterRange`.
   */
  readonly filterRange?: number | undefined;
  /** How many files are kept open, ten of which are not tables. 74 to 50,000; default: 1000. */
  readonly maxOpenFiles?: number | undefined;
  /**
   * Goes on writing to the MANIFEST and the log that are there, as Chromium does: then opening is quicker, and what was
   * in the log stays in memory. Default: false.
   */
  readonly reuseLogs?: boolean | undefined;
  /**
   * What opening does with damaged logs. `'strict'` refuses the database, as opening it would lose for good what is behind
   * the damage. `'skip'` goes on as LevelDB does, with the records that are left, and keeps copies of the damaged logs in the
   * folder `lost`; `describe().dropped` says what was left out. A damaged MANIFEST is refused in both: see
   * `Database.repair`. Default: `'strict'`.
   */
  readonly damage?: 'strict' | 'skip' | undefined;
  /**
   * `'folder'` locks the folder, as LevelDB does, so that only one process writes. `'none'` takes no lock: two writers
   * destroy the database. Default: `'folder'`.
   */
  readonly lock?: 'folder' | 'none' | undefined;
}

const DATABASE_OPTIONS: Record<keyof DatabaseOptions, true> = {
  createIfMissing: true,
  errorIfExists: true,
  comparator: true,
  filterPolicy: true,
  filterPolicies: true,
  compression: true,
  codecs: true,
  cache: true,
  writeBufferSize: true,
  maxFileSize: true,
  blockSize: true,
  blockRestartInterval: true,
  filterRange: true,
  maxOpenFiles: true,
  reuseLogs: true,
  damage: true,
  lock: true,
  tailBytes: true,
  readAheadBytes: true,
  gapBytes: true,
};

/** Files that are not tables, of those that may be open: LevelDB's number. */
const OTHER_FILES = 10;

/** The options of a database, checked, and clipped as LevelDB clips them. */
export interface Settings {
  readonly createIfMissing: boolean;
  readonly errorIfExists: boolean;
  readonly comparator: Comparator;
  readonly writeBufferSize: number;
  readonly maxFileSize: number;
  readonly maxOpenTables: number;
  readonly reuseLogs: boolean;
  readonly skipsDamage: boolean;
  readonly locks: boolean;
  readonly cache: BlockCache | null;
  /** How tables are built, and how they are opened: by internal keys. */
  readonly building: TableBuilderOptions;
  readonly opening: ReturnType<typeof internalTableOptions>;
  /** How the tables are read. */
  readonly reading: ReaderOptions;
  /** What a thread that writes tables is to know; undefined if none can. */
  readonly thread: TableThreadSettings | undefined;
}

/** @throws TypeError or RangeError, which names the option that is wrong. */
export function settingsOf(options: DatabaseOptions): Settings {
  mustBeOptions('Database.open', options, DATABASE_OPTIONS);
  const { comparator = bytewiseComparator, filterPolicies, codecs, tailBytes, readAheadBytes, gapBytes, lock = 'folder' } = options;
  mustBeLockMode(lock);
  const { damage = 'strict' } = options as { readonly damage?: unknown };
  if (damage !== 'strict' && damage !== 'skip') throw new RangeError(`damage must be 'strict' or 'skip', got ${String(damage)}`);
  const { compression = 'snappy' } = options;
  const filterPolicy = policyOf(options, comparator);
  const building: TableBuilderOptions = {
    comparator: internalKeyComparator(comparator),
    filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy),
    compression,
    blockSize: clipped('blockSize', options.blockSize ?? 4096, 2 ** 10, 4 * 2 ** 20),
    restartInterval: mustBeWhole('blockRestartInterval', options.blockRestartInterval ?? 16, 1),
    filterRange: options.filterRange,
  };
  // Refuses options before anything is read.
  new TableBuilder(new MemorySink(), building);
  const own = typeof compression === 'object' ? [compression] : [];
  const reading: ReaderOptions = { readAheadBytes, gapBytes, tailBytes };
  return {
    createIfMissing: flag('createIfMissing', options.createIfMissing ?? true),
    errorIfExists: flag('errorIfExists', options.errorIfExists ?? false),
    comparator,
    writeBufferSize: clipped('writeBufferSize', options.writeBufferSize ?? 4 * 2 ** 20, 64 * 2 ** 10, 2 ** 30),
    maxFileSize: clipped('maxFileSize', options.maxFileSize ?? 2 * 2 ** 20, 2 ** 20, 2 ** 30),
    maxOpenTables: clipped('maxOpenFiles', options.maxOpenFiles ?? 1000, 64 + OTHER_FILES, 50_000) - OTHER_FILES,
    reuseLogs: flag('reuseLogs', options.reuseLogs ?? false),
    skipsDamage: damage === 'skip',
    locks: lock === 'folder',
    cache: options.cache === undefined ? new BlockCache(DEFAULT_CACHE_BYTES) : options.cache,
    building,
    opening: internalTableOptions({
      comparator,
      filterPolicies: filterPolicies ?? readablePolicies(filterPolicy, comparator),
      codecs: [...own, ...(codecs ?? [])],
      tailBytes,
    }),
    reading,
    thread: tableThreadSettings(options, filterPolicy),
  };
}

function policyOf({ filterPolicy }: DatabaseOptions, comparator: Comparator): FilterPolicy | null {
  if (filterPolicy !== undefined && filterPolicy !== null) mustBeFilterPolicy('filterPolicy', filterPolicy);
  if (filterPolicy !== undefined) return filterPolicy;
  // LevelDB's filter tells apart keys that such a comparator calls equal.
  return comparator.keyEquivalence === undefined ? new BloomFilterPolicy(10) : null;
}

/** The policies of old tables: the one of new tables, and the default, for the policy may have changed. */
function readablePolicies(policy: FilterPolicy | null, comparator: Comparator): FilterPolicy[] {
  const bloom = comparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  return policy === null ? bloom : [policy, ...bloom.filter(({ name }) => name !== policy.name)];
}

/** The options of a database as a thread can be sent them; undefined if it uses functions of the caller's. */
function tableThreadSettings(options: DatabaseOptions, filterPolicy: FilterPolicy | null): TableThreadSettings | undefined {
  const { comparator = bytewiseComparator, compression = 'snappy', codecs = [] } = options;
  if (comparator !== bytewiseComparator || typeof compression === 'object' || codecs.length > 0) return undefined;
  if (filterPolicy !== null && !isOwn(filterPolicy)) return undefined;
  const bitsPerKey = filterPolicy?.bitsPerKey ?? null;
  const { maxFileSize, blockSize, blockRestartInterval, filterRange, tailBytes, readAheadBytes, gapBytes } = options;
  return { compression, bitsPerKey, maxFileSize, blockSize, blockRestartInterval, filterRange, tailBytes, readAheadBytes, gapBytes };
}

/** Whether it is LevelDB's Bloom filter as it is: a class of the caller's may override its methods. */
function isOwn(filterPolicy: FilterPolicy): filterPolicy is BloomFilterPolicy {
  return filterPolicy instanceof BloomFilterPolicy && filterPolicy.constructor === BloomFilterPolicy;
}

/** A number of bytes or files, as LevelDB takes it: what is too low or too high becomes the least or the most. */
function clipped(name: string, value: number, least: number, most: number): number {
  return Math.min(Math.max(mustBeWhole(name, value, 0), least), most);
}

/** @throws RangeError unless it is `'folder'` or `'none'`. */
export function mustBeLockMode(lock: unknown): void {
  if (lock !== 'folder' && lock !== 'none') throw new RangeError(`lock must be 'folder' or 'none', got ${String(lock)}`);
}

function flag(name: string, value: unknown): boolean {
  mustBeBoolean(name, value);
  return value;
}
