import { seeded } from '@bloom/fixtures';
import { hash64 } from '@bloom/hash';
import { KeyBuffer } from '@bloom/policy';
import { distinctHashes, encodeHashBloomFilter, hashBloomFilterByteLength, hashBloomFilterMayMatch, hashBloomFilterMayMatchEach, scaled } from '@bloom/policy/kit';
import { describe, expect, test } from 'vitest';

describe('distinctHashes', () => {
  const random = seeded(7);
  const keys = Array.from({ length: 3000 }, () => random.bytes(random.below(3)));
  const whole = (hashes: Uint32Array): bigint[] => Array.from({ length: hashes.length / 2 }, (_, i) => (BigInt(hashes[2 * i + 1]!) << 32n) | BigInt(hashes[2 * i]!));

  test('gives the hash of each key once, in ascending order', () => {
    const expected = [...new Set(keys.map((key) => hash64(key, 5)))].sort((a, b) => (a < b ? -1 : 1));
    expect(expected.length).toBeLessThan(2500);
    expect(whole(distinctHashes(KeyBuffer.from(keys), 5))).toEqual(expected);
    expect(whole(distinctHashes(KeyBuffer.from([...keys].reverse()), 5))).toEqual(expected);
  });

  test('of no keys is empty, and reads no offsets past the last key', () => {
    const list = KeyBuffer.from(keys);
    list.clear();
    expect(distinctHashes(list, 5)).toHaveLength(0);
    for (const key of keys.slice(0, 2)) list.push(key);
    expect(whole(distinctHashes(list, 5))).toHaveLength(new Set(keys.slice(0, 2).map((key) => hash64(key, 5))).size);
  });
});

/** The inverse of an odd `n` modulo 2^32, by Newton's iteration. */
function inverseOf(n: number): bigint {
  let inverse = 1n;
  for (let step = 0; step < 5; step++) inverse = BigInt.asUintN(32, inverse * (2n - BigInt(n) * inverse));
  return inverse;
}

test('scaled is floor(hash * n / 2^32), exactly', () => {
  const random = seeded(3);
  const wrong: string[] = [];
  for (const n of [1, 2, 3, 20, 2 ** 21 - 1, 2 ** 21, 2 ** 21 + 1, 2 ** 26 + 5, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32]) {
    const hashes = [0, 1, 2 ** 31, 2 ** 32 - 1, ...Array.from({ length: 1000 }, () => random.uint32())];
    for (let i = 1n; i < 300n && i < BigInt(n); i++) {
      const least = Number(((i << 32n) + BigInt(n) - 1n) / BigInt(n));
      hashes.push(least, least - 1);
    }
    // Products just below a multiple of 2^32: one that is rounded up is off by one.
    const inverse = n % 2 === 1 ? inverseOf(n) : 0n;
    for (let r = 1n; r <= 1000n; r++) hashes.push(Number(((2n ** 32n - r) * inverse) % 2n ** 32n));
    for (const hash of hashes) if (scaled(hash, n) !== Number((BigInt(hash) * BigInt(n)) >> 32n)) wrong.push(`${hash} of ${n}`);
    if (scaled(2 ** 32 - 1, n) !== n - 1) wrong.push(`the last of ${n}`);
  }
  expect(wrong).toEqual([]);
});

describe('a Bloom filter of hashes', () => {
  const random = seeded(11);
  const lanesOf = (count: number): Uint32Array => Uint32Array.from({ length: 2 * count }, () => random.uint32());

  test.each([
    [1, 0.01],
    [3, 0.01],
    [10, 0.01],
    [100, 0.01],
    [2, 1 / 256],
    [60, 1 / 256],
    [5, 0.1],
  ])('of %i matches all of them, and at most %d of others', (count, rate) => {
    let matched = 0;
    let missed = 0;
    const asked = 200_000;
    const byteLength = hashBloomFilterByteLength(count, rate);
    for (let round = 0; round < 200; round++) {
      const hashes = lanesOf(count);
      const filter = new Uint8Array(byteLength);
      encodeHashBloomFilter(hashes, rate, filter);
      for (let i = 0; i < count; i++) if (!hashBloomFilterMayMatch(hashes[2 * i]!, hashes[2 * i + 1]!, filter, 0, byteLength)) missed++;
      for (let i = 0; i < asked / 200; i++) if (hashBloomFilterMayMatch(random.uint32(), random.uint32(), filter, 0, byteLength)) matched++;
    }
    expect(missed).toBe(0);
    expect(matched / asked).toBeLessThan(1.1 * rate);
    expect(matched).toBeGreaterThan(0);
  });

  test.each([8, 504, 2 ** 16 - 8, 2 ** 16, 2 ** 16 + 8, 2 ** 20])('of %i bits has the bits of the products in whole numbers', (bits) => {
    const filter = new Uint8Array(bits / 8 + 1);
    const hashes = Uint32Array.from([0, 0, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 31, 2 ** 31 - 1, ...lanesOf(Math.min(60, bits / 8))]);
    encodeHashBloomFilter(hashes, 2 ** -3, filter);
    const set = new Set<number>();
    for (let i = 0; i < hashes.length; i += 2) {
      let x = BigInt(hashes[i]!);
      for (let probe = 0; probe < filter.at(-1)!; probe++) {
        x = BigInt.asUintN(32, x * 0x9e3779b1n + BigInt(hashes[i + 1]!));
        set.add(Number((x * BigInt(bits)) >> 32n));
      }
    }
    const expected = Array.from({ length: bits }, (_, bit) => bit).filter((bit) => set.has(bit));
    expect(expected.filter((bit) => ((filter[bit >> 3]! >> (bit & 7)) & 1) === 0)).toEqual([]);
    // Without one of its bits a hash is absent; each is asked for with signed lanes too.
    for (let i = 0; i < hashes.length; i += 2) {
      const [low, high] = [hashes[i]!, hashes[i + 1]!];
      expect(hashBloomFilterMayMatch(low, high, filter, 0, filter.length) && hashBloomFilterMayMatch(low | 0, high | 0, filter, 0, filter.length)).toBe(true);
      const bit = Number((BigInt.asUintN(32, BigInt(low) * 0x9e3779b1n + BigInt(high)) * BigInt(bits)) >> 32n);
      filter[bit >> 3]! ^= 1 << (bit & 7);
      expect(hashBloomFilterMayMatch(low, high, filter, 0, filter.length)).toBe(false);
      filter[bit >> 3]! ^= 1 << (bit & 7);
    }
  });

  test.each([
    [0.9, 1],
    [2 ** -1, 1],
    [2 ** -2, 2],
    [0.01, 7],
    [2 ** -31, 31],
    [2 ** -40, 32],
  ])('for a rate of %d has %i probes', (rate, probes) => {
    const filter = new Uint8Array(hashBloomFilterByteLength(3, rate));
    encodeHashBloomFilter(lanesOf(3), rate, filter);
    expect(filter.at(-1)).toBe(probes);
  });

  test('is found at any place of its bytes', () => {
    const hashes = lanesOf(20);
    const filter = new Uint8Array(30);
    encodeHashBloomFilter(hashes, 0.1, filter);
    const bytes = Uint8Array.from([255, 255, 255, ...filter, 255]);
    const asked = [...hashes, ...lanesOf(2000)];
    const answers = (at: Uint8Array, start: number, end: number): boolean[] => Array.from({ length: asked.length / 2 }, (_, i) => hashBloomFilterMayMatch(asked[2 * i]!, asked[2 * i + 1]!, at, start, end));
    expect(answers(bytes, 3, 33)).toEqual(answers(filter, 0, 30));
    expect(answers(bytes, 3, 33)).toContain(false);
  });

  test('answers for many keys as for each', () => {
    const keys = KeyBuffer.from(Array.from({ length: 2500 }, () => random.bytes(random.below(9))));
    const filter = new Uint8Array(2000);
    encodeHashBloomFilter(distinctHashes(KeyBuffer.from([...keys].slice(0, 1000)), 3), 0.1, filter);
    const answers = new Uint8Array(2501).fill(7);
    hashBloomFilterMayMatchEach(keys, 3, filter, answers);
    const expected = Array.from(keys, (key) => {
      const hash = hash64(key, 3);
      return hashBloomFilterMayMatch(Number(hash & 0xffffffffn), Number(hash >> 32n), filter, 0, filter.length) ? 1 : 0;
    });
    expect([...answers]).toEqual([...expected, 7]);
    expect(expected).toContain(0);
  });

  test('without bits or with a reserved number of probes matches all, and one of zeros none', () => {
    const match = (...bytes: number[]): boolean => hashBloomFilterMayMatch(1, 2, Uint8Array.from(bytes), 0, bytes.length);
    expect([match(6), match(7), match(0, 0), match(0, 33), match(0, 255)]).toEqual([true, true, true, true, true]);
    expect([match(0, 1), match(0, 32), match(255, 32)]).toEqual([false, false, true]);
    expect(() => encodeHashBloomFilter(lanesOf(1), 0.01, new Uint8Array(1))).toThrow('filter must have at least 2 bytes, got 1');
  });
});
