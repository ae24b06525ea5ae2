import { brokenPolicies } from '@bloom/fixtures/broken-filter-policies';
import { KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { expect, test } from 'vitest';

const broken = brokenPolicies({ right: () => new RibbonFilterPolicy(), listOf: (keys) => KeyBuffer.from(keys), seedFromEnd: 2, hasOtherSeeds: true });

test('there are forty broken variants and more', () => {
  expect(broken.length).toBeGreaterThanOrEqual(40);
});

test.each(broken)('a policy that $fault breaks a law', ({ law, make }) => {
  const laws = policyLaws(make, { maxFalsePositiveRate: 0.01, budgetMs: 30_000 }).filter(({ name }) => name.startsWith(law));
  expect(laws).toHaveLength(1);
  expect(laws[0]!.run).toThrow(law);
}, 300_000);
