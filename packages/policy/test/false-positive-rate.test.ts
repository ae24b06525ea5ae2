import { bestProbes, bloomBitsPerKey, bloomFalsePositiveRate, idealBitsPerKey, idealFalsePositiveRate } from '@bloom/policy';
import { describe, expect, test } from 'vitest';

describe('text instead of a number is refused', () => {
  const text = '0.5' as unknown as number;
  test.each<[string, () => unknown, string]>([
    ['idealFalsePositiveRate', () => idealFalsePositiveRate({ bitsPerKey: text, probes: 7 }), 'bitsPerKey must be a positive number, got "0.5"'],
    ['bestProbes', () => bestProbes(text), 'bitsPerKey must be a positive number, got "0.5"'],
    ['idealBitsPerKey', () => idealBitsPerKey(text), 'rate must be above 0 and below 1, got "0.5"'],
    ['bloomBitsPerKey', () => bloomBitsPerKey(text), 'rate must be above 0 and below 1, got "0.5"'],
    ['bloomBitsPerKey of few keys', () => bloomBitsPerKey(text, 5), 'rate must be above 0 and below 1, got "0.5"'],
  ])('by %s', (_, call, message) => {
    expect(call).toThrow(new RangeError(message));
  });
});

describe('a filter too large to be measured is refused', () => {
  test.each<[string, () => unknown, string]>([
    ['with too many keys', () => bloomFalsePositiveRate({ bitsPerKey: 10, keys: 2 ** 33 }), 'keys must be at most 2^30, got 8589934592'],
    [
      'with too many bits',
      () => bloomFalsePositiveRate({ bitsPerKey: 2 ** 31 - 1, keys: 10_000 }),
      'the filter must have at most 4 GiB, 10000 keys with 2147483647 bits each need 2684354558751 bytes',
    ],
    ['with too many keys for the fewest bits', () => bloomBitsPerKey(0.9, 2 ** 33), 'keys must be at most 2^30, got 8589934592'],
  ])('%s', (_, call, message) => {
    expect(call).toThrow(new RangeError(message));
  });
});

test('with 10 bits per key, 0.9% to 1.7% of random absent keys match a filter of 7 keys or more, and up to 2.2% one of fewer', () => {
  const rateOf = (keys: number): number => bloomFalsePositiveRate({ bitsPerKey: 10, keys });
  const few = [1, 2, 3, 4, 5, 6].map(rateOf);
  expect(Math.max(...few)).toBeCloseTo(0.022, 3);
  const more = [7, 8, 9, 12, 24, 36, 100, 1000, 10_000].map(rateOf);
  expect(Math.min(...more)).toBeCloseTo(0.009, 3);
  expect(Math.max(...more)).toBeCloseTo(0.017, 3);
});
