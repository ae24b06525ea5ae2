import { idbComparator, idbFilterPolicyOf } from '@bloom/leveldb/idb-comparator';
import type { FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { Failure } from '../failure.js';

/** A policy for keys in an order. Some keys of IndexedDB are equal although their bytes differ. */
export function policyInOrder(policy: FilterPolicy, comparator: Comparator | undefined): FilterPolicy {
  const isIndexedDb = comparator?.keyEquivalence === idbComparator.keyEquivalence;
  return isIndexedDb && policy.keyEquivalence === undefined ? idbFilterPolicyOf(policy) : policy;
}

/** @throws Failure for a policy that distinguishes keys that are equal in the order: its filters would deny stored keys. */
export function mustGoWith(output: string, policy: FilterPolicy | null | undefined, comparator: Comparator | undefined): void {
  if (!policy || policy.keyEquivalence === comparator?.keyEquivalence) return;
  throw new Failure(`${output}: the filters of ${policy.name} and the comparator ${comparator?.name ?? bytewiseComparator.name} do not treat the same keys as equal: name another policy with --policy, or write no filters with --no-filter`);
}
