import { shownValue } from '@bloom/bytes/internal';
import { BlockCache, type DatabaseOptions, type ReaderOptions } from '@bloom/leveldb';
import type { OpenOptions } from './level-options.js';

const DEFAULT_CACHE_SIZE = 8 * 2 ** 20;

function cacheOf(options: OpenOptions): BlockCache | null {
  const cacheSize = options.cacheSize ?? DEFAULT_CACHE_SIZE;
  if (cacheSize === 0) return null;
  if (!Number.isSafeInteger(cacheSize) || cacheSize < 0) throw new RangeError(`cacheSize must be a whole number, at least 0, got ${shownValue(cacheSize)}`);
  return new BlockCache(cacheSize);
}

/** How a database is opened for a level. Options of classic-level that are null count as not given. */
export function databaseOptionsOf(options: OpenOptions): DatabaseOptions {
  const { compression, createIfMissing, errorIfExists, writeBufferSize, maxFileSize, blockSize, blockRestartInterval, maxOpenFiles } = options;
  const { maxBlockBytes, comparator, filterPolicy, filterPolicies, bitsPerKey, fitFilters, filterRange, codecs, damage, lock, reuseLogs = 'empty', onEvent } = options;
  return {
    createIfMissing,
    errorIfExists,
    compression: compression === true ? 'snappy' : compression === false ? 'none' : (compression ?? undefined),
    cache: cacheOf(options),
    writeBufferSize,
    maxFileSize,
    blockSize,
    blockRestartInterval,
    maxOpenFiles: maxOpenFiles ?? undefined,
    maxBlockBytes,
    comparator,
    filterPolicy,
    filterPolicies,
    bitsPerKey,
    fitFilters,
    filterRange,
    codecs,
    damage,
    lock,
    reuseLogs,
    onEvent,
  };
}

/** How a database is opened for a level that only reads. */
export function readerOptionsOf(options: OpenOptions): ReaderOptions {
  const { maxOpenFiles, maxBlockBytes, comparator, filterPolicy, filterPolicies, codecs = [], damage } = options;
  const compression = options.compression ?? undefined;
  return {
    comparators: comparator === undefined ? [] : [comparator],
    filterPolicies: filterPolicies ?? (filterPolicy ? [filterPolicy] : undefined),
    codecs: typeof compression === 'object' ? [compression, ...codecs] : codecs,
    cache: cacheOf(options),
    maxOpenFiles: maxOpenFiles ?? undefined,
    maxBlockBytes,
    damage,
  };
}
