import {
  BloomFilterPolicy,
  type FilterPolicy,
  type FilterSink,
  KeyBuffer,
  type KeyList,
  mustBeBytes,
  mustBeFilterPolicy,
} from '@bloom/policy';
import { endOfKey, KEY_EQUIVALENCE } from './key-equivalence.js';

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
        `inner must distinguish all keys, but ${inner.name} treats keys as one by "${inner.keyEquivalence}": ` +
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

function withoutTrailingSpaces(key: Uint8Array): Uint8Array {
  const end = endOfKey(key, 0, key.length);
  return end === key.length ? key : key.subarray(0, end);
}
