import { kernelTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { FuseFilterPolicy } from '@bloom/policy-fuse';

kernelTests([
  ['8 bits', () => new FuseFilterPolicy(8)],
  ['16 bits', () => new FuseFilterPolicy(16)],
], (keys) => KeyBuffer.from(keys), [64, 700, 1000, 1200, 2000, 5000, 20_000]);
