import { largeKernelTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';

largeKernelTests(() => new RibbonFilterPolicy(), (keys) => KeyBuffer.from(keys));
