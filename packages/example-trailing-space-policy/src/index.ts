export { trailingSpaceComparator } from './trailing-space-comparator.js';
export { TrailingSpacePolicy } from './trailing-space-policy.js';
