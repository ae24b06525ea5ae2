import type { Bytes } from '@bloom/bytes';
import { FilterBuffer } from './filter-buffer.js';
import { KeyBuffer } from './key-buffer.js';
import { type FilterPolicy, mustBeFilterPolicy } from './policy.js';

/**
 * Makes one filter of all `keys`, for use without a table.
 *
 * @param keys in any order, less than 4 GiB in total: they are copied.
 * @returns the bytes that `policy.keyMayMatch` takes.
 * @throws TypeError when `policy` is not a policy, or a key is not a `Uint8Array`.
 * @throws RangeError when the keys have 4 GiB or more in total.
 * @example
 * ```ts
 * const filter = buildFilter(new BloomFilterPolicy(10), [utf8('hello'), utf8('world')]); // 9 bytes
 * ```
 */
export function buildFilter(policy: FilterPolicy, keys: Iterable<Uint8Array>): Bytes {
  mustBeFilterPolicy('policy', policy);
  const filter = new FilterBuffer();
  policy.createFilter(KeyBuffer.from(keys), filter);
  return filter.toBytes();
}
