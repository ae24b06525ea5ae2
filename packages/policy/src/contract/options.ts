import type { FilterPolicy } from '../policy.js';

/** The part of a table's comparator that the laws need. */
export interface KeyOrder {
  readonly name: string;
  readonly keyEquivalence?: string | undefined;
  compare(a: Uint8Array, b: Uint8Array): number;
}

/** A filter that another program wrote, and the keys that it was made of. */
export interface KnownFilter {
  readonly keys: readonly Uint8Array[];
  readonly filter: Uint8Array;
}

/** What beside the policy is to be checked, and how. */
export interface PolicyLawsOptions {
  /** The order of the tables that the policy is for: checks that both treat the same keys as one. Default: bytewise. */
  readonly comparator?: KeyOrder | undefined;
  /**
   * Keys that are one with `key` to the comparator. Needed only for an equivalence that the laws do not find by
   * themselves: they try spaces, zeros and letters in the other case.
   */
  readonly equivalents?: ((key: Uint8Array) => Iterable<Uint8Array>) | undefined;
  /** The same policy with other settings: each must have the same name, and read what the others made. */
  readonly tunedOtherwise?: readonly (() => FilterPolicy)[] | undefined;
  /**
   * Filters that another program wrote under the policy's name: each must match all its keys. Needed for a name that
   * belongs to a format of another project which these laws do not have themselves, such as RocksDB's.
   */
  readonly knownFilters?: readonly KnownFilter[] | undefined;
  /**
   * Whether keys and filters are lent as Node's `Buffer` too, whose `slice` shares memory and whose `toString` decodes:
   * for a policy whose users look keys up with Buffers. Default: false.
   */
  readonly lendBuffers?: boolean | undefined;
  /** The greatest part of absent keys that may pass, 0 to 1. Left out, no rate is demanded. */
  readonly maxFalsePositiveRate?: number | undefined;
  /** Draws other keys. Default: 1. */
  readonly seed?: number | undefined;
  /**
   * Milliseconds of processor time that one law may take; a law that is not done by then fails and says so. Default:
   * 10,000, of which a policy as fast as LevelDB's needs less than a tenth.
   */
  readonly budgetMs?: number | undefined;
}
