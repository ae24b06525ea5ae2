/** Type names of classic-level that are called differently here, so that imports of types need no change. */
import type {
  AbstractBatchOperation,
  AbstractChainedBatch,
  AbstractIterator,
  AbstractKeyIterator,
  AbstractSnapshot,
  AbstractValueIterator,
} from 'abstract-level';
import type { LevelOptions, ReadAheadOptions } from './level-options.js';

/** classic-level's name for {@link LevelOptions}. */
export type DatabaseOptions<K, V> = LevelOptions<K, V>;
/** classic-level's name for {@link ReadAheadOptions}. */
export type AdditionalIteratorOptions = ReadAheadOptions;
/** classic-level's name for an operation of a batch. */
export type BatchOperation<TDatabase, K, V> = AbstractBatchOperation<TDatabase, K, V>;
/** classic-level's name for a batch whose operations are added by calls. */
export type ChainedBatch<TDatabase, KDefault, VDefault> = AbstractChainedBatch<TDatabase, KDefault, VDefault>;
/** classic-level's name for an iterator over entries. */
export type Iterator<TDatabase, K, V> = AbstractIterator<TDatabase, K, V>;
/** classic-level's name for an iterator over keys. */
export type KeyIterator<TDatabase, K> = AbstractKeyIterator<TDatabase, K>;
/** classic-level's name for an iterator over values. */
export type ValueIterator<TDatabase, K, V> = AbstractValueIterator<TDatabase, K, V>;
/** classic-level's name for a snapshot. */
export type Snapshot = AbstractSnapshot;
