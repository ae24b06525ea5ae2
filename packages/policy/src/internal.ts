/** Parts that the policies of other packages share. They can change in any version: use `./kit` for policies of your own. */
export { BLOOM_FORM, BLOOM_TRAILER_BYTES, encodeHashFilter, type HashFilterForm, hashFilterMayMatchEach, type HashFilterTest } from './hash-filter.js';
export { HashFilterKernel, type HashFilterKernelExports, HASHES_AT, STATE_AT, STATE_BYTES } from './hash-filter-kernel.js';
export { answersFor, mustBeKeyList } from './key-list.js';
export { commonTail, neighboursOf } from './key-neighbour.js';
export { shownValue } from '@bloom/bytes/internal';
