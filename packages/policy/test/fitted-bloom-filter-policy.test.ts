import { seeded } from '@bloom/fixtures';
import { keyPatterns } from '@bloom/fixtures/key-patterns';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomProbes, buildFilter, FilterBuffer, type FitOptions, FittedBloomFilterPolicy, idealFalsePositiveRate, KeyBuffer, type KeyList } from '@bloom/policy';
import { describe, expect, test, vi } from 'vitest';
import { judgeHashes, MAX_FITTED_BYTES, shapesFor } from '../src/filter-fit.js';
import { FitKernel } from '../src/fit-kernel.js';
import { recordKernels } from './recorded-kernel.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const padded = (number: number): Uint8Array => utf8(String(number).padStart(16, '0'));

/** A policy that has seen enough keys to use the kernel, if there is one. */
function warm(policy: FittedBloomFilterPolicy): FittedBloomFilterPolicy {
  policy.createFilter(KeyBuffer.from(Array.from({ length: 4096 }, (_, i) => Uint8Array.of(i, i >> 8))), new FilterBuffer());
  return policy;
}

/** The share of the odd numbers between `count` stored even ones that match. */
function rateOf(policy: BloomFilterPolicy, count: number): number {
  let passed = 0;
  for (let from = 0; from < 2000 * count; from += 20 * count) {
    const filter = buildFilter(policy, Array.from({ length: count }, (_, i) => padded(from + 2 * i)));
    for (let i = 0; i < count; i++) if (policy.keyMayMatch(padded(from + 2 * i + 1), filter)) passed++;
  }
  return passed / (100 * count);
}

test.each([
  [19, 0.5],
  [36, 0.1],
  [38, 0.5],
])('of the absent numbers between %i stored ones, more than %f match LevelDB’s filter, and less than 0.01 a fitted one', (count, rate) => {
  expect(rateOf(new BloomFilterPolicy(10), count)).toBeGreaterThan(rate);
  expect(rateOf(new FittedBloomFilterPolicy(10), count)).toBeLessThan(0.01);
});

test('random keys match as often as with LevelDB’s filters', () => {
  const random = seeded(5);
  const [plain, fitted] = [new BloomFilterPolicy(10), new FittedBloomFilterPolicy(10)].map((policy) => {
    let passed = 0;
    for (let i = 0; i < 600; i++) {
      const filter = buildFilter(policy, Array.from({ length: 36 }, () => random.bytes(16)));
      for (let asked = 0; asked < 300; asked++) if (policy.keyMayMatch(random.bytes(16), filter)) passed++;
    }
    return passed;
  });
  expect(fitted! / plain!).toBeLessThan(1.1);
});

test.each([
  ['item0 to item9', Array.from({ length: 10 }, (_, i) => utf8(`item${i}`))],
  ['a to z', Array.from({ length: 26 }, (_, i) => Uint8Array.of(0x61 + i))],
  ['user000 to user999', Array.from({ length: 1000 }, (_, i) => utf8(`user${String(i).padStart(3, '0')}`))],
])('random keys match about as often as with LevelDB’s filter where all neighbours are stored: %s', (_, keys) => {
  const random = seeded(9);
  const asked = Array.from({ length: 40_000 }, () => random.bytes(16));
  const [plain, cold, warmed] = [new BloomFilterPolicy(10), new FittedBloomFilterPolicy(10), warm(new FittedBloomFilterPolicy(10))].map((policy) => {
    const filter = buildFilter(policy, keys);
    return asked.filter((key) => policy.keyMayMatch(key, filter)).length;
  });
  expect(cold! / plain!).toBeLessThan(1.3);
  expect(warmed).toBe(cold);
});

test('with -0 bits per key, filters are those of 0', () => {
  const keys = Array.from({ length: 50 }, (_, i) => padded(2 * i));
  expect(buildFilter(new FittedBloomFilterPolicy(-0), keys)).toEqual(buildFilter(new FittedBloomFilterPolicy(0), keys));
  expect(new FittedBloomFilterPolicy(-0).bitsPerKey).toBe(0);
});

test.each([5, 6])('with %i bits per key too, random keys match hardly more often than an ideal filter, whatever keys are stored', (bitsPerKey) => {
  const random = seeded(7);
  const policy = new FittedBloomFilterPolicy(bitsPerKey);
  const ideal = idealFalsePositiveRate({ bitsPerKey, probes: Math.max(1, Math.trunc(bitsPerKey * 0.69)) });
  for (const [name, keyOf] of [
    ['padded', padded],
    ['base 36', (i: number) => utf8(`k${i.toString(36).padStart(6, '0')}`)],
  ] as const) {
    let passed = 0;
    let asked = 0;
    for (const count of [19, 33, 64, 120]) {
      for (let from = 0; from < 24_000; from += 14 * count) {
        const filter = buildFilter(policy, Array.from({ length: count }, (_, i) => keyOf(from + 2 * i)).sort(Buffer.compare));
        for (let i = 0; i < 60; i++, asked++) if (policy.keyMayMatch(random.bytes(16), filter)) passed++;
      }
    }
    expect(passed / asked / ideal, name).toBeLessThan(1.2);
  }
});

describe('the kernel and the plain loops make the same filters', () => {
  test('this host has a kernel', () => {
    expect(FitKernel.create()).toBeDefined();
  });

  test('of keys of every pattern, with common tails, carries, control characters and all lengths to 40', () => {
    const random = seeded(11);
    const policy = warm(new FittedBloomFilterPolicy(10));
    const bytesOf = (): Uint8Array => Uint8Array.from({ length: random.below(40) }, () => random.pick([0x2f, 0x30, 0x39, 0x3a, 0x61, 0x66, 0x67, 0x7a, 0x41, 0x46, 0x5a, 0x7f, 0xff, 0]));
    for (let round = 0; round < 600; round++) {
      const pattern = random.pick(keyPatterns);
      const from = random.below(1_000_000);
      const step = 1 + random.below(12);
      const tail = utf8('0'.repeat(random.below(4)));
      const count = 1 + random.below(round % 20 === 0 ? 700 : 60);
      const keys = Array.from({ length: count }, (_, i) => (round % 3 === 0 ? bytesOf() : Uint8Array.of(...pattern.key(from + i * step), ...tail)));
      const list = KeyBuffer.from(keys);
      const [fast, plain] = [policy, new FittedBloomFilterPolicy(10)].map((of, i) => {
        const sink = new FilterBuffer();
        if (i === 1) vi.stubGlobal('WebAssembly', undefined);
        of.createFilter(list, sink);
        vi.unstubAllGlobals();
        return Buffer.from(sink.toBytes()).toString('hex');
      });
      expect(fast, `${pattern.name} from ${from}, ${count} keys`).toBe(plain);
      const filter = Buffer.from(fast!, 'hex');
      expect(keys.filter((key) => !policy.keyMayMatch(key, filter))).toEqual([]);
    }
  });

  test('of the longest filters, with keys for which longer ones would be better', () => {
    const random = seeded(13);
    const count = 43;
    const bitsPerKey = 3048;
    const bytes = (count * bitsPerKey) / 8;
    /** The bits of a key in a filter of that many bytes, with the fewest probes that are tried. */
    const bitsOf = (key: Uint8Array, byteLength: number): number[] => bloomProbes(bloomHash(key), byteLength + 1, 26).probes.map(({ bit }) => bit);
    const keyWith = (isBit: (bit: number) => boolean, byteLength: number): Uint8Array => {
      for (;;) {
        const key = random.bytes(8);
        if (bitsOf(key, byteLength).some(isBit)) return key;
      }
    };
    // The bits of a neighbour of the first key are those of other keys: a filter of LevelDB's length lets it pass.
    const neighbour = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1);
    const bitsOfNeighbour = bloomProbes(bloomHash(neighbour), bytes + 1, 30).probes.map(({ bit }) => bit);
    const keys = [new Uint8Array(8), ...bitsOfNeighbour.map((bit) => keyWith((other) => other === bit, bytes))];
    // The other keys have bits past that room in a filter of the next odd length.
    while (keys.length < count) keys.push(keyWith((bit) => bit >= MAX_FITTED_BYTES * 8, bytes + 2));
    const policy = new FittedBloomFilterPolicy(bitsPerKey);
    for (let seen = 0; seen < 4096; seen += count) buildFilter(policy, keys);
    const filter = buildFilter(policy, keys);
    expect(keys.filter((key) => !policy.keyMayMatch(key, filter))).toEqual([]);
    expect(filter).toEqual(buildFilter(new FittedBloomFilterPolicy(bitsPerKey), keys));
    expect(filter).not.toEqual(buildFilter(new BloomFilterPolicy(bitsPerKey), keys));
  });

  test('the kernel is created once a policy has seen 4,096 keys, and fits each filter from then on', () => {
    recordKernels((record) => {
      const fits = (): number => record.calls.filter(({ name }) => name === 'fit').length;
      const policy = new FittedBloomFilterPolicy(10);
      const few = Array.from({ length: 4095 }, (_, i) => padded(2 * i));
      buildFilter(policy, few);
      expect(record.kernels).toBe(0);
      for (const count of [1, 1, 38, 64, 65, 4095]) {
        const before = fits();
        const filter = buildFilter(policy, few.slice(0, count));
        expect([record.kernels, fits() - before]).toEqual([1, 1]);
        expect(filter).toEqual(buildFilter(new FittedBloomFilterPolicy(10), few.slice(0, count)));
      }
      // A filter of more keys is LevelDB's, which another kernel builds.
      buildFilter(policy, [...few, ...few.slice(0, 2)]);
      expect(fits()).toBe(6);
    });
  });

  test('the kernel has room for 512 KiB of keys, less the 16 bytes that it reads past the last one', () => {
    const kernel = FitKernel.create()!;
    const shapes = shapesFor(2, 10, 0.05);
    for (const skipped of [0, 5]) {
      const keysOf = (byteLength: number): KeyList => {
        const list = KeyBuffer.from([new Uint8Array(skipped), new Uint8Array(10), new Uint8Array(byteLength - 10)]);
        return { length: 2, bytes: list.bytes, offsets: list.offsets.subarray(1), at: (i) => list.at(i + 1), *[Symbol.iterator]() {} };
      };
      expect(kernel.fit(keysOf(2 ** 19 - 16), shapes)).toBeDefined();
      expect(kernel.fit(keysOf(2 ** 19 - 15), shapes)).toBeUndefined();
    }
  });

  test('also where the keys are too long for the kernel', () => {
    const keys = Array.from({ length: 3 }, (_, i) => new Uint8Array(200_000).fill(97 + i));
    expect(buildFilter(warm(new FittedBloomFilterPolicy(10)), keys)).toEqual(buildFilter(new FittedBloomFilterPolicy(10), keys));
  });

  test('offsets that descend are an error', () => {
    const list = { length: 2, bytes: new Uint8Array(20), offsets: Uint32Array.of(0, 10, 5), at: () => new Uint8Array(0), *[Symbol.iterator]() {} };
    expect(() => warm(new FittedBloomFilterPolicy(10)).createFilter(list, new FilterBuffer())).toThrow(RangeError);
  });
});

describe('the shapes that are tried', () => {
  test('are odd lengths first, then even ones, then multiples of four', () => {
    const { lengths } = shapesFor(38, 10, 0.05);
    expect(lengths[0]).toBe(49);
    const evenness = lengths.map((bytes) => (bytes % 4 === 0 ? 2 : 1 - (bytes % 2)));
    expect(evenness).toEqual([...evenness].sort());
  });

  test('cost what an ideal filter with their number of probes lets pass more than with the best number', () => {
    const { minProbes, costs } = shapesFor(38, 10, 0.05);
    expect([minProbes, costs.length, costs[7 - minProbes]]).toEqual([2, 11, 0]);
    for (const [i, cost] of costs.entries()) expect(cost / 4096).toBeCloseTo(idealFalsePositiveRate({ bitsPerKey: 10, probes: minProbes + i }) - idealFalsePositiveRate({ bitsPerKey: 10, probes: 7 }), 3);
  });

  test.each([0, 0.05, 0.2, 1])('with extraBytes %f have at most twice that share more bytes than LevelDB’s filter', (extraBytes) => {
    for (let keys = 1; keys <= 4096; keys = Math.ceil(keys * 1.3)) {
      const plain = buildFilter(new BloomFilterPolicy(10), Array.from({ length: keys }, () => utf8('a'))).length;
      const { lengths, minProbes, maxProbesAtFirst, costs } = shapesFor(keys, 10, extraBytes);
      for (const bytes of lengths) {
        expect(bytes + 1).toBeLessThanOrEqual(Math.floor(plain * (1 + 2 * extraBytes)));
        expect(bytes).toBeGreaterThan(0);
      }
      expect(minProbes).toBeGreaterThanOrEqual(1);
      expect(maxProbesAtFirst).toBeGreaterThanOrEqual(minProbes);
      expect(minProbes + costs.length - 1).toBeGreaterThanOrEqual(maxProbesAtFirst);
      expect(minProbes + costs.length - 1).toBeLessThanOrEqual(30);
    }
  });

  test('are not longer than the kernel has room for', () => {
    for (const [keys, bitsPerKey] of [[4095, 32], [1638, 80], [43, 3048], [1, 131_064]] as const) {
      for (const extraBytes of [0, 0.05, 1]) expect(Math.max(...shapesFor(keys, bitsPerKey, extraBytes).lengths)).toBeLessThanOrEqual(MAX_FITTED_BYTES);
    }
  });

  test('differ from LevelDB’s length by at most twice extraBytes', () => {
    expect(shapesFor(100, 10, 0.01).lengths).toEqual([125, 127, 123, 126, 124]);
  });

  test('have at most 20 lengths, if nearly all of them are shorter than LevelDB’s', () => {
    expect(shapesFor(3048, 43, 0.05).lengths).toHaveLength(20);
  });

  test('have only numbers of probes that let at most 3% more absent keys pass than the best one', () => {
    // One probe lets 18% of absent keys pass, three 9.2%, and seven 13.8%.
    const { minProbes, maxProbesAtFirst, costs } = shapesFor(100, 5, 0.01);
    expect([minProbes, maxProbesAtFirst, costs.length]).toEqual([2, 5, 5]);
  });

  test('leave out LevelDB’s minimum of 64 bits: every neighbour of four random keys matches such a filter, and few a fitted one', () => {
    const random = seeded(3);
    const [plain, fitted] = [new BloomFilterPolicy(10), new FittedBloomFilterPolicy(10)].map((policy) => {
      let passed = 0;
      for (let i = 0; i < 500; i++) {
        const keys = Array.from({ length: 4 }, () => random.bytes(16));
        const filter = buildFilter(policy, keys);
        for (const key of keys) if (policy.keyMayMatch(Uint8Array.of(...key.subarray(0, 15), key[15]! ^ 1), filter)) passed++;
      }
      return passed / 2000;
    });
    expect(plain).toBe(1);
    expect(fitted).toBeLessThan(0.05);
  });
});

test('the judges are the two nearest absent neighbours of each key, and a neighbour of two keys judges once', () => {
  const keys = KeyBuffer.from([42, 44, 46].map(padded));
  const hashes = Uint32Array.from([...keys].map(bloomHash));
  expect(judgeHashes(keys, hashes)).toEqual([43, 41, 45, 47].map((number) => bloomHash(padded(number))));
});

test('filters of more than 16 KiB are LevelDB’s', () => {
  const keys = Array.from({ length: 4000 }, (_, i) => padded(2 * i));
  expect(buildFilter(new FittedBloomFilterPolicy(43), keys)).toEqual(buildFilter(new BloomFilterPolicy(43), keys));
});

test('an array is refused in place of a key list', () => {
  expect(() => new FittedBloomFilterPolicy(10).createFilter([utf8('a')] as never, new FilterBuffer())).toThrow(/^keys must be/);
});

test('filters of more than 4,096 keys, and of none, are LevelDB’s', () => {
  for (const count of [0, 4097]) {
    const keys = Array.from({ length: count }, (_, i) => padded(2 * i));
    expect(buildFilter(new FittedBloomFilterPolicy(10), keys)).toEqual(buildFilter(new BloomFilterPolicy(10), keys));
  }
});

test('a filter of 4,096 keys is fitted', () => {
  const keys = Array.from({ length: 4096 }, (_, i) => padded(2 * i));
  expect(buildFilter(new FittedBloomFilterPolicy(10), keys)).not.toEqual(buildFilter(new BloomFilterPolicy(10), keys));
});

test('extraBytes may be 0 or 1, and an unknown option is refused', () => {
  expect([0, 1].map((extraBytes) => new FittedBloomFilterPolicy(10, { extraBytes }).extraBytes)).toEqual([0, 1]);
  expect(() => new FittedBloomFilterPolicy(10, { extrabytes: 0.1 } as FitOptions)).toThrow(new TypeError('FittedBloomFilterPolicy has no option "extrabytes": did you mean extraBytes?'));
});

test.each([null, '0.5', [0.5]])('extraBytes %j is refused', (extraBytes) => {
  expect(() => new FittedBloomFilterPolicy(10, { extraBytes: extraBytes as unknown as number })).toThrow(RangeError);
});

test.each([[-0.1], [1.1], [Number.NaN]])('extraBytes %f is refused', (extraBytes) => {
  expect(() => new FittedBloomFilterPolicy(10, { extraBytes })).toThrow(new RangeError(`extraBytes must be from 0 to 1, got ${extraBytes}`));
});
