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
import type { LabelledRange } from '@bloom/bytes';
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
  // Both a uint32, by which V8 divides fastest. Of 2^32 bits and more, a hash is its own remainder.
  const modulus = bits < 2 ** 32 ? bits >>> 0 : 0;
  for (let i = 0; i < hashes.length; i++) {
    let h = hashes[i]!;
    const delta = rotateRight17(h);
    for (let probe = 0; probe < probes; probe++) {
      const bit = modulus === 0 ? h : h % modulus;
      filter[bit >>> 3]! |= 1 << (bit & 7);
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
  if (bits >= 2 ** 32) return hugeFilterMayMatch(h, filter, probes);
  const modulus = bits >>> 0;
  // No call in here, and two probes a turn: V8 then makes one piece of machine code of a lookup's hash and probes, and
  // looks half as often whether it is to stop. Together three quarters of the time.
  const delta = (h >>> 17) | (h << 15);
  let left = probes;
  for (; left >= 2; left -= 2) {
    const bit = (h >>> 0) % modulus;
    if (((filter[bit >>> 3]! >>> (bit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
    const nextBit = (h >>> 0) % modulus;
    if (((filter[nextBit >>> 3]! >>> (nextBit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
  }
  if (left === 0) return true;
  const lastBit = (h >>> 0) % modulus;
  return ((filter[lastBit >>> 3]! >>> (lastBit & 7)) & 1) !== 0;
}

/** In a filter of 2^32 bits and more, a hash is its own remainder. */
function hugeFilterMayMatch(h: number, filter: Uint8Array, probes: number): boolean {
  const delta = rotateRight17(h);
  for (let probe = 0; probe < probes; probe++) {
    const bit = h >>> 0;
    if (((filter[bit >>> 3]! >>> (bit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
  }
  return true;
}

/** The probes of one key, in the order in which they are made. */
export interface BloomProbes {
  /** What is added from one probe to the next, modulo 2^32. */
  readonly delta: number;
  /** For each probe the hash that it is made with, and the bit that this is modulo the number of bits. */
  readonly probes: readonly { readonly hash: number; readonly bit: number }[];
}

/**
 * The bits that a key with the Bloom hash `h` sets and is looked up by: to show how a filter works. Filters are filled
 * and asked without it.
 *
 * @param filterBytes the length of the filter, the byte that holds k included.
 * @throws RangeError when `filterBytes` is not a whole number from 2 on.
 * @example
 * ```ts
 * bloomProbes(bloomHash(utf8('hello')), 9, 6).probes[0]; // { hash: 0x49d9cd5a, bit: 26 }
 * ```
 */
export function bloomProbes(h: number, filterBytes: number, probes: number): BloomProbes {
  if (!(Number.isSafeInteger(filterBytes) && filterBytes >= 2)) {
    throw new RangeError(`filterBytes must be a whole number from 2 on, got ${filterBytes}`);
  }
  const delta = rotateRight17(h);
  const bits = (filterBytes - 1) * 8;
  return { delta, probes: Array.from({ length: probes }, (_, i) => probeAt((h + i * delta) % 2 ** 32, bits)) };
}

function probeAt(hash: number, bits: number): { hash: number; bit: number } {
  return { hash, bit: hash % bits };
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
