import { mustBeBoolean, mustBeWhole, shownValue } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy, type FitOptions, mustBeFilterPolicy } from '@bloom/policy';
import { BlockCache, bytewiseComparator, type Codec, type Comparator, MemorySink, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy, internalTableOptions } from '@bloom/sstable/database';
import { comparatorOf, decodingFor, DEFAULT_CACHE_BYTES, mustBePolicies, mustBeReading } from '@bloom/sstable/internal';
import { mustBeDamageMode, mustBeEither, openTablesFor, type ReaderOptions } from '../read/reader-options.js';
import type { NeededPlugins, TableThreadSettings } from '../folder/table-thread.js';
import { type BitsByLevel, type LevelBits, levelBitsOf } from './bits-by-level.js';
import { type DatabaseEvent, guardedListener } from './database-event.js';
import { fittedPolicyOf, isFitted, isFittedClass } from './load-fitted-policy.js';
import type { HoldSettings } from './folder-hold.js';

/** How to open a {@link Database}. Every option has a default. */
export interface DatabaseOptions extends Pick<ReaderOptions, 'codecs' | 'cache' | 'tailBytes' | 'readAheadBytes' | 'gapBytes'> {
  /**
   * Policies whose filters can be used in addition to those of `filterPolicy` and LevelDB's Bloom filter; the latter cannot be used
   * if the comparator treats different bytes as equal.
   */
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  /**
   * The most bytes that a block may have, up to 1 GiB: the same limit for blocks that are read and for those that are written.
   * An entry that would need a larger block is refused by `put`. Raise it to open a database in which LevelDB put larger
   * values; readers must raise it too. Default: 256 MiB.
   */
  readonly maxBlockBytes?: number | undefined;
  /** Creates the database if it does not exist. Default: true. */
  readonly createIfMissing?: boolean | undefined;
  /** Fails if the database exists already. Default: false. */
  readonly errorIfExists?: boolean | undefined;
  /** The order of the keys, which must be that of the existing database. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  /**
   * The filter policy of new tables; null for none. Default: LevelDB's Bloom filter with 10 bits per key, or none if the comparator treats
   * different bytes as equal.
   */
  readonly filterPolicy?: FilterPolicy | null | undefined;
  /**
   * Bits per key of LevelDB's Bloom filter by the level that a table is written to, instead of `filterPolicy`. A table that moves
   * down a level unchanged keeps its filters. LevelDB can read all of them. Default: 10 in every level.
   */
  readonly bitsPerKey?: BitsByLevel | undefined;
  /**
   * Fits the length and the number of probes of each new Bloom filter to its keys, instead of using LevelDB's formula: for absent keys
   * close to stored ones, LevelDB then makes a tenth as many needless reads, and a filter takes at most 10% more bytes.
   * `{ extraBytes }` sets another share: see `FitOptions`. Goes with `bitsPerKey`; as a `filterPolicy`, use `FittedBloomFilterPolicy`.
   * Default: false.
   */
  readonly fitFilters?: boolean | FitOptions | undefined;
  /**
   * The compression of new tables. Default: that of the newest table whose blocks are compressed by one of `codecs`, so that Minecraft can
   * read what is written to its worlds; `'snappy'` if there is no such table. For a new Minecraft world, or one that has only a log, give
   * `deflateCodec` of `@bloom/codecs`.
   */
  readonly compression?: 'none' | 'snappy' | Codec | undefined;
  /**
   * The size in bytes, as LevelDB counts it, above which a memtable becomes a table. Default: 4 MiB. As in LevelDB, a size
   * below 64 KiB is treated as 64 KiB, and one above 1 GiB as 1 GiB.
   */
  readonly writeBufferSize?: number | undefined;
  /**
   * The size in bytes at which a compaction finishes a table and begins the next. Default: 2 MiB; at least 1 MiB and at most
   * 1 GiB is used.
   */
  readonly maxFileSize?: number | undefined;
  /** Bytes of a block before compression. Default: 4 KiB; at least 1 KiB and at most 4 MiB is used. */
  readonly blockSize?: number | undefined;
  /** Entries per restart. Default: 16. */
  readonly blockRestartInterval?: number | undefined;
  /**
   * How many bytes of a new table each filter covers, a power of two. Default: 2,048, as in LevelDB. If values are larger
   * than a few hundred bytes, raise it to the size of about a hundred entries; see `TableBuilderOptions.filterRange` for the effect of more than some
   * tens of thousands of keys in a filter. A table whose filters would need a block of more than `maxBlockBytes` is written without
   * filters.
   */
  readonly filterRange?: number | undefined;
  /**
   * The most files to keep open, ten of which are not tables. A merge on a background thread opens up to as many tables of its own,
   * and closes them at its end. Default: 1000; at least 74 and at most 50,000 are used.
   */
  readonly maxOpenFiles?: number | undefined;
  /**
   * Appends to the existing MANIFEST and log, as Chromium does. Opening is then faster, and the contents of the log stay in memory.
   * `'empty'` appends only to a log without operations, and to a MANIFEST of less than 16 KiB: an opening that has nothing to recover then
   * writes nothing, and takes half the time. The contents of any other log become a table, as with false.
   * Default: false.
   */
  readonly reuseLogs?: boolean | 'empty' | undefined;
  /**
   * What to do about damaged logs. `'strict'` refuses to open the database, as opening it would lose the records behind the damage for
   * good. `'skip'` opens it with the readable records, as LevelDB does, and keeps copies of the damaged logs in the folder `lost`;
   * `describe().dropped` lists what was left out. Both refuse a damaged MANIFEST: see `Database.repair`. Default: `'strict'`.
   */
  readonly damage?: 'strict' | 'skip' | undefined;
  /**
   * `'folder'` locks the folder, both as LevelDB and as goleveldb do, so that only one process writes; the event `lock-limited` reports where
   * that is not possible. `'none'` takes no lock: two writers then destroy the database. Default: `'folder'`.
   */
  readonly lock?: 'folder' | 'none' | undefined;
  /**
   * Receives events while the database works: records in the log, flushes, compactions, versions, deleted files. Repairing and destroying
   * only report `lock-limited`.
   *
   * It is called in the middle of that work, before the next step, so it should return soon. It may call the database; such calls take effect
   * afterwards. Errors that it throws do not affect the database: the host reports them as unhandled rejections. Without a listener, no events
   * are made. There are none after `close` has settled.
   */
  readonly onEvent?: ((event: DatabaseEvent) => void) | undefined;
}

export const DATABASE_OPTIONS: Record<keyof DatabaseOptions, true> = {
  createIfMissing: true,
  errorIfExists: true,
  comparator: true,
  filterPolicy: true,
  filterPolicies: true,
  bitsPerKey: true,
  fitFilters: true,
  compression: true,
  codecs: true,
  cache: true,
  writeBufferSize: true,
  maxFileSize: true,
  blockSize: true,
  blockRestartInterval: true,
  filterRange: true,
  maxOpenFiles: true,
  maxBlockBytes: true,
  reuseLogs: true,
  damage: true,
  lock: true,
  onEvent: true,
  tailBytes: true,
  readAheadBytes: true,
  gapBytes: true,
};

/** As in LevelDB, since a compaction reads from many tables at once. */
const LEAST_OPEN_TABLES = 64;

/** Reading this much of a MANIFEST took 4 ms, and reading 64 KiB took 12 ms. Writing a new MANIFEST took 2 ms, and takes longer on a slow disk. */
const SMALL_MANIFEST_BYTES = 16 * 2 ** 10;

/** The options of a database, checked, and clamped as LevelDB clamps them. */
export interface Settings extends HoldSettings {
  readonly createIfMissing: boolean;
  readonly errorIfExists: boolean;
  readonly comparator: Comparator;
  readonly writeBufferSize: number;
  readonly maxFileSize: number;
  readonly maxOpenTables: number;
  /** Which logs are appended to: any that is whole, only one without operations, or none. */
  readonly reusedLogs: 'any' | 'empty' | 'none';
  /** The MANIFEST is appended to if it is smaller than this. */
  readonly reusedManifestBytes: number;
  /** Whether damaged records of logs are left out, as in LevelDB, instead of being an error. */
  readonly skipsDamage: boolean;
  readonly maxBlockBytes: number;
  /** Bytes at which a data block ends. */
  readonly blockSize: number;
  readonly cache: BlockCache | null;
  /** How tables are built, and how they are opened: by internal keys. */
  readonly building: TableBuilderOptions;
  /** How to build tables whose filters have the given bits per key; undefined for `building`. */
  readonly buildingWith: (bitsPerKey: number | undefined) => TableBuilderOptions;
  /** The bits per key by level; undefined when they do not depend on it. */
  readonly levelBits: LevelBits | undefined;
  /** Whether the caller named the compression of new tables. */
  readonly isCompressionNamed: boolean;
  /** The same settings with another compression of new tables. */
  readonly compressedBy: (codec: Codec) => Settings;
  readonly opening: ReturnType<typeof internalTableOptions>;
  /** How the tables are read. */
  readonly reading: ReaderOptions;
  /** The settings for a thread that writes tables. */
  readonly thread: TableThreadSettings;
}

/** @throws RangeError for an invalid `reuseLogs`. */
function reusedLogsOf(reuseLogs: DatabaseOptions['reuseLogs'] = false): Settings['reusedLogs'] {
  if (reuseLogs === 'empty') return reuseLogs;
  if (typeof reuseLogs !== 'boolean') throw new RangeError(`reuseLogs must be true, false or 'empty', got ${shownValue(reuseLogs)}`);
  return reuseLogs ? 'any' : 'none';
}

/**
 * REQUIRES: the options have been copied by `copiedOptions`; if they `mayBeFitted`, fitted filters are loaded or provided.
 *
 * @throws TypeError or RangeError, which names the option that is wrong.
 */
export function settingsOf(options: DatabaseOptions): Settings {
  mustBeReading(options);
  const shared = sharedSettingsOf(options);
  const cache = options.cache === undefined ? new BlockCache(DEFAULT_CACHE_BYTES) : options.cache;
  return { ...shared, cache, compressedBy: (codec) => settingsOf({ ...options, cache, bitsPerKey: shared.levelBits, compression: codec }) };
}

/** The settings that databases with the same options can share. */
type SharedSettings = Omit<Settings, 'cache' | 'compressedBy'>;

/** The last options whose values were all plain, and their settings. */
let last: { readonly options: DatabaseOptions; readonly settings: SharedSettings } | undefined;

/** Remembers the last settings, because most databases of a program have the same options, which then are checked only once. */
function sharedSettingsOf(given: DatabaseOptions): SharedSettings {
  if (last !== undefined && areSame(given, last.options)) return last.settings;
  const { cache: _, ...options } = given;
  const settings = checkedSettings(options);
  // A policy that fits its filters holds the memory of a WebAssembly kernel, which would not be freed.
  if (options.fitFilters !== true && Object.values(options).every(isPlain)) last = { options, settings };
  return settings;
}

/** Whether all options but the cache are the same. */
function areSame(a: DatabaseOptions, b: DatabaseOptions): boolean {
  for (const name in DATABASE_OPTIONS) if (a[name as keyof DatabaseOptions] !== b[name as keyof DatabaseOptions] && name !== 'cache') return false;
  return true;
}

/** Whether a value cannot be changed later, as the members of an object can. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' && typeof value !== 'function';
}

function checkedSettings(options: DatabaseOptions): SharedSettings {
  const { filterPolicies, codecs, tailBytes, readAheadBytes, gapBytes } = options;
  const comparator = comparatorOf('comparator', options.comparator);
  const holding = holdSettingsOf(options);
  mustBeDamageMode(options.damage);
  const { compression = 'snappy' } = options;
  const levelBits = options.bitsPerKey === undefined ? undefined : levelBitsOf(options.bitsPerKey);
  const filterPolicy = policyOf(options, comparator);
  const { maxBlockBytes } = decodingFor(options);
  const blockSize = Math.min(maxBlockBytes, clipped('blockSize', options.blockSize ?? 4096, 2 ** 10, 4 * 2 ** 20));
  const maxFileSize = clipped('maxFileSize', options.maxFileSize ?? 2 * 2 ** 20, 2 ** 20, 2 ** 30);
  const reusedLogs = reusedLogsOf(options.reuseLogs);
  const building: TableBuilderOptions = {
    comparator: internalKeyComparator(comparator),
    filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy),
    compression,
    blockSize,
    blockRestartInterval: mustBeWhole('blockRestartInterval', options.blockRestartInterval ?? 16, 1),
    filterRange: options.filterRange,
    maxBlockBytes,
    omitLargeFilters: true,
  };
  const policyWith = bloomPolicies(filterPolicy);
  // Checks the options before anything is read.
  new TableBuilder(new MemorySink(), building);
  const own = typeof compression === 'object' ? [compression] : [];
  const reading: ReaderOptions = { readAheadBytes, gapBytes, tailBytes };
  return {
    createIfMissing: flag('createIfMissing', options.createIfMissing ?? true),
    errorIfExists: flag('errorIfExists', options.errorIfExists ?? false),
    comparator,
    writeBufferSize: clipped('writeBufferSize', options.writeBufferSize ?? 4 * 2 ** 20, 64 * 2 ** 10, 2 ** 30),
    maxFileSize,
    maxOpenTables: openTablesFor(options.maxOpenFiles, LEAST_OPEN_TABLES),
    reusedLogs,
    reusedManifestBytes: reusedLogs === 'any' ? maxFileSize : reusedLogs === 'empty' ? SMALL_MANIFEST_BYTES : 0,
    skipsDamage: options.damage === 'skip',
    ...holding,
    maxBlockBytes,
    blockSize,
    building,
    buildingWith: (bitsPerKey) => (bitsPerKey === undefined ? building : { ...building, filterPolicy: policyWith(bitsPerKey) }),
    levelBits,
    isCompressionNamed: options.compression !== undefined,
    opening: internalTableOptions({
      comparator,
      filterPolicies: readablePolicies(filterPolicies ?? [], filterPolicy, comparator),
      codecs: [...own, ...(codecs ?? [])],
      tailBytes,
      maxBlockBytes,
    }),
    reading,
    thread: tableThreadSettings(options, filterPolicy),
  };
}

function policyOf({ filterPolicy, bitsPerKey, fitFilters = false }: DatabaseOptions, comparator: Comparator): FilterPolicy | null {
  if (typeof fitFilters !== 'boolean' && (typeof fitFilters !== 'object' || (fitFilters as FitOptions | null) === null)) {
    throw new TypeError(`fitFilters must be true, false or { extraBytes }, got ${fitFilters as unknown as string}`);
  }
  const own = { bitsPerKey: bitsPerKey !== undefined, fitFilters: fitFilters !== false };
  for (const [option, isGiven] of Object.entries(own)) {
    if (!isGiven) continue;
    if (filterPolicy !== undefined) throw new TypeError(`${option} is for LevelDB's Bloom filter: leave out filterPolicy`);
    if (comparator.keyEquivalence !== undefined) {
      throw new RangeError(`${option} is for LevelDB's Bloom filter, which distinguishes keys that ${comparator.name} treats as equal`);
    }
  }
  if (fitFilters !== false) return fittedPolicyOf(10, fitFilters === true ? {} : fitFilters);
  if (filterPolicy !== undefined && filterPolicy !== null) mustBeFilterPolicy('filterPolicy', filterPolicy);
  if (filterPolicy !== undefined) return filterPolicy;
  // LevelDB's filter distinguishes keys that such a comparator treats as equal.
  return comparator.keyEquivalence === undefined ? defaultPolicy() : null;
}

let sharedPolicy: BloomFilterPolicy | undefined;

/** LevelDB's filter with 10 bits per key. All databases share it, because it keeps a kernel with 16 MiB of memory. */
function defaultPolicy(): BloomFilterPolicy {
  return (sharedPolicy ??= new BloomFilterPolicy(10));
}

/**
 * Makes LevelDB's Bloom filter of internal keys, one policy for each number of bits; null, for no filters, with 0 bits.
 *
 * @param policy of tables whose bits do not depend on their level. The others are fitted if it is.
 */
function bloomPolicies(policy: FilterPolicy | null): (bitsPerKey: number) => FilterPolicy | null {
  const policies = new Map<number, FilterPolicy | null>([[0, null]]);
  return (bitsPerKey) => {
    const bloom = () => (isFitted(policy) ? fittedPolicyOf(bitsPerKey, { extraBytes: policy.extraBytes }) : new BloomFilterPolicy(bitsPerKey));
    if (!policies.has(bitsPerKey)) policies.set(bitsPerKey, internalKeyPolicy(bloom()));
    return policies.get(bitsPerKey) ?? null;
  };
}

/** The policies of existing tables: those given, the policy of new tables, and the default, because the policy may have changed. */
function readablePolicies(given: readonly FilterPolicy[], policy: FilterPolicy | null, comparator: Comparator): FilterPolicy[] {
  mustBePolicies(given);
  const bloom = comparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  const policies = [...given, ...(policy === null ? [] : [policy]), ...bloom];
  return policies.filter(({ name }, i) => policies.findIndex((other) => other.name === name) === i);
}

/** The options in a form that can be sent to a thread, with the names of what cannot be sent. */
function tableThreadSettings(options: DatabaseOptions, filterPolicy: FilterPolicy | null): TableThreadSettings {
  const { compression = 'snappy' } = options;
  const own = filterPolicy !== null && isOwn(filterPolicy) ? filterPolicy : undefined;
  const { maxFileSize, blockSize, blockRestartInterval, filterRange, maxBlockBytes, tailBytes, readAheadBytes, gapBytes } = options;
  return {
    compression: typeof compression === 'object' ? 'none' : compression,
    bitsPerKey: own?.bitsPerKey ?? null,
    extraBytes: own !== undefined && isFitted(own) ? own.extraBytes : undefined,
    plugins: neededPlugins(options, filterPolicy),
    ...{ maxFileSize, blockSize, blockRestartInterval, filterRange, maxBlockBytes, tailBytes, readAheadBytes, gapBytes },
  };
}

/** The plug-ins that a thread must have; undefined if it needs none. */
function neededPlugins({ comparator = bytewiseComparator, compression, codecs = [] }: DatabaseOptions, filterPolicy: FilterPolicy | null): NeededPlugins | undefined {
  const needed: NeededPlugins = {
    comparator: comparator === bytewiseComparator ? undefined : comparator.name,
    filterPolicy: filterPolicy === null || isOwn(filterPolicy) ? undefined : filterPolicy.name,
    compression: typeof compression === 'object' ? compression.type : undefined,
    codecs: codecs.map(({ type }) => type),
  };
  const isNone = needed.comparator === undefined && needed.filterPolicy === undefined && needed.compression === undefined && codecs.length === 0;
  return isNone ? undefined : needed;
}

/** Whether it is exactly LevelDB's Bloom filter, fitted or not: other subclasses may override its methods. */
function isOwn(filterPolicy: FilterPolicy): filterPolicy is BloomFilterPolicy {
  const { constructor } = filterPolicy;
  return filterPolicy instanceof BloomFilterPolicy && (constructor === BloomFilterPolicy || isFittedClass(constructor));
}

/** A number of bytes or files, clamped to its limits as in LevelDB. */
function clipped(name: string, value: number, least: number, most: number): number {
  return Math.min(Math.max(mustBeWhole(name, value, 0), least), most);
}

/** Whether to lock a folder, and the listener for the limits of the lock. @throws RangeError or TypeError for an option that is wrong. */
export function holdSettingsOf({ lock = 'folder', onEvent }: Pick<DatabaseOptions, 'lock' | 'onEvent'>): HoldSettings {
  mustBeEither('lock', lock, 'folder', 'none');
  if (onEvent !== undefined && typeof onEvent !== 'function') throw new TypeError('onEvent must be a function');
  return { locks: lock === 'folder', onEvent: onEvent && guardedListener(onEvent) };
}

function flag(name: string, value: unknown): boolean {
  mustBeBoolean(name, value);
  return value;
}
