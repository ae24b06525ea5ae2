/**
 * A 64-bit hash of a byte string, in two lanes of 32 bits: for filters that need more bits than LevelDB's hash has, or bits that
 * keep apart keys that are alike. JavaScript multiplies 32 bits at a time, so that hashes made of 64-bit products, such as XXH64,
 * take many times as long.
 *
 *     a = seed + 0x9e3779b1;  b = seed ^ (length * 0x165667b1)
 *     every eight bytes, two little-endian words w and x, and once the one to seven bytes at the end, filled up with zeros:
 *         b = rotl(b + x * 0xc2b2ae3d, 13);  a = rotl(a + w * 0xcc9e2d51, 15) + b;  b = b * 0x27d4eb2f ^ rotl(a, 7)
 *     low lane:   a ^= a >>> 15;  a *= 0x85ebca77;  a ^= a >>> 13;  a *= 0xc2b2ae3d;  a ^= a >>> 16
 *     high lane:  b ^= b >>> 16;  b *= 0x85ebca6b;  b ^= b >>> 13;  b *= 0xc2b2ae35;  b ^= b >>> 16
 *
 * all modulo 2^32. Each step can be undone, so that keys of up to eight bytes and the same length never have the same hash.
 *
 * The steps are this package's own. Sources of the ends of the lanes: Yann Collet, the specification of xxHash; Austin Appleby,
 * MurmurHash3.cpp in SMHasher.
 */
import { mustBeBytes } from '@bloom/bytes/internal';
import { mustBeRangeOf } from './hash.js';

/** The largest index in int32 arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;

/**
 * The 64-bit hash of `data`.
 *
 * @param data any bytes.
 * @param seed a uint32; other numbers are taken modulo 2^32.
 * @returns the high lane above the low one.
 * @throws TypeError when `data` is not a `Uint8Array`, or is detached.
 * @example
 * ```ts
 * hash64(new TextEncoder().encode('foo'), 1); // 0xdc36d2eb7a0398b9n
 * ```
 */
export function hash64(data: Uint8Array, seed: number): bigint {
  mustBeBytes('data', data);
  const lanes = new Uint32Array(2);
  hash64Range(data, 0, data.length, seed, lanes);
  return (BigInt(lanes[1]!) << 32n) | BigInt(lanes[0]!);
}

/**
 * Writes the 64-bit hash of `bytes[start, end)` to `out`: the low lane first, then the high one. Two numbers in an array that
 * is reused cost less than a bigint. That `start` and `end` are whole numbers is not checked: with this check, V8 would no longer inline the
 * function, which would take half as long again for short keys.
 *
 * @throws TypeError when `bytes` is not a `Uint8Array`.
 * @throws RangeError when the range is not within `bytes`.
 */
export function hash64Range(bytes: Uint8Array, start: number, end: number, seed: number, out: Uint32Array): void {
  // Checks and rests are functions of their own: V8 inlines only short ones, and without a call this takes a fifth less time.
  if (!(bytes instanceof Uint8Array && start >= 0 && start <= end && end > 0 && end <= bytes.length && end <= MAX_INT32)) {
    hash64OtherRange(bytes, start, end, seed, out);
    return;
  }
  let a = ((seed | 0) + 0x9e3779b1) | 0;
  let b = seed ^ Math.imul(end - start, 0x165667b1);
  let i = start;
  // Indexes cut to int32, as in `hash.ts`, and no calls.
  for (const last = end - 8; i <= last; i = (i + 8) | 0) {
    const w = bytes[i]! | (bytes[(i + 1) | 0]! << 8) | (bytes[(i + 2) | 0]! << 16) | (bytes[(i + 3) | 0]! << 24);
    const x = bytes[(i + 4) | 0]! | (bytes[(i + 5) | 0]! << 8) | (bytes[(i + 6) | 0]! << 16) | (bytes[(i + 7) | 0]! << 24);
    a = (a + Math.imul(w, 0xcc9e2d51)) | 0;
    b = (b + Math.imul(x, 0xc2b2ae3d)) | 0;
    b = (b << 13) | (b >>> 19);
    a = (((a << 15) | (a >>> 17)) + b) | 0;
    b = Math.imul(b, 0x27d4eb2f) ^ ((a << 7) | (a >>> 25));
  }
  if (i < end) writeWithRest(bytes, i, end, a, b, out);
  else writeLanes(a, b, out);
}

/** The end of a hash whose last one to seven bytes are `bytes[i, end)`. */
function writeWithRest(bytes: Uint8Array, i: number, end: number, a: number, b: number, out: Uint32Array): void {
  const left = (end - i) | 0;
  let w = bytes[i]!;
  let x = 0;
  if (left >= 4) {
    w |= (bytes[(i + 1) | 0]! << 8) | (bytes[(i + 2) | 0]! << 16) | (bytes[(i + 3) | 0]! << 24);
    if (left >= 5) x = bytes[(i + 4) | 0]!;
    if (left >= 6) x |= bytes[(i + 5) | 0]! << 8;
    if (left === 7) x |= bytes[(i + 6) | 0]! << 16;
  } else {
    if (left >= 2) w |= bytes[(i + 1) | 0]! << 8;
    if (left === 3) w |= bytes[(i + 2) | 0]! << 16;
  }
  a = (a + Math.imul(w, 0xcc9e2d51)) | 0;
  b = (b + Math.imul(x, 0xc2b2ae3d)) | 0;
  b = (b << 13) | (b >>> 19);
  a = (((a << 15) | (a >>> 17)) + b) | 0;
  b = Math.imul(b, 0x27d4eb2f) ^ ((a << 7) | (a >>> 25));
  writeLanes(a, b, out);
}

/** {@link hash64Range} for what is no range, for no bytes, and past 2^31 bytes, where indexes do not fit into int32. */
function hash64OtherRange(bytes: Uint8Array, start: number, end: number, seed: number, out: Uint32Array): void {
  mustBeBytes('bytes', bytes);
  mustBeRangeOf(bytes, start, end);
  let a = ((seed | 0) + 0x9e3779b1) | 0;
  let b = seed ^ Math.imul(end - start, 0x165667b1);
  for (let i = start; i < end; i += 8) {
    const words = [0, 0];
    for (let at = 0; at < 8 && i + at < end; at++) words[at >> 2]! |= bytes[i + at]! << (8 * (at & 3));
    a = (a + Math.imul(words[0]!, 0xcc9e2d51)) | 0;
    b = (b + Math.imul(words[1]!, 0xc2b2ae3d)) | 0;
    b = (b << 13) | (b >>> 19);
    a = (((a << 15) | (a >>> 17)) + b) | 0;
    b = Math.imul(b, 0x27d4eb2f) ^ ((a << 7) | (a >>> 25));
  }
  writeLanes(a, b, out);
}

function writeLanes(a: number, b: number, out: Uint32Array): void {
  a = Math.imul(a ^ (a >>> 15), 0x85ebca77);
  a = Math.imul(a ^ (a >>> 13), 0xc2b2ae3d);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b);
  b = Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  out[0] = a ^ (a >>> 16);
  out[1] = b ^ (b >>> 16);
}
