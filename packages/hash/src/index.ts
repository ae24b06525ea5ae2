export { BLOOM_SEED, bloomHash, hash, hashEach, hashRange } from './hash.js';
