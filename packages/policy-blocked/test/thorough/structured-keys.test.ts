import { keyPatterns, PATTERN_KEYS } from '@bloom/fixtures/key-patterns';
import { seeded } from '@bloom/fixtures';
import { buildFilter } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { expect, test } from 'vitest';

/** The highest rates are those of random keys, and some room for chance: samples have 100,000 absent keys of each kind. */
const SIZES = [
  { keys: 30, most: 0.0012 },
  { keys: 100, most: 0.0105 },
  { keys: 1000, most: 0.0105 },
  { keys: 100_000, most: 0.0115 },
];
const ASKED = 100_000;
/** Every sixth pattern, and all where BLOOM_LONG is set, as in tooling/long-tests. */
const tried = process.env.BLOOM_LONG ? keyPatterns : keyPatterns.filter((_, i) => i % 6 === 0);

test.each(tried)('of keys like "$name" no more pass than of random keys, whether between, past or elsewhere', ({ key }) => {
  const policy = new BlockedBloomFilterPolicy(10);
  const random = seeded(40);
  const tooMany: string[] = [];
  for (const { keys, most } of SIZES) {
    const passed = { between: 0, past: 0, elsewhere: 0 };
    for (let asked = 0; asked < ASKED; asked += keys) {
      const start = asked === 0 ? 0 : 2 * random.below(PATTERN_KEYS / 8);
      const filter = buildFilter(policy, Array.from({ length: keys }, (_, i) => key(start + 2 * i)));
      for (let i = 0; i < keys; i++) {
        if (policy.keyMayMatch(key(start + 2 * i + 1), filter)) passed.between++;
        if (policy.keyMayMatch(key(start + 2 * keys + i), filter)) passed.past++;
        if (policy.keyMayMatch(key(PATTERN_KEYS / 2 + random.below(PATTERN_KEYS / 2)), filter)) passed.elsewhere++;
      }
    }
    for (const [kind, count] of Object.entries(passed)) if (count > most * ASKED) tooMany.push(`${count} of ${ASKED} ${kind}, ${keys} keys`);
  }
  expect(tooMany).toEqual([]);
});
