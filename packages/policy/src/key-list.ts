import { kindOf } from '@bloom/bytes/internal';
import type { KeyList } from './policy.js';

/**
 * Checks that keys are a list with flat members: a `Set` or an iterator, which has no length, would give a filter without keys.
 *
 * @throws TypeError, which names the argument, unless `value` has the members of a {@link KeyList} that policies read.
 */
export function mustBeKeyList(name: string, value: unknown): asserts value is KeyList {
  if (typeof value === 'object' && value !== null) {
    const { bytes, offsets, length } = value as Partial<KeyList>;
    // Not instanceof: the arrays may be of another realm, such as a test sandbox.
    if (ArrayBuffer.isView(bytes) && ArrayBuffer.isView(offsets) && typeof length === 'number') return;
  }
  throw new TypeError(`${name} must be a KeyList, got ${kindOf(value)}: KeyBuffer.from(keys) makes one`);
}

/** An answer for each key of a list. @throws TypeError as {@link mustBeKeyList} does. */
export function answersFor(keys: KeyList): Uint8Array {
  mustBeKeyList('keys', keys);
  return new Uint8Array(keys.length);
}
