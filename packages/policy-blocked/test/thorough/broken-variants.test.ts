import { brokenPolicies } from '@bloom/fixtures/broken-filter-policies';
import { KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { expect, test } from 'vitest';

const broken = brokenPolicies({ right: () => new BlockedBloomFilterPolicy(), listOf: (keys) => KeyBuffer.from(keys), seedFromEnd: 1, hasOtherSeeds: false });

test('there are forty broken variants and more', () => {
  expect(broken.length).toBeGreaterThanOrEqual(40);
});

test.each(broken)('a policy that $fault breaks a law', ({ law, make }) => {
  const laws = policyLaws(make, { maxFalsePositiveRate: 0.012, budgetMs: 30_000 }).filter(({ name }) => name.startsWith(law));
  expect(laws).toHaveLength(1);
  expect(laws[0]!.run).toThrow(law);
}, 300_000);
