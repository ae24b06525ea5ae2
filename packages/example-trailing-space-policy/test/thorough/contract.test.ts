import { trailingSpaceComparator, TrailingSpacePolicy } from '@bloom/example-trailing-space-policy';
import { BloomFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { test } from 'vitest';

const tunedOtherwise = [1, 5, 20, 44].map((bitsPerKey) => () => new TrailingSpacePolicy(new BloomFilterPolicy(bitsPerKey)));
const options = { comparator: trailingSpaceComparator, tunedOtherwise, lendBuffers: true, maxFalsePositiveRate: 0.02 };

for (const law of policyLaws(() => new TrailingSpacePolicy(), options)) test(law.name, law.run);
