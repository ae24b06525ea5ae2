/**
 * A Bloom filter of 64-bit hashes, for a policy that needs another filter for a few keys.
 *
 *     bits, as many bytes as there are | number of probes k (u8)
 *
 * Bit b is byte b >> 3, mask 1 << (b & 7). A hash sets k bits, and matches when all of them are set. With m bits, and x at first
 * the low lane of the hash, each probe is x = x * 0x9e3779b1 + high lane modulo 2^32, and its bit is floor(x * m / 2^32).
 */
import { hash64Each } from '@bloom/hash';
import type { KeyList } from './policy.js';

const MAX_PROBES = 32;
const MULTIPLIER = 0x9e3779b1;

/** Up to this many bits, the halves of a product fit into 32 bits. Whole numbers of 32 bits take half the time. */
const SMALL_BITS = 2 ** 16;
/** The largest index in int32 arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;

/** With few keys and few bits, probes coincide more often than the formula says, which is for many. */
const MARGIN = 0.9;
const MARGIN_BITS = 6;

/** The number of probes with which the fewest bits give `rate`. */
function probesFor(rate: number): number {
  return Math.min(Math.max(Math.round(-Math.log2(rate)), 1), MAX_PROBES);
}

/**
 * The length in bytes of a filter of `count` hashes that matches at most `rate` of others.
 *
 * @param rate above 0, below 1.
 */
export function hashBloomFilterByteLength(count: number, rate: number): number {
  const probes = probesFor(rate);
  const bits = (count * probes) / -Math.log1p(-((MARGIN * rate) ** (1 / probes)));
  return Math.ceil((bits + MARGIN_BITS) / 8) + 1;
}

/**
 * Writes the filter of `hashes`.
 *
 * @param hashes two elements for each hash, the low lane and the high one.
 * @param filter zero bytes, of {@link hashBloomFilterByteLength}.
 * @throws RangeError when `filter` is shorter than two bytes.
 */
export function encodeHashBloomFilter(hashes: Uint32Array, rate: number, filter: Uint8Array): void {
  if (filter.length < 2) throw new RangeError(`filter must have at least 2 bytes, got ${filter.length}`);
  const probes = probesFor(rate);
  const bits = (filter.length - 1) * 8;
  filter[filter.length - 1] = probes;
  for (let i = 0; i < hashes.length; i += 2) {
    let x = hashes[i]! | 0;
    const high = hashes[i + 1]! | 0;
    for (let probe = 0; probe < probes; probe++) {
      x = (Math.imul(x, MULTIPLIER) + high) | 0;
      const bit = bitOf(x >>> 0, bits);
      filter[Math.floor(bit / 8)]! |= 1 << (bit & 7);
    }
  }
}

/**
 * Whether a hash may be among those that the filter `bytes[start, end)` was made from. A filter shorter than two bytes, or with
 * no or more than 32 probes, matches every hash.
 *
 * @param low any number that is the low lane modulo 2^32, and `high` the high one: V8 passes numbers of int32 faster.
 */
export function hashBloomFilterMayMatch(low: number, high: number, bytes: Uint8Array, start: number, end: number): boolean {
  const bits = (end - 1 - start) * 8;
  const probes = bytes[end - 1]!;
  if (bits <= 0 || probes === 0 || probes > MAX_PROBES) return true;
  if (bits > SMALL_BITS || end > MAX_INT32) return longFilterMayMatch(low, high, bytes, start, bits, probes);
  let x = low | 0;
  for (let probe = 0; probe < probes; probe++) {
    x = (Math.imul(x, MULTIPLIER) + high) | 0;
    const bit = (Math.imul(x >>> 16, bits) + (Math.imul(x & 0xffff, bits) >>> 16)) >>> 16;
    if (((bytes[(start + (bit >>> 3)) | 0]! >>> (bit & 7)) & 1) === 0) return false;
  }
  return true;
}

function longFilterMayMatch(low: number, high: number, bytes: Uint8Array, start: number, bits: number, probes: number): boolean {
  let x = low;
  for (let probe = 0; probe < probes; probe++) {
    x = (Math.imul(x, MULTIPLIER) + high) >>> 0;
    const bit = bitOf(x, bits);
    if (((bytes[start + Math.floor(bit / 8)]! >>> (bit & 7)) & 1) === 0) return false;
  }
  return true;
}

/** Keys that are hashed at a time. */
const KEYS_AT_A_TIME = 1024;

/**
 * {@link hashBloomFilterMayMatch} for many keys at once, whose hashes with `seed` are those of `@bloom/hash`.
 *
 * @param filter the bits and the number of probes, without what follows them.
 * @param answers receives 1 (may match) or 0 (does not match) for each key.
 * @throws RangeError when the offsets of `keys` are not within its bytes.
 */
export function hashBloomFilterMayMatchEach(keys: KeyList, seed: number, filter: Uint8Array, answers: Uint8Array): void {
  const hashes = new Uint32Array(2 * Math.min(KEYS_AT_A_TIME, keys.length));
  for (let i = 0; i < keys.length; i += KEYS_AT_A_TIME) {
    const count = Math.min(KEYS_AT_A_TIME, keys.length - i);
    hash64Each(keys.bytes, keys.offsets.subarray(i, i + count + 1), seed, hashes);
    for (let at = 0; at < count; at++) {
      answers[i + at] = hashBloomFilterMayMatch(hashes[2 * at]! | 0, hashes[2 * at + 1]! | 0, filter, 0, filter.length) ? 1 : 0;
    }
  }
}

/** Below `bits`: rounding moves the product by less than it is below. */
function bitOf(x: number, bits: number): number {
  return Math.floor(x * bits * 2 ** -32);
}
