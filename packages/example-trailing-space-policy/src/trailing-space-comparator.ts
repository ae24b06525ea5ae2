import type { Comparator } from '@bloom/sstable';
import { endOfKey, KEY_EQUIVALENCE } from './key-equivalence.js';

function compareRange(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const aLength = endOfKey(a, aStart, aEnd) - aStart;
  const bLength = endOfKey(b, bStart, bEnd) - bStart;
  for (let i = 0; i < Math.min(aLength, bLength); i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** Compares keys as unsigned bytes, ignoring trailing spaces. */
export const trailingSpaceComparator: Comparator = {
  name: 'bloom.example.TrailingSpaceComparator',
  keyEquivalence: KEY_EQUIVALENCE,

  compare: (a, b) => compareRange(a, 0, a.length, b, 0, b.length),
  compareRange,

  // The bytewise comparator's shortening could turn "a\x1f" into "a ", which sorts before it here.
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
