/**
 * A Bloom filter in cache lines: all probes of one key are in one line of 64 bytes.
 *
 *     line 0 (64 bytes) | line 1 | … | number of probes k (u8)
 *
 * There are ceil(n * bitsPerKey / 512) lines for n keys, at least one; none for no keys. In a line, bit b is byte
 * b >> 3, mask 1 << (b & 7). A key has two hashes, g = MurmurHash3(key, 0) and h = LevelDB's hash(key, 0xb10cf117). Its
 * line is floor(g * lines / 2^32). There it sets k bits, and matches when all of them are set: for each, h *= 0x9e3779b9
 * modulo 2^32, and the bit is the top 9 bits of h.
 *
 * Two hash functions are needed, because LevelDB's hash is not independent of itself with another seed: of 2^26 pairs of
 * 8-byte keys that collide under its Bloom seed, 5,139 also collide under seed 1, where chance would give none. Under
 * MurmurHash3, 0 collide.
 *
 * Sources: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters"; the choice of a line, Lemire,
 * "Fast Random Integer Generation in an Interval"; the multiplier is 2^32 divided by the golden ratio.
 */
import { hashRange } from '@bloom/hash';
import type { FilterSink, KeyList } from '@bloom/policy';
import { scaled } from '@bloom/policy/kit';
import { murmur3 } from './murmur3.js';

/** Bytes of a line. */
export const LINE_BYTES = 64;
/** The most probes per key. In the last byte, 0 and higher numbers are reserved for future formats. */
export const MAX_PROBES = 32;

const LINE_BITS = LINE_BYTES * 8;
const LINE_SEED = 0;
const BIT_SEED = 0xb10cf117;
const MULTIPLIER = 0x9e3779b9;

/**
 * Element i is the number of bits per key from which i + 2 probes give fewer false positives than i + 1.
 *
 * The optimum of an unblocked filter is 0.69 probes per bit. Here some lines get more keys than others, and lines with
 * more keys need fewer probes. The numbers are for independent probes and a Poisson distribution of keys, with a mean of
 * 512 / bitsPerKey per line. With random hashes and the multiplier, the rates agree to 1% for 1 to 32 probes. From 10
 * bits, one probe more or less makes the rate at most 10% higher.
 */
const ONE_MORE_PROBE_FROM = [
  2.08, 3.58, 5.1, 6.67, 8.32, 10.06, 11.92, 13.93, 16.12, 18.53, 21.18, 24.14, 27.44, 31.16, 35.36, 40.13, 45.56,
  51.77, 58.92,
];

/** The number of probes per key that gives the fewest false positives at `bitsPerKey`. */
export function probesFor(bitsPerKey: number): number {
  return 1 + ONE_MORE_PROBE_FROM.filter((from) => bitsPerKey >= from).length;
}

/** The length in bytes of a filter of `keys` keys: whole lines, and the byte that holds k. */
export function filterByteLength(keys: number, bitsPerKey: number): number {
  const lines = keys === 0 ? 0 : Math.max(1, Math.ceil((keys * bitsPerKey) / LINE_BITS));
  return lines * LINE_BYTES + 1;
}

/** Appends to `dst` the filter of `keys`. */
export function encodeBlockedBloomFilter(keys: KeyList, bitsPerKey: number, dst: FilterSink): void {
  fillBlockedBloomFilter(dst.extend(filterByteLength(keys.length, bitsPerKey)), keys, probesFor(bitsPerKey));
}

/**
 * Writes the filter of `keys` into zero bytes, with the size and number of probes that the caller chooses.
 *
 * @throws RangeError when the filter is not whole lines and one byte, or `probes` is not from 1 to {@link MAX_PROBES}.
 */
export function fillBlockedBloomFilter(filter: Uint8Array, keys: KeyList, probes: number): void {
  const { bytes, offsets, length } = keys;
  if (filter.length % LINE_BYTES !== 1) throw new RangeError(`filter must be whole lines of 64 bytes and one byte, got ${filter.length} bytes`);
  if (!(Number.isInteger(probes) && probes >= 1 && probes <= MAX_PROBES)) {
    throw new RangeError(`probes must be from 1 to ${MAX_PROBES}, got ${probes}`);
  }
  const lines = (filter.length - 1) / LINE_BYTES;
  filter[filter.length - 1] = probes;
  for (let i = 0; i < length; i++) {
    const start = offsets[i]!;
    const end = offsets[i + 1]!;
    const line = scaled(murmur3(bytes, start, end, LINE_SEED), lines) * LINE_BYTES;
    let h = hashRange(bytes, start, end, BIT_SEED);
    for (let probe = 0; probe < probes; probe++) {
      h = Math.imul(h, MULTIPLIER);
      filter[line + (h >>> 26)]! |= 1 << ((h >>> 23) & 7);
    }
  }
}

/**
 * Whether `key` may be among those that `filter` was made from.
 *
 * A filter without lines matches no key. A filter that is not whole lines and one byte, or has a reserved k, matches
 * every key.
 */
export function blockedBloomFilterMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
  return blockedBloomFilterMayMatchRange(key, 0, key.length, filter, 0, filter.length);
}

/** {@link blockedBloomFilterMayMatch} of the key `keyBytes[keyStart, keyEnd)` and the filter `filterBytes[filterStart, filterEnd)`. */
export function blockedBloomFilterMayMatchRange(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  filterBytes: Uint8Array,
  filterStart: number,
  filterEnd: number,
): boolean {
  const length = filterEnd - filterStart;
  if (length === 0) return false;
  const probes = filterBytes[filterEnd - 1]!;
  if (length % LINE_BYTES !== 1 || probes === 0 || probes > MAX_PROBES) return true;
  if (length === 1) return false;
  const lines = (length - 1) / LINE_BYTES;
  const line = filterStart + scaled(murmur3(keyBytes, keyStart, keyEnd, LINE_SEED), lines) * LINE_BYTES;
  let h = hashRange(keyBytes, keyStart, keyEnd, BIT_SEED);
  for (let probe = 0; probe < probes; probe++) {
    h = Math.imul(h, MULTIPLIER);
    if ((filterBytes[line + (h >>> 26)]! & (1 << ((h >>> 23) & 7))) === 0) return false;
  }
  return true;
}

/** The probes of one key, in order. */
export interface BlockedBloomProbes {
  /** The key's MurmurHash3, which selects the line. */
  readonly lineHash: number;
  readonly line: number;
  /** For each probe, the hash whose top 9 bits select the bit in the line, and the bit's number in the whole filter. */
  readonly probes: readonly { readonly hash: number; readonly bit: number }[];
}

/**
 * The bits that `key` sets, and that a lookup of it tests: for programs that show how a filter works.
 *
 * @param filterBytes the length of the filter: whole lines, and the byte that holds k.
 * @throws RangeError when `filterBytes` is not such a length, or has no lines.
 */
export function blockedBloomProbes(key: Uint8Array, filterBytes: number, probes: number): BlockedBloomProbes {
  if (!(Number.isSafeInteger(filterBytes) && filterBytes > 1 && filterBytes % LINE_BYTES === 1)) {
    throw new RangeError(`filterBytes must be whole lines of 64 bytes and one byte, got ${filterBytes}`);
  }
  const lineHash = murmur3(key, 0, key.length, LINE_SEED);
  const line = scaled(lineHash, (filterBytes - 1) / LINE_BYTES);
  let hash = hashRange(key, 0, key.length, BIT_SEED);
  return {
    lineHash,
    line,
    probes: Array.from({ length: probes }, () => {
      hash = Math.imul(hash, MULTIPLIER) >>> 0;
      return { hash, bit: line * LINE_BITS + (hash >>> 23) };
    }),
  };
}
