import { hash64Each } from '@bloom/hash';
import type { KeyList } from './policy.js';

/**
 * The 64-bit hashes of `keys`, each once, in ascending order: a filter that is made of them does not depend on the order of its
 * keys, nor on how often each was added.
 *
 * @param seed a uint32.
 * @returns two elements for each hash, the low lane and the high one: see `hash64Range` of `@bloom/hash`.
 * @throws RangeError when the offsets of `keys` do not ascend or are not within its bytes.
 * @example
 * ```ts
 * distinctHashes(KeyBuffer.from([utf8('b'), utf8('a'), utf8('b')]), 0).length; // 4
 * ```
 */
export function distinctHashes(keys: KeyList, seed: number): Uint32Array {
  const hashes = hash64Each(keys.bytes, keys.offsets.subarray(0, keys.length + 1), seed);
  // On a host with big-endian words the order is another, but equal hashes are adjacent all the same.
  const whole = new BigUint64Array(hashes.buffer, 0, keys.length).sort();
  let count = 0;
  for (let i = 0; i < whole.length; i++) {
    if (i > 0 && hashes[i * 2] === hashes[i * 2 - 2] && hashes[i * 2 + 1] === hashes[i * 2 - 1]) continue;
    hashes[count * 2] = hashes[i * 2]!;
    hashes[count * 2 + 1] = hashes[i * 2 + 1]!;
    count++;
  }
  return hashes.subarray(0, count * 2);
}
