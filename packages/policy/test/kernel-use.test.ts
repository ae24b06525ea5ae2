// The kernel and the plain loops give the same bits and answers, so these tests record the calls of the kernel.
import { seeded } from '@bloom/fixtures';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomFilterMayMatch, fillBloomFilter, FilterBuffer, KeyBuffer } from '@bloom/policy';
import { describe, expect, test, vi } from 'vitest';
import { BloomKernel } from '../src/bloom-kernel.js';
import { type KernelRecord, recordKernels } from './recorded-kernel.js';

/** `count` keys of `byteLength` bytes. */
function keysOf(count: number, byteLength = 8): KeyBuffer {
  const random = seeded(count);
  return KeyBuffer.from(Array.from({ length: count }, () => random.bytes(byteLength)));
}

const filterOf = (policy: BloomFilterPolicy, keys: KeyBuffer): void => policy.createFilter(keys, new FilterBuffer());

/** The names of the exports that `use` calls. */
function callsOf(record: KernelRecord, use: () => unknown): string[] {
  const before = record.calls.length;
  use();
  return record.calls.slice(before).map(({ name }) => name);
}

describe('a policy', () => {
  /** A filter of zeros that ends with its number of probes. */
  const filterWith = (byteLength: number, probes: number): Uint8Array => new Uint8Array(byteLength).fill(probes, -1);

  test('makes one kernel, as soon as it has built filters of 256 keys', () => {
    recordKernels((record) => {
      const policy = new BloomFilterPolicy();
      const keys = keysOf(16);
      for (let i = 0; i < 15; i++) filterOf(policy, keys);
      expect(record).toEqual({ kernels: 0, calls: [] });
      expect(callsOf(record, () => filterOf(policy, keys))).toEqual(['hashKeys', 'setBits']);
      expect(callsOf(record, () => filterOf(policy, keys))).toEqual(['hashKeys', 'setBits']);
      expect(record.kernels).toBe(1);
    });
  });

  test('makes one kernel, as soon as it has looked up 256 keys, and hashes 1,024 at a time', () => {
    recordKernels((record) => {
      const policy = new BloomFilterPolicy();
      expect(callsOf(record, () => policy.keysMayMatch(keysOf(255), filterWith(9, 6)))).toEqual([]);
      expect(callsOf(record, () => policy.keysMayMatch(keysOf(16), filterWith(9, 6)))).toEqual(['hashKeys', 'testBits']);
      const four = Array.from({ length: 4 }, () => ['hashKeys', 'testBits']).flat();
      expect(callsOf(record, () => policy.keysMayMatch(keysOf(4096), filterWith(9, 6)))).toEqual(four);
      expect(record.kernels).toBe(1);
    });
  });

  test('neither counts lists of fewer than 16 keys nor gives them to the kernel', () => {
    recordKernels((record) => {
      const policy = new BloomFilterPolicy();
      for (let i = 0; i < 300; i++) filterOf(policy, keysOf(15));
      expect(record.kernels).toBe(0);
      filterOf(policy, keysOf(241));
      expect(record.kernels).toBe(0);
      filterOf(policy, keysOf(16));
      expect(record.kernels).toBe(1);
      expect(callsOf(record, () => filterOf(policy, keysOf(15)))).toEqual([]);
      expect(callsOf(record, () => policy.keysMayMatch(keysOf(15), filterWith(9, 6)))).toEqual([]);
    });
  });

  test('gives the kernel only filters of at least 2 bytes and with 1 to 30 probes', () => {
    recordKernels((record) => {
      const policy = new BloomFilterPolicy();
      filterOf(policy, keysOf(5000));
      const isGiven = (filter: Uint8Array): boolean => callsOf(record, () => policy.keysMayMatch(keysOf(16), filter)).length > 0;
      expect([0, 1, 2, 29, 30, 31, 255].filter((probes) => isGiven(filterWith(9, probes)))).toEqual([1, 2, 29, 30]);
      expect([0, 1, 2, 3].filter((byteLength) => isGiven(filterWith(byteLength, 6)))).toEqual([2, 3]);
    });
  });
});

describe('the kernel', () => {
  /** Makes a kernel, and calls `use` with it. */
  const withKernel = (use: (kernel: BloomKernel, record: KernelRecord) => void): void => {
    recordKernels((record) => {
      use(BloomKernel.create()!, record);
    });
  };

  test('is absent where WebAssembly is missing or is not allowed to compile', () => {
    try {
      vi.stubGlobal('WebAssembly', undefined);
      expect(BloomKernel.create()).toBeUndefined();
      const refuse = function (): never {
        throw new EvalError('no unsafe-eval');
      };
      vi.stubGlobal('WebAssembly', { Module: refuse, Instance: refuse });
      expect(BloomKernel.create()).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('takes filters of 2 bytes to 2^29', () => {
    expect([0, 1, 2, 3, 2 ** 29 - 1, 2 ** 29, 2 ** 29 + 1, 2 ** 32].filter((byteLength) => BloomKernel.takes(byteLength))).toEqual([
      2,
      3,
      2 ** 29 - 1,
      2 ** 29,
    ]);
  });

  test('builds a filter of up to 16 MiB in its own memory, and a longer one in place', () => {
    withKernel((kernel, record) => {
      const fill = (byteLength: number): string[] => callsOf(record, () => kernel.fill(new Uint8Array(byteLength), keysOf(3), 6));
      expect(fill(2 ** 24)).toEqual(['hashKeys', 'setBits']);
      expect(fill(2 ** 24 + 1)).toEqual(['hashKeys', 'locateBits']);
      expect(record.calls.map(({ args }) => args[2]).filter((_, i) => i % 2 === 1)).toEqual([(2 ** 24 - 1) * 8, 2 ** 27]);
    });
  });

  test('looks up keys in a copy of a filter with up to 128 bytes per key, and in a longer one in place', () => {
    withKernel((kernel, record) => {
      const lookUp = (byteLength: number): string[] =>
        callsOf(record, () => kernel.test(new Uint8Array(byteLength), keysOf(16), 6, new Uint8Array(16)));
      expect(lookUp(2048)).toEqual(['hashKeys', 'testBits']);
      expect(lookUp(2049)).toEqual(['hashKeys', 'locateBits']);
    });
  });

  test('hashes as many keys per call as fit into its memory, and does not hash a key that does not fit', () => {
    // The bytes from the end of the positions to the start of the filter.
    const room = 260_092;
    withKernel((kernel, record) => {
      /** How many keys each call hashes. */
      const counts = (lengths: readonly number[]): unknown[] => {
        const before = record.calls.length;
        kernel.fill(new Uint8Array(9), KeyBuffer.from(lengths.map((byteLength) => new Uint8Array(byteLength))), 6);
        return record.calls.slice(before).flatMap(({ name, args }) => (name === 'hashKeys' ? [args[2]] : []));
      };
      expect(counts([room - 7, 3, 2, 2])).toEqual([4]);
      expect(counts([room - 7, 3, 2, 3])).toEqual([2, 2]);
      expect(counts([room])).toEqual([1]);
      expect(counts([room + 1])).toEqual([]);
    });
  });

  test('checks the offsets of a list without hashing its keys, empty ones included, a second time', () => {
    const random = seeded(4);
    const keys = KeyBuffer.from(Array.from({ length: 1500 }, (_, i) => random.bytes(i % 9)));
    // `hashRange` reads the length of the bytes in each call.
    let asked = 0;
    const { length } = keys.bytes;
    Object.defineProperty(keys.bytes, 'length', {
      get: () => {
        asked++;
        return length;
      },
    });
    withKernel((kernel) => {
      kernel.fill(new Uint8Array(1876), keys, 6);
    });
    // Once for every 1,024 keys that are checked together.
    expect(asked).toBe(2);
  });

  test.each([
    { where: 'a copied filter', byteLength: 128, called: 'testBits' },
    { where: 'a filter in place', byteLength: 2 ** 18, called: 'locateBits' },
  ])('writes one answer per key, and no byte after the last one, for $where', ({ byteLength, called }) => {
    const random = seeded(byteLength);
    const members = Array.from({ length: 50 }, () => random.bytes(12));
    const filter = new Uint8Array(byteLength);
    fillBloomFilter(filter, Uint32Array.from(members, bloomHash), 6);
    withKernel((kernel, record) => {
      const wrong: number[] = [];
      for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 1023, 1024, 1025, 1026]) {
        // About half of the keys are members, so that adjacent answers differ.
        const keys = Array.from({ length: count }, () => (random.below(2) === 0 ? random.pick(members) : random.bytes(12)));
        const answers = new Uint8Array(count + 8).fill(0xee);
        kernel.test(filter, KeyBuffer.from(keys), 6, answers);
        const expected = new Uint8Array(count + 8).fill(0xee);
        expected.set(keys.map((key) => (bloomFilterMayMatch(bloomHash(key), filter) ? 1 : 0)));
        if (Buffer.compare(answers, expected) !== 0) wrong.push(count);
      }
      expect(wrong).toEqual([]);
      expect(new Set(record.calls.map(({ name }) => name))).toEqual(new Set(['hashKeys', called]));
    });
  });
});
