/**
 * Whether a table's filters are in use, and why if they are not.
 *
 * - `used`: the file has filters of one of the given policies.
 * - `unread`: the file has filters of one of the given policies, and they have not been read: they are read once that pays, or
 *   never, as the option `filters` says. `error` is there when the source has failed to read them. Until then, lookups of absent
 *   keys read a block.
 * - `absent`: the file has no filters.
 * - `unknown-policy`: the file has filters, but none of a given policy. `leveldb.BuiltinBloomFilter` is the name that goleveldb uses, and
 *   LevelDB used before 1.18: `GoleveldbBloomFilterPolicy` of `@bloom/policy` reads both.
 * - `unsupported`: the file has another kind of filter, such as RocksDB's filter for the whole file; `names` are the
 *   filters' names in the metaindex.
 * - `corrupt`: the file has filters, but they, or the metaindex that leads to them, cannot be read.
 * - `contradicted`: the filters do not match keys that the table stores, so they were made from other keys:
 *   `filteredKeys` says which.
 *
 * Without filters, every lookup is still correct, but more lookups read a block.
 */
export type FilterStatus =
  | { readonly state: 'used'; readonly policyName: string }
  | { readonly state: 'unread'; readonly policyName: string; readonly error?: Error }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown-policy'; readonly policyNames: readonly string[] }
  | { readonly state: 'unsupported'; readonly names: readonly string[] }
  | { readonly state: 'corrupt'; readonly policyName?: string; readonly error: Error }
  | { readonly state: 'contradicted'; readonly policyName: string; readonly filteredKeys: FilteredKeys };

/**
 * The keys from which contradicted filters were made.
 *
 * - `user-keys`: the stored keys without their last eight bytes. This is a table of a LevelDB database: open it with
 *   `DatabaseTable` of `@bloom/sstable/database`.
 * - `whole-keys`: the stored keys, although the policy ignores their last eight bytes. This is a plain table that was
 *   opened with `DatabaseTable`, or one that was built without `internalKeyPolicy`.
 * - `other-keys`: neither.
 */
export type FilteredKeys = 'user-keys' | 'whole-keys' | 'other-keys';
