import { policyLaws } from '@bloom/policy/contract';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { describe, test } from 'vitest';

describe('the binary fuse policy keeps every law', () => {
  const options = { tunedOtherwise: [() => new FuseFilterPolicy(16)], lendBuffers: true, maxFalsePositiveRate: 0.004, budgetMs: 30_000 };
  for (const law of policyLaws(() => new FuseFilterPolicy(), options)) test(law.name, law.run, 300_000);
});
