import { BloomFilterPolicy, type FilterPolicy, KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { expect, test } from 'vitest';

/** LevelDB's policy, which makes its filter of another list where that has one key, the empty one, or two of them. */
function losing(count: number): FilterPolicy {
  const policy = new BloomFilterPolicy();
  return {
    name: policy.name,
    createFilter(keys, dst) {
      const isEmpty = keys.length === count && [...keys].every((key) => key.length === 0);
      policy.createFilter(isEmpty ? KeyBuffer.from([Uint8Array.of(1)]) : keys, dst);
    },
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter),
  };
}

test.each([1, 2])('a policy that loses the empty key where %i of them are all the keys breaks the first law', (count) => {
  expect(policyLaws(() => losing(count))[0]!.run).toThrow('1. no false negatives');
}, 60_000);
