/**
 * The order of a table's keys.
 *
 * Source: LevelDB, include/leveldb/comparator.h and util/comparator.cc.
 */
import { compareBytes } from './bytewise-order.js';
import { bytewiseSeparator, bytewiseSuccessor } from './separators.js';

/**
 * A total order of keys. A table must be read with the comparator that it was written with.
 *
 * `comparatorLaws` of `@bloom/sstable/contract` tests a comparator.
 */
export interface Comparator {
  /** Identifies the order. LevelDB stores it in a database's MANIFEST, not in tables. */
  readonly name: string;

  /**
   * Names the equivalence by which the order treats keys with different bytes as equal; absent when it treats none as equal.
   * A filter policy for such a table must name the same equivalence, or keys that are present would be filtered out.
   */
  readonly keyEquivalence?: string | undefined;

  /**
   * Negative when `a` is before `b`, positive when it is after, 0 when they are equal. Keys with different bytes may be equal only
   * if there is a `keyEquivalence`. Any other result ends the call with a `ComparatorError`.
   */
  compare(a: Uint8Array, b: Uint8Array): number;

  /** A short key k with start ≤ k < limit; returning `start` is always right. Called with start < limit. */
  findShortestSeparator(start: Uint8Array, limit: Uint8Array): Uint8Array;

  /** A short key k with key ≤ k; returning `key` is always right. */
  findShortSuccessor(key: Uint8Array): Uint8Array;

  /** `compare(a[aStart, aEnd), b[bStart, bEnd))`, for speed. Without it, views are made and compared. */
  compareRange?(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number;
}

/** LevelDB's default order: by unsigned bytes, with a prefix before longer keys. */
export const bytewiseComparator: Comparator = {
  name: 'leveldb.BytewiseComparator',

  compare: (a, b) => compareBytes(a, 0, a.length, b, 0, b.length),

  compareRange: compareBytes,

  findShortestSeparator: bytewiseSeparator,

  findShortSuccessor: bytewiseSuccessor,
};
