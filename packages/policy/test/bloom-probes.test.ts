import { seeded } from '@bloom/fixtures';
import { bloomHash } from '@bloom/hash';
import { bloomProbes, BloomFilterPolicy, buildFilter, MAX_PROBES } from '@bloom/policy';
import { expect, test } from 'vitest';
import { anyKeys, utf8 } from './keys.js';

test('the bits of all keys are exactly the bits that are set in their filter', () => {
  const random = seeded(12);
  for (const bitsPerKey of [1, 10, 50]) {
    const keys = anyKeys(random, 100);
    const filter = buildFilter(new BloomFilterPolicy(bitsPerKey), keys);
    const expected = new Uint8Array(filter.length);
    const k = (expected[filter.length - 1] = filter[filter.length - 1]!);
    for (const key of keys) {
      for (const { bit } of bloomProbes(bloomHash(key), filter.length, k).probes) expected[bit >> 3]! |= 1 << (bit & 7);
    }
    expect(filter).toEqual(expected);
  }
});

test('each hash is the previous one plus delta, which is the first hash rotated right by 17', () => {
  const h = bloomHash(utf8('hello'));
  const { delta, probes } = bloomProbes(h, 9, MAX_PROBES);
  expect(delta).toBe(Number(((BigInt(h) >> 17n) | (BigInt(h) << 15n)) & 0xffffffffn));
  expect(probes).toEqual(
    Array.from({ length: MAX_PROBES }, (_, i) => {
      const hash = Number((BigInt(h) + BigInt(i) * BigInt(delta)) & 0xffffffffn);
      return { hash, bit: hash % 64 };
    }),
  );
});

test('the shortest filter has eight bits', () => {
  expect(bloomProbes(21, 2, 1).probes).toEqual([{ hash: 21, bit: 5 }]);
});

test.each([-1, 0, 1, 1.5, Number.NaN])('refuses a filter of %d bytes', (filterBytes) => {
  expect(() => bloomProbes(0, filterBytes, 6)).toThrow('filterBytes must be a whole number, at least 2');
});

test('the example in its documentation gives what it says', () => {
  expect(bloomProbes(bloomHash(new TextEncoder().encode('hello')), 9, 6).probes[0]).toEqual({ hash: 4153775694, bit: 14 });
});
