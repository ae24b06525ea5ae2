/**
 * A Bloom filter as LevelDB stores it.
 *
 *     bit 0 … bit 7 | bit 8 … bit 15 | … | number of probes k (u8)
 *     ╰ byte 0      ╰ byte 1             ╰ last byte
 *
 * Bit b is byte b >> 3, mask 1 << (b & 7). A key sets k bits, and matches when all of them are set. Let h be its Bloom
 * hash, d = h rotated right by 17, and m the number of bits: the bits are h mod m, (h + d) mod m, (h + 2d) mod m …,
 * with sums modulo 2^32.
 *
 * Source: LevelDB, util/bloom.cc; the double hashing is Kirsch and Mitzenmacher, "Less Hashing, Same Performance".
 */
import { BLOOM_SEED, hashRange } from '@bloom/hash';
import type { LabelledRange } from '@bloom/bytes';
import { kindOf, mustBeBytes, mustBeWhole, shownValue } from '@bloom/bytes/internal';
import type { FilterSink, KeyList } from './policy.js';

/** The fewest bits in a filter: a shorter one would have too many false positives with few keys. */
export const MIN_BITS = 64;
/** The most probes per key. Higher numbers in the last byte are reserved for future formats. */
export const MAX_PROBES = 30;

/**
 * The number of probes per key: `bitsPerKey` times ln 2 (0.69 in LevelDB), rounded down, from 1 to {@link MAX_PROBES}.
 */
export function probesFor(bitsPerKey: number): number {
  mustBeNumber('bitsPerKey', bitsPerKey);
  return Math.min(Math.max(Math.trunc(bitsPerKey * 0.69), 1), MAX_PROBES);
}

/** The length in bytes of a filter of `keys` keys: its bits, rounded up to whole bytes, and the byte that holds k. */
export function filterByteLength(keys: number, bitsPerKey: number): number {
  mustBeWhole('keys', keys, 0);
  mustBeNumber('bitsPerKey', bitsPerKey);
  return Math.ceil(Math.max(keys * bitsPerKey, MIN_BITS) / 8) + 1;
}

function mustBeNumber(name: string, value: number): void {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new RangeError(`${name} must be a number, got ${shownValue(value)}`);
}

/** Appends to `dst` the filter of `keys`. */
export function encodeBloomFilter(keys: KeyList, bitsPerKey: number, dst: FilterSink): void {
  const filter = dst.extend(filterByteLength(keys.length, bitsPerKey));
  fillBloomFilter(filter, bloomHashes(keys), probesFor(bitsPerKey));
}

/** The Bloom hash of each key. */
export function bloomHashes(keys: KeyList): Uint32Array {
  const hashes = new Uint32Array(keys.length);
  for (let i = 0; i < hashes.length; i++) hashes[i] = hashRange(keys.bytes, keys.offsets[i]!, keys.offsets[i + 1]!, BLOOM_SEED);
  return hashes;
}

/**
 * Writes the filter of the keys with these Bloom hashes.
 *
 * @param filter zero bytes, of {@link filterByteLength}.
 * @param probes from 1 to {@link MAX_PROBES}.
 * @throws TypeError or RangeError for other arguments, or when `filter` is shorter than two bytes.
 */
export function fillBloomFilter(filter: Uint8Array, hashes: Uint32Array, probes: number): void {
  mustBeBytes('filter', filter);
  if (Object.prototype.toString.call(hashes) !== '[object Uint32Array]') throw new TypeError(`hashes must be a Uint32Array, got ${kindOf(hashes)}`);
  mustBeWhole('probes', probes, 1, MAX_PROBES);
  if (filter.length < 2) throw new RangeError(`filter must have at least 2 bytes, got ${filter.length}`);
  filter[filter.length - 1] = probes;
  const bits = (filter.length - 1) * 8;
  // V8 divides fastest when both numbers are uint32. With 2^32 bits or more, a hash is its own remainder.
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
 * Works for any number of bits per key, since the filter contains k. A filter shorter than two bytes matches no key. A k
 * above {@link MAX_PROBES} is reserved and matches every key, and so does a k of 0.
 */
export function bloomFilterMayMatch(h: number, filter: Uint8Array): boolean {
  return bloomFilterMayMatchRange(h, filter, 0, filter.length);
}

/** {@link bloomFilterMayMatch} for the filter `bytes[start, end)`. */
export function bloomFilterMayMatchRange(h: number, bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length < 2) return false;
  const probes = bytes[end - 1]!;
  if (probes > MAX_PROBES) return true;
  const bits = (length - 1) * 8;
  if (bits >= 2 ** 32) return hugeFilterMayMatch(h, bytes, start, probes);
  const modulus = bits >>> 0;
  // No calls, and two probes per iteration: V8 then inlines hash and probes into one function, and checks for interrupts
  // half as often. Together this takes three quarters of the time.
  const delta = (h >>> 17) | (h << 15);
  let left = probes;
  for (; left >= 2; left -= 2) {
    const bit = (h >>> 0) % modulus;
    if (((bytes[start + (bit >>> 3)]! >>> (bit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
    const nextBit = (h >>> 0) % modulus;
    if (((bytes[start + (nextBit >>> 3)]! >>> (nextBit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
  }
  if (left === 0) return true;
  const lastBit = (h >>> 0) % modulus;
  return ((bytes[start + (lastBit >>> 3)]! >>> (lastBit & 7)) & 1) !== 0;
}

/** With 2^32 bits or more, a hash is its own remainder. */
function hugeFilterMayMatch(h: number, bytes: Uint8Array, start: number, probes: number): boolean {
  const delta = rotateRight17(h);
  for (let probe = 0; probe < probes; probe++) {
    const bit = h >>> 0;
    if (((bytes[start + (bit >>> 3)]! >>> (bit & 7)) & 1) === 0) return false;
    h = (h + delta) | 0;
  }
  return true;
}

/**
 * The share of absent keys, 0 to 1, that match a filter, by the share of its bits that are set: for keys whose hashes are as good
 * as random.
 */
export function bloomFilterRate(filter: Uint8Array): number {
  const last = filter.length - 1;
  if (last < 1) return 0;
  const probes = filter[last]!;
  if (probes > MAX_PROBES) return 1;
  let set = 0;
  for (let i = 0; i < last; i++) for (let rest = filter[i]!; rest !== 0; rest &= rest - 1) set++;
  return (set / (last * 8)) ** probes;
}

/** The probes of one key, in order. */
export interface BloomProbes {
  /** The difference between the hashes of adjacent probes, modulo 2^32. */
  readonly delta: number;
  /** For each probe, its hash and its bit, which is the hash modulo the number of bits. */
  readonly probes: readonly { readonly hash: number; readonly bit: number }[];
}

/**
 * The bits that a key with the Bloom hash `h` sets, and that a lookup of it tests: for programs that show how a filter
 * works. Filling and testing filters does not use it.
 *
 * @param filterBytes the length of the filter, including the byte that holds k.
 * @throws RangeError when `filterBytes` is not a whole number, at least 2.
 * @example
 * ```ts
 * bloomProbes(bloomHash(utf8('hello')), 9, 6).probes[0]; // { hash: 4153775694, bit: 14 }
 * ```
 */
export function bloomProbes(h: number, filterBytes: number, probes: number): BloomProbes {
  mustBeWhole('filterBytes', filterBytes, 2);
  const delta = rotateRight17(h);
  const bits = (filterBytes - 1) * 8;
  const hashes = Array.from({ length: probes }, (_, i) => (h + i * delta) % 2 ** 32);
  return { delta, probes: hashes.map((hash) => ({ hash, bit: hash % bits })) };
}

/** Labels the bytes of a filter that lies at `offset` of a file. */
export function bloomFilterLayout(filter: Uint8Array, offset: number): LabelledRange[] {
  if (filter.length < 2) return filter.length === 0 ? [] : [{ offset, byteLength: 1, label: 'filter too short to be one' }];
  const bits = filter.length - 1;
  return [
    { offset, byteLength: bits, label: 'bits', value: `${bits * 8} bits` },
    { offset: offset + bits, byteLength: 1, label: 'number of probes', value: String(filter[bits]) },
  ];
}

/** The difference between the hashes of adjacent probes of a key with the Bloom hash `h`. */
export function rotateRight17(h: number): number {
  return ((h >>> 17) | (h << 15)) >>> 0;
}
