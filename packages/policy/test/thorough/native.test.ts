import { seeded } from '@bloom/fixtures';
import { nativeLevelDb, nativeUnavailableReason } from '@bloom/native';
import { BloomFilterPolicy, buildFilter } from '@bloom/policy';
import { expect, test } from 'vitest';
import { anyKeys, hex } from '../keys.js';

const native = nativeLevelDb();
const policy = new BloomFilterPolicy();

if (native === undefined) {
  test.skip(`LevelDB is not available to compare with: ${nativeUnavailableReason()?.split('\n')[0]}`);
}

test.runIf(native)("filters of random keys have the same bytes as LevelDB's", () => {
  const seed = 10;
  const random = seeded(seed);
  const wrong: string[] = [];
  for (let i = 0; i < 60; i++) {
    const keys = anyKeys(random, random.below(i % 10 === 9 ? 5000 : 100));
    const bitsPerKey = random.below(51);
    const filter = buildFilter(new BloomFilterPolicy(bitsPerKey), keys);
    if (Buffer.compare(filter, native!.filter(keys, bitsPerKey)) !== 0) {
      wrong.push(`filter ${i} of ${keys.length} keys at ${bitsPerKey} bits`);
    }
  }
  expect(wrong, `seed ${seed}`).toEqual([]);
});

test.runIf(native)('intact, damaged and random filters give the same answers as in LevelDB', () => {
  const seed = 11;
  const random = seeded(seed);
  const wrong: string[] = [];
  const seen = { yes: 0, no: 0 };
  for (let i = 0; i < 90; i++) {
    const keys = anyKeys(random, random.below(60));
    let filter: Uint8Array = buildFilter(new BloomFilterPolicy(random.below(51)), keys);
    if (i % 3 === 1) filter = random.bytes(random.below(i < 45 ? 4 : 200));
    if (i % 3 === 2) {
      for (let flips = random.below(20); flips >= 0; flips--) filter[random.below(filter.length)]! ^= 1 << random.below(8);
      filter = filter.subarray(0, filter.length - random.below(4));
    }
    const asked = [...keys, ...anyKeys(random, 200)];
    const answers = native!.mayMatch(filter, asked);
    for (const [at, key] of asked.entries()) {
      seen[answers[at]! ? 'yes' : 'no']++;
      if (policy.keyMayMatch(key, filter) !== answers[at]) wrong.push(`${hex(key)} in filter ${i}: ${hex(filter)}`);
    }
  }
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
  expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(1000);
});
