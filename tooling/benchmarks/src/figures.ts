import type { DatabaseState } from './database.js';

/** The program that does the work. */
export type ContenderName = 'bloom' | 'leveldb' | 'classic-level' | 'memory-level' | 'lmdb' | 'bloom-filters' | 'bloomfilter';

/** Another contender for a figure. */
export interface Other {
  readonly contender: Exclude<ContenderName, 'bloom'>;
  /** The contender's name for the job. Default: the figure's name. */
  readonly job?: string;
  /** What it does differently, if anything. */
  readonly by?: string;
  /** The goal: our time is at most this multiple of theirs. */
  readonly goal?: number;
  /** Larger sizes take too long and are left out. */
  readonly maxSize?: number;
  /** Its answers are not compared, because a different filter has different false positives. */
  readonly answersDiffer?: boolean;
}

/** One kind of work. */
export interface Figure {
  /** Also the name of our job. */
  readonly name: string;
  /** A description of the work. */
  readonly what: string;
  /** The unit of work to which times refer. */
  readonly unit: 'hash' | 'key' | 'block' | 'entry' | 'open' | 'call' | 'run';
  /** The unit of the sizes. */
  readonly sizeUnit: 'bytes' | 'keys' | 'entries';
  readonly sizes: readonly number[];
  readonly quickSizes: readonly number[];
  readonly others: readonly Other[];
  /** The shared database that is written before the contenders start. Default: none. */
  readonly input?: DatabaseState;
}

/** Filling a database of more entries takes minutes. */
const MOST_FOR_DATABASES = 1e6;
const POWERS = [1e3, 1e4, 1e5, 1e6, 1e7];
const TABLES = { sizeUnit: 'entries', sizes: POWERS, quickSizes: [1e5] } as const;
/** A database of more entries takes minutes to write. */
const DATABASES = { sizeUnit: 'entries', sizes: [1e4, 1e5, 1e6], quickSizes: [1e5], input: 'levels' } as const;
/** Databases of which the contenders cache almost nothing. */
const UNCACHED = { sizeUnit: 'entries', sizes: [1e5, 1e6], quickSizes: [1e5], input: 'levels' } as const;
/** Databases that are written from scratch for each run. */
const WRITTEN = { sizeUnit: 'entries', sizes: [1e5, 1e6], quickSizes: [1e5] } as const;
const FILTERS = { sizeUnit: 'keys', sizes: [100, ...POWERS], quickSizes: [100, 1e4, 1e6] } as const;
const BLOCKS = { sizeUnit: 'bytes', sizes: [1024, 4096, 65_536], quickSizes: [4096] } as const;
const HASHES = { sizeUnit: 'bytes', sizes: [8, 16, 64, 1024], quickSizes: [8, 16, 64, 1024] } as const;

/** Other filters in JavaScript. They have no batch call, so their `job` asks for one key at a time. */
function otherFilters(job: string): Other[] {
  return [
    { contender: 'bloom-filters', job, goal: 0.05, maxSize: 1e3, answersDiffer: true },
    { contender: 'bloomfilter', job, goal: 0.1, maxSize: 1e5, answersDiffer: true },
  ];
}

/** The same, for rows that have no goal against them. */
function otherFiltersWithoutGoals(job: string): Other[] {
  return otherFilters(job).map(({ goal: _, ...other }) => other);
}

/** Everything that is measured. */
export const figures: readonly Figure[] = [
  { name: 'hash', what: 'hash one byte string after another', unit: 'hash', ...HASHES, others: [{ contender: 'leveldb' }] },
  { name: 'hash-each', what: 'hash byte strings of one buffer, hashEach', unit: 'hash', ...HASHES, others: [{ contender: 'leveldb', goal: 1.6 }] },
  {
    name: 'build-filter',
    what: 'a filter of a key list, createFilter alone',
    unit: 'key',
    ...FILTERS,
    others: [{ contender: 'leveldb', goal: 0.7 }, ...otherFilters('build-filter-from-list')],
  },
  {
    name: 'build-filter-from-list',
    what: 'a filter of an array of keys, buildFilter',
    unit: 'key',
    ...FILTERS,
    // Ten million arrays of 16 bytes would fill the heap.
    sizes: FILTERS.sizes.filter((size) => size <= 1e6),
    others: [{ contender: 'leveldb' }, ...otherFilters('build-filter-from-list')],
  },
  {
    name: 'probe-present',
    what: 'ask for random keys that are there, one at a time',
    unit: 'key',
    ...FILTERS,
    // The goals for one key at a time only guard against getting slower. Those of batches are what we aim for.
    others: [{ contender: 'leveldb', goal: 2.5 }, ...otherFiltersWithoutGoals('probe-present')],
  },
  {
    name: 'probe-absent',
    what: 'ask for random keys that are not there, one at a time',
    unit: 'key',
    ...FILTERS,
    others: [{ contender: 'leveldb', goal: 4 }, ...otherFiltersWithoutGoals('probe-absent')],
  },
  {
    name: 'probe-batch-present',
    what: 'ask for a batch of 10,000 keys that are there',
    unit: 'key',
    ...FILTERS,
    others: [{ contender: 'leveldb', goal: 0.7 }, ...otherFilters('probe-present')],
  },
  {
    name: 'probe-batch-absent',
    what: 'ask for a batch of 10,000 keys that are not there',
    unit: 'key',
    ...FILTERS,
    others: [{ contender: 'leveldb', goal: 0.7 }, ...otherFilters('probe-absent')],
  },
  { name: 'compress-words', what: 'compress blocks of text with Snappy, into the same array', unit: 'block', ...BLOCKS, others: [{ contender: 'leveldb', by: 'Google’s Snappy' }] },
  { name: 'compress-values', what: 'compress blocks that are half random with Snappy, into the same array', unit: 'block', ...BLOCKS, others: [{ contender: 'leveldb', by: 'Google’s Snappy' }] },
  { name: 'decompress-words', what: 'decompress blocks of text with Snappy, into the same array', unit: 'block', ...BLOCKS, others: [{ contender: 'leveldb', by: 'Google’s Snappy' }] },
  { name: 'decompress-values', what: 'decompress blocks that are half random with Snappy, into the same array', unit: 'block', ...BLOCKS, others: [{ contender: 'leveldb', by: 'Google’s Snappy' }] },
  {
    name: 'build-table',
    what: 'TableBuilder into a file, Bloom 10, no compression, no fsync',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', goal: 1.1 }],
  },
  {
    name: 'build-table-snappy',
    what: 'TableBuilder into a file, Bloom 10, Snappy, no fsync',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', goal: 1.2 }],
  },
  {
    name: 'write-table',
    what: 'writeTable of an iterable, Bloom 10, no compression, with fsync and rename',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', by: 'TableBuilder, with fsync and rename' }],
  },
  {
    name: 'scan',
    what: 'cursor over all entries of a table in memory, checksums verified, a byte read of each key and value',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', by: 'mapped file', goal: 1.2 }],
  },
  {
    name: 'scan-views',
    what: 'the same, with a view made of each key and value',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', by: 'mapped file', job: 'scan' }],
  },
  {
    name: 'scan-file',
    what: 'the same as scan, from a file by read calls',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', job: 'scan', by: 'mapped file', goal: 1.2 }],
  },
  {
    name: 'scan-snappy',
    what: 'the same as scan, of a table with Snappy',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'leveldb', by: 'mapped file', goal: 1.2 }],
  },
  {
    name: 'entries',
    what: 'for await over entries() of a file, checksums verified',
    unit: 'entry',
    ...TABLES,
    others: [
      { contender: 'classic-level', maxSize: MOST_FOR_DATABASES, job: 'iterator', by: 'for await over iterator()', goal: 0.1 },
      { contender: 'classic-level', maxSize: MOST_FOR_DATABASES, job: 'nextv', by: 'nextv(1000)' },
    ],
  },
  {
    name: 'entries-sync',
    what: 'for over entries() of a file, SyncTable, checksums verified',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, job: 'iterator', by: 'for await over iterator()', goal: 0.1 }],
  },
  {
    name: 'batches',
    what: 'for await over batches() of a file, a view made of each key and value, checksums verified',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, job: 'nextv', by: 'nextv(1000)', goal: 0.1 }],
  },
  {
    name: 'batches-sync',
    what: 'the same, synchronously, SyncTable',
    unit: 'entry',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, job: 'nextv', by: 'nextv(1000)', goal: 0.1 }],
  },
  {
    name: 'get-present-sync',
    what: 'get of random present keys, blocks cached, SyncTable',
    unit: 'key',
    ...TABLES,
    others: [
      { contender: 'leveldb', job: 'seek', by: 'one iterator’s Seek, value copied', goal: 0.8 },
      { contender: 'leveldb', maxSize: MOST_FOR_DATABASES, job: 'get-present', by: 'DB::Get' },
      { contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'getSync', goal: 0.8 },
    ],
  },
  {
    name: 'seek-present-sync',
    what: 'one cursor’s seek of random present keys, blocks cached, value copied, SyncTable',
    unit: 'key',
    ...TABLES,
    others: [{ contender: 'leveldb', job: 'seek', by: 'one iterator’s Seek, value copied', goal: 1.2 }],
  },
  {
    name: 'get-present',
    what: 'get of random present keys, one after another, blocks cached, Table',
    unit: 'key',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'get', goal: 0.2 }],
  },
  {
    name: 'get-many',
    what: 'getMany of 100 random present keys at a time, blocks cached, Table',
    unit: 'key',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'getMany' }],
  },
  {
    name: 'get-absent-sync',
    what: 'get of random absent keys, SyncTable',
    unit: 'key',
    ...TABLES,
    others: [
      { contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'getSync', goal: 0.25 },
      { contender: 'leveldb', maxSize: MOST_FOR_DATABASES, job: 'get-absent', by: 'DB::Get' },
    ],
  },
  {
    name: 'get-absent',
    what: 'get of random absent keys, one after another, Table',
    unit: 'key',
    ...TABLES,
    others: [{ contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'get' }],
  },
  {
    name: 'open-sync',
    what: 'open and close a table file, SyncTable',
    unit: 'open',
    ...TABLES,
    others: [{ contender: 'leveldb', job: 'open', by: 'Table::Open', goal: 2 }],
  },
  {
    name: 'open',
    what: 'open and close a table file, Table',
    unit: 'open',
    ...TABLES,
    others: [
      { contender: 'leveldb', by: 'Table::Open', goal: 4 },
      { contender: 'classic-level', maxSize: MOST_FOR_DATABASES, by: 'a database', goal: 0.4 },
    ],
  },
  {
    name: 'db-open',
    what: 'open and close a database folder, DatabaseReader',
    unit: 'open',
    ...DATABASES,
    others: [{ contender: 'classic-level', goal: 2 }],
  },
  {
    name: 'db-get-present',
    what: 'get of random present keys of a database, one after another, blocks cached, DatabaseReader',
    unit: 'key',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.2 }],
  },
  {
    name: 'db-get-absent',
    what: 'get of random absent keys of a database, one after another, DatabaseReader',
    unit: 'key',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.2 }],
  },
  {
    name: 'db-get-present-sync',
    what: 'get of random present keys of a database, blocks cached, SyncDatabaseReader',
    unit: 'key',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'getSync', goal: 0.8 }],
  },
  {
    name: 'db-get-absent-sync',
    what: 'get of random absent keys of a database, SyncDatabaseReader',
    unit: 'key',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'getSync', goal: 0.5 }],
  },
  {
    name: 'db-compacted-get-present-sync',
    what: 'get of random present keys of a compacted database, blocks cached, SyncDatabaseReader',
    unit: 'key',
    ...DATABASES,
    input: 'compacted',
    others: [{ contender: 'classic-level', by: 'getSync', goal: 0.8 }],
  },
  {
    name: 'db-compacted-get-absent-sync',
    what: 'get of random absent keys of a compacted database, SyncDatabaseReader',
    unit: 'key',
    ...DATABASES,
    input: 'compacted',
    others: [{ contender: 'classic-level', by: 'getSync', goal: 0.5 }],
  },
  {
    name: 'db-get-many',
    what: 'getMany of 100 random present keys of a database at a time, blocks cached, DatabaseReader',
    unit: 'key',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'getMany' }],
  },
  {
    name: 'db-uncached-get',
    what: 'get of random present keys of a database, one after another, blocks only in the OS page cache, DatabaseReader',
    unit: 'key',
    ...UNCACHED,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.25 }, { contender: 'lmdb', by: 'synchronous get' }],
  },
  {
    name: 'db-uncached-get-16',
    what: 'the same by 16 callers at once',
    unit: 'key',
    ...UNCACHED,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.5 }, { contender: 'lmdb', by: 'get, in a promise' }],
  },
  {
    name: 'db-uncached-get-many',
    what: 'getMany of 100 random present keys at a time, blocks only in the OS page cache, DatabaseReader',
    unit: 'key',
    ...UNCACHED,
    others: [{ contender: 'classic-level', by: 'getMany', goal: 1.2 }, { contender: 'lmdb', by: 'getMany' }],
  },
  {
    name: 'db-uncached-range',
    what: 'ten entries starting at a random key, blocks only in the OS page cache, DatabaseReader',
    unit: 'call',
    ...UNCACHED,
    others: [
      { contender: 'classic-level', by: 'iterator({ gte, limit: 10 })', goal: 0.5 },
      { contender: 'lmdb', by: 'getRange({ start, limit: 10 })' },
    ],
  },
  {
    name: 'db-uncached-get-sync',
    what: 'get of random present keys of a database, blocks only in the OS page cache, SyncDatabaseReader',
    unit: 'key',
    ...UNCACHED,
    others: [{ contender: 'classic-level', by: 'getSync', goal: 1.2 }, { contender: 'lmdb', by: 'get' }],
  },
  {
    name: 'db-entries',
    what: 'for await over entries() of a database, checksums verified',
    unit: 'entry',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'for await over iterator()', goal: 0.25 }],
  },
  {
    name: 'db-next-many',
    what: 'nextMany(1000) of a cursor, again and again, through a database, checksums verified',
    unit: 'entry',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'nextv(1000)' }],
  },
  {
    name: 'db-entries-reverse',
    what: 'for await over entries() of a database from the last to the first, checksums verified',
    unit: 'entry',
    ...DATABASES,
    others: [{ contender: 'classic-level', by: 'for await over iterator()', goal: 0.25 }],
  },
  {
    name: 'db-write-put-sequential',
    what: 'put the entries of a new database in the order of their keys, one after another, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'put', goal: 0.3 }, { contender: 'leveldb', by: 'DB::Put' }],
  },
  {
    name: 'db-write-put-random',
    what: 'put the entries of a new database in random order, one after another, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'put', goal: 0.3 }, { contender: 'leveldb', by: 'DB::Put' }],
  },
  {
    name: 'db-write-overwrite',
    what: 'put all entries of a database once more in random order, one after another, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'put', goal: 0.3 }, { contender: 'leveldb', by: 'DB::Put' }],
  },
  {
    name: 'db-write-batches',
    what: 'write the entries of a new database in random order in batches of 1,000, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'batch', goal: 1 }, { contender: 'leveldb', by: 'DB::Write' }],
  },
  {
    name: 'db-write-put-sync',
    what: 'put with sync, one after another, Database',
    unit: 'entry',
    ...WRITTEN,
    sizes: [1e3],
    quickSizes: [1e3],
    others: [{ contender: 'classic-level', by: 'put', goal: 1.1 }, { contender: 'leveldb', by: 'DB::Put' }],
  },
  {
    name: 'db-write-compact',
    what: 'compactRange of a database that was written in random order, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'compactRange', goal: 1.5 }, { contender: 'leveldb', by: 'DB::CompactRange' }],
  },
  {
    name: 'db-write-get-present',
    what: 'get of random present keys of a database that was just written, one after another, Database',
    unit: 'key',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.2 }, { contender: 'leveldb', by: 'DB::Get' }],
  },
  {
    name: 'db-write-get-absent',
    what: 'get of random absent keys of a database that was just written, one after another, Database',
    unit: 'key',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'get', goal: 0.5 }, { contender: 'leveldb', by: 'DB::Get' }],
  },
  {
    name: 'db-write-get-present-sync',
    what: 'getSync of random present keys of a database that was just written, Database',
    unit: 'key',
    ...WRITTEN,
    others: [
      { contender: 'classic-level', by: 'getSync', goal: 0.8 },
      { contender: 'leveldb', job: 'db-write-get-present', by: 'DB::Get' },
    ],
  },
  {
    name: 'db-write-entries',
    what: 'for await over entries() of a database that was just written, Database',
    unit: 'entry',
    ...WRITTEN,
    others: [{ contender: 'classic-level', by: 'for await over iterator()', goal: 0.25 }, { contender: 'leveldb', by: 'an iterator' }],
  },
  {
    name: 'db-write-mixed',
    what: 'put and get of random present keys by four concurrent callers, Database',
    unit: 'call',
    ...WRITTEN,
    others: [{ contender: 'classic-level' }],
  },
  {
    name: 'db-write-mixed-pause',
    what: 'the longest time for which db-write-mixed blocks the event loop; the goal is 20 ms, not a ratio',
    unit: 'run',
    ...WRITTEN,
    others: [{ contender: 'classic-level' }],
  },
];
