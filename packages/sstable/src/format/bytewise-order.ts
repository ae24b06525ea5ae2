/**
 * The two orders of keys that most tables have, for which searches have faster paths: bytewise order, and the order of
 * internal keys in a database whose user keys are in bytewise order.
 *
 * Source: LevelDB, util/comparator.cc and db/dbformat.cc.
 */

/** Compares `a[aStart, aEnd)` with `b[bStart, bEnd)`: negative when `a`'s is before `b`'s, 0 when they are equal. */
export type CompareRange = (
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
) => number;

/** Bytes of sequence and type at the end of an internal key. */
export const INTERNAL_KEY_TRAILER_LENGTH = 8;

const MAX_INT32 = 2 ** 31 - 1;

/** The order of `bytewiseComparator`. */
export function compareBytes(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  if (aEnd > MAX_INT32 || bEnd > MAX_INT32) return compareBytes(a.subarray(aStart, aEnd), 0, aEnd - aStart, b.subarray(bStart, bEnd), 0, bEnd - bStart);
  const end = aStart + Math.min(aEnd - aStart, bEnd - bStart);
  // With one index, and `| 0`, V8 need not check for overflow: without them, comparing keys of 16 bytes took 1.2 times as long.
  const distance = (bStart - aStart) | 0;
  for (let i = aStart | 0; i < end; i = (i + 1) | 0) {
    const difference = a[i]! - b[(i + distance) | 0]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

/** The order of internal keys over user keys in bytewise order. */
export const compareInternalBytes: CompareRange = /* @__PURE__ */ internalOrderOf(compareBytes);

/** {@link compareInternalBytes} of whole arrays. */
export function compareInternalKeys(a: Uint8Array, b: Uint8Array): number {
  return compareInternalBytes(a, 0, a.length, b, 0, b.length);
}

/** Whether an order is one of these two. Any other order calls a comparator, which may look up another key before a search has ended. */
export function isBytewiseOrder(compare: CompareRange): boolean {
  return compare === compareBytes || compare === compareInternalBytes;
}

/**
 * Makes the order of internal keys from that of user keys: user keys ascending, and of each the newest version first.
 *
 * Keys too short to be internal keys come before all others, in bytewise order.
 */
export function internalOrderOf(compareUserKeys: CompareRange): CompareRange {
  return (a, aStart, aEnd, b, bStart, bEnd) => {
    const aTrailer = aEnd - INTERNAL_KEY_TRAILER_LENGTH;
    const bTrailer = bEnd - INTERNAL_KEY_TRAILER_LENGTH;
    if (aTrailer < aStart || bTrailer < bStart) {
      if (aTrailer >= aStart) return 1;
      if (bTrailer >= bStart) return -1;
      return compareBytes(a, aStart, aEnd, b, bStart, bEnd);
    }
    const order = compareUserKeys(a, aStart, aTrailer, b, bStart, bTrailer);
    return order !== 0 ? order : compareTrailers(a, aTrailer, b, bTrailer);
  };
}

/** Compares two trailers as little-endian numbers: the greater one, which is the newer version, comes first. */
export function compareTrailers(a: Uint8Array, aTrailer: number, b: Uint8Array, bTrailer: number): number {
  for (let i = INTERNAL_KEY_TRAILER_LENGTH - 1; i >= 0; i--) {
    const difference = b[bTrailer + i]! - a[aTrailer + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}
