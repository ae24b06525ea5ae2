import { seeded } from '@bloom/fixtures';
import {
  bestProbes,
  bloomBitsPerKey,
  bloomFalsePositiveRate,
  BloomFilterPolicy,
  buildFilter,
  idealBitsPerKey,
  idealFalsePositiveRate,
} from '@bloom/policy';
import { describe, expect, test } from 'vitest';

/**
 * False positive rates by m/n, the first number of each row, and k = 1, 2, 3 …, as printed to three digits in Fan, Cao,
 * Almeida, Broder, "Summary Cache", https://pages.cs.wisc.edu/~cao/papers/summary-cache/node8.html
 * There, the rate at 5 bits and k = 3 is printed as 0.092 instead of 0.0918.
 */
const PUBLISHED_RATES = `
  2 0.393 0.400
  3 0.283 0.237 0.253
  4 0.221 0.155 0.147 0.160
  5 0.181 0.109 0.0918 0.092 0.101
  6 0.154 0.0804 0.0609 0.0561 0.0578 0.0638
  7 0.133 0.0618 0.0423 0.0359 0.0347 0.0364
  8 0.118 0.0489 0.0306 0.024 0.0217 0.0216 0.0229
  9 0.105 0.0397 0.0228 0.0166 0.0141 0.0133 0.0135 0.0145
  10 0.0952 0.0329 0.0174 0.0118 0.00943 0.00844 0.00819 0.00846
  11 0.0869 0.0276 0.0136 0.00864 0.0065 0.00552 0.00513 0.00509
  12 0.08 0.0236 0.0108 0.00646 0.00459 0.00371 0.00329 0.00314
  13 0.074 0.0203 0.00875 0.00492 0.00332 0.00255 0.00217 0.00199
  14 0.0689 0.0177 0.00718 0.00381 0.00244 0.00179 0.00146 0.00129
  15 0.0645 0.0156 0.00596 0.003 0.00183 0.00128 0.001 0.000852
  16 0.0606 0.0138 0.005 0.00239 0.00139 0.000935 0.000702 0.000574
  17 0.0571 0.0123 0.00423 0.00193 0.00107 0.000692 0.000499 0.000394
  18 0.054 0.0111 0.00362 0.00158 0.000839 0.000519 0.00036 0.000275
  19 0.0513 0.00998 0.00312 0.0013 0.000663 0.000394 0.000264 0.000194
  20 0.0488 0.00906 0.0027 0.00108 0.00053 0.000303 0.000196 0.00014
  21 0.0465 0.00825 0.00236 0.000905 0.000427 0.000236 0.000147 0.000101
  22 0.0444 0.00755 0.00207 0.000764 0.000347 0.000185 0.000112 7.46e-05
  23 0.0425 0.00694 0.00183 0.000649 0.000285 0.000147 8.56e-05 5.55e-05
  24 0.0408 0.00639 0.00162 0.000555 0.000235 0.000117 6.63e-05 4.17e-05
  25 0.0392 0.00591 0.00145 0.000478 0.000196 9.44e-05 5.18e-05 3.16e-05
  26 0.0377 0.00548 0.00129 0.000413 0.000164 7.66e-05 4.08e-05 2.42e-05
  27 0.0364 0.0051 0.00116 0.000359 0.000138 6.26e-05 3.24e-05 1.87e-05
  28 0.0351 0.00475 0.00105 0.000314 0.000117 5.15e-05 2.59e-05 1.46e-05
  29 0.0339 0.00444 0.000949 0.000276 9.96e-05 4.26e-05 2.09e-05 1.14e-05
  30 0.0328 0.00416 0.000862 0.000243 8.53e-05 3.55e-05 1.69e-05 9.01e-06
  31 0.0317 0.0039 0.000785 0.000215 7.33e-05 2.97e-05 1.38e-05 7.16e-06
  32 0.0308 0.00367 0.000717 0.000191 6.33e-05 2.5e-05 1.13e-05 5.73e-06
`;
const rows = PUBLISHED_RATES.trim().split('\n').map((line) => line.trim().split(' ').map(Number))
  .map(([bitsPerKey, ...rates]) => ({ bitsPerKey: bitsPerKey!, rates }));

describe('idealFalsePositiveRate', () => {
  test.each(rows)('gives the published rates at $bitsPerKey bits per key', ({ bitsPerKey, rates }) => {
    const ours = rates.map((_, i) => idealFalsePositiveRate({ bitsPerKey, probes: i + 1 }));
    expect(ours.map((rate) => Number(rate.toPrecision(3)))).toEqual(rates);
  });

  test('gives the published 0.000459 at 16 bits and 11 probes', () => {
    expect(idealFalsePositiveRate({ bitsPerKey: 16, probes: 11 })).toBeCloseTo(0.000459, 6);
  });

  test('is (1 - (1 - 1/m)^kn)^k for n keys in a filter of m bits', () => {
    const wrong: string[] = [];
    for (const keys of [1, 2, 7, 100, 10_000]) {
      for (const bitsPerKey of [2, 8, 10.5, 16]) {
        for (const probes of [1, 6, 11]) {
          const expected = (1 - (1 - 1 / (keys * bitsPerKey)) ** (probes * keys)) ** probes;
          const rate = idealFalsePositiveRate({ bitsPerKey, probes, keys });
          if (Math.abs(rate / expected - 1) > 1e-9) wrong.push(`${keys} keys, ${bitsPerKey} bits, ${probes} probes: ${rate}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('for very many keys is the same as without a number of keys, and is neither 0 nor 1', () => {
    for (const keys of [10 ** 12, Number.MAX_SAFE_INTEGER]) {
      const rate = idealFalsePositiveRate({ bitsPerKey: 10, probes: 7, keys });
      expect(rate / idealFalsePositiveRate({ bitsPerKey: 10, probes: 7 })).toBeCloseTo(1, 9);
    }
  });

  test('is 1 for a filter of one bit or less', () => {
    expect(idealFalsePositiveRate({ bitsPerKey: 1, probes: 1, keys: 1 })).toBe(1);
    expect(idealFalsePositiveRate({ bitsPerKey: 0.01, probes: 3, keys: 5 })).toBe(1);
  });

  test('rejects invalid sizes', () => {
    for (const bitsPerKey of [0, -1, Number.NaN, Infinity]) {
      expect(() => idealFalsePositiveRate({ bitsPerKey, probes: 1 })).toThrow(RangeError);
      expect(() => idealFalsePositiveRate({ bitsPerKey, probes: 1 })).toThrow('bitsPerKey');
    }
    for (const wrong of [0, -1, 1.5, Number.NaN, Infinity]) {
      expect(() => idealFalsePositiveRate({ bitsPerKey: 8, probes: wrong })).toThrow(RangeError);
      expect(() => idealFalsePositiveRate({ bitsPerKey: 8, probes: wrong })).toThrow('probes');
      expect(() => idealFalsePositiveRate({ bitsPerKey: 8, probes: 1, keys: wrong })).toThrow(RangeError);
      expect(() => idealFalsePositiveRate({ bitsPerKey: 8, probes: 1, keys: wrong })).toThrow('keys');
    }
  });
});

describe('bestProbes', () => {
  test('is one of the whole numbers next to ln 2 times the bits, and no other gives a lower rate', () => {
    expect([2, 3, 4, 6, 8, 9, 10, 12, 16, 20, 32].map(bestProbes)).toEqual([1, 2, 3, 4, 6, 6, 7, 8, 11, 14, 22]);
    const wrong: string[] = [];
    for (let bitsPerKey = 0.25; bitsPerKey <= 64; bitsPerKey += 0.25) {
      const rates = Array.from({ length: 64 }, (_, i) => idealFalsePositiveRate({ bitsPerKey, probes: i + 1 }));
      const best = bestProbes(bitsPerKey);
      if (rates[best - 1] !== Math.min(...rates)) wrong.push(`${best} at ${bitsPerKey} bits`);
    }
    expect(wrong).toEqual([]);
  });

  test('is at least 1', () => {
    expect([0.001, 0.5, 1].map(bestProbes)).toEqual([1, 1, 1]);
  });

  test('rejects bits that are not positive', () => {
    for (const bitsPerKey of [0, -3, Number.NaN, Infinity]) {
      expect(() => bestProbes(bitsPerKey)).toThrow(new RangeError(`bitsPerKey must be a positive number, got ${bitsPerKey}`));
    }
  });
});

describe('idealBitsPerKey', () => {
  test('is 9.585 bits for 1%, and 4.79 more for each division of the rate by ten', () => {
    expect(idealBitsPerKey(0.01)).toBeCloseTo(9.585058, 6);
    expect(idealBitsPerKey(0.001) - idealBitsPerKey(0.01)).toBeCloseTo(4.792529, 6);
    expect(idealBitsPerKey(0.5)).toBeCloseTo(1 / Math.LN2, 12);
  });

  test('is the number of bits b for which 0.6185^b is the rate', () => {
    for (const rate of [0.5, 0.1, 0.01, 1e-4, 1e-9]) expect(0.6185 ** idealBitsPerKey(rate) / rate).toBeCloseTo(1, 2);
  });

  test('rejects invalid rates', () => {
    for (const rate of [0, 1, -0.1, 2, Number.NaN]) expect(() => idealBitsPerKey(rate)).toThrow(RangeError);
  });
});

const ESTIMATE_MOST_ASKED = 4_000_000;
const ESTIMATE_ENOUGH = 10_000;

interface Measured {
  readonly falsePositives: number;
  readonly asked: number;
}

/** Builds filters of random 8-byte keys, and looks up other keys in them. */
function measure(keys: number, bitsPerKey: number, { falsePositives: enough, asked: most }: Measured): Measured {
  const policy = new BloomFilterPolicy(bitsPerKey);
  const random = seeded(keys * 100 + bitsPerKey);
  const words = new Uint32Array(2);
  const key = new Uint8Array(words.buffer);
  const next = (): Uint8Array => {
    words[0] = random.uint32();
    words[1] = random.uint32();
    return key;
  };
  function* some(): Generator<Uint8Array> {
    for (let i = 0; i < keys; i++) yield next();
  }
  // Filters of few keys differ a lot, so there are many filters, each probed with only a few keys.
  const asksPerFilter = Math.max(10, keys);
  let falsePositives = 0;
  let asked = 0;
  while (falsePositives < enough && asked < most) {
    const filter = buildFilter(policy, some());
    for (let i = 0; i < asksPerFilter && asked < most; i++, asked++) {
      if (policy.keyMayMatch(next(), filter)) falsePositives++;
    }
  }
  return { falsePositives, asked };
}

/** The difference between a measured rate and the estimate, itself a sample, in standard deviations. */
function deviations({ falsePositives, asked }: Measured, estimate: number): number {
  const estimateAsked = estimate === 0 ? ESTIMATE_MOST_ASKED : Math.min(ESTIMATE_MOST_ASKED, ESTIMATE_ENOUGH / estimate);
  const pooled = (falsePositives + estimate * estimateAsked) / (asked + estimateAsked);
  if (pooled === 0) return 0;
  return Math.abs(falsePositives / asked - estimate) / Math.sqrt(pooled * (1 - pooled) * (1 / asked + 1 / estimateAsked));
}

/** 99% of correct estimates are closer than this. */
const TOO_MANY_DEVIATIONS = 2.576;

/** The problem, if the estimate is off by more than a tenth and by more than chance explains. */
function problemOf(keys: number, bitsPerKey: number, sample: Measured): string | undefined {
  const estimate = bloomFalsePositiveRate({ bitsPerKey, keys });
  const measured = measure(keys, bitsPerKey, sample);
  const rate = measured.falsePositives / measured.asked;
  if (Math.abs(estimate - rate) <= rate / 10 || deviations(measured, estimate) <= TOO_MANY_DEVIATIONS) return undefined;
  return `${keys} keys, ${bitsPerKey} bits: estimated ${estimate}, measured ${measured.falsePositives} of ${measured.asked}`;
}

describe('bloomFalsePositiveRate', () => {
  test('rejects the bits per key that the policy rejects, and invalid numbers of keys', () => {
    for (const bitsPerKey of [-1, 0.5, Number.NaN, 2 ** 31]) {
      expect(() => bloomFalsePositiveRate({ bitsPerKey })).toThrow(RangeError);
      expect(() => bloomFalsePositiveRate({ bitsPerKey })).toThrow('bitsPerKey');
    }
    for (const keys of [0, -1, 1.5, Number.NaN]) {
      expect(() => bloomFalsePositiveRate({ bitsPerKey: 10, keys })).toThrow(RangeError);
      expect(() => bloomFalsePositiveRate({ bitsPerKey: 10, keys })).toThrow('keys');
    }
  });

  // These are values of this implementation, whose sample is reproducible. The test is before those that take seconds because
  // it finds most mistakes.
  test.each([
    { bitsPerKey: 10, keys: undefined, rate: 0.00910090909090909 },
    { bitsPerKey: 10, keys: 150, rate: 0.00883821644792081 },
    { bitsPerKey: 16, keys: 7, rate: 0.006800408024481469 },
    { bitsPerKey: 1, keys: 1, rate: 0.015487068297971194 },
    { bitsPerKey: 0, keys: 100, rate: 0.7929133858267716 },
    // Makes the most lookups that are allowed. Their number is not a multiple of the keys.
    { bitsPerKey: 200, keys: 101, rate: 2.5e-7 },
  ])('of $keys keys at $bitsPerKey bits is $rate in every version', ({ bitsPerKey, keys, rate }) => {
    expect(bloomFalsePositiveRate({ bitsPerKey, keys })).toBe(rate);
  });

  test('is the same for every call, and the default is 10,000 keys', () => {
    const rate = bloomFalsePositiveRate({ bitsPerKey: 10 });
    expect(bloomFalsePositiveRate({ bitsPerKey: 10 })).toBe(rate);
    expect(bloomFalsePositiveRate({ bitsPerKey: 10, keys: 10_000 })).toBe(rate);
  });

  test('is defined for 0 bits per key, where filters have 64 bits, and is at most 1', () => {
    expect(bloomFalsePositiveRate({ bitsPerKey: 0, keys: 1 })).toBeCloseTo(1 / 64, 2);
    expect(bloomFalsePositiveRate({ bitsPerKey: 0, keys: 10_000 })).toBe(1);
  });

  const few = { falsePositives: 2000, asked: 200_000 };

  test.each([1, 2, 7, 10, 100, 1000, 10_000])('of %i keys is the rate measured with filters', (keys) => {
    const problems = [1, 3, 8, 10, 16].map((bitsPerKey) => problemOf(keys, bitsPerKey, few));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test('of 100,000 keys at 10 bits is about 1.4%, as measured with filters', () => {
    const { falsePositives, asked } = measure(100_000, 10, { falsePositives: 20_000, asked: 2_000_000 });
    expect(falsePositives / asked).toBeCloseTo(0.014, 3);
    expect(bloomFalsePositiveRate({ bitsPerKey: 10, keys: 100_000 }) / (falsePositives / asked)).toBeCloseTo(1, 1);
  });
});

// Takes minutes: set BLOOM_LONG=1 to run it.
describe.runIf(process.env.BLOOM_LONG)('bloomFalsePositiveRate with larger samples', () => {
  const many = { falsePositives: 20_000, asked: 8_000_000 };

  test.each([1, 2, 7, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000])(
    'of %i keys is the rate measured with filters',
    (keys) => {
      const problems = [1, 2, 3, 5, 8, 10, 12, 16, 20, 30, 44].map((bitsPerKey) => problemOf(keys, bitsPerKey, many));
      expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    },
    3_600_000,
  );
});

describe('bloomBitsPerKey', () => {
  test('is undefined for a rate that 64 bits per key do not reach', () => {
    expect(bloomBitsPerKey(1e-30)).toBeUndefined();
  });

  test('is 2 for a rate of one half and 63 keys, and 1 for a rate of nine tenths', () => {
    expect([bloomBitsPerKey(0.5, 63), bloomBitsPerKey(0.9), bloomBitsPerKey(0.9, 64)]).toEqual([2, 1, 1]);
  });

  test('is the smallest whole number of bits whose rate is not higher', () => {
    expect(bloomBitsPerKey(0.01)).toBe(10);
    for (const [rate, keys] of [[0.1, 1000], [0.01, 30], [0.02, 100_000], [0.001, 10_000]] as const) {
      const bitsPerKey = bloomBitsPerKey(rate, keys)!;
      expect(bloomFalsePositiveRate({ bitsPerKey, keys })).toBeLessThanOrEqual(rate);
      expect(bloomFalsePositiveRate({ bitsPerKey: bitsPerKey - 1, keys })).toBeGreaterThan(rate);
    }
  });

  test('is few bits for one key or two, although more bits would match more absent keys', () => {
    expect([bloomBitsPerKey(0.005, 1), bloomBitsPerKey(0.001, 1), bloomBitsPerKey(0.003, 2)]).toEqual([3, 3, 5]);
    expect(bloomFalsePositiveRate({ bitsPerKey: 64, keys: 1 })).toBeGreaterThan(0.005);
    expect(bloomBitsPerKey(1e-6, 2)).toBeUndefined();
  });

  test('inverts bloomFalsePositiveRate', () => {
    expect(bloomBitsPerKey(bloomFalsePositiveRate({ bitsPerKey: 10 }))).toBe(10);
  });

  test('is 1 if the 64 bits of the smallest filter are enough', () => {
    expect(bloomBitsPerKey(0.1, 1)).toBe(1);
  });

  test('rejects invalid rates and numbers of keys', () => {
    for (const rate of [0, 1, -1, Number.NaN]) {
      expect(() => bloomBitsPerKey(rate)).toThrow(new RangeError(`rate must be above 0 and below 1, got ${rate}`));
    }
    for (const keys of [0, 1.5, -1, Number.NaN]) expect(() => bloomBitsPerKey(0.01, keys)).toThrow(RangeError);
  });
});
