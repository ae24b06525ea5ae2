import { seeded } from '@bloom/fixtures';
import { buildFilter } from '@bloom/policy';
import { BlockedBloomFilterPolicy, probesFor } from '@bloom/policy-blocked';
import { describe, expect, test } from 'vitest';
import { independentRates } from '../line-model.js';

test('the number of probes gives the fewest false positives, to 1%, from 1 bit to 64', () => {
  const wrong: string[] = [];
  for (let bitsPerKey = 1; bitsPerKey < 64; bitsPerKey *= 1.08) {
    const probes = probesFor(bitsPerKey);
    const rates = independentRates(bitsPerKey, probes + 2).slice(1);
    const best = Math.min(...rates);
    if (rates[probes - 1]! > best * 1.01) wrong.push(`${probes} at ${bitsPerKey} bits: ${rates.indexOf(best) + 1} are better`);
  }
  expect(wrong).toEqual([]);
});

describe('the rate of false positives is that of independent probes', () => {
  test.each([1, 2, 4, 8, 10, 12, 16])('at %d bits per key, within 5%', (bitsPerKey) => {
    const seed = 900 + bitsPerKey;
    const random = seeded(seed);
    const policy = new BlockedBloomFilterPolicy(bitsPerKey);
    const filter = buildFilter(policy, Array.from({ length: 100_000 }, () => random.bytes(8)));
    let passed = 0;
    const asked = bitsPerKey > 12 ? 4_000_000 : 1_000_000;
    for (let i = 0; i < asked; i++) if (policy.keyMayMatch(random.bytes(9), filter)) passed++;
    const expected = independentRates(bitsPerKey, probesFor(bitsPerKey))[probesFor(bitsPerKey)]!;
    expect(passed / asked / expected, `seed ${seed}, ${passed} of ${asked}`).toBeGreaterThan(0.95);
    expect(passed / asked / expected, `seed ${seed}, ${passed} of ${asked}`).toBeLessThan(1.05);
  });
});
