export { BLOOM_SEED, bloomHash, hash, hashRange } from './hash.js';
export { hashEach } from './hash-each.js';
