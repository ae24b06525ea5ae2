/**
 * Whether a table's filters are in use, and if not, why.
 *
 * - `used`: the file has filters of a policy that was given.
 * - `absent`: the file has none.
 * - `unknown-policy`: the file has filters, of policies that were not given.
 * - `unsupported`: the file has filters of another kind than one for every 2 KiB, such as RocksDB's one for all of it;
 *   `names` are theirs in the metaindex.
 * - `corrupt`: the file has filters, and they, or the metaindex that leads to them, cannot be read.
 * - `contradicted`: the filters deny keys that the table stores, so they are of other keys: `filteredKeys`.
 *
 * Without filters every lookup is as right as with them, and reads a block more often.
 */
export type FilterStatus =
  | { readonly state: 'used'; readonly policyName: string }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown-policy'; readonly policyNames: readonly string[] }
  | { readonly state: 'unsupported'; readonly names: readonly string[] }
  | { readonly state: 'corrupt'; readonly policyName?: string; readonly error: Error }
  | { readonly state: 'contradicted'; readonly policyName: string; readonly filteredKeys: FilteredKeys };

/**
 * What filters are of that deny keys of their own table.
 *
 * - `user-keys`: the stored keys without their last eight bytes. It is a table out of a LevelDB database: open it with
 *   `DatabaseTable` of `@bloom/sstable/database`.
 * - `whole-keys`: the stored keys, where the policy leaves their last eight bytes out. It is a plain table that was opened
 *   with `DatabaseTable`, or one that was built without `internalKeyPolicy`.
 * - `other-keys`: neither.
 */
export type FilteredKeys = 'user-keys' | 'whole-keys' | 'other-keys';
