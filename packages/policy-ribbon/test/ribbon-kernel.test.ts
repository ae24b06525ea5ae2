import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { seeded } from '@bloom/fixtures';
import { kernelTests } from '@bloom/fixtures/hash-filter-suite';
import { KeyBuffer } from '@bloom/policy';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { describe, expect, test } from 'vitest';
import { RIBBON_KERNEL } from '../src/ribbon-kernel.wasm.js';

kernelTests(([{}, { width: 128 }, { width: 64, rate: 0.5 }, { rate: 0.003 }, { width: 128, rate: 2 ** -16 }, { rate: 2 ** -9 }] as const).map((options) => [JSON.stringify(options), () => new RibbonFilterPolicy(options)] as const), (keys) => KeyBuffer.from(keys), [64, 65, 100, 127, 129, 500, 2000, 5000, 20_000]);

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
