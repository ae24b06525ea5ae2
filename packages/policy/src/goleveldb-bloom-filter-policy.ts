import { mustBeBytes } from '@bloom/bytes/internal';
import { BLOOM_SEED, bloomHash, hashRange } from '@bloom/hash';
import { bloomFilterMayMatch, bloomFilterMayMatchRange } from './bloom-filter.js';
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import type { FilterPolicy, FilterSink, KeyList } from './policy.js';

/** What the hash multiplies by at its end, and the inverse modulo 2^32. */
const MULTIPLIER = 0xc6a4a793;
const INVERSE = 0xd8198e9b;

/**
 * goleveldb's Bloom filters: those of {@link BloomFilterPolicy}, byte for byte, under the name that LevelDB itself gave them before 1.18.
 *
 * LevelDB before 1.18 used that name for filters that differ between processors: it hashed the one to three bytes of a key that follow its
 * last whole group of four as signed numbers on x86, and as unsigned ones on ARM. A reader that knows only one of these hashes
 * misses stored keys in the filters of the other. This policy tests both hashes where they differ: for keys with a byte of 0x80 or more
 * among those last bytes. No stored key is denied, whoever made the filter; absent keys of that kind match about twice as often.
 * The filters that it makes are goleveldb's and must not get into a database that LevelDB before 1.18 opens on x86, because it would
 * deny such keys although they are stored. LevelDB from 1.18 on does not use filters of this name.
 *
 * Source: goleveldb, leveldb/filter/bloom.go; LevelDB 1.17, util/hash.cc, and its change in 1.18.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(folder, { filterPolicies: [new BloomFilterPolicy(), new GoleveldbBloomFilterPolicy()] });
 * ```
 */
export class GoleveldbBloomFilterPolicy implements FilterPolicy {
  readonly name = 'leveldb.BuiltinBloomFilter';
  readonly #bloom: BloomFilterPolicy;

  /** @throws RangeError when `bitsPerKey` is not a whole number from 0 to 2^31 - 1. */
  constructor(bitsPerKey = 10) {
    this.#bloom = new BloomFilterPolicy(bitsPerKey);
  }

  /** Bits of filter per key, a whole number; 0 gives the smallest possible filters. */
  get bitsPerKey(): number {
    return this.#bloom.bitsPerKey;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#bloom.createFilter(keys, dst);
  }

  /** @throws TypeError when `key` or `filter` is not a `Uint8Array`, or is detached. */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    if (!(filter instanceof Uint8Array && filter.length > 0)) mustBeBytes('filter', filter);
    const h = bloomHash(key);
    if (bloomFilterMayMatch(h, filter)) return true;
    const surplus = signedSurplus(key, 0, key.length);
    return surplus !== 0 && bloomFilterMayMatch(signedHash(h, surplus), filter);
  }

  /**
   * @throws TypeError when `keyBytes` or `filterBytes` is not a `Uint8Array`, or is detached.
   * @throws RangeError when the key is not a range of `keyBytes`.
   */
  keyMayMatchRange(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    filterBytes: Uint8Array,
    filterStart: number,
    filterEnd: number,
  ): boolean {
    if (!(filterBytes instanceof Uint8Array && filterBytes.length > 0)) mustBeBytes('filterBytes', filterBytes);
    const h = hashRange(keyBytes, keyStart, keyEnd, BLOOM_SEED);
    if (bloomFilterMayMatchRange(h, filterBytes, filterStart, filterEnd)) return true;
    const surplus = signedSurplus(keyBytes, keyStart, keyEnd);
    return surplus !== 0 && bloomFilterMayMatchRange(signedHash(h, surplus), filterBytes, filterStart, filterEnd);
  }
}

/** How much more the hash adds for the last one to three bytes of a key when it takes them for unsigned; 0 where they are below 0x80. */
function signedSurplus(bytes: Uint8Array, start: number, end: number): number {
  const rest = (end - start) % 4;
  let surplus = 0;
  for (let i = 0; i < rest; i++) if (bytes[end - rest + i]! >= 0x80) surplus += 2 ** (8 + 8 * i);
  return surplus;
}

/** The hash of a key with its last bytes as signed numbers, by the unsigned one: its last steps are undone and done again. */
function signedHash(h: number, surplus: number): number {
  const sum = Math.imul(h ^ (h >>> 24), INVERSE);
  const signed = Math.imul((sum - surplus) | 0, MULTIPLIER);
  return (signed ^ (signed >>> 24)) >>> 0;
}
