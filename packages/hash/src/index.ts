export { BLOOM_SEED, bloomHash, hash, hashRange } from './hash.js';
export { hash64, hash64Range } from './hash64.js';
export { hash64Each, hashEach } from './hash-each.js';
