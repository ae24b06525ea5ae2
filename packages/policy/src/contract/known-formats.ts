/** Names that belong to filters of other projects: whoever reads a table of theirs takes such a filter for theirs. */
import { BloomFilterPolicy } from '../bloom-filter-policy.js';
import type { FilterPolicy } from '../policy.js';

/**
 * The formats that can be compared with: LevelDB's since 1.18, and goleveldb's, which has the same bytes under the name
 * that LevelDB had before. (LevelDB's own filters of that name had a hash that differed between processors.)
 */
const COMPARABLE = ['leveldb.BuiltinBloomFilter2', 'leveldb.BuiltinBloomFilter'];

/** How names begin, whatever the case of letters, that are LevelDB's, RocksDB's, Speedb's. */
const PREFIXES = ['leveldb.', 'rocksdb.', 'speedb'];

/** Whole names: RocksDB's other ones; Pebble's, which has RocksDB's too. */
const NAMES = ['bloomfilter', 'ribbonfilter', 'binaryfuse', 'bloom2'];

/** A policy that reads and writes the format of that name, where these laws have one. */
export function knownPolicy(name: string): FilterPolicy | undefined {
  return COMPARABLE.includes(name) ? new BloomFilterPolicy() : undefined;
}

/** Whether the name is that of another project's format. */
export function isForeign(name: string): boolean {
  const lowerCase = name.toLowerCase();
  return NAMES.includes(lowerCase) || PREFIXES.some((prefix) => lowerCase.startsWith(prefix));
}
