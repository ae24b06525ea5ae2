import { GoleveldbBloomFilterPolicy } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { describe, test } from 'vitest';

describe("goleveldb's Bloom filter keeps the law", () => {
  const laws = policyLaws(() => new GoleveldbBloomFilterPolicy(), {
    // Twice that of LevelDB's, for keys that two hashes are asked about.
    maxFalsePositiveRate: 0.035,
    tunedOtherwise: [() => new GoleveldbBloomFilterPolicy(1), () => new GoleveldbBloomFilterPolicy(44)],
  });
  for (const law of laws) test(law.name, law.run);
});
