import { hash64Range } from '@bloom/hash';
import type { FilterPolicy, FilterSink, KeyList } from '@bloom/policy';
import { distinctHashes, scaled } from '@bloom/policy/kit';

const SEED = 0;
const FORM = 1;

/** Sorted 24-bit numbers, one per key, and a last byte that names this form: with n keys, n of 2^24 absent keys match. */
export class SortedHashPolicy implements FilterPolicy {
  readonly name = 'example.SortedHash';
  readonly #lanes = new Uint32Array(2);

  createFilter(keys: KeyList, dst: FilterSink): void {
    const hashes = distinctHashes(keys, SEED);
    const filter = dst.extend((hashes.length / 2) * 3 + 1);
    for (let i = 1, at = 0; i < hashes.length; i += 2) {
      // Ascending, because the high lane of a hash is above its low one.
      const number = scaled(hashes[i]!, 2 ** 24);
      for (const shift of [16, 8, 0]) filter[at++] = number >> shift;
    }
    filter[filter.length - 1] = FORM;
  }

  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    // No keys, or bytes that this version does not understand: damaged, or of a later one.
    if (filter.length === 0) return false;
    if (filter[filter.length - 1] !== FORM || filter.length % 3 !== 1) return true;
    hash64Range(key, 0, key.length, SEED, this.#lanes);
    const wanted = scaled(this.#lanes[1]!, 2 ** 24);
    let [low, high] = [0, (filter.length - 1) / 3];
    while (low < high) {
      const middle = (low + high) >> 1;
      const number = (filter[middle * 3]! << 16) | (filter[middle * 3 + 1]! << 8) | filter[middle * 3 + 2]!;
      if (number === wanted) return true;
      if (number < wanted) low = middle + 1;
      else high = middle;
    }
    return false;
  }
}
