import { BLOOM_SEED, hashRange } from '@bloom/hash';
import type { KeyList } from './policy.js';

/**
 * Checks the offsets of the keys `first` to `last` of a list, because kernels do not.
 *
 * @throws RangeError when offsets do not ascend or leave the bytes, as the plain loops throw it.
 */
export function mustAscend({ bytes, offsets }: Pick<KeyList, 'bytes' | 'offsets'>, first: number, last: number): void {
  let previous = offsets[first]!;
  let i = first;
  // One comparison per key, and only then a search for the bad pair: one loop for both makes createFilter 2% to 3% slower.
  while (i < last && previous <= offsets[i + 1]!) previous = offsets[++i]!;
  if (i === last && previous <= bytes.length) return;
  for (i = first; i < last; i++) hashRange(bytes, offsets[i]!, offsets[i + 1]!, BLOOM_SEED);
}
