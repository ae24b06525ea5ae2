import { policyLaws } from '@bloom/policy/contract';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { describe, test } from 'vitest';

const tunedOtherwise = [0.5, 3.3, 10, 22.7, 44].map((bitsPerKey) => () => new BlockedBloomFilterPolicy(bitsPerKey));

describe('the blocked Bloom policy keeps every law', () => {
  for (const law of policyLaws(() => new BlockedBloomFilterPolicy(), { tunedOtherwise, lendBuffers: true, maxFalsePositiveRate: 0.02, budgetMs: 30_000 })) {
    test(law.name, law.run, 300_000);
  }
});
