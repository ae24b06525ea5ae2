import { GoleveldbBloomFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { describe, test } from 'vitest';

// Its filters are those of LevelDB's policy, byte for byte, which keeps these laws in `bloom-contract.test.ts`.
const LAWS_ABOUT_FILTERS_ALONE = /^(3|7)[.]/;

describe("goleveldb's Bloom filter keeps the law", () => {
  const laws = policyLaws(() => new GoleveldbBloomFilterPolicy(), {
    // Twice that of LevelDB's, for keys that two hashes are asked about.
    maxFalsePositiveRate: 0.035,
    tunedOtherwise: [() => new GoleveldbBloomFilterPolicy(1), () => new GoleveldbBloomFilterPolicy(44)],
  });
  for (const law of laws.filter(({ name }) => !LAWS_ABOUT_FILTERS_ALONE.test(name))) test(law.name, law.run);
});
