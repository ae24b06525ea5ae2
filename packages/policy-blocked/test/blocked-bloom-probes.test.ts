import { littleEndian32 } from '@bloom/fixtures';
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { blockedBloomProbes, BlockedBloomFilterPolicy, fillBlockedBloomFilter, LINE_BYTES } from '@bloom/policy-blocked';
import { expect, test } from 'vitest';

const keys = Array.from({ length: 300 }, (_, i) => littleEndian32(i * 77));

test('the bits of all keys are exactly the bits that are set in their filter', () => {
  const filter = buildFilter(new BlockedBloomFilterPolicy(10), keys);
  const expected = new Uint8Array(filter.length);
  const k = (expected[filter.length - 1] = filter[filter.length - 1]!);
  for (const key of keys) {
    const { line, probes } = blockedBloomProbes(key, filter.length, k);
    for (const { bit } of probes) {
      expect(Math.floor(bit / 8 / LINE_BYTES)).toBe(line);
      expected[bit >> 3]! |= 1 << (bit & 7);
    }
  }
  expect(filter).toEqual(expected);
});

test('a filter may have fewer keys than its size is meant for, and any valid number of probes', () => {
  const filter = new Uint8Array(4 * LINE_BYTES + 1);
  fillBlockedBloomFilter(filter, KeyBuffer.from(keys.slice(0, 10)), 3);
  expect(filter.at(-1)).toBe(3);
  const policy = new BlockedBloomFilterPolicy();
  expect(keys.slice(0, 10).every((key) => policy.keyMayMatch(key, filter))).toBe(true);
  expect(keys.slice(10).filter((key) => policy.keyMayMatch(key, filter)).length).toBeLessThan(10);
});

test('rejects filters whose length is not whole lines plus one byte, and reserved numbers of probes', () => {
  expect(() => blockedBloomProbes(keys[0]!, 64, 6)).toThrow('filterBytes must be whole lines of 64 bytes and one byte');
  expect(() => blockedBloomProbes(keys[0]!, 1, 6)).toThrow('filterBytes must be whole lines of 64 bytes and one byte');
  expect(() => fillBlockedBloomFilter(new Uint8Array(64), KeyBuffer.from(keys), 6)).toThrow('filter must be whole lines of 64 bytes and one byte');
  expect(() => fillBlockedBloomFilter(new Uint8Array(65), KeyBuffer.from(keys), 33)).toThrow('probes must be from 1 to 32');
});
