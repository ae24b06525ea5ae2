import { keyPatterns, PATTERN_KEYS } from '@bloom/fixtures/key-patterns';
import { bloomHash } from '@bloom/hash';
import { nativeLevelDb, nativeUnavailableReason } from '@bloom/native';
import { BloomFilterPolicy, buildFilter, filterByteLength, KeyBuffer, MAX_PROBES, probesFor } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../keys.js';

const native = nativeLevelDb();
const numbered = (number: number): Uint8Array => utf8(`key${String(number).padStart(9, '0')}`);
const bigEndian = (number: number): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(4, number);
  return bytes;
};

interface Passing {
  readonly filter: Uint8Array;
  readonly answers: Uint8Array;
  readonly rate: number;
}

function passing(keys: readonly Uint8Array[], asked: readonly Uint8Array[], bitsPerKey = 10): Passing {
  const policy = new BloomFilterPolicy(bitsPerKey);
  const filter = buildFilter(policy, keys);
  const answers = policy.keysMayMatch(KeyBuffer.from(asked), filter);
  return { filter, answers, rate: answers.reduce((sum, answer) => sum + answer, 0) / asked.length };
}

const evenAndOdd = (count: number, key: (i: number) => Uint8Array, start = 0): [even: Uint8Array[], odd: Uint8Array[]] => [
  Array.from({ length: count }, (_, i) => key(start + 2 * i)),
  Array.from({ length: count }, (_, i) => key(start + 2 * i + 1)),
];

describe('a filter of 100,000 even numbers of nine digits', () => {
  const [even, odd] = evenAndOdd(100_000, numbered);
  const hashes = new Set(even.map(bloomHash));
  const sameHash = (key: Uint8Array): boolean => hashes.has(bloomHash(key));

  test('lets one odd number in nine pass, where one in seventy of other keys passes', () => {
    expect(passing(even, odd).rate).toBeCloseTo(0.1122, 3);
    const others = Array.from({ length: 100_000 }, (_, i) => utf8(`another ${(i * 7919) % 1e6}`));
    expect(passing(even, others).rate).toBeLessThan(0.016);
  });

  test('has the hash of one odd number in ten, where chance would give one in 43,000', () => {
    expect(odd.filter(sameHash)).toHaveLength(10_000);
    expect(bloomHash(numbered(5))).toBe(bloomHash(numbered(70_500)));
  });

  test('lets as many as usual of those with a hash of their own pass', () => {
    const { answers } = passing(even, odd);
    const own = odd.flatMap((key, i) => (sameHash(key) ? [] : [answers[i]!]));
    expect(own.filter((answer) => answer === 1).length / own.length).toBeLessThan(0.016);
  });

  test('lets them pass at any number of bits', () => {
    for (const bitsPerKey of [20, 40]) expect(passing(even, odd, bitsPerKey).rate).toBeCloseTo(0.1, 2);
  });
});

describe('filters of even big-endian numbers', () => {
  /** The part of the odd numbers between that pass, of many filters. */
  const meanRate = (count: number, bitsPerKey: number): number => {
    const rates = Array.from({ length: 400 }, (_, i) => passing(...evenAndOdd(count, bigEndian, i * 163_842), bitsPerKey).rate);
    return rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  };

  test('let most of the odd numbers between 64 pass, though none has the hash of a key in the filter', () => {
    expect(meanRate(64, 10)).toBeCloseTo(0.86, 1);
    const [even, odd] = evenAndOdd(64, bigEndian, 12_800);
    const hashes = new Set(even.map(bloomHash));
    expect(odd.filter((key) => hashes.has(bloomHash(key)))).toEqual([]);
  });

  test('let more of the odd numbers between 100 pass with more bits', () => {
    expect(meanRate(100, 10)).toBeCloseTo(0.23, 1);
    expect(meanRate(100, 16)).toBeCloseTo(0.52, 1);
  });

  test('would let one in a hundred between 64 pass if the same hashes gave independent probes', () => {
    const bits = (filterByteLength(64, 10) - 1) * 8;
    let passed = 0;
    let asked = 0;
    for (let start = 0; start < 256_000; start += 1280) {
      const [some, between] = evenAndOdd(64, bigEndian, start);
      const set = new Set(some.flatMap((key) => independentBits(bloomHash(key), probesFor(10), bits)));
      for (const key of between) if (independentBits(bloomHash(key), probesFor(10), bits).every((bit) => set.has(bit))) passed++;
      asked += between.length;
    }
    expect(passed / asked).toBeLessThan(0.012);
  });
});

/** `probes` bits of a filter of `bits` bits, that depend on `h` as if at random. */
function independentBits(h: number, probes: number, bits: number): number[] {
  return Array.from({ length: probes }, (_, probe) => {
    let z = (h + Math.imul(probe + 1, 0x9e3779b9)) | 0;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) % bits;
  });
}

if (native === undefined) {
  test.skip(`LevelDB is not available to compare with: ${nativeUnavailableReason()?.split('\n')[0]}`);
}

describe.runIf(native)('LevelDB makes the same filter and lets the same absent keys pass', () => {
  // Every sixth pattern, and all where BLOOM_LONG is set, as in tooling/long-tests.
  test.each(process.env.BLOOM_LONG ? keyPatterns : keyPatterns.filter((_, i) => i % 6 === 0))('$name', ({ key }) => {
    for (const [count, bitsPerKey] of [
      [30, 10],
      [1000, 16],
      [100_000, 10],
    ] as const) {
      const [keys, between] = evenAndOdd(count, key);
      const past = Array.from({ length: count }, (_, i) => key(2 * count + i));
      const elsewhere = Array.from({ length: count }, (_, i) => key(PATTERN_KEYS / 2 + ((i * 7919) % (PATTERN_KEYS / 2))));
      const asked = [...between, ...past, ...elsewhere];
      const { filter, answers } = passing(keys, asked, bitsPerKey);
      expect(filter.at(-1)).toBeLessThanOrEqual(MAX_PROBES);
      expect(Buffer.compare(filter, native!.filter(keys, bitsPerKey)), `${count} keys`).toBe(0);
      const theirs = Uint8Array.from(native!.mayMatch(filter, asked), Number);
      expect(Buffer.compare(answers, theirs), `${count} keys`).toBe(0);
    }
  });
});
