import { brokenVariantTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';

const tools = { right: () => new BlockedBloomFilterPolicy(), listOf: (keys: Iterable<Uint8Array>) => KeyBuffer.from(keys), seedFromEnd: 1, hasOtherSeeds: false };

brokenVariantTests(tools, 0, (make) => policyLaws(make, { maxFalsePositiveRate: 0.012, budgetMs: 30_000 }));
