import { damageTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';

damageTests(
  [
    ['64 bits', () => new RibbonFilterPolicy({ width: 64 })],
    ['128 bits', () => new RibbonFilterPolicy({ width: 128, rate: 0.003 })],
  ],
  (keys) => KeyBuffer.from(keys),
);
