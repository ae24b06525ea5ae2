export { BlockedBloomFilterPolicy } from './blocked-bloom-filter-policy.js';
export {
  blockedBloomFilterMayMatch,
  encodeBlockedBloomFilter,
  filterByteLength,
  LINE_BYTES,
  MAX_PROBES,
  probesFor,
} from './blocked-bloom-filter.js';
