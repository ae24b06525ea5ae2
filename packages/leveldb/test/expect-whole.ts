import { expect } from 'vitest';

/** Expects that the ranges cover the whole without gaps or overlaps. */
export function expectWhole(ranges: readonly { offset: number; byteLength: number }[], byteLength: number): void {
  let position = 0;
  for (const range of ranges) {
    expect(range.offset).toBe(position);
    expect(range.byteLength).toBeGreaterThan(0);
    position += range.byteLength;
  }
  expect(position).toBe(byteLength);
}
