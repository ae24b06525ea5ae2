import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { ByteCopier } from '../src/read/byte-copier.js';
import { hex } from './entries.js';

test('copies equal those of slice, and writing to one does not change the others', () => {
  const random = seeded(11);
  const copier = new ByteCopier();
  const from = random.bytes(20_000);
  const kept: [copy: Uint8Array, expected: string][] = [];
  for (let i = 0; i < 2000; i++) {
    const start = random.below(from.length);
    const longest = Math.min(from.length - start, [70, 200, 1100, 20_000][i % 4]!);
    const end = start + random.below(longest + 1);
    const part = from.subarray(start, end);
    const copy = i % 3 === 0 ? copier.copyRange(from.subarray(start), 0, end - start) : copier.copy(part);
    expect(copy.constructor).toBe(Uint8Array);
    if (i % 5 === 0) copy.fill(0xee);
    kept.push([copy, i % 5 === 0 ? 'ee'.repeat(end - start) : hex(from.subarray(start, end))]);
  }
  expect(kept.filter(([copy, expected]) => hex(copy) !== expected)).toEqual([]);
});

test('a copy that is kept retains at most 8 KiB of other memory', () => {
  const copier = new ByteCopier();
  const from = new Uint8Array(100_000);
  for (const length of [0, 1, 64, 65, 100, 1000, 1024, 1025, 8192, 100_000]) {
    expect(copier.copyRange(from, 0, length).buffer.byteLength).toBeLessThanOrEqual(Math.max(length, 8192));
  }
});

test('empty copies go on after one was transferred to another owner', () => {
  const copier = new ByteCopier();
  const first = copier.copy(new Uint8Array(0));
  structuredClone(first.buffer, { transfer: [first.buffer] });
  expect(copier.copy(new Uint8Array(0))).toEqual(new Uint8Array(0));
  expect(copier.copyRange(Uint8Array.of(1, 2), 0, 2)).toEqual(Uint8Array.of(1, 2));
});
