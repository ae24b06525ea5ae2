import { type FilterPolicy, type FilterSink, type KeyList, mustBeBytes } from '@bloom/policy';
import { mustBeKeyList, shownValue } from '@bloom/policy/internal';
import { mustBeKeyRange } from '@bloom/policy/kit';
import { blockedBloomFilterMayMatch, blockedBloomFilterMayMatchRange, encodeBlockedBloomFilter } from './blocked-bloom-filter.js';

const MAX_BITS_PER_KEY = 64;

/**
 * A Bloom filter that reads one cache line per lookup, where LevelDB's reads up to one per probe.
 *
 * About 1% of absent keys match at 10 bits per key, even if they are close to stored keys, for which LevelDB's hash is too
 * narrow. Filters are whole lines of 64 bytes, so it suits filters of very many keys, not those of a table's blocks;
 * README.md has measurements. Reading does not depend on `bitsPerKey`: every
 * filter carries its own number of probes.
 *
 * @example
 * ```ts
 * const filter = buildFilter(new BlockedBloomFilterPolicy(10), [utf8('hello'), utf8('world')]); // 65 bytes
 * new BlockedBloomFilterPolicy().keyMayMatch(utf8('hello'), filter); // true
 * ```
 */
export class BlockedBloomFilterPolicy implements FilterPolicy {
  readonly name = 'bloom.BlockedBloomFilter';
  /** Bits of filter per key, before the filter is rounded up to whole lines. */
  readonly bitsPerKey: number;

  /** @throws RangeError when `bitsPerKey`, which need not be whole, is not above 0 and at most 64. */
  constructor(bitsPerKey = 10) {
    if (!(typeof bitsPerKey === 'number' && bitsPerKey > 0 && bitsPerKey <= MAX_BITS_PER_KEY)) {
      throw new RangeError(`bitsPerKey must be above 0 and at most ${MAX_BITS_PER_KEY}, got ${shownValue(bitsPerKey)}`);
    }
    this.bitsPerKey = bitsPerKey;
  }

  createFilter(keys: KeyList, dst: FilterSink): void {
    mustBeKeyList('keys', keys);
    encodeBlockedBloomFilter(keys, this.bitsPerKey, dst);
  }

  /** @throws TypeError when `key` or `filter` is not a `Uint8Array`, or is detached. */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    mustBeBytes('key', key);
    mustBeBytes('filter', filter);
    return blockedBloomFilterMayMatch(key, filter);
  }

  /**
   * @throws TypeError when `keyBytes` or `filterBytes` is not a `Uint8Array`, or is detached.
   * @throws RangeError when the key is not a range of `keyBytes`.
   */
  keyMayMatchRange(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    filterBytes: Uint8Array,
    filterStart: number,
    filterEnd: number,
  ): boolean {
    mustBeBytes('keyBytes', keyBytes);
    mustBeBytes('filterBytes', filterBytes);
    mustBeKeyRange(keyBytes, keyStart, keyEnd);
    return blockedBloomFilterMayMatchRange(keyBytes, keyStart, keyEnd, filterBytes, filterStart, filterEnd);
  }
}
