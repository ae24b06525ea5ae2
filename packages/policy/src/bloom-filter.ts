/**
 * A Bloom filter as LevelDB stores it.
 *
 *     bit 0 … bit 7 | bit 8 … bit 15 | … | number of probes k (u8)
 *     ╰ byte 0      ╰ byte 1             ╰ last byte
 *
 * Bit b is byte b >> 3, mask 1 << (b & 7). A key sets, or finds set, k bits: with h its Bloom hash and
 * d = h rotated right by 17, the bits h mod m, h + d mod m, h + 2d mod m … with the sums modulo 2^32 and m the number
 * of bits.
 *
 * Source: LevelDB, util/bloom.cc; the double hashing is Kirsch and Mitzenmacher, "Less Hashing, Same Performance".
 */
import { BLOOM_SEED, hashRange } from '@bloom/hash';
import type { LabelledRange } from './labelled-range.js';
import type { FilterSink, KeyList } from './policy.js';

/** The fewest bits that a filter has: a shorter one would say yes too often for few keys. */
export const MIN_BITS = 64;
/** The most probes that a key has. In the last byte, higher numbers are reserved for formats to come. */
export const MAX_PROBES = 30;

/**
 * The number of probes a key for `bitsPerKey`: ln 2 times as many (0.69 in LevelDB), rounded down, from 1 to
 * {@link MAX_PROBES}.
 */
export function probesFor(bitsPerKey: number): number {
  return Math.min(Math.max(Math.trunc(bitsPerKey * 0.69), 1), MAX_PROBES);
}

/** The length in bytes of the filter of `keys` keys: the bits rounded up to whole bytes, and the byte that holds k. */
export function filterByteLength(keys: number, bitsPerKey: number): number {
  return Math.ceil(Math.max(keys * bitsPerKey, MIN_BITS) / 8) + 1;
}

/** Appends to `dst` the filter of `keys`. */
export function encodeBloomFilter(keys: KeyList, bitsPerKey: number, dst: FilterSink): void {
  const filter = dst.extend(filterByteLength(keys.length, bitsPerKey));
  const hashes = new Uint32Array(keys.length);
  for (let i = 0; i < hashes.length; i++) {
    hashes[i] = hashRange(keys.bytes, keys.offsets[i]!, keys.offsets[i + 1]!, BLOOM_SEED);
  }
  fillBloomFilter(filter, hashes, probesFor(bitsPerKey));
}

/**
 * Makes zero bytes the filter of the keys with these Bloom hashes.
 *
 * @throws RangeError when the filter has not two bytes.
 */
export function fillBloomFilter(filter: Uint8Array, hashes: Uint32Array, probes: number): void {
  if (filter.length < 2) throw new RangeError(`filter must have at least 2 bytes, got ${filter.length}`);
  filter[filter.length - 1] = probes;
  const bits = (filter.length - 1) * 8;
  const reciprocal = 1 / bits;
  const isSmall = bits <= SMALL_BITS;
  for (let i = 0; i < hashes.length; i++) {
    let h = hashes[i]!;
    const delta = rotateRight17(h);
    for (let probe = 0; probe < probes; probe++) {
      if (isSmall) {
        const bit = smallModulo(h, bits, reciprocal);
        filter[bit >> 3]! |= 1 << (bit & 7);
      } else {
        const bit = h % bits;
        filter[Math.floor(bit / 8)]! |= 1 << (bit & 7);
      }
      h = (h + delta) >>> 0;
    }
  }
}

/**
 * Whether a key with the Bloom hash `h` may be among those that `filter` was made from.
 *
 * Filters made with any number of bits per key are asked alike: k stands in the filter. Shorter than two bytes, a
 * filter is that of no key; a k above {@link MAX_PROBES} is reserved and matches everything, as no probe at all does.
 */
export function bloomFilterMayMatch(h: number, filter: Uint8Array): boolean {
  const { length } = filter;
  if (length < 2) return false;
  const probes = filter[length - 1]!;
  if (probes > MAX_PROBES) return true;
  const bits = (length - 1) * 8;
  const delta = rotateRight17(h);
  if (bits <= SMALL_BITS) {
    const reciprocal = 1 / bits;
    for (let probe = 0; probe < probes; probe++) {
      const bit = smallModulo(h, bits, reciprocal);
      if ((filter[bit >> 3]! & (1 << (bit & 7))) === 0) return false;
      h = (h + delta) >>> 0;
    }
  } else {
    for (let probe = 0; probe < probes; probe++) {
      const bit = h % bits;
      if ((filter[Math.floor(bit / 8)]! & (1 << (bit & 7))) === 0) return false;
      h = (h + delta) >>> 0;
    }
  }
  return true;
}

/** What the bytes of a filter at `offset` of a file are. */
export function bloomFilterLayout(filter: Uint8Array, offset: number): LabelledRange[] {
  if (filter.length < 2) return filter.length === 0 ? [] : [{ offset, byteLength: 1, label: 'filter too short to be one' }];
  const bits = filter.length - 1;
  return [
    { offset, byteLength: bits, label: 'bits', value: `${bits * 8} bits` },
    { offset: offset + bits, byteLength: 1, label: 'number of probes', value: String(filter[bits]) },
  ];
}

function rotateRight17(h: number): number {
  return ((h >>> 17) | (h << 15)) >>> 0;
}

/** Up to this many bits, all of `smallModulo` stays inside an int32. */
const SMALL_BITS = 2 ** 30;

/**
 * `h % bits`, for a uint32 `h` and 8 ≤ `bits` ≤ {@link SMALL_BITS}.
 *
 * V8 divides 32-bit integers slowly; one multiplication by the reciprocal, which is off by one at most, and its
 * correction build a filter in less than half the time.
 */
function smallModulo(h: number, bits: number, reciprocal: number): number {
  const remainder = (h - Math.imul((h * reciprocal) | 0, bits)) | 0;
  return remainder < 0 ? remainder + bits : remainder >= bits ? remainder - bits : remainder;
}
