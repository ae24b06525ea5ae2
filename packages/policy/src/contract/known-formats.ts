/** Names of other projects' filter formats: their programs would read any filter with such a name as their own. */
import { BloomFilterPolicy } from '../bloom-filter-policy.js';
import type { FilterPolicy } from '../policy.js';

/**
 * The formats that the laws can compare with: LevelDB's since 1.18, and goleveldb's, which has the same bytes under
 * LevelDB's earlier name.
 */
const COMPARABLE = ['leveldb.BuiltinBloomFilter2', 'leveldb.BuiltinBloomFilter'];

/**
 * LevelDB's earlier name. Its own filters of that name had a hash that differed between processors, so a policy may match more
 * keys that are not stored than goleveldb does: it may ask by both hashes.
 */
const AMBIGUOUS = 'leveldb.BuiltinBloomFilter';

/** How the names of LevelDB, RocksDB and Speedb begin, ignoring case. */
const PREFIXES = ['leveldb.', 'rocksdb.', 'speedb'];

/** Whole names, ignoring case: two more of RocksDB's, and two of Pebble, which also uses RocksDB's. */
const NAMES = ['bloomfilter', 'ribbonfilter', 'binaryfuse', 'bloom2'];

/** Bits per key of the filters to compare with: they give 6 probes, 1, and the most there can be. */
const BITS_PER_KEY = [10, 1, 44];

/** Makers of policies that read and write the format of that name; none for a format that the laws do not know. */
export function knownPolicies(name: string): (() => FilterPolicy)[] {
  return COMPARABLE.includes(name) ? BITS_PER_KEY.map((bitsPerKey) => () => new BloomFilterPolicy(bitsPerKey)) : [];
}

/** Whether a policy of that name may match more absent keys than those of {@link knownPolicies}. */
export function mayMatchMore(name: string): boolean {
  return name === AMBIGUOUS;
}

/** Whether the name belongs to another project's format. */
export function isForeign(name: string): boolean {
  const lowerCase = name.toLowerCase();
  return NAMES.includes(lowerCase) || PREFIXES.some((prefix) => lowerCase.startsWith(prefix));
}
