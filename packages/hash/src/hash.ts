/**
 * LevelDB's hash of a byte string: 32 bits, similar to Murmur, with any seed.
 *
 * Every full four-byte little-endian word w:  h += w;  h *= M;  h ^= h >>> 16
 * A tail of one to three bytes, once:         h += tail;  h *= M;  h ^= h >>> 24
 *
 * Source: LevelDB, util/hash.cc. The tail bytes are unsigned, as they have been since LevelDB 1.18; RocksDB and
 * Pebble sign-extend them in their copies, so their hashes differ from these for bytes of 0x80 and above.
 */
import { mustBeBytes, numberOf } from '@bloom/bytes/internal';

const M = 0xc6a4a793;

/** The largest index in int32 arithmetic. */
const MAX_INT32 = 2 ** 31 - 1;

/** The seed that LevelDB's Bloom filter hashes keys with. */
export const BLOOM_SEED = 0xbc9f1d34;

/**
 * Hashes `data`.
 *
 * @param data any bytes; an empty array hashes to the seed.
 * @param seed a uint32; other numbers are taken modulo 2^32.
 * @returns a uint32.
 * @throws TypeError when `data` is not a `Uint8Array`, or is detached.
 * @example
 * ```ts
 * hash(new TextEncoder().encode('foo'), 1); // 0xfe7735c4
 * ```
 */
export function hash(data: Uint8Array, seed: number): number {
  if (!(data instanceof Uint8Array && data.length > 0)) mustBeBytes('data', data);
  return hashWithin(data, 0, data.length, seed);
}

/**
 * Hashes `bytes[start, end)`, as {@link hash} does, without making a view of it.
 *
 * @throws TypeError when `bytes` is not a `Uint8Array`.
 * @throws RangeError unless the range is of whole numbers and within `bytes`.
 */
export function hashRange(bytes: Uint8Array, start: number, end: number, seed: number): number {
  if (!(bytes instanceof Uint8Array && bytes.length > 0)) mustBeBytes('bytes', bytes);
  // Whole numbers that fit into int32: V8 needs no conversion for this check, and the other one is a function of its own.
  if (!((start | 0) === start && (end | 0) === end && start >= 0 && start <= end && end <= bytes.length)) mustBeRangeOf(bytes, start, end);
  return hashWithin(bytes, start, end, seed);
}

/** @throws RangeError unless `start` and `end` are whole numbers in order and within the bytes. */
export function mustBeRangeOf(bytes: Uint8Array, start: number, end: number): void {
  if (!(start >= 0 && start <= end && end <= bytes.length)) throw new RangeError(`start and end must be in order and within the ${numberOf(bytes.length, 'byte')}, got ${start} and ${end}`);
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end))) throw new RangeError(`start and end must be whole numbers, got ${String(start)} and ${String(end)}`);
}

/** {@link hashRange} without its checks. */
function hashWithin(bytes: Uint8Array, start: number, end: number, seed: number): number {
  if (end > MAX_INT32) return hashLongRange(bytes, start, end, seed);
  let h = (seed ^ Math.imul(end - start, M)) | 0;
  let i = start;
  // Two words per iteration, and indexes cut to int32: V8 emits fewer checks, and the function stays small enough to inline.
  for (const last = end - 8; i <= last; i = (i + 8) | 0) {
    h = mixWord(h, bytes[i]!, bytes[(i + 1) | 0]!, bytes[(i + 2) | 0]!, bytes[(i + 3) | 0]!);
    h = mixWord(h, bytes[(i + 4) | 0]!, bytes[(i + 5) | 0]!, bytes[(i + 6) | 0]!, bytes[(i + 7) | 0]!);
  }
  return (i === end ? h : mixRest(h, bytes, i, end)) >>> 0;
}

/** {@link hashRange} past 2^31 bytes, where indexes do not fit into int32: takes 1.7 times as long per byte. */
function hashLongRange(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = (seed ^ Math.imul(end - start, M)) | 0;
  let i = start;
  for (const last = end - 4; i <= last; i += 4) h = mixWord(h, bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!);
  return (i === end ? h : mixRest(h, bytes, i, end)) >>> 0;
}

/** Assembles the word from bytes: a DataView would be one more object per key. */
function mixWord(h: number, byte0: number, byte1: number, byte2: number, byte3: number): number {
  h = Math.imul((h + (byte0 | (byte1 << 8) | (byte2 << 16) | (byte3 << 24))) | 0, M);
  return h ^ (h >>> 16);
}

/** The last bytes, fewer than eight. */
function mixRest(h: number, bytes: Uint8Array, i: number, end: number): number {
  if (end - i >= 4) {
    h = mixWord(h, bytes[i]!, bytes[i + 1]!, bytes[i + 2]!, bytes[i + 3]!);
    i += 4;
  }
  const tail = end - i;
  if (tail === 0) return h;
  if (tail === 3) h += bytes[i + 2]! << 16;
  if (tail >= 2) h += bytes[i + 1]! << 8;
  h = Math.imul((h + bytes[i]!) | 0, M);
  return h ^ (h >>> 24);
}

/**
 * Hashes a key as LevelDB's Bloom filter does, with {@link BLOOM_SEED}.
 *
 * @throws TypeError when `key` is not a `Uint8Array`, or is detached.
 *
 * Source: LevelDB, util/bloom.cc.
 */
export function bloomHash(key: Uint8Array): number {
  if (!(key instanceof Uint8Array && key.length > 0)) mustBeBytes('key', key);
  return hashWithin(key, 0, key.length, BLOOM_SEED);
}
