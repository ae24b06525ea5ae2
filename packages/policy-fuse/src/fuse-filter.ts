/**
 * A binary fuse filter: three fingerprints answer for a key.
 *
 *     fingerprint 0 | fingerprint 1 | … | seed (u8) | log2 of the segment's length (u8) | bits of a fingerprint (u8): 8 or 16
 *
 * Fingerprints of 16 bits are little-endian. The array is whole segments of 2^2 to 2^18 fingerprints, at least three; L is the
 * number of fingerprints in all but the last two. A key has the 64-bit hash H, with the filter's seed, of `@bloom/hash`. Of a
 * segment's length S come its three positions
 *
 *     p0 = floor(H * L / 2^64)
 *     p1 = (p0 + S) ^ ((H >>> 18) & (S - 1))
 *     p2 = (p0 + 2S) ^ (H & (S - 1))
 *
 * and its fingerprint, the lowest bits of H ^ (H >>> 32). A key matches when the exclusive or of the three fingerprints there is
 * its own. For keys that are not in the filter that is so with probability 2^-8 or 2^-16. No keys give no bytes.
 *
 * With another last byte there is no array: 1 means that the rest is a Bloom filter of a few keys with the same rate, as
 * `@bloom/policy` describes it in `hash-bloom-filter.ts`; all others are reserved.
 *
 *     bits | number of probes (u8) | seed (u8) | 1
 *
 * Positions, fingerprints and lengths are those of the reference implementation for equal hashes; the hash is another, and so are
 * the last three bytes. Sources: Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", and
 * binaryfusefilter.h in FastFilter/xor_singleheader.
 */
import { hash64Range } from '@bloom/hash';
import { BLOOM_FORM, BLOOM_TRAILER_BYTES } from '@bloom/policy/internal';
import { hashBloomFilterMayMatch } from '@bloom/policy/kit';

/** Bits of a fingerprint. */
export type FingerprintBits = 8 | 16;

/** The bytes after the array. */
export const TRAILER_BYTES = 3;

const MIN_SEGMENT_LOG = 2;
const MAX_SEGMENT_LOG = 18;

/** The largest index in int32 arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;

/** The measures of a filter that is well-formed. */
export interface FuseShape {
  readonly fingerprintBits: FingerprintBits;
  /** Log2 of the number of fingerprints in a segment. */
  readonly segmentLog: number;
  /** Fingerprints in the array. */
  readonly length: number;
}

/** The shape that the reference implementation chooses for `count` keys. */
export function fuseShapeFor(count: number, fingerprintBits: FingerprintBits): FuseShape {
  const most = Math.floor(Math.log(Math.max(count, 1)) / Math.log(3.33) + 2.25);
  const segmentLog = Math.min(most, MAX_SEGMENT_LOG);
  const factor = Math.max(1.125, 0.875 + (0.25 * Math.log(1_000_000)) / Math.log(Math.max(count, 2)));
  const capacity = count <= 1 ? 0 : Math.round(count * factor);
  const segments = Math.max(3, Math.ceil(capacity / 2 ** segmentLog));
  return { fingerprintBits, segmentLog, length: segments * 2 ** segmentLog };
}

/** The length in bytes of a filter of that shape. */
export function fuseByteLength({ fingerprintBits, length }: FuseShape): number {
  return (length * fingerprintBits) / 8 + TRAILER_BYTES;
}

/** Writes the end of a filter. */
export function writeFuseTrailer(filter: Uint8Array, { fingerprintBits, segmentLog }: FuseShape, seed: number): void {
  filter[filter.length - 3] = seed;
  filter[filter.length - 2] = segmentLog;
  filter[filter.length - 1] = fingerprintBits;
}

/** The measures of the filter `bytes[start, end)`; undefined where it is none that this version makes, or no array. */
export function fuseShapeOf(bytes: Uint8Array, start: number, end: number): FuseShape | undefined {
  const stored = end - start - TRAILER_BYTES;
  if (stored <= 0) return undefined;
  const fingerprintBits = bytes[end - 1]!;
  const segmentLog = bytes[end - 2]!;
  if (segmentLog < MIN_SEGMENT_LOG || segmentLog > MAX_SEGMENT_LOG) return undefined;
  if (fingerprintBits !== 8 && fingerprintBits !== 16) return undefined;
  const length = fingerprintBits === 8 ? stored : stored / 2;
  const segment = 1 << segmentLog;
  if (length % segment !== 0 || length < 3 * segment || length >= 2 ** 32) return undefined;
  return { fingerprintBits, segmentLog, length };
}

/** Up to this factor, its product with a uint32 is exact. */
const SMALL = 2 ** 21;

/** floor(hash * n / 2^64), exactly, of the hash with these lanes, for `n` below 2^32. */
export function scaled64(low: number, high: number, n: number): number {
  if (n <= SMALL) {
    // The low lane adds less than n to high * n. That changes the result only if the lowest 32 bits of high * n are within n of 2^32.
    const isNear = Math.imul(high, n) >>> 0 >= 2 ** 32 - n;
    return isNear ? Math.floor((high * n + Math.floor(low * n * 2 ** -32)) * 2 ** -32) : Math.floor(high * (n * 2 ** -32));
  }
  const carried = Math.floor((Math.floor(((low & 0xffff) * n) / 2 ** 16) + (low >>> 16) * n) / 2 ** 16);
  const lower = Math.floor(((high & 0xffff) * n + carried) / 2 ** 16);
  return Math.floor(((high >>> 16) * n + lower) / 2 ** 16);
}

/** Whether a key may be among those that the filter `bytes[start, end)` was made from; true for any that is not well-formed. */
export function fuseFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  lanes: Uint32Array,
): boolean {
  const length = end - start - TRAILER_BYTES;
  if (length > 0 && end <= MAX_INT32 && bytes[end - 1] === 8) {
    // The most frequent shape, in whole numbers of 32 bits and without an object: 0.6 to 0.75 of the time of what follows (Node 20).
    const segmentLog = bytes[end - 2]!;
    const mask = (1 << segmentLog) - 1;
    if (segmentLog >= MIN_SEGMENT_LOG && segmentLog <= MAX_SEGMENT_LOG && (length & mask) === 0 && length >= 3 << segmentLog) {
      hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 3]!, lanes);
      const low = lanes[0]!;
      const high = lanes[1]!;
      const range = length - (2 << segmentLog);
      // The test of `scaled64` for keys that are near. They are rare, and with code for them in this function V8 takes 1.1 times as long for all.
      if (range <= SMALL && Math.imul(high, range) >>> 0 >= 2 ** 32 - range) return otherFilterMayMatch(keyBytes, keyStart, keyEnd, bytes, start, end, lanes);
      const p0 = range > SMALL ? scaled64(low, high, range) | 0 : (high * (range * 2 ** -32)) | 0;
      const p1 = ((p0 + mask + 1) | 0) ^ (((low >>> 18) | (high << 14)) & mask);
      const p2 = ((p0 + mask + mask + 2) | 0) ^ (low & mask);
      return ((bytes[(start + p0) | 0]! ^ bytes[(start + p1) | 0]! ^ bytes[(start + p2) | 0]! ^ low ^ high) & 0xff) === 0;
    }
  }
  return otherFilterMayMatch(keyBytes, keyStart, keyEnd, bytes, start, end, lanes);
}

/** {@link fuseFilterMayMatch} for any filter. */
function otherFilterMayMatch(
  keyBytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  lanes: Uint32Array,
): boolean {
  if (end === start) return false;
  if (bytes[end - 1] === BLOOM_FORM) {
    if (end - start < BLOOM_TRAILER_BYTES) return true;
    hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 2]!, lanes);
    // V8 makes objects of numbers past int32 that it passes to a function.
    return hashBloomFilterMayMatch(lanes[0]! | 0, lanes[1]! | 0, bytes, start, end - BLOOM_TRAILER_BYTES);
  }
  const shape = fuseShapeOf(bytes, start, end);
  if (shape === undefined) return true;
  hash64Range(keyBytes, keyStart, keyEnd, bytes[end - 3]!, lanes);
  return fuseMayMatch(lanes[0]!, lanes[1]!, bytes, start, shape);
}

/** Whether a hash may be among those that the filter, of that shape, at `start` of `bytes` was made from. */
export function fuseMayMatch(low: number, high: number, bytes: Uint8Array, start: number, shape: FuseShape): boolean {
  const { fingerprintBits, segmentLog, length } = shape;
  const segment = 1 << segmentLog;
  const mask = segment - 1;
  const p0 = scaled64(low, high, length - 2 * segment);
  // S is a power of two, so that the exclusive or changes only the position within a segment.
  const base = p0 - (p0 & mask);
  const within = p0 & mask;
  const p1 = base + segment + (within ^ (((low >>> 18) | (high << 14)) & mask));
  const p2 = base + 2 * segment + (within ^ (low & mask));
  if (fingerprintBits === 8) return ((bytes[start + p0]! ^ bytes[start + p1]! ^ bytes[start + p2]! ^ low ^ high) & 0xff) === 0;
  const lower = bytes[start + 2 * p0]! ^ bytes[start + 2 * p1]! ^ bytes[start + 2 * p2]!;
  const upper = bytes[start + 2 * p0 + 1]! ^ bytes[start + 2 * p1 + 1]! ^ bytes[start + 2 * p2 + 1]!;
  return ((lower ^ (upper << 8) ^ low ^ high) & 0xffff) === 0;
}
