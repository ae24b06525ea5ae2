/**
 * How large a Bloom filter must be, and how often it matches an absent key.
 *
 * Source of the closed forms: Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors"; the table of rates
 * by m/n and k: Fan, Cao, Almeida, Broder, "Summary Cache".
 */
import { bloomFilterMayMatch, fillBloomFilter, filterByteLength, probesFor } from './bloom-filter.js';
import { BloomFilterPolicy } from './bloom-filter-policy.js';
import { mustBeWhole, seeded, shownValue } from '@bloom/bytes/internal';

/** The size of a filter, in proportion to its keys. */
export interface FilterSize {
  /** Bits of filter per key. */
  readonly bitsPerKey: number;
  /** How many keys the filter is made from. Default: enough that one more makes no difference. */
  readonly keys?: number | undefined;
}

/**
 * The share of absent keys, 0 to 1, that match an ideal Bloom filter, one whose probes are independent.
 *
 * @throws RangeError for a `bitsPerKey` that is not positive, or `probes` or `keys` that are not whole numbers, at least 1.
 * @example
 * ```ts
 * idealFalsePositiveRate({ bitsPerKey: 8, probes: 5 }); // 0.0217
 * ```
 */
export function idealFalsePositiveRate({ bitsPerKey, probes, keys }: FilterSize & { readonly probes: number }): number {
  mustBePositive(bitsPerKey);
  mustBeWhole('probes', probes, 1);
  if (keys === undefined) return (1 - Math.exp(-probes / bitsPerKey)) ** probes;
  mustBeWhole('keys', keys, 1);
  const bits = keys * bitsPerKey;
  // Logarithms, because 1 - 1/bits rounds to 1 from 2^53 bits. In a filter of one bit or less, everything is set.
  return bits <= 1 ? 1 : (-Math.expm1(probes * keys * Math.log1p(-1 / bits))) ** probes;
}

/**
 * The number of probes, at least 1, with which the fewest absent keys match an ideal Bloom filter of that size.
 *
 * @throws RangeError for a `bitsPerKey` that is not positive.
 * @example
 * ```ts
 * bestProbes(10); // 7; LevelDB uses 6
 * ```
 */
export function bestProbes(bitsPerKey: number): number {
  mustBePositive(bitsPerKey);
  const below = Math.max(1, Math.floor(bitsPerKey * Math.LN2));
  const rate = (probes: number): number => idealFalsePositiveRate({ bitsPerKey, probes });
  return rate(below) <= rate(below + 1) ? below : below + 1;
}

/**
 * The bits per key, a real number, with which at most `rate` of absent keys match an ideal Bloom filter with the best
 * number of probes.
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

/** Enough keys that the filter's size no longer affects the rate, and few enough that the 32-bit hash does not yet. */
const USUAL_KEYS = 10_000;

/** A sample ends after this many false positives, which makes it accurate to about 2%, or after this many lookups. */
const ENOUGH_FALSE_POSITIVES = 10_000;
const ENOUGH_PROBES = 4_000_000;

/** The most bytes of a filter that is measured, or of the hashes of its keys. Hosts cannot allocate much more. */
const MAX_SAMPLE_BYTES = 2 ** 32;

/**
 * The share of absent keys, 0 to 1, that match LevelDB's Bloom filter: with its number of probes, its rounding, its
 * minimum of 64 bits and its 32-bit hash.
 *
 * No closed form comes near it: the start and the step of a key's probes come from one 32-bit number, so the probes of
 * two keys coincide more often than by chance. The rate is therefore measured, with filters of random hashes, always
 * the same ones. That takes 40 to 400 ms for 10 to 20 bits and up to a million keys (Node 20), and as much memory as the filter and four
 * bytes per key.
 *
 * It is the rate of keys whose hashes are as good as random. LevelDB's hash does worse for some keys: for numbers between
 * stored numbers, the rate can be more than ten times as high. See docs/similar-keys.md.
 *
 * @param size `keys`: default 10,000.
 * @throws RangeError for a `bitsPerKey` that `BloomFilterPolicy` refuses, `keys` that are not a whole number from 1 to 2^30, or a filter
 *   of more than 4 GiB.
 * @example
 * ```ts
 * bloomFalsePositiveRate({ bitsPerKey: 10, keys: 1000 }); // 0.0087, where an ideal filter has 0.0084
 * ```
 */
export function bloomFalsePositiveRate({ bitsPerKey, keys = USUAL_KEYS }: FilterSize): number {
  mustBeWhole('keys', keys, 1);
  return sampledRate(bitsPerKey, keys, 1);
}

/** The false positive rate of a sample, which ends early when its rate is sure to be above `limit`. */
function sampledRate(bitsPerKey: number, keys: number, limit: number): number {
  const probes = probesFor(new BloomFilterPolicy(bitsPerKey).bitsPerKey);
  const random = seeded(0);
  const filterBytes = filterByteLength(keys, bitsPerKey);
  if (keys * Uint32Array.BYTES_PER_ELEMENT > MAX_SAMPLE_BYTES) throw new RangeError(`keys must be at most 2^30, got ${keys}`);
  if (filterBytes > MAX_SAMPLE_BYTES) throw new RangeError(`the filter must have at most 4 GiB, ${keys} keys with ${bitsPerKey} bits each need ${filterBytes} bytes`);
  const filter = new Uint8Array(filterBytes);
  const hashes = new Uint32Array(keys);
  // Small filters differ from each other, so a sample needs many; large ones hardly differ.
  const asksPerFilter = Math.max(100, keys);
  let falsePositives = 0;
  let asked = 0;
  while (asked < ENOUGH_PROBES && falsePositives < ENOUGH_FALSE_POSITIVES && falsePositives <= limit * ENOUGH_PROBES) {
    filter.fill(0);
    for (let i = 0; i < keys; i++) hashes[i] = random.uint32();
    fillBloomFilter(filter, hashes, probes);
    for (let i = 0; i < asksPerFilter && asked < ENOUGH_PROBES; i++, asked++) {
      if (bloomFilterMayMatch(random.uint32(), filter)) falsePositives++;
    }
  }
  return falsePositives / asked;
}

/** More bits than this do not add probes, and reduce false positives only slowly. */
const MAX_USEFUL_BITS_PER_KEY = 64;

/**
 * The fewest whole bits per key with which at most `rate` of absent keys match LevelDB's Bloom filter, by
 * {@link bloomFalsePositiveRate}: for keys whose hashes are as good as random. Undefined when more than 64 would be needed, as
 * for very low rates, which its 32-bit hash cannot reach.
 *
 * Absent keys with the hash of a stored key match at any number of bits. Where many keys are numbers or the like, measure with
 * your own, or use a policy with a wider hash, such as `BlockedBloomFilterPolicy` of `@bloom/policy-blocked`.
 *
 * @param rate above 0, below 1.
 * @param keys how many keys one filter is made from: default 10,000. In a table with blocks of 4 KiB it is a few dozen.
 * @throws RangeError for any other rate, or `keys` that are not a whole number, at least 1, and as {@link bloomFalsePositiveRate} does.
 * @example
 * ```ts
 * bloomBitsPerKey(0.01); // 10
 * ```
 */
export function bloomBitsPerKey(rate: number, keys = USUAL_KEYS): number | undefined {
  // No filter needs fewer bits than the ideal one, but one of few keys has at least 64 bits whatever the setting.
  const fewest = keys < FEW_KEYS ? 1 : Math.max(1, Math.floor(idealBitsPerKey(rate)));
  mustBeRate(rate);
  if (!isReachable(rate, keys)) return undefined;
  for (let bitsPerKey = fewest; bitsPerKey <= MAX_USEFUL_BITS_PER_KEY; bitsPerKey++) {
    if (sampledRate(bitsPerKey, keys, rate) <= rate) return bitsPerKey;
  }
  return undefined;
}

/** Filters reach this rate and higher ones at any number of keys for which it can be measured. */
const ALWAYS_REACHED = 0.01;

/** With fewer keys, a filter has 64 bits at least, and one of the most bits per key may match more absent keys than one of fewer. */
const FEW_KEYS = 64;

/** Whether the largest useful filter keeps to `rate`. Trying all sizes to find that out would take a minute. */
function isReachable(rate: number, keys: number): boolean {
  mustBeWhole('keys', keys, 1);
  // Absent keys with the hash of a stored key match at any size.
  if (-Math.expm1(keys * Math.log1p(-(2 ** -32))) > rate) return false;
  return rate >= ALWAYS_REACHED || keys < FEW_KEYS || sampledRate(MAX_USEFUL_BITS_PER_KEY, keys, rate) <= rate;
}

function mustBePositive(bitsPerKey: number): void {
  if (!(typeof bitsPerKey === 'number' && bitsPerKey > 0 && bitsPerKey < Infinity)) throw new RangeError(`bitsPerKey must be a positive number, got ${shownValue(bitsPerKey)}`);
}

function mustBeRate(rate: number): void {
  if (!(typeof rate === 'number' && rate > 0 && rate < 1)) throw new RangeError(`rate must be above 0 and below 1, got ${shownValue(rate)}`);
}
