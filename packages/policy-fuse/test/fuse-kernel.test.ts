// The kernel and the plain loops give the same bytes and answers.
import { seeded } from '@bloom/fixtures';
import { FilterBuffer, KeyBuffer } from '@bloom/policy';
import { type FingerprintBits, FuseFilterPolicy } from '@bloom/policy-fuse';
import { afterEach, describe, expect, test, vi } from 'vitest';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const settings: FingerprintBits[] = [8, 16];

function filterOf(policy: FuseFilterPolicy, keys: KeyBuffer): Uint8Array {
  const sink = new FilterBuffer();
  policy.createFilter(keys, sink);
  return sink.toBytes();
}

/** A policy that has seen so many keys that it has a kernel, where the host allows one. */
function warmPolicy(bits: FingerprintBits): FuseFilterPolicy {
  const policy = new FuseFilterPolicy(bits);
  filterOf(policy, KeyBuffer.from(Array.from({ length: 4096 }, (_, i) => Uint8Array.of(i, i >> 8))));
  return policy;
}

/** A policy on a host without WebAssembly. */
function plainPolicy(bits: FingerprintBits): FuseFilterPolicy {
  vi.stubGlobal('WebAssembly', undefined);
  const policy = warmPolicy(bits);
  vi.unstubAllGlobals();
  return policy;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a policy compiles its kernel once it has seen 4,096 keys, and no policy does that without WebAssembly', () => {
  let modules = 0;
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: { Module: new (binary: Uint8Array) => object; Instance: unknown } }).WebAssembly;
  class CountedModule extends Module {
    constructor(binary: Uint8Array) {
      super(binary);
      modules++;
    }
  }
  vi.stubGlobal('WebAssembly', { Module: CountedModule, Instance });
  const policy = new FuseFilterPolicy();
  const keys = KeyBuffer.from(Array.from({ length: 2000 }, (_, i) => Uint8Array.of(i, i >> 8)));
  filterOf(policy, keys);
  filterOf(policy, keys);
  const before = modules;
  filterOf(policy, keys);
  filterOf(policy, keys);
  // The kernel of @bloom/hash may be compiled in these calls too, once in a program.
  expect(modules - before).toBeGreaterThanOrEqual(1);
  expect(modules - before).toBeLessThanOrEqual(2);
});

describe.each(settings)('with %i bits', (bits) => {
  const random = seeded(bits);
  const kernel = warmPolicy(bits);
  const plain = plainPolicy(bits);

  test('filters have the same bytes', () => {
    for (const count of [64, 700, 1000, 1200, 2000, 5000, 20_000]) {
      const list = Array.from({ length: count }, () => random.bytes(random.below(24)));
      const keys = KeyBuffer.from([...list, ...list.slice(0, count >> 2)]);
      expect(hex(filterOf(kernel, keys)), `${count} keys`).toBe(hex(filterOf(plain, keys)));
    }
  });

  test('batches have the same answers, also with damaged filters', () => {
    const keys = KeyBuffer.from(Array.from({ length: 3000 }, () => random.bytes(random.below(24))));
    const others = KeyBuffer.from([...Array.from(keys).slice(0, 500), ...Array.from({ length: 2000 }, () => random.bytes(random.below(24)))]);
    const filter = filterOf(kernel, keys);
    expect(kernel.keysMayMatch(keys, filter)).not.toContain(0);
    for (let i = 0; i < 60; i++) {
      const damaged = filter.slice(i % 3 === 0 ? random.below(50) : 0, filter.length - (i % 4 === 0 ? random.below(4) : 0));
      if (i > 0) damaged[damaged.length - 1 - random.below(5)] = random.below(256);
      expect(hex(kernel.keysMayMatch(others, damaged)), hex(damaged.subarray(-5))).toBe(hex(plain.keysMayMatch(others, damaged)));
    }
  });

  test('batches have the same answers with filters of few keys', () => {
    for (const count of [5, 9, 20, 40, 63, 66, 130]) {
      const filter = filterOf(plain, KeyBuffer.from(Array.from({ length: count }, () => random.bytes(6))));
      const others = KeyBuffer.from(Array.from({ length: 1000 }, () => random.bytes(6)));
      expect(hex(kernel.keysMayMatch(others, filter)), `${count} keys`).toBe(hex(plain.keysMayMatch(others, filter)));
    }
  });
});
