import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { comparePolicies } from '@bloom/policy/compare';
import { describe, expect, test, vi } from 'vitest';

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

  test('are queried with keys that are similar to the given ones, but not with these', () => {
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

  test('are asked for random keys in half of the cases, then in turns for keys with the last bit or the last bytes changed', () => {
    const hexOf = (key: Uint8Array): string => Buffer.from(key).toString('hex');
    // The last six bytes differ from key to key, those before do not.
    const keys = Array.from({ length: 50 }, (_, i) => Uint8Array.from({ length: 12 }, (_byte, at) => (at < 6 ? 0xf0 + at : 3 * i + at)));
    const lastBitChanged = new Set(keys.map((key) => hexOf(Uint8Array.from(key, (byte, at) => (at === 11 ? byte ^ 1 : byte)))));
    const kinds = { random: 0, lastBit: 0, altered: 0 };
    const changes = new Set<number>();
    const wrong: string[] = [];
    let asked = 0;
    const seen = new Set<Uint8Array>();
    const watched: FilterPolicy = {
      ...yes,
      keyMayMatch(key) {
        asked++;
        // Each round asks for the same keys.
        if (seen.has(key)) return false;
        seen.add(key);
        if (key.length === 16) {
          kinds.random++;
          return false;
        }
        const isLastBit = lastBitChanged.has(hexOf(key));
        if (isLastBit) kinds.lastBit++;
        else kinds.altered++;
        if (isLastBit || kinds.altered % 10 > 0) return false;
        const differences = keys.map((other) => [...key.keys()].filter((at) => key[at] !== other[at]));
        const nearest = differences.reduce((best, one) => (one.length < best.length ? one : best));
        for (const at of nearest) changes.add(at);
        // Every byte is one that some key has in its place.
        const isOfKeys = key.every((byte, at) => keys.some((other) => other[at] === byte));
        if (nearest.length < 1 || nearest.length > 2 || !isOfKeys) wrong.push(hexOf(key));
        return false;
      },
    };
    comparePolicies([watched], { keys });
    expect(wrong).toEqual([]);
    expect(kinds.random).toBe(100_000);
    expect(kinds.lastBit).toBeGreaterThan(49_000);
    // A byte may be replaced by the same byte. The key is then stored, and not asked for.
    expect(kinds.altered).toBeGreaterThan(45_000);
    expect(kinds.altered).toBeLessThan(50_000);
    expect([...changes].sort((a, b) => a - b)).toEqual([6, 7, 8, 9, 10, 11]);
    expect(asked).toBe(5 * seen.size);
  });

  test('are asked for random keys only, if the keys are random or empty', () => {
    for (const keys of [100, [new Uint8Array(0)]]) {
      const lengths = new Map<number, number>();
      const watched: FilterPolicy = {
        ...yes,
        keyMayMatch({ length }) {
          lengths.set(length, (lengths.get(length) ?? 0) + 1);
          return true;
        },
      };
      comparePolicies([watched], { keys });
      expect([...lengths]).toEqual([[16, 5 * 200_000]]);
    }
  });

  test('have the time of the fastest round, for each key', async () => {
    let clock = 1000;
    vi.stubGlobal('performance', { now: () => clock });
    vi.resetModules();
    const { comparePolicies: compare } = (await import('@bloom/policy/compare')) as { comparePolicies: typeof comparePolicies };
    let built = 0;
    const slow: FilterPolicy = {
      ...yes,
      createFilter(_, dst) {
        clock += ++built === 3 ? 4 : 12;
        dst.extend(1);
      },
      keyMayMatch() {
        clock += 2;
        return true;
      },
      keysMayMatch(_keys, _filter, answers = new Uint8Array(0)) {
        clock += 6;
        return answers;
      },
    };
    // A round with 20,000 keys is one run.
    const [figures] = compare([slow], { keys: 20_000, absent: [Uint8Array.of(1), Uint8Array.of(2)] });
    expect(built).toBe(5);
    expect(figures).toMatchObject({ buildNanoseconds: 4e6 / 20_000, probeNanoseconds: 2e6, batchNanoseconds: 6e6 / 2 });
    // With 8,000 it is three.
    built = 10;
    expect(compare([slow], { keys: 8000, absent: [Uint8Array.of(1)] })[0]).toMatchObject({ buildNanoseconds: 12e6 / 8000 });
    expect(built).toBe(10 + 5 * 3);
    vi.unstubAllGlobals();
  });

  test('need keys, and policies', () => {
    expect(() => comparePolicies([BloomFilterPolicy as never], { keys: 1 })).toThrow(/policies\[0\] must be a FilterPolicy/);
    expect(() => comparePolicies(yes as never, { keys: 1 })).toThrow(/^policies must be an array of FilterPolicies/);
    for (const keys of [0, -1, 1.5, 10_000_001]) expect(() => comparePolicies([yes], { keys })).toThrow(new RangeError(`keys must be a whole number from 1 to 10000000, got ${keys}`));
    expect(comparePolicies([yes], { keys: 1 })).toHaveLength(1);
    expect(() => comparePolicies([yes], { keys: [] })).toThrow(new RangeError('keys must have at least one key'));
    expect(() => comparePolicies([yes], { keys: 'abc' as never })).toThrow(/^keys must be an iterable of Uint8Arrays/);
    expect(() => comparePolicies([yes], { keys: 1, absent: [] })).toThrow(new RangeError('absent must have at least one key'));
    expect(() => comparePolicies([yes], { keys: 1, abscent: [] } as never)).toThrow('comparePolicies has no option "abscent": did you mean absent?');
  });

  test('do not change the keys, where these are Buffers', () => {
    const texts = Array.from({ length: 100 }, (_, i) => `key ${i}`);
    const keys = texts.map((text) => Buffer.from(text));
    comparePolicies([yes], { keys });
    expect(keys.map(String)).toEqual(texts);
  });

  test('get the keys of an iterable that yields the same array again and again', () => {
    function* lent(from: number): Generator<Uint8Array> {
      const key = new Uint8Array(4);
      for (let i = from; i < from + 2000; i++) {
        new DataView(key.buffer).setUint32(0, i);
        yield key;
      }
    }
    const apart = (from: number): Uint8Array[] => Array.from(lent(from), (key) => key.slice());
    const policies = [new BloomFilterPolicy(10)];
    const figuresOf = (keys: Iterable<Uint8Array>, absent: Iterable<Uint8Array>) => comparePolicies(policies, { keys, absent }).map(({ byteLength, bitsPerKey, falsePositiveRate }) => ({ byteLength, bitsPerKey, falsePositiveRate }));
    expect(figuresOf(lent(0), lent(9000))).toEqual(figuresOf(apart(0), apart(9000)));
  });
});
