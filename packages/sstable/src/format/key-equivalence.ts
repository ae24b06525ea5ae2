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
    equivalence === undefined ? 'distinguishes all keys' : `treats keys as equal by "${equivalence}"`;
  const danger =
    ordered === undefined
      ? 'The filters would treat different keys as equal for no benefit, or the wrong comparator was given.'
      : 'A key stored as "a" and looked up in another form that the comparator treats as equal, such as "a " where ' +
        'trailing spaces do not count, would be filtered out although it is present.';
  throw new RangeError(
    `filter policy ${policy.name} ${say(filtered)}, comparator ${comparator.name} ${say(ordered)}. ${danger} ` +
      `Use a policy whose keyEquivalence is ${ordered === undefined ? 'absent' : `"${ordered}"`}, or no filters.`,
  );
}
