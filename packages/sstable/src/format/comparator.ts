/**
 * The order of a table's keys, and the short keys that its index is made of.
 *
 * Source: LevelDB, include/leveldb/comparator.h and util/comparator.cc.
 */

/** A total order of keys. A table must be read with the order that it was written with. */
export interface Comparator {
  /** Identifies the order; LevelDB stores it in a database, not in a table. */
  readonly name: string;

  /**
   * Which keys the order calls equal although their bytes differ; absent when there are none. A filter policy for
   * such a table must name the same equivalence, or present keys would be called absent.
   */
  readonly keyEquivalence?: string | undefined;

  /** Negative when `a` comes before `b`, positive when after, 0 when they are one key. */
  compare(a: Uint8Array, b: Uint8Array): number;

  /** A short key k with start ≤ k < limit; `start` itself will do. Given start < limit. */
  findShortestSeparator(start: Uint8Array, limit: Uint8Array): Uint8Array;

  /** A short key k with key ≤ k; `key` itself will do. */
  findShortSuccessor(key: Uint8Array): Uint8Array;

  /** `compare(a[aStart, aEnd), b[bStart, bEnd))` without views, for speed; left out, views are made. */
  compareRange?(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number;
}

/** {@link Comparator.compareRange}. */
export type CompareRange = NonNullable<Comparator['compareRange']>;

/**
 * The comparator's `compareRange`, or one made of its `compare`. For unsigned bytes it is {@link compareBytes} itself,
 * by which the faster ways of that order are chosen.
 */
export function compareRangeOf(comparator: Comparator): CompareRange {
  if (comparator.compareRange === compareBytes) return compareBytes;
  return comparator.compareRange !== undefined
    ? comparator.compareRange.bind(comparator)
    : (a, aStart, aEnd, b, bStart, bEnd) => comparator.compare(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd));
}

/** The order of {@link bytewiseComparator}. */
export function compareBytes(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
  const common = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < common; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

/** The key up to byte `i`, and that byte plus one. */
function increment(key: Uint8Array, i: number): Uint8Array {
  const incremented = key.slice(0, i + 1);
  incremented[i]!++;
  return incremented;
}

/** LevelDB's default order: unsigned bytes, and a prefix before what it begins. */
export const bytewiseComparator: Comparator = {
  name: 'leveldb.BytewiseComparator',

  compare: (a, b) => compareBytes(a, 0, a.length, b, 0, b.length),

  compareRange: compareBytes,

  findShortestSeparator(start, limit) {
    const common = Math.min(start.length, limit.length);
    let i = 0;
    while (i < common && start[i] === limit[i]) i++;
    // Only the first byte that differs is tried, as in LevelDB: the index must be its to the byte.
    return i < common && start[i]! + 1 < limit[i]! ? increment(start, i) : start;
  },

  findShortSuccessor(key) {
    const i = key.findIndex((byte) => byte !== 0xff);
    return i < 0 ? key : increment(key, i);
  },
};
