/**
 * How large a Bloom filter must be, and how often it says yes to an absent key.
 *
 * Source of the closed forms: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors"; the table of rates
 * by m/n and k: Fan, Cao, Almeida, Broder, "Summary Cache".
 */
import { bloomFilterMayMatch, fillBloomFilter, filterByteLength, probesFor } from './bloom-filter.js';
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import { seeded } from '@bloom/bytes';

/** The size of a filter. */
export interface FilterSize {
  /** Bits of filter for each key. */
  readonly bitsPerKey: number;
  /** How many keys the filter is made of; left out, so many that one more does not matter. */
  readonly keys?: number | undefined;
}

/**
 * The part of absent keys, 0 to 1, that an ideal Bloom filter lets pass: one whose probes are independent.
 *
 * @throws RangeError for a `bitsPerKey` that is not positive, or `probes` or `keys` that are not whole from 1 on.
 * @example
 * ```ts
 * idealFalsePositiveRate({ bitsPerKey: 8, probes: 5 }); // 0.0217
 * ```
 */
export function idealFalsePositiveRate({ bitsPerKey, probes, keys }: FilterSize & { readonly probes: number }): number {
  mustBePositive('bitsPerKey', bitsPerKey);
  mustBeCount('probes', probes);
  if (keys === undefined) return (1 - Math.exp(-probes / bitsPerKey)) ** probes;
  mustBeCount('keys', keys);
  const bits = keys * bitsPerKey;
  // By logarithms: 1 - 1/bits itself is 1 once there are 2^53 bits. Of a single bit, or less, all is set.
  return bits <= 1 ? 1 : (-Math.expm1(probes * keys * Math.log1p(-1 / bits))) ** probes;
}

/**
 * The number of probes, at least 1, with which an ideal Bloom filter of that size lets the fewest absent keys pass.
 *
 * @throws RangeError for a `bitsPerKey` that is not positive.
 * @example
 * ```ts
 * bestProbes(10); // 7; LevelDB takes 6
 * ```
 */
export function bestProbes(bitsPerKey: number): number {
  mustBePositive('bitsPerKey', bitsPerKey);
  const below = Math.max(1, Math.floor(bitsPerKey * Math.LN2));
  const rate = (probes: number): number => idealFalsePositiveRate({ bitsPerKey, probes });
  return rate(below) <= rate(below + 1) ? below : below + 1;
}

/**
 * The bits for each key, a real number, with which an ideal Bloom filter with the best number of probes lets no more
 * than `rate` of absent keys pass.
 *
 * @param rate above 0, below 1.
 * @throws RangeError for any other rate.
 * @example
 * ```ts
 * idealBitsPerKey(0.01); // 9.585
 * ```
 */
export function idealBitsPerKey(rate: number): number {
  mustBeRate(rate);
  return -Math.log(rate) / Math.LN2 ** 2;
}

/** Enough keys that a filter's size no longer shows, and few enough that the 32-bit hash does not. */
const USUAL_KEYS = 10_000;

/** A sample ends once it has met so many false positives, which makes it right to 2% or so, or asked so often. */
const ENOUGH_FALSE_POSITIVES = 10_000;
const ENOUGH_PROBES = 4_000_000;

/**
 * The part of absent keys, 0 to 1, that LevelDB's Bloom filter lets pass: with its number of probes, its rounding, its
 * minimum of 64 bits and its 32-bit hash.
 *
 * No closed form comes near it: start and step of a key's probes are one 32-bit number, so that the probes of two keys
 * fall together more often than by chance. So filters are made of random hashes, always the same ones, and asked. That
 * takes some 20 ns for each key and probe, and as much memory as the filter and four bytes a key.
 *
 * @param size `keys`: default 10,000.
 * @throws RangeError for a `bitsPerKey` that `BloomFilterPolicy` does not take, or `keys` that are not whole from 1 on.
 * @example
 * ```ts
 * bloomFalsePositiveRate({ bitsPerKey: 10, keys: 1000 }); // 0.0087, where an ideal filter has 0.0084
 * ```
 */
export function bloomFalsePositiveRate({ bitsPerKey, keys = USUAL_KEYS }: FilterSize): number {
  mustBeCount('keys', keys);
  const probes = probesFor(new BloomFilterPolicy(bitsPerKey).bitsPerKey);
  const random = seeded(0);
  const filter = new Uint8Array(filterByteLength(keys, bitsPerKey));
  const hashes = new Uint32Array(keys);
  // Small filters differ from one to the next, so that many are made; a large one is much the same all over.
  const asksPerFilter = Math.max(100, keys);
  let falsePositives = 0;
  let asked = 0;
  while (asked < ENOUGH_PROBES && falsePositives < ENOUGH_FALSE_POSITIVES) {
    filter.fill(0);
    for (let i = 0; i < keys; i++) hashes[i] = random.uint32();
    fillBloomFilter(filter, hashes, probes);
    for (let i = 0; i < asksPerFilter && asked < ENOUGH_PROBES; i++, asked++) {
      if (bloomFilterMayMatch(random.uint32(), filter)) falsePositives++;
    }
  }
  return falsePositives / asked;
}

/** More bits than these make no more probes, and fewer false positives only slowly. */
const MAX_USEFUL_BITS_PER_KEY = 64;

/**
 * The fewest whole bits for each key with which LevelDB's Bloom filter lets no more than `rate` of absent keys pass;
 * undefined when no number of bits up to 64 does, as with very low rates, which its 32-bit hash cannot reach.
 *
 * @param rate above 0, below 1.
 * @param keys how many keys one filter is made of: default 10,000. In a table with blocks of 4 KiB it is some dozens.
 * @throws RangeError for any other rate, or `keys` that are not whole from 1 on.
 * @example
 * ```ts
 * bloomBitsPerKey(0.01); // 10
 * ```
 */
export function bloomBitsPerKey(rate: number, keys?: number): number | undefined {
  // No scheme needs fewer bits than the ideal one; a filter of few keys has 64 bits in any case.
  const fewest = (keys ?? USUAL_KEYS) < 64 ? 1 : Math.max(1, Math.floor(idealBitsPerKey(rate)));
  mustBeRate(rate);
  for (let bitsPerKey = fewest; bitsPerKey <= MAX_USEFUL_BITS_PER_KEY; bitsPerKey++) {
    if (bloomFalsePositiveRate({ bitsPerKey, keys }) <= rate) return bitsPerKey;
  }
  return undefined;
}

function mustBePositive(name: string, value: number): void {
  if (!(value > 0 && value < Infinity)) throw new RangeError(`${name} must be a positive number, got ${value}`);
}

function mustBeCount(name: string, value: number): void {
  if (!(Number.isSafeInteger(value) && value >= 1)) throw new RangeError(`${name} must be a whole number from 1 on, got ${value}`);
}

function mustBeRate(rate: number): void {
  if (!(rate > 0 && rate < 1)) throw new RangeError(`rate must be above 0 and below 1, got ${rate}`);
}
