/** Parts for policies that are made of 64-bit hashes. README.md, "A filter of your own", makes one of them. */
export { distinctHashes } from './distinct-hashes.js';
export { mustBeKeyRange } from './key-range.js';
export { KeptKernel } from './kept-kernel.js';
export { scaled } from './scaled.js';
export { hashBloomFilterMayMatch } from './hash-bloom-filter.js';
export { BLOOM_FORM, BLOOM_TRAILER_BYTES, encodeHashFilter, type HashFilterForm, hashFilterMayMatchEach } from './hash-filter.js';
export { HashKernel, type HashKernelExports, HASHES_AT, STATE_AT, STATE_BYTES } from './hash-kernel.js';
