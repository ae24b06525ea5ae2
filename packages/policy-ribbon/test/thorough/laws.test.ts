import { policyLaws } from '@bloom/policy/contract';
import { type RibbonFilterOptions, RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { describe, test } from 'vitest';

const settings: RibbonFilterOptions[] = [{ width: 128 }, { width: 64, rate: 0.5 }, { rate: 0.003 }, { width: 128, rate: 2 ** -16 }];
const tunedOtherwise = settings.map((options) => () => new RibbonFilterPolicy(options));

describe('the Ribbon policy keeps every law', () => {
  // A law's budget is processor time, of which this policy takes more than LevelDB's.
  const options = { tunedOtherwise, lendBuffers: true, maxFalsePositiveRate: 0.01, budgetMs: 30_000 };
  for (const law of policyLaws(() => new RibbonFilterPolicy(), options)) test(law.name, law.run, 300_000);
});
