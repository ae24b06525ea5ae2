import { damageTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { FuseFilterPolicy } from '@bloom/policy-fuse';

damageTests(
  [
    ['8 bits', () => new FuseFilterPolicy(8)],
    ['16 bits', () => new FuseFilterPolicy(16)],
  ],
  (keys) => KeyBuffer.from(keys),
);
