import { BloomFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { describe, test } from 'vitest';

const tunedOtherwise = [5, 44].map((bitsPerKey) => () => new BloomFilterPolicy(bitsPerKey));

describe('the Bloom policy keeps every law', () => {
  for (const law of policyLaws(() => new BloomFilterPolicy(), { tunedOtherwise, lendBuffers: true, maxFalsePositiveRate: 0.02 })) {
    test(law.name, law.run);
  }
});
