import { damageTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';

damageTests(
  [
    ['10 bits', () => new BlockedBloomFilterPolicy()],
    ['44 bits', () => new BlockedBloomFilterPolicy(44)],
  ],
  (keys) => KeyBuffer.from(keys),
);
