export { FuseFilterPolicy } from './fuse-filter-policy.js';
export type { FingerprintBits } from './fuse-filter.js';
