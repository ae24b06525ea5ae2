import type { DatabaseOptions, Folder } from '@bloom/leveldb';
import type {
  AbstractBatchOptions,
  AbstractChainedBatchWriteOptions,
  AbstractDatabaseOptions,
  AbstractDelOptions,
  AbstractGetManyOptions,
  AbstractGetOptions,
  AbstractHasManyOptions,
  AbstractHasOptions,
  AbstractIteratorOptions,
  AbstractKeyIteratorOptions,
  AbstractOpenOptions,
  AbstractPutOptions,
  AbstractValueIteratorOptions,
  Transcoder,
} from 'abstract-level';
import type { WorkerLike } from './worker/browser-parts.js';

/** Options of `Database.open` that have the same name and meaning here. They can be set one after another, as those of abstract-level. */
type DatabaseLevelOptions = {
  -readonly [Name in keyof Pick<
    DatabaseOptions,
    | 'writeBufferSize'
    | 'maxFileSize'
    | 'blockSize'
    | 'blockRestartInterval'
    | 'maxOpenFiles'
    | 'maxBlockBytes'
    | 'comparator'
    | 'filterPolicy'
    | 'filterPolicies'
    | 'bitsPerKey'
    | 'fitFilters'
    | 'filterRange'
    | 'codecs'
    | 'damage'
    | 'lock'
    | 'onEvent'
  >]: DatabaseOptions[Name];
};

/** How to open a level. `createIfMissing` and `errorIfExists` are abstract-level's. */
export interface OpenOptions extends AbstractOpenOptions, DatabaseLevelOptions {
  /**
   * Whether blocks of new tables are compressed with Snappy, or the codec to compress them with. Default: the codec among `codecs` with which
   * the tables of the database are compressed, otherwise true.
   */
  compression?: boolean | Exclude<DatabaseOptions['compression'], string>;
  /** The size of the block cache in bytes; 0 for none. Default: 8 MiB. */
  cacheSize?: number | undefined;
  /**
   * See `Database.open` of `@bloom/leveldb`. Default: `'empty'`, with which opening a database whose log is empty writes nothing.
   */
  reuseLogs?: DatabaseOptions['reuseLogs'];
  /**
   * In Node, lets several threads of the process open the database of a path. The first one opens it, and the others send their calls to that
   * thread. Default: false, with which the others get `LEVEL_LOCKED`.
   */
  multithreading?: boolean | undefined;
}

/** Options of the constructor of `BloomLevel`. */
export interface LevelOptions<K, V> extends AbstractDatabaseOptions<K, V>, Omit<OpenOptions, 'passive'> {
  /**
   * Opens the database as it is, without a lock, even while another process has it open for writing, and changes nothing in the folder. Later
   * writes are visible after `refresh`. Default: false.
   */
  readOnly?: boolean | undefined;
  /**
   * In browsers: starts the worker that opens the database of a path. The worker must call `serveLevels` of `@bloom/level/worker`. Default: the
   * worker that comes with the package.
   */
  worker?: (() => WorkerLike) | undefined;
}

interface FillsCache {
  /** Accepted for programs written for classic-level, and ignored: reading single keys always uses the cache. */
  fillCache?: boolean | undefined;
}

/** Options of `get` and `getSync`. */
export interface GetOptions<K, V> extends AbstractGetOptions<K, V>, FillsCache {}
/** Options of `getMany`. */
export interface GetManyOptions<K, V> extends AbstractGetManyOptions<K, V>, FillsCache {}
/** Options of `has`. */
export interface HasOptions<K> extends AbstractHasOptions<K>, FillsCache {}
/** Options of `hasMany`. */
export interface HasManyOptions<K> extends AbstractHasManyOptions<K>, FillsCache {}

/** Whether to wait until a write survives a power failure, not only a crash of the process. Default: false. */
interface Synced {
  sync?: boolean | undefined;
}

/** Options of `put`. */
export interface PutOptions<K, V> extends AbstractPutOptions<K, V>, Synced {}
/** Options of `del`. */
export interface DelOptions<K> extends AbstractDelOptions<K>, Synced {}
/** Options of `batch` with an array. */
export interface BatchOptions<K, V> extends AbstractBatchOptions<K, V>, Synced {}
/** Options of a chained batch's `write`. */
export interface ChainedBatchWriteOptions extends AbstractChainedBatchWriteOptions, Synced {}

/** Options of `iterator`, `keys` and `values` besides abstract-level's. */
export interface ReadAheadOptions {
  /**
   * `nextv`, and the reading ahead of `next`, stop once their keys and values have this many bytes. Default: 16 KiB; 128 KiB if the database is
   * open in a worker or in another thread. With -1 there is no limit.
   */
  highWaterMarkBytes?: number | undefined;
  /** Whether blocks that are read stay in the cache. Default: true. */
  fillCache?: boolean | undefined;
}

/** Options of `iterator`. */
export type IteratorOptions<K, V> = AbstractIteratorOptions<K, V> & ReadAheadOptions;
/** Options of `keys`. */
export type KeyIteratorOptions<K> = AbstractKeyIteratorOptions<K> & ReadAheadOptions;
/** Options of `values`. */
export type ValueIteratorOptions<K, V> = AbstractValueIteratorOptions<K, V> & ReadAheadOptions;

/** The encoding of the ends of a range. Default: the level's key encoding. */
export interface StartEndOptions<K> {
  keyEncoding?: string | Transcoder.PartialEncoder<K> | undefined;
}

/** Whether `location` is an object that may be a folder. */
export function isFolder(location: unknown): location is Folder {
  return typeof location === 'object' && location !== null && typeof (location as { readonly open?: unknown }).open === 'function';
}
