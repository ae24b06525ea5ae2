import { seeded } from '@bloom/fixtures';
import { kernelTests } from '@bloom/fixtures/hash-filter-suite';
import { buildFilter, KeyBuffer } from '@bloom/policy';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { afterEach, expect, test, vi } from 'vitest';
import { FuseKernel } from '../src/fuse-kernel.js';
import { modelMayMatch } from './fuse-model.js';

afterEach(() => {
  vi.restoreAllMocks();
});

kernelTests([
  ['8 bits', () => new FuseFilterPolicy(8)],
  ['16 bits', () => new FuseFilterPolicy(16)],
], (keys) => KeyBuffer.from(keys), [64, 700, 1000, 1200, 2000, 5000, 20_000]);

test('the kernel builds the array of every filter that is not a Bloom filter', () => {
  const build = vi.spyOn(FuseKernel.prototype, 'build');
  const random = seeded(12);
  for (const bits of [8, 16] as const) {
    const policy = new FuseFilterPolicy(bits);
    const filterOf = (count: number): Uint8Array => buildFilter(policy, Array.from({ length: count }, () => random.bytes(12)));
    // With this many keys, compiling the kernel is worth while.
    filterOf(5000);
    for (const count of [1000, 2000, 5000, 7001, 20_003]) {
      build.mockClear();
      const filter = filterOf(count);
      expect(filter.at(-1)).toBe(bits);
      // A seed with which the keys cannot be placed gives undefined.
      expect(build.mock.results.at(-1)?.value).toEqual(filter.subarray(0, -3));
    }
  }
});

test('keys that the first seed does not place get another one, in the loops and in the kernel', () => {
  const kernelPolicy = new FuseFilterPolicy();
  buildFilter(kernelPolicy, Array.from({ length: 5000 }, (_, i) => Uint8Array.of(i >> 8, i)));
  const seeds = [29, 39, 43, 50, 79].map((set) => {
    const random = seeded(set);
    const keys = Array.from({ length: 1300 }, () => random.bytes(8));
    const filter = buildFilter(new FuseFilterPolicy(), keys);
    expect(filter.at(-1)).toBe(8);
    expect(keys.filter((key) => !modelMayMatch(key, filter))).toEqual([]);
    expect(buildFilter(kernelPolicy, keys)).toEqual(filter);
    return filter.at(-3);
  });
  expect(seeds).not.toContain(0);
});
