import { bytewiseComparator, type Comparator } from '../src/format/comparator.js';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { expect, test } from 'vitest';
import { mustAgree } from '../src/format/key-equivalence.js';

const bloom = new BloomFilterPolicy();

function comparator(keyEquivalence: string | undefined): Comparator {
  return { ...bytewiseComparator, name: 'test.Order', keyEquivalence };
}

function policy(keyEquivalence: string | undefined): FilterPolicy {
  return {
    name: 'test.Policy',
    keyEquivalence,
    createFilter: (keys, dst) => bloom.createFilter(keys, dst),
    keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter),
  };
}

test.each([undefined, 'trailing spaces'])('a comparator and a policy of the same equivalence agree (%s)', (equivalence) => {
  expect(() => mustAgree(comparator(equivalence), policy(equivalence))).not.toThrow();
});

const wouldHide =
  'A key stored as "a" and looked up in another form that the comparator treats as equal, such as "a " where trailing ' +
  'spaces do not count, would be filtered out although it is present.';

test.each([
  [
    'a policy that distinguishes keys the comparator does not',
    comparator('trailing spaces'),
    policy(undefined),
    'filter policy test.Policy distinguishes all keys, comparator test.Order treats keys as equal by "trailing spaces". ' +
      `${wouldHide} Use a policy whose keyEquivalence is "trailing spaces", or no filters.`,
  ],
  [
    'a policy of another equivalence',
    comparator('trailing spaces'),
    policy('case'),
    'filter policy test.Policy treats keys as equal by "case", comparator test.Order treats keys as equal by "trailing spaces". ' +
      `${wouldHide} Use a policy whose keyEquivalence is "trailing spaces", or no filters.`,
  ],
  [
    'a policy that does not distinguish keys the comparator does',
    comparator(undefined),
    policy('case'),
    'filter policy test.Policy treats keys as equal by "case", comparator test.Order distinguishes all keys. ' +
      'The filters would treat different keys as equal for no benefit, or the wrong comparator was given. ' +
      'Use a policy whose keyEquivalence is absent, or no filters.',
  ],
])('%s is rejected, with what would happen and what to use instead', (_, order, filters, message) => {
  expect(() => mustAgree(order, filters)).toThrow(new RangeError(message));
});
