import { expect } from 'vitest';

/** Bits, the lowest first, as bytes. */
export function forwardBits(bits: readonly (readonly [value: number, count: number])[]): number[] {
  const digits = bits.flatMap(([value, count]) => Array.from({ length: count }, (_, i) => (value >>> i) & 1));
  return Array.from({ length: Math.ceil(digits.length / 8) }, (_, i) => digits.slice(8 * i, 8 * i + 8).reduce((byte, digit, j) => byte | (digit << j), 0));
}

/** The description of an FSE table in which the symbols have so many rows. Source: RFC 8878, section 4.1.1. */
export function describedShares(counts: readonly number[], accuracy: number): number[] {
  const bits: [number, number][] = [[accuracy - 5, 4]];
  let remaining = (1 << accuracy) + 1;
  for (let symbol = 0; symbol < counts.length; symbol++) {
    const count = counts[symbol]!;
    const width = 32 - Math.clz32(remaining);
    const threshold = 1 << (width - 1);
    const shorter = 2 * threshold - 1 - remaining;
    const value = count + 1 >= threshold ? count + 1 + shorter : count + 1;
    bits.push([value, count + 1 < shorter ? width - 1 : width]);
    remaining -= Math.abs(count);
    if (count !== 0) continue;
    // How many more symbols have no rows, three at a time.
    let run = 0;
    while (counts[symbol + 1] === 0) {
      symbol++;
      run++;
    }
    for (; run >= 3; run -= 3) bits.push([3, 2]);
    bits.push([run, 2]);
  }
  expect(remaining).toBe(1);
  return forwardBits(bits);
}
