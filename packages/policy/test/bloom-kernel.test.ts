import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, FilterBuffer, KeyBuffer, type KeyList } from '@bloom/policy';
import { describe, expect, test, vi } from 'vitest';
import { encodeBloomFilter } from '../src/bloom-filter.js';
import { BloomKernel } from '../src/bloom-kernel.js';

/** The filter that the plain loops make. */
function plainFilter(keys: KeyBuffer, bitsPerKey: number): Uint8Array {
  const sink = new FilterBuffer();
  encodeBloomFilter(keys, bitsPerKey, sink);
  return sink.toBytes();
}

/** A policy that has seen enough keys to use the kernel, if there is one. */
function warmPolicy(bitsPerKey: number): BloomFilterPolicy {
  const policy = new BloomFilterPolicy(bitsPerKey);
  const keys = KeyBuffer.from(Array.from({ length: 5000 }, () => Uint8Array.of(1)));
  // Lookups also count. Unlike building, they need no filter with `bitsPerKey`, which can be too large for the kernel.
  policy.keysMayMatch(keys, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 6));
  return policy;
}

function randomKeys(random: ReturnType<typeof seeded>, count: number): KeyBuffer {
  return KeyBuffer.from(Array.from({ length: count }, () => random.bytes(random.below(4) === 0 ? random.below(300) : random.below(24))));
}

test('this host has a kernel', () => {
  expect(BloomKernel.create()).toBeDefined();
});

describe.each(['with the kernel', 'where WebAssembly is forbidden'])('%s', (where) => {
  const policyOf = (bitsPerKey: number): BloomFilterPolicy => {
    if (where === 'with the kernel') return warmPolicy(bitsPerKey);
    vi.stubGlobal('WebAssembly', undefined);
    try {
      return warmPolicy(bitsPerKey);
    } finally {
      vi.unstubAllGlobals();
    }
  };

  test.each([0, 1, 2, 3, 5, 8, 9, 10, 11, 16, 20, 30, 43, 44, 100])('filters with %s bits per key have the same bits', (bitsPerKey) => {
    const random = seeded(bitsPerKey);
    const policy = policyOf(bitsPerKey);
    const different: number[] = [];
    for (const count of [15, 16, 17, 40, 63, 64, 65, 100, 1000, 1023, 1024, 1025, 2500]) {
      const keys = randomKeys(random, count);
      const sink = new FilterBuffer();
      sink.extend(3).fill(0xee);
      policy.createFilter(keys, sink);
      const bytes = sink.toBytes();
      if (Buffer.compare(bytes.subarray(3), plainFilter(keys, bitsPerKey)) !== 0 || bytes[2] !== 0xee) different.push(count);
    }
    expect(different).toEqual([]);
  });

  const ascending = Array.from({ length: 41 }, (_, i) => i * 10);
  test.each([
    ['that descend once', ascending.map((offset, i) => (i === 20 ? 5 : offset))],
    ['that descend throughout', [...ascending].reverse()],
    ['past the bytes', ascending.map((offset) => offset * 100)],
    ['past the bytes in between', ascending.map((offset, i) => (i === 20 ? 4e9 : offset))],
    ['past the bytes at the end', ascending.map((offset, i) => (i === 40 ? 4e9 : offset))],
  ])('rejects a list with offsets %s, and names the first bad pair', (_, offsets) => {
    const keys = new KeyBuffer(1000, 40);
    keys.offsets.set(offsets);
    keys.length = 40;
    const bad = offsets.findIndex((offset, i) => offset > offsets[i + 1]! || offsets[i + 1]! > 1000);
    const refusal = new RangeError(
      `start and end must be in order and within the 1000 bytes, got ${offsets[bad]} and ${offsets[bad + 1]}`,
    );
    const policy = policyOf(10);
    expect(() => policy.createFilter(keys, new FilterBuffer())).toThrow(refusal);
    expect(() => policy.keysMayMatch(keys, plainFilter(KeyBuffer.from([Uint8Array.of(1)]), 10))).toThrow(refusal);
  });

  test('rejects a list whose arrays were transferred, rather than reading empty keys', () => {
    const policy = policyOf(10);
    for (const [part, refusal] of [['bytes', TypeError], ['offsets', RangeError]] as const) {
      const keys = randomKeys(seeded(1), 40);
      structuredClone(0, { transfer: [keys[part].buffer as ArrayBuffer] });
      expect(() => policy.createFilter(keys, new FilterBuffer()), part).toThrow(refusal);
    }
  });

  test('keys beyond 2^31 bytes of their buffer make the same filter as keys at its start', () => {
    // Pages that are not touched take no memory.
    const bytes = new Uint8Array(2 ** 31 + 2 ** 16);
    const start = 2 ** 31 - 500;
    bytes.set(seeded(3).bytes(2000), start);
    const starts = Array.from({ length: 101 }, (_, i) => start + i * 19);
    const views = starts.slice(1).map((end, i) => bytes.subarray(starts[i], end));
    const keys: KeyList = { bytes, offsets: Uint32Array.from(starts), length: 100, at: (i) => views[i]!, [Symbol.iterator]: () => views.values() };
    const sink = new FilterBuffer();
    const policy = policyOf(10);
    policy.createFilter(keys, sink);
    expect(Buffer.compare(sink.toBytes(), plainFilter(KeyBuffer.from(views), 10))).toBe(0);
    expect(policy.keysMayMatch(keys, sink.toBytes())).toEqual(new Uint8Array(100).fill(1));
  });

  test('keysMayMatch gives the same answers as keyMayMatch for each key', () => {
    const random = seeded(7);
    const policy = policyOf(10);
    const wrong: string[] = [];
    for (const count of [0, 1, 16, 100, 5000]) {
      const filter = plainFilter(randomKeys(random, Math.max(1, count)), 10);
      const damaged = filter.map((byte, i) => (i < filter.length - 1 && random.below(5) === 0 ? random.below(256) : byte));
      const withProbes = (probes: number): Uint8Array => Uint8Array.of(...filter.subarray(0, -1), probes);
      const filters = [filter, damaged, withProbes(0), withProbes(1), withProbes(4), withProbes(30), withProbes(31), withProbes(255)];
      for (const bytes of [...filters, filter.subarray(0, 0), filter.subarray(0, 1), filter.subarray(0, 2)]) {
        const keys = randomKeys(random, count);
        const answers = policy.keysMayMatch(keys, bytes);
        for (let i = 0; i < count; i++) {
          if ((answers[i] === 1) !== policy.keyMayMatch(keys.at(i), bytes)) wrong.push(`${count} keys, key ${i}, ${bytes.length} bytes`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

test('keys of equal length, which the kernel hashes four at a time, give the same filters and answers', () => {
  const random = seeded(5);
  const policy = warmPolicy(10);
  const different: number[] = [];
  for (let byteLength = 0; byteLength <= 70; byteLength++) {
    const keys = KeyBuffer.from(Array.from({ length: 37 }, () => random.bytes(byteLength)));
    const filter = new FilterBuffer();
    policy.createFilter(keys, filter);
    const bytes = filter.toBytes();
    if (Buffer.compare(bytes, plainFilter(keys, 10)) !== 0) different.push(byteLength);
    if (policy.keysMayMatch(keys, bytes).some((answer) => answer !== 1)) different.push(-byteLength);
  }
  expect(different).toEqual([]);
});

test("keys that are too long for the kernel's memory give the same filters and answers when mixed with others", () => {
  const random = seeded(6);
  const lengths = Array.from({ length: 60 }, (_, i) => [3, 400_000, 16, 100_000, 237_000, 16][i % 6]!);
  const keys = KeyBuffer.from(lengths.map((byteLength) => random.bytes(byteLength)));
  const policy = warmPolicy(10);
  const filter = new FilterBuffer();
  policy.createFilter(keys, filter);
  expect(Buffer.compare(filter.toBytes(), plainFilter(keys, 10))).toBe(0);
  expect(policy.keysMayMatch(keys, filter.toBytes())).toEqual(new Uint8Array(60).fill(1));
});

// The kernel has room for 16 MiB, 2^27 bits.
test.each([3_355_443, 3_355_444])('a filter of forty keys with %s bits per key has the same bits and gives the same answers', (bitsPerKey) => {
  const random = seeded(bitsPerKey);
  const keys = KeyBuffer.from(Array.from({ length: 40 }, () => random.bytes(16)));
  const policy = warmPolicy(bitsPerKey);
  const filter = new FilterBuffer();
  policy.createFilter(keys, filter);
  const bytes = filter.toBytes();
  expect(Buffer.compare(bytes, plainFilter(keys, bitsPerKey))).toBe(0);
  const asked = KeyBuffer.from([...Array.from({ length: 1030 }, () => random.bytes(16)), ...keys]);
  const expected = Uint8Array.from(asked, (key) => (policy.keyMayMatch(key, bytes) ? 1 : 0));
  expect(policy.keysMayMatch(asked, bytes)).toEqual(expected);
});

test('keys that do not begin at the start of their buffer are hashed at their offsets', () => {
  const all = randomKeys(seeded(3), 9000);
  const tail: KeyList = {
    length: 4000,
    bytes: all.bytes,
    offsets: all.offsets.subarray(5000),
    at: (i) => all.at(5000 + i),
    *[Symbol.iterator]() {
      for (let i = 0; i < 4000; i++) yield all.at(5000 + i);
    },
  };
  const sink = new FilterBuffer();
  warmPolicy(10).createFilter(tail, sink);
  expect(Buffer.compare(sink.toBytes(), plainFilter(KeyBuffer.from(tail), 10))).toBe(0);
});

test('rejects an array that is too short for the answers', () => {
  const keys = randomKeys(seeded(1), 10);
  expect(() => new BloomFilterPolicy().keysMayMatch(keys, new Uint8Array(9), new Uint8Array(9))).toThrow(
    new RangeError('answers must have at least 10 bytes, one per key, got 9'),
  );
});
