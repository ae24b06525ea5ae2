/**
 * The contract between a table and a filter. A policy of one's own needs this file and no other.
 *
 * A filter answers one question about a set of keys: "may this key be in it?" No is certain, yes is a guess. A table
 * stores one filter for every 2 KiB of its data, and a lookup that is told no ends without a read. So a wrong yes
 * costs a read, and a wrong no loses data that is there.
 *
 * ## When each member is called
 *
 * A table's builder gives every key to the filter block. At the end of a 2 KiB range of the file it calls
 * `createFilter` once with the keys of the data blocks that start there, in the table's order; for a range without
 * keys it does not. `name` goes into the table. A reader looks for a policy of that name; for each lookup it calls
 * `keyMayMatch` with the key that is looked up and the filter of the one block that can hold it. Scans never ask.
 *
 * ## The laws
 *
 * `@bloom/policy/contract` checks them; its laws have these numbers.
 *
 * 1. **No false negatives.** `keyMayMatch` is true for every key that the filter was made of, however many keys there
 *    are, none included, and however often one of them comes.
 * 2. **`keyMayMatch` never throws**, whatever bytes the filter has: it may have been damaged, or be of a later version.
 *    It returns true or false, and true when it cannot tell.
 * 3. **Same keys, same filter**, from every instance and after any other calls.
 * 4. **Same question, same answer**, out of the key and the filter's bytes alone: a table is read by a program that has
 *    not seen it written.
 * 5. **It changes nothing that it was lent**: not the keys, not their offsets, not the filter that it is asked about.
 * 6. **It keeps nothing that it was lent** once a call returns: keys, filter and part are used again for others.
 * 7. **It appends only**, at least one byte for at least one key, and leaves all other bytes alone. A part of no bytes
 *    means "no keys".
 * 8. **One name for one format.** The name changes exactly when filters made before become unreadable or wrong; never
 *    for tuning, such as bits per key: that belongs into the filter's own bytes. Every instance of one name reads what
 *    any other made, and nobody uses the name of another's format.
 * 9. **Keys that are one to the comparator are one to the filter.** If the order of the table calls different bytes
 *    equal, policy and comparator name that `keyEquivalence` alike, and the filter cannot tell such keys apart.
 *
 * ## A complete example
 *
 * One byte a key, and no key is missed:
 *
 * ```ts
 * import type { FilterPolicy, FilterSink, KeyList } from '@bloom/policy';
 *
 * const checksum = (key: Uint8Array) => key.reduce((sum, byte) => (sum * 31 + byte) & 0xff, key.length & 0xff);
 *
 * export class ChecksumPolicy implements FilterPolicy {
 *   readonly name = 'example.Checksum';
 *
 *   createFilter(keys: KeyList, dst: FilterSink): void {
 *     const filter = dst.extend(Math.max(1, keys.length));
 *     for (let i = 0; i < keys.length; i++) filter[i] = checksum(keys.at(i));
 *   }
 *
 *   keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
 *     return filter.includes(checksum(key));
 *   }
 * }
 * ```
 *
 * Source: LevelDB, include/leveldb/filter_policy.h.
 */
export interface FilterPolicy {
  /**
   * Identifies the format of the filters. It is stored in every table that has them, as `filter.` + name. By custom it
   * begins with the project it comes from: `leveldb.BuiltinBloomFilter2`.
   */
  readonly name: string;

  /**
   * Which keys the policy treats as one: keys that it never tells apart although their bytes differ. Absent when it
   * tells all bytes apart. Any name will do, as long as the comparator has the same.
   */
  readonly keyEquivalence?: string | undefined;

  /**
   * Appends to `dst` one filter for all of `keys`.
   *
   * @param keys in the order in which they were added; duplicates allowed.
   */
  createFilter(keys: KeyList, dst: FilterSink): void;

  /**
   * Whether `key` may be among the keys that `filter` was made of.
   *
   * @param filter any bytes at all: what `createFilter` appended, or what became of it on disk.
   * @returns false only when the key certainly is not among them.
   */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean;
}

/**
 * Keys in one flat buffer: key `i` is `bytes[offsets[i], offsets[i + 1])`. Take them by `at(i)` or by iterating, or,
 * where every nanosecond counts, from the buffer itself.
 */
export interface KeyList extends Iterable<Uint8Array> {
  /** How many keys there are. */
  readonly length: number;
  /** The keys one after another; what lies past `offsets[length]` is not theirs. */
  readonly bytes: Uint8Array;
  /** Where each key starts, and where the last one ends; what lies past element `length` is not theirs. */
  readonly offsets: Uint32Array;
  /**
   * Key `i` as a view of `bytes`.
   *
   * @throws RangeError when there is no key `i`.
   */
  at(i: number): Uint8Array;
}

/** Where a policy puts the filter that it makes. */
export interface FilterSink {
  /**
   * Appends `byteLength` zero bytes and lends them until `createFilter` returns.
   *
   * @returns exactly those bytes: what was appended before is out of reach.
   * @throws RangeError when `byteLength` is not a count of bytes that can be allocated.
   */
  extend(byteLength: number): Uint8Array;
}
