import type { FilterPolicy } from '@bloom/policy';
import type { Comparator } from './comparator.js';

/**
 * Checks that keys which the comparator calls equal are equal to the filter policy too. LevelDB documents the rule
 * (include/leveldb/filter_policy.h) but cannot detect a violation.
 *
 * @throws RangeError when comparator and policy name different equivalences.
 */
export function mustAgree(comparator: Comparator, policy: FilterPolicy): void {
  const ordered = comparator.keyEquivalence;
  const filtered = policy.keyEquivalence;
  if (ordered === filtered) return;
  const say = (equivalence: string | undefined): string =>
    equivalence === undefined ? 'tells all keys apart' : `treats keys as one by "${equivalence}"`;
  const danger =
    ordered === undefined
      ? 'Keys that are different here would share their filter bits for nothing, or a wrong comparator was given.'
      : 'A key stored as "a" and looked up as another that the comparator calls equal, such as "a " where trailing ' +
        'spaces do not count, would be called absent by the filter although it is there.';
  throw new RangeError(
    `filter policy ${policy.name} ${say(filtered)}, comparator ${comparator.name} ${say(ordered)}. ${danger} ` +
      `Give a policy whose keyEquivalence is ${ordered === undefined ? 'absent' : `"${ordered}"`}, one that filters ` +
      'what the comparator compares, or do without filters.',
  );
}
