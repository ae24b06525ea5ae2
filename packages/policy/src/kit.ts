/** Parts for policies that are made of 64-bit hashes. docs/authors.md, "An example", makes one of them. */
export { distinctHashes } from './distinct-hashes.js';
export { mustBeKeyRange } from './key-range.js';
export { KeptKernel } from './kept-kernel.js';
export { scaled } from './range-reduction.js';
export { encodeHashBloomFilter, hashBloomFilterByteLength, hashBloomFilterMayMatch, hashBloomFilterMayMatchEach } from './hash-bloom-filter.js';
