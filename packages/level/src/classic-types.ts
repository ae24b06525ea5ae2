/** The type names of classic-level that have others here, so that imports of types need no change. */
import type {
  AbstractBatchOperation,
  AbstractChainedBatch,
  AbstractIterator,
  AbstractKeyIterator,
  AbstractSnapshot,
  AbstractValueIterator,
} from 'abstract-level';
import type { LevelOptions, ReadAheadOptions } from './level-options.js';

export type DatabaseOptions<K, V> = LevelOptions<K, V>;
export type AdditionalIteratorOptions = ReadAheadOptions;
export type BatchOperation<TDatabase, K, V> = AbstractBatchOperation<TDatabase, K, V>;
export type ChainedBatch<TDatabase, KDefault, VDefault> = AbstractChainedBatch<TDatabase, KDefault, VDefault>;
export type Iterator<TDatabase, K, V> = AbstractIterator<TDatabase, K, V>;
export type KeyIterator<TDatabase, K> = AbstractKeyIterator<TDatabase, K>;
export type ValueIterator<TDatabase, K, V> = AbstractValueIterator<TDatabase, K, V>;
export type Snapshot = AbstractSnapshot;
