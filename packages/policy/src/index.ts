export { askablePrefixes, type FilterPolicy, type FilterSink, type KeyList, mayAskInRanges, mustBeFilterPolicy, type PrefixExtractor } from './policy.js';
export { mustBeBytes } from '@bloom/bytes/internal';
export { BloomFilterPolicy } from './bloom-filter-policy.js';
export { type FitOptions, FittedBloomFilterPolicy } from './fitted-bloom-filter-policy.js';
export {
  bloomFilterLayout,
  bloomFilterMayMatch,
  bloomFilterRate,
  type BloomProbes,
  bloomProbes,
  fillBloomFilter,
  filterByteLength,
  MAX_PROBES,
  MIN_BITS,
  probesFor,
} from './bloom-filter.js';
export { buildFilter } from './build-filter.js';
export { FilterBuffer } from './filter-buffer.js';
export { GoleveldbBloomFilterPolicy } from './goleveldb-bloom-filter-policy.js';
export { KeyBuffer } from './key-buffer.js';
export { PrefixFilterPolicy, prefixOfLength, prefixThrough } from './prefix-filter-policy.js';
export {
  bestProbes,
  bloomBitsPerKey,
  bloomFalsePositiveRate,
  type FilterSize,
  idealBitsPerKey,
  idealFalsePositiveRate,
} from './false-positive-rate.js';
