import { brokenVariantTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { policyLaws } from '@bloom/policy/contract';
import { FuseFilterPolicy } from '@bloom/policy-fuse';

const tools = { right: () => new FuseFilterPolicy(), listOf: (keys: Iterable<Uint8Array>) => KeyBuffer.from(keys), seedFromEnd: 3, hasOtherSeeds: true };

brokenVariantTests(tools, 1, (make) => policyLaws(make, { maxFalsePositiveRate: 0.004, budgetMs: 30_000 }));
