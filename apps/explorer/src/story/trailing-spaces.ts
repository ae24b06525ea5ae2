/** An order of keys that ignores trailing spaces, and a policy that fits it. */
import { BloomFilterPolicy, type FilterPolicy, type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';

const SPACE = 0x20;
/** Declared by both, so that the builder of a table knows that they fit together. */
const KEY_EQUIVALENCE = 'trailing-spaces';

function withoutTrailingSpaces(key: Uint8Array): Uint8Array {
  let end = key.length;
  while (end > 0 && key[end - 1] === SPACE) end--;
  return key.subarray(0, end);
}

export const trailingSpaceComparator: Comparator = {
  name: 'explorer.TrailingSpaceComparator',
  keyEquivalence: KEY_EQUIVALENCE,
  compare: (a, b) => bytewiseComparator.compare(withoutTrailingSpaces(a), withoutTrailingSpaces(b)),
  // A shorter key could end with a space, and then sort elsewhere.
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/** Makes the filters of another policy from keys without trailing spaces. */
export class TrailingSpacePolicy implements FilterPolicy {
  readonly keyEquivalence = KEY_EQUIVALENCE;
  readonly name: string;
  readonly #inner: FilterPolicy;

  constructor(inner: FilterPolicy = new BloomFilterPolicy()) {
    this.name = `explorer.TrailingSpace(${inner.name})`;
    this.#inner = inner;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    this.#inner.createFilter(KeyBuffer.from(Array.from(keys, withoutTrailingSpaces)), dst);
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    return this.#inner.keyMayMatch(withoutTrailingSpaces(key), filter);
  }
}
