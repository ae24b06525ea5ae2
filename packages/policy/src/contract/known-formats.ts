/** Names that belong to the filters of other projects: their programs would take such a filter for one of their own. */
import { BloomFilterPolicy } from '../bloom-filter-policy.js';
import type { FilterPolicy } from '../policy.js';

/**
 * The formats that can be compared with: LevelDB's since 1.18, and goleveldb's, which has the same bytes under the name
 * that LevelDB had before. (LevelDB's own filters of that name had a hash that differed between processors.)
 */
const COMPARABLE = ['leveldb.BuiltinBloomFilter2', 'leveldb.BuiltinBloomFilter'];

/** How the names of LevelDB, RocksDB and Speedb begin, in upper or lower case. */
const PREFIXES = ['leveldb.', 'rocksdb.', 'speedb'];

/** Whole names: two more of RocksDB, two of Pebble, which also uses RocksDB's. */
const NAMES = ['bloomfilter', 'ribbonfilter', 'binaryfuse', 'bloom2'];

/** Bits per key of the filters to compare with: of 6 probes, of 1 and of the most. */
const BITS_PER_KEY = [10, 1, 44];

/** Makers of policies that read and write the format of that name, where these laws have one. */
export function knownPolicies(name: string): (() => FilterPolicy)[] {
  return COMPARABLE.includes(name) ? BITS_PER_KEY.map((bitsPerKey) => () => new BloomFilterPolicy(bitsPerKey)) : [];
}

/** Whether the name is that of another project's format. */
export function isForeign(name: string): boolean {
  const lowerCase = name.toLowerCase();
  return NAMES.includes(lowerCase) || PREFIXES.some((prefix) => lowerCase.startsWith(prefix));
}
