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

/** What comparator and policy have in common: "a", "a " and "a  " are one key. */
const KEY_EQUIVALENCE = 'trailing-spaces';

/** Where `bytes[start, end)` ends when its trailing spaces are not counted. */
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

/** The order of unsigned bytes, without trailing spaces. */
export const trailingSpaceComparator: Comparator = {
  name: 'bloom.example.TrailingSpaceComparator',
  keyEquivalence: KEY_EQUIVALENCE,

  compare: (a, b) => compareRange(a, 0, a.length, b, 0, b.length),
  compareRange,

  // Shortened as in bytewise order, "a\x1f" could become "a ", which is before it.
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/**
 * Filters of another policy, made of the keys without their trailing spaces.
 *
 * The name contains that of the inner policy: whoever changes the inner format changes this one.
 */
export class TrailingSpacePolicy implements FilterPolicy {
  readonly name: string;
  readonly keyEquivalence = KEY_EQUIVALENCE;
  readonly #inner: FilterPolicy;

  /**
   * @throws TypeError when `inner` is not a policy.
   * @throws RangeError when `inner` treats different keys as one itself.
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
