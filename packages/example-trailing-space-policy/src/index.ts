import {
  BloomFilterPolicy,
  type FilterPolicy,
  type FilterSink,
  KeyBuffer,
  type KeyList,
  mustBeBytes,
  mustBeFilterPolicy,
} from '@bloom/policy';
import type { Comparator } from '@bloom/sstable';

const SPACE = 0x20;

/** The name that comparator and policy share for their equivalence: "a", "a " and "a  " are the same key. */
const KEY_EQUIVALENCE = 'trailing-spaces';

/** Where `bytes[start, end)` ends without its trailing spaces. */
function endOfKey(bytes: Uint8Array, start: number, end: number): number {
  while (end > start && bytes[end - 1] === SPACE) end--;
  return end;
}

function withoutTrailingSpaces(key: Uint8Array): Uint8Array {
  const end = endOfKey(key, 0, key.length);
  return end === key.length ? key : key.subarray(0, end);
}

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

/**
 * Makes the filters of another policy, from keys without their trailing spaces.
 *
 * The name contains the inner policy's name, because a change of the inner format is a change of this one.
 */
export class TrailingSpacePolicy implements FilterPolicy {
  readonly name: string;
  readonly keyEquivalence = KEY_EQUIVALENCE;
  readonly #inner: FilterPolicy;

  /**
   * @throws TypeError when `inner` is not a policy.
   * @throws RangeError when `inner` has an equivalence of its own.
   */
  constructor(inner: FilterPolicy = new BloomFilterPolicy()) {
    mustBeFilterPolicy('inner', inner);
    if (inner.keyEquivalence !== undefined) {
      throw new RangeError(
        `inner must tell all keys apart, but ${inner.name} treats keys as one by "${inner.keyEquivalence}": ` +
          `both together would be neither that equivalence nor "${KEY_EQUIVALENCE}"`,
      );
    }
    this.name = `bloom.example.TrailingSpace(${inner.name})`;
    this.#inner = inner;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#inner.createFilter(KeyBuffer.from(Array.from(keys, withoutTrailingSpaces)), dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    mustBeBytes('key', key);
    return this.#inner.keyMayMatch(withoutTrailingSpaces(key), filter);
  }
}
