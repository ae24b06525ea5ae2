import { policyLaws } from '@bloom/policy/contract';
import { expect, test } from 'vitest';
import { refusal } from '../../src/story/equal-keys.js';
import { trailingSpaceComparator, TrailingSpacePolicy } from '../../src/story/trailing-spaces.js';

for (const law of policyLaws(() => new TrailingSpacePolicy(), { comparator: trailingSpaceComparator, maxFalsePositiveRate: 0.02 })) test(law.name, law.run);

test('a table in that order is not written with filters that tell such keys apart', () => {
  expect(refusal()).toMatch(/^filter policy leveldb\.BuiltinBloomFilter2 distinguishes all keys/);
});
