import { brokenVariantTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';

const tools = { right: () => new RibbonFilterPolicy(), listOf: (keys: Iterable<Uint8Array>) => KeyBuffer.from(keys), seedFromEnd: 2, hasOtherSeeds: true };

brokenVariantTests(tools, 2, (make) => policyLaws(make, { maxFalsePositiveRate: 0.01, budgetMs: 30_000 }));
