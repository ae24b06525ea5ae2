import type { FilterPolicy } from '../policy.js';

/** The part of a table's comparator that the laws need. */
export interface PolicyComparator {
  readonly name: string;
  readonly keyEquivalence?: string | undefined;
  /** Negative where `a` comes first, positive where `b` does, 0 for keys that are equal to the comparator. */
  compare(a: Uint8Array, b: Uint8Array): number;
}

/** A filter that another program wrote, and the keys that it was made from. */
export interface KnownFilter {
  readonly keys: readonly Uint8Array[];
  readonly filter: Uint8Array;
}

/** What else to check the policy with, and how thoroughly. */
export interface PolicyLawsOptions {
  /** The comparator of the tables that the policy is for: both must treat the same keys as equal. Default: bytewise. */
  readonly comparator?: PolicyComparator | undefined;
  /**
   * Other keys that the comparator calls equal to `key`. Needed only for an equivalence that the laws do not find by
   * themselves: they try spaces, zero bytes and changes of letter case.
   */
  readonly equivalents?: ((key: Uint8Array) => Iterable<Uint8Array>) | undefined;
  /** The same policy with other settings: each must have the same name, and read what the others made. */
  readonly tunedOtherwise?: readonly (() => FilterPolicy)[] | undefined;
  /**
   * Filters that another program wrote under the policy's name: each must match all its keys. Needed if the name
   * belongs to another project's format that the laws do not know, such as RocksDB's.
   */
  readonly knownFilters?: readonly KnownFilter[] | undefined;
  /**
   * Whether keys and filters are also lent in arrays that behave as Node's `Buffer` does: `slice` shares memory, and
   * `toString` decodes UTF-8. For a policy whose users look keys up with Buffers. Default: false.
   */
  readonly lendBuffers?: boolean | undefined;
  /**
   * The largest share of absent keys that may match, 0 to 1: of keys of 4, 16 and 103 bytes and filters of 3 to 100,000 keys, and
   * of absent prefixes where there are `prefixes`. Default: the rate is not checked.
   */
  readonly maxFalsePositiveRate?: number | undefined;
  /**
   * The largest share, 0 to 1, of absent numbers between stored numbers that may match, over all filters of 8 to 128 keys. The numbers
   * are decimal and hexadecimal text; up to 11% match LevelDB's filters, and up to 0.3% fitted ones. Default: this rate is not checked.
   */
  readonly maxNeighbourRate?: number | undefined;
  /** The seed from which keys are generated. Default: 1. */
  readonly seed?: number | undefined;
  /**
   * Milliseconds of processor time that one law may take; a law that needs more fails with a message. Default:
   * 10,000. A policy as fast as LevelDB's needs less than a tenth of that.
   */
  readonly budgetMs?: number | undefined;
}

/** The names of {@link PolicyLawsOptions}. */
export const POLICY_LAWS_OPTIONS: Record<keyof PolicyLawsOptions, true> = {
  comparator: true,
  equivalents: true,
  tunedOtherwise: true,
  knownFilters: true,
  lendBuffers: true,
  maxFalsePositiveRate: true,
  maxNeighbourRate: true,
  seed: true,
  budgetMs: true,
};
