export { BlockedBloomFilterPolicy } from './blocked-bloom-filter-policy.js';
export {
  type BlockedBloomProbes,
  blockedBloomFilterMayMatch,
  blockedBloomProbes,
  fillBlockedBloomFilter,
  filterByteLength,
  LINE_BYTES,
  MAX_PROBES,
  probesFor,
} from './blocked-bloom-filter.js';
