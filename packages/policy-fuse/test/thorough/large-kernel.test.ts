import { largeKernelTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { FuseFilterPolicy } from '@bloom/policy-fuse';

largeKernelTests(() => new FuseFilterPolicy(), (keys) => KeyBuffer.from(keys));
