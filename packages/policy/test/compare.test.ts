import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { comparePolicies } from '@bloom/policy/compare';
import { describe, expect, test } from 'vitest';

/** One byte for all keys: nothing matches that is not there only where the filter is empty. */
const yes: FilterPolicy = { name: 'test.Yes', createFilter: (_, dst) => void dst.extend(1), keyMayMatch: () => true };

describe('policies compared', () => {
  test('have the size, the rate and the floor of their filters, and times', () => {
    const [ten, five, all] = comparePolicies([new BloomFilterPolicy(10), new BloomFilterPolicy(5), yes], { keys: 2000 });
    expect(ten!.byteLength).toBe(2501);
    expect(ten!.bitsPerKey).toBeCloseTo(10, 1);
    expect(ten!.falsePositiveRate).toBeGreaterThan(0.006);
    expect(ten!.falsePositiveRate).toBeLessThan(0.013);
    expect(ten!.floorBits).toBeCloseTo(Math.log2(1 / ten!.falsePositiveRate));
    expect(five!.falsePositiveRate).toBeGreaterThan(0.05);
    expect(all).toMatchObject({ byteLength: 1, falsePositiveRate: 1, floorBits: 0, batchNanoseconds: undefined });
    for (const { buildNanoseconds, probeNanoseconds } of [ten!, five!, all!]) {
      expect(buildNanoseconds).toBeGreaterThan(0);
      expect(probeNanoseconds).toBeGreaterThan(0);
    }
    expect(ten!.batchNanoseconds).toBeGreaterThan(0);
  });

  test('are asked for keys that are like the given ones, and not for these', () => {
    const keys = Array.from({ length: 500 }, (_, i) => new TextEncoder().encode(`key${String(2 * i).padStart(6, '0')}`));
    const stored = new Set(keys.map((key) => Buffer.from(key).toString()));
    let near = 0;
    const watched: FilterPolicy = {
      ...yes,
      keyMayMatch(key) {
        const text = Buffer.from(key).toString();
        if (stored.has(text)) throw new Error(`${text} is stored`);
        if (text.startsWith('key')) near++;
        return false;
      },
    };
    const [figures] = comparePolicies([watched], { keys });
    expect(near).toBeGreaterThan(1000);
    expect(figures).toMatchObject({ falsePositiveRate: 0, floorBits: undefined });
    expect(comparePolicies([yes], { keys: [keys[0]!, keys[0]!], absent: [keys[1]!] })[0]).toMatchObject({ bitsPerKey: 8 });
  });

  test('need keys, and policies', () => {
    expect(() => comparePolicies([BloomFilterPolicy as never], { keys: 1 })).toThrow(/policies\[0\] must be a FilterPolicy/);
    expect(() => comparePolicies(yes as never, { keys: 1 })).toThrow(TypeError);
    for (const keys of [0, 1.5, 10_000_001, []]) expect(() => comparePolicies([yes], { keys })).toThrow(RangeError);
    expect(() => comparePolicies([yes], { keys: 'abc' as never })).toThrow(TypeError);
    expect(() => comparePolicies([yes], { keys: 1, absent: [] })).toThrow(RangeError);
    expect(() => comparePolicies([yes], { keys: 1, abscent: [] } as never)).toThrow('comparePolicies has no option "abscent": did you mean absent?');
  });
});
