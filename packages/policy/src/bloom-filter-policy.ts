import { mustBeBytes, numberOf, shownValue } from '@bloom/bytes/internal';
import { BLOOM_SEED, bloomHash, hashRange } from '@bloom/hash';
import { bloomFilterMayMatch, bloomFilterMayMatchRange, encodeBloomFilter, filterByteLength, MAX_PROBES, probesFor } from './bloom-filter.js';
import { BloomKernel } from './bloom-kernel.js';
import { KeptKernel } from './kept-kernel.js';
import { answersFor, mustBeKeyList } from './key-list.js';
import type { FilterPolicy, FilterSink, KeyList } from './policy.js';

/** With fewer keys than this, the plain loops finish before the keys could be copied to the kernel. */
const KERNEL_MIN_KEYS = 16;
/**
 * In a new process, compiling the kernel takes as long as filtering this many keys with loops that V8 has not optimized. Optimizing them for
 * 3,200 keys takes ten milliseconds.
 */
const KERNEL_WORTH_KEYS = 256;

/** The largest value of LevelDB's `int bits_per_key`. */
const MAX_BITS_PER_KEY = 2 ** 31 - 1;

/**
 * LevelDB's built-in Bloom filter, byte for byte.
 *
 * At 10 bits per key, 0.9% to 1.7% of random absent keys match a filter of 7 keys or more, and up to 2.2% one of fewer keys: see
 * `bloomFalsePositiveRate`. Of absent keys that are close to stored ones, many more can match: in a filter of the 100,000 keys `key000000000`,
 * `key000000002` …, 11% of the odd numbers do, at any number of bits, because LevelDB's hash gives them the hash of a stored
 * key. docs/similar-keys.md says which keys are affected, and which policy to use for them.
 *
 * Reading does not depend on `bitsPerKey`: every filter carries its own number of probes, so one policy reads tables
 * made with any setting.
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
  /** Bits of filter per key, a whole number; 0 gives the smallest possible filters. */
  readonly bitsPerKey: number;
  readonly #kernel = new KeptKernel(() => BloomKernel.create(), KERNEL_MIN_KEYS, KERNEL_WORTH_KEYS);

  /** @throws RangeError when `bitsPerKey` is not a whole number from 0 to 2^31 - 1. */
  constructor(bitsPerKey = 10) {
    if (!(Number.isInteger(bitsPerKey) && bitsPerKey >= 0 && bitsPerKey <= MAX_BITS_PER_KEY)) {
      throw new RangeError(`bitsPerKey must be a whole number from 0 to 2^31 - 1, got ${shownValue(bitsPerKey)}`);
    }
    // -0 becomes 0: the fit divides by it.
    this.bitsPerKey = bitsPerKey + 0;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    mustBeKeyList('keys', keys);
    const filterBytes = filterByteLength(keys.length, this.bitsPerKey);
    const kernel = BloomKernel.takes(filterBytes) ? this.#kernel.for(keys.length) : undefined;
    if (kernel === undefined) {
      encodeBloomFilter(keys, this.bitsPerKey, dst);
      return;
    }
    const probes = probesFor(this.bitsPerKey);
    const filter = dst.extend(filterBytes);
    kernel.fill(filter, keys, probes);
    filter[filterBytes - 1] = probes;
  }

  /** @throws TypeError when `key` or `filter` is not a `Uint8Array`, or is detached. */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    if (!(filter instanceof Uint8Array && filter.length > 0)) mustBeBytes('filter', filter);
    return bloomFilterMayMatch(bloomHash(key), filter);
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
    return bloomFilterMayMatchRange(hashRange(keyBytes, keyStart, keyEnd, BLOOM_SEED), filterBytes, filterStart, filterEnd);
  }

  /**
   * `keyMayMatch` for many keys at once, faster.
   *
   * @param answers receives 1 (may match) or 0 (does not match) for each key; at least one byte per key. Default: a new array.
   * @returns `answers`.
   * @throws TypeError when `filter` or `answers` is not a `Uint8Array`, or is detached.
   * @throws RangeError when `answers` is too short.
   * @example
   * ```ts
   * new BloomFilterPolicy().keysMayMatch(KeyBuffer.from(keys), filter); // Uint8Array [1, 0, …]
   * ```
   */
  keysMayMatch(keys: KeyList, filter: Uint8Array, answers: Uint8Array = answersFor(keys)): Uint8Array {
    mustBeKeyList('keys', keys);
    mustBeBytes('filter', filter);
    mustBeBytes('answers', answers);
    const { length, bytes, offsets } = keys;
    if (answers.length < length) throw new RangeError(`answers must have at least ${numberOf(length, 'byte')}, one per key, got ${answers.length}`);
    const probes = filter[filter.length - 1] ?? 0;
    const isOrdinary = probes >= 1 && probes <= MAX_PROBES && BloomKernel.takes(filter.length);
    const kernel = isOrdinary ? this.#kernel.for(length) : undefined;
    if (kernel !== undefined) kernel.test(filter, keys, probes, answers);
    else {
      for (let i = 0; i < length; i++) {
        const h = hashRange(bytes, offsets[i]!, offsets[i + 1]!, BLOOM_SEED);
        answers[i] = bloomFilterMayMatch(h, filter) ? 1 : 0;
      }
    }
    return answers;
  }
}
