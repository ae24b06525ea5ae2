/**
 * The contract between a table and a filter. To write a policy you need this file and no other.
 *
 * A filter answers one question about a set of keys: "may this key be in it?" "No" is certain, "maybe" is a guess. A table
 * stores one filter for every 2 KiB of its data, and a lookup that gets a "no" ends without a read. So a wrong "maybe"
 * costs a read, and a wrong "no" hides stored data.
 *
 * ## When each member is called
 *
 * A table's builder gives every key to the filter block. At the end of each 2 KiB range of the file it calls
 * `createFilter` once, with the keys of the data blocks that start in that range, in the table's order; it skips ranges
 * without keys. `name` is stored in the table. A reader looks for a policy of that name; for each lookup it calls
 * `keyMayMatch` with the key and the filter of the one block that can hold it. Scans do not use filters.
 *
 * ## The laws
 *
 * `@bloom/policy/contract` checks them, under the same numbers.
 *
 * 1. **No false negatives.** `keyMayMatch` is true for every key that the filter was made from, for any number of keys of
 *    any length, including zero keys and duplicates.
 * 2. **`keyMayMatch` never throws**, whatever bytes the filter holds: it may be damaged, or written by a later
 *    version. It returns true or false, and true when it cannot tell.
 * 3. **Same keys, same filter**, from every instance and after any other calls.
 * 4. **Same question, same answer**, computed from the key and the filter's bytes alone: the program that reads a table
 *    is usually not the one that wrote it.
 * 5. **It changes nothing it was lent**: not the keys, not their offsets, not the filter that `keyMayMatch` gets.
 * 6. **It keeps nothing it was lent** after a call returns: the arrays that hold keys, filters and the parts lent by
 *    `extend` are reused, and hold other bytes in the next call.
 * 7. **It only appends**: at least one byte when there is at least one key, and it changes no other bytes. An empty
 *    filter means "no keys".
 * 8. **One name for one format.** The name changes exactly when existing filters become unreadable or wrong; never
 *    for tuning, such as bits per key, which belongs in the filter's own bytes. Every instance with a given name reads
 *    what any other made, and no policy uses the name of another format.
 * 9. **Keys that the comparator calls equal are equal to the filter.** If the order of the table calls different bytes
 *    equal, policy and comparator give the same `keyEquivalence`, and the filter must not tell such keys apart.
 * 10. **It returns in reasonable time**: `createFilter` in time about proportional to the number of keys and their bytes,
 *    `keyMayMatch` to the bytes of key and filter, however damaged the filter is.
 * 11. **A prefix is what it claims to be**, for a policy with `prefixes`: it is a prefix of the key, and every key that begins with it
 *    has the same one; keys that have it are adjacent in the comparator's order; `prefixMayMatch` is true for the
 *    prefix of every key that was added; and its name is part of the policy's, as a word of its own, because filters with other
 *    prefixes are of another format. Laws 2, 4 and 5 hold for these members too.
 * 12. **Many keys at once get the answers of each**, for a policy with `keysMayMatch`. An array of answers that is shorter than one byte
 *    per key is rejected with a RangeError before anything is written to it. Otherwise, answers of an earlier call could be
 *    taken for new ones.
 *
 * Every array lent to a policy is a view of a larger buffer, at any offset, with other keys and filters around it: use an
 * array's `byteOffset` and `length` wherever you use its `buffer`.
 *
 * ## A complete example
 *
 * One byte per key:
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
   * Identifies the format of the filters. Every table that has them stores it, as `filter.` + name. By convention it
   * begins with the project's name: `leveldb.BuiltinBloomFilter2`.
   */
  readonly name: string;

  /**
   * Names the rule by which the policy treats keys as equal although their bytes differ. Absent if it distinguishes
   * all keys. Any name can be used if the comparator has the same one.
   */
  readonly keyEquivalence?: string | undefined;

  /**
   * Appends to `dst` one filter for all of `keys`.
   *
   * @param keys in the order in which they were added; duplicates are allowed.
   */
  createFilter(keys: KeyList, dst: FilterSink): void;

  /**
   * Whether `key` may be among the keys that `filter` was made from.
   *
   * @param key in Node it may be a `Buffer`, whose `slice` shares memory and whose `toString` decodes UTF-8.
   * @param filter any bytes at all: what `createFilter` appended, possibly damaged on disk since.
   * @returns false only when the key is certainly not among them.
   */
  keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean;

  /**
   * `keyMayMatch` of the key `keyBytes[keyStart, keyEnd)` and the filter `filterBytes[filterStart, filterEnd)`, for speed:
   * without it, tables make views. Its answers are those of `keyMayMatch`, and it keeps the same laws. It is not called where a
   * subclass or a proxy replaces `keyMayMatch` alone; a copy of an object that has both must replace both.
   */
  keyMayMatchRange?(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    filterBytes: Uint8Array,
    filterStart: number,
    filterEnd: number,
  ): boolean;

  /**
   * `keyMayMatch` for many keys at once, for speed. Its answers are those of `keyMayMatch`, and it keeps the same laws; law 12
   * compares them.
   *
   * @param answers receives 1 (may match) or 0 (does not match) for each key, and is changed nowhere else; at least one byte per
   *   key. Default: a new array.
   * @returns `answers`.
   * @throws RangeError when `answers` is too short.
   */
  keysMayMatch?(keys: KeyList, filter: Uint8Array, answers?: Uint8Array): Uint8Array;

  /**
   * How the prefix of a key is found, for a policy whose filters also answer for prefixes: then a scan of the keys with a
   * prefix skips the tables that have none. Absent where filters answer for whole keys alone.
   */
  readonly prefixes?: PrefixExtractor | undefined;

  /**
   * Whether a key with `prefix` may be among the keys that `filter` was made from. Required with `prefixes`.
   *
   * @param prefix of a key, by `prefixes`.
   * @param filter any bytes at all, as for `keyMayMatch`.
   */
  prefixMayMatch?(prefix: Uint8Array, filter: Uint8Array): boolean;
}

/** A rule by which keys have prefixes, such as "the first eight bytes", or "up to the first slash". */
export interface PrefixExtractor {
  /** Identifies the rule. It is part of the name of the policies that use it, so it changes when any key's prefix does. */
  readonly name: string;

  /**
   * How many bytes of `key` are its prefix; undefined for a key that has none.
   *
   * It must be the same for every key that begins with that prefix, and for the prefix itself: a scan passes only the bytes that all its
   * keys begin with.
   */
  prefixLength(key: Uint8Array): number | undefined;
}

/**
 * Keys in one flat buffer: key `i` is `bytes[offsets[i], offsets[i + 1])`. Read them with `at(i)` or by iterating, or,
 * where every nanosecond counts, from the buffer itself.
 */
export interface KeyList extends Iterable<Uint8Array> {
  /** How many keys there are. */
  readonly length: number;
  /** The keys, adjacent. Bytes before `offsets[0]` and from `offsets[length]` on belong to no key. */
  readonly bytes: Uint8Array;
  /** Where each key starts, and where the last one ends. The first need not start at 0; elements past `length` are not offsets. */
  readonly offsets: Uint32Array;
  /**
   * Key `i` as a view of `bytes`.
   *
   * @throws RangeError when there is no key `i`.
   */
  at(i: number): Uint8Array;
}

/** Where a policy writes the filter that it makes. */
export interface FilterSink {
  /**
   * Appends `byteLength` zero bytes, which the policy may write to until `createFilter` returns.
   *
   * @returns exactly those bytes. It is not possible to reach what was appended before.
   * @throws RangeError when `byteLength` is not a whole number, or more bytes than can be allocated.
   */
  extend(byteLength: number): Uint8Array;
}

/**
 * Throws unless `value` is a {@link FilterPolicy}; the message names the members that are missing.
 *
 * @param argument the name of the argument or option, for the message.
 * @throws TypeError when `value` is not an object with a well-formed name and both methods, such as a class instead of an instance.
 */
export function mustBeFilterPolicy(argument: string, value: unknown): asserts value is FilterPolicy {
  if (typeof value === 'function') {
    const name = value.name === '' ? 'Policy' : value.name;
    throw new TypeError(`${argument} must be a FilterPolicy, got a function: if ${name} is a class, give new ${name}()`);
  }
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`${argument} must be a FilterPolicy, got ${value === null ? 'null' : typeof value}`);
  }
  const policy = value as Partial<FilterPolicy>;
  const missing = [
    ...(typeof policy.name === 'string' && policy.name !== '' ? [] : ['name']),
    ...(typeof policy.createFilter === 'function' ? [] : ['createFilter']),
    ...(typeof policy.keyMayMatch === 'function' ? [] : ['keyMayMatch']),
  ];
  if (policy.prefixes !== undefined) {
    if (typeof policy.prefixes !== 'object' || (policy.prefixes as PrefixExtractor | null) === null) missing.push('prefixes that are an object');
    else {
      if (typeof policy.prefixes.prefixLength !== 'function') missing.push('prefixes.prefixLength');
      if (typeof policy.prefixMayMatch !== 'function') missing.push('prefixMayMatch');
    }
  }
  if (missing.length > 0) throw new TypeError(`${argument} must be a FilterPolicy, got an object without ${missing.join(', ')}`);
  // Tables store it as UTF-8, which such a name would not come back from.
  if (/\p{Surrogate}/u.test(policy.name!)) throw new TypeError(`the name of ${argument} must be well-formed text, got one with half of a surrogate pair`);
}

/**
 * Whether the policy has a `keyMayMatchRange` that answers for its `keyMayMatch`. The one of a base class does not know the
 * `keyMayMatch` of a subclass, and the one of a policy within a proxy does not know the proxy's.
 */
export function mayAskInRanges(policy: FilterPolicy): boolean {
  return answersFor(policy, 'keyMayMatchRange', 'keyMayMatch');
}

/**
 * The policy's `prefixes`, if it has a `prefixMayMatch` that answers for its filters: that of a base class does not know the
 * `createFilter` of a subclass.
 */
export function askablePrefixes(policy: FilterPolicy): PrefixExtractor | undefined {
  const { prefixes } = policy;
  return prefixes !== undefined && answersFor(policy, 'prefixMayMatch', 'createFilter') ? prefixes : undefined;
}

/** Whether the policy has a `keysMayMatch` that answers for its `keyMayMatch`. */
export function mayAskForMany(policy: FilterPolicy): boolean {
  return answersFor(policy, 'keysMayMatch', 'keyMayMatch');
}

type Method = 'createFilter' | 'keyMayMatch' | 'keyMayMatchRange' | 'keysMayMatch' | 'prefixMayMatch';

/** Whether a method was written by somebody who knew the other one. */
function answersFor(policy: FilterPolicy, method: Method, other: Method): boolean {
  const own = memberOf(policy, method);
  const known = memberOf(policy, other);
  return own !== undefined && known !== undefined && own.depth <= known.depth;
}

/** How far up an object's prototypes a method is; undefined where there is none, or where the object returns another. */
function memberOf(object: FilterPolicy, name: Method): { readonly depth: number } | undefined {
  let depth = 0;
  for (let owner: unknown = object; owner !== null; owner = Object.getPrototypeOf(owner), depth++) {
    const member = Object.getOwnPropertyDescriptor(owner, name);
    if (member === undefined) continue;
    const value: unknown = member.value;
    return typeof value === 'function' && value === object[name] ? { depth } : undefined;
  }
  return undefined;
}
