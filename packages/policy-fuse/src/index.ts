export { FuseFilterPolicy } from './fuse-filter-policy.js';
export { type FingerprintBits, type FuseShape, fuseShapeFor, fuseShapeOf } from './fuse-filter.js';
