// The kernel and the plain loops give the same bytes and answers.
import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { seeded } from '@bloom/fixtures';
import { FilterBuffer, KeyBuffer } from '@bloom/policy';
import { type RibbonFilterOptions, RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { RIBBON_KERNEL } from '../src/ribbon-kernel.wasm.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const settings: RibbonFilterOptions[] = [{}, { width: 128 }, { width: 64, rate: 0.5 }, { rate: 0.003 }, { width: 128, rate: 2 ** -16 }, { rate: 2 ** -9 }];

function filterOf(policy: RibbonFilterPolicy, keys: KeyBuffer): Uint8Array {
  const sink = new FilterBuffer();
  policy.createFilter(keys, sink);
  return sink.toBytes();
}

/** A policy that has seen so many keys that it has a kernel, where the host allows one. */
function warmPolicy(options: RibbonFilterOptions): RibbonFilterPolicy {
  const policy = new RibbonFilterPolicy(options);
  filterOf(policy, KeyBuffer.from(Array.from({ length: 4096 }, (_, i) => Uint8Array.of(i, i >> 8))));
  return policy;
}

/** A policy on a host without WebAssembly. */
function plainPolicy(options: RibbonFilterOptions): RibbonFilterPolicy {
  vi.stubGlobal('WebAssembly', undefined);
  const policy = warmPolicy(options);
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
  const policy = new RibbonFilterPolicy();
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

describe.each(settings)('with %o', (options) => {
  const random = seeded(Math.round((options.rate ?? 1) * 1e6) + (options.width ?? 0));
  const kernel = warmPolicy(options);
  const plain = plainPolicy(options);

  test('filters have the same bytes', () => {
    for (const count of [64, 65, 100, 127, 129, 500, 2000, 5000, 20_000]) {
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

  test('batches have the same answers with filters of few slots', () => {
    for (const count of [5, 9, 20, 40, 63, 66, 130]) {
      const filter = filterOf(plain, KeyBuffer.from(Array.from({ length: count }, () => random.bytes(6))));
      const others = KeyBuffer.from(Array.from({ length: 1000 }, () => random.bytes(6)));
      expect(hex(kernel.keysMayMatch(others, filter)), `${count} keys`).toBe(hex(plain.keysMayMatch(others, filter)));
    }
  });
});

describe('the sort of hashes', () => {
  interface Exports extends Kernel {
    sortDistinct(hashes: number, scratch: number, counts: number, n: number): number;
  }
  const HASHES_AT = 16_384;

  function sorted(hashes: readonly bigint[]): bigint[] {
    const kernel = instantiateKernel<Exports>(RIBBON_KERNEL)!;
    const view = new BigUint64Array(kernel.memory.buffer, HASHES_AT, 2 * hashes.length);
    view.set(hashes);
    return [...view.subarray(0, kernel.sortDistinct(HASHES_AT, HASHES_AT + 8 * hashes.length, 1024, hashes.length))];
  }

  const random = seeded(64);
  const any = (): bigint => (BigInt(random.uint32()) << 32n) | BigInt(random.uint32());
  test.each<[string, bigint[]]>([
    ['none', []],
    ['one', [any()]],
    ['thirty-two', Array.from({ length: 32 }, any)],
    ['thousands', Array.from({ length: 5000 }, any)],
    ['more than one digit of places', Array.from({ length: 70_000 }, any)],
    ['each twice', Array.from({ length: 3000 }, any).flatMap((hash) => [hash, hash])],
    ['all the same', Array.from({ length: 5000 }, () => 7n)],
    // Insertion alone would make 2 * 10^9 moves.
    ['descending ones with the same highest bits', Array.from({ length: 70_000 }, (_, i) => (5n << 60n) | BigInt(1_000_000 - i))],
  ])('leaves %s in order, each once', (_, hashes) => {
    expect(sorted(hashes)).toEqual([...new Set(hashes)].sort((a, b) => (a < b ? -1 : 1)));
  });
});
