import { bloomHash } from '@bloom/hash';
import { bloomFilterMayMatch, encodeBloomFilter } from './bloom-filter.js';
import type { FilterPolicy, FilterSink, KeyList } from './policy.js';

/** The most bits per key that LevelDB's `int` can say. */
const MAX_BITS_PER_KEY = 2 ** 31 - 1;

/**
 * LevelDB's built-in Bloom filter, byte for byte.
 *
 * At 10 bits per key, 0.9% to 1.4% of absent keys pass, by the number of keys: `bloomFalsePositiveRate` tells. Reading does not depend on `bitsPerKey`: every filter carries its
 * own number of probes, so one policy reads tables made with any.
 *
 * Source: LevelDB, util/bloom.cc, `NewBloomFilterPolicy`.
 *
 * @example
 * ```ts
 * const filter = buildFilter(new BloomFilterPolicy(10), [utf8('hello'), utf8('world')]);
 * new BloomFilterPolicy().keyMayMatch(utf8('hello'), filter); // true
 * ```
 */
export class BloomFilterPolicy implements FilterPolicy {
  readonly name = 'leveldb.BuiltinBloomFilter2';
  /** Bits of filter for every key, a whole number; 0 gives the smallest filters there are. */
  readonly bitsPerKey: number;

  /** @throws RangeError when `bitsPerKey` is not a whole number from 0 to 2^31 - 1. */
  constructor(bitsPerKey = 10) {
    if (!(Number.isInteger(bitsPerKey) && bitsPerKey >= 0 && bitsPerKey <= MAX_BITS_PER_KEY)) {
      throw new RangeError(`bitsPerKey must be a whole number from 0 to 2^31 - 1, got ${bitsPerKey}`);
    }
    this.bitsPerKey = bitsPerKey;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    encodeBloomFilter(keys, this.bitsPerKey, dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return bloomFilterMayMatch(bloomHash(key), filter);
  }
}
