import { seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { type FilteredTable, bitsOfNewTables } from '../src/compact/new-table-bits.js';

const LEVELS = 7;
const rateOf = (bits: number): number => Math.exp(-bits * Math.LN2 ** 2);

/** Tables of some keys each, with so many bits per key. */
function tables(count: number, keys: number, bitsPerKey?: number): FilteredTable[] {
  return Array.from({ length: count }, () => ({ keys, filterBits: bitsPerKey === undefined ? undefined : bitsPerKey * keys }));
}

function levels(...some: readonly FilteredTable[][]): FilteredTable[][] {
  return Array.from({ length: LEVELS }, (_, i) => some[i] ?? []);
}

/** The wasted reads of a lookup, when each level has its bits. */
function wastedReads(shape: readonly (readonly FilteredTable[])[], bits: readonly number[]): number {
  return shape.reduce((sum, { length }, i) => sum + (i === 0 ? length : Math.min(1, length)) * rateOf(bits[i]!), 0);
}

describe('bits by level', () => {
  test('a database with one level has the average there', () => {
    expect(bitsOfNewTables(levels(), { level: 0, keys: 1000 }, 10)).toBe(10);
    expect(bitsOfNewTables(levels([], [], tables(10, 1000)), { level: 2, keys: 1000 }, 10)).toBe(10);
    expect(bitsOfNewTables(levels(), { level: 3, keys: 1 }, 0.4)).toBe(0);
  });

  test('a level with a tenth of the keys gets about 4.8 bits more', () => {
    const shape = levels(tables(4, 40_000), tables(5, 20_000), tables(50, 20_000), tables(450, 20_000));
    const bits = [0, 1, 2, 3].map((level) => bitsOfNewTables(shape, { level, keys: level === 0 ? 40_000 : 1 }, 10));
    expect(bits).toEqual([20, 18, 13, 9]);
  });

  test.each([1, 2, 3, 4, 5])('no other bits of the same sum waste fewer reads: random shapes (%i)', (seed) => {
    const random = seeded(seed);
    const shape = levels(tables(1 + random.below(6), 1000), ...[1, 2, 3].map((level) => tables(1 + random.below(3 * 4 ** level), 500)));
    const keysOf = (i: number): number => shape[i]!.reduce((sum, { keys }) => sum + keys, 0);
    // Asked for with almost no keys, so that the shape stays the same; in level 0 for one more table.
    const real = [0, 1, 2, 3].map((level) => {
      const least = level === 0 ? 1000 : 1e-9;
      const own = level === 0 ? levels(shape[0]!.slice(1), ...shape.slice(1)) : shape;
      return bitsOfNewTables(own.map((some) => [...some]), { level, keys: least }, 10);
    });
    const budget = 10 * [0, 1, 2, 3].reduce((sum, i) => sum + keysOf(i), 0);
    const cost = (bits: readonly number[]): number => bits.reduce((sum, one, i) => sum + one * keysOf(i), 0);
    expect(cost(real)).toBeLessThanOrEqual(budget);
    // Rounding down costs at most a bit everywhere.
    const spend = cost(real.map((bits) => bits + 1));
    let best = Infinity;
    for (let a = 0; a <= 40; a++) {
      for (let b = 0; b <= 40; b++) {
        for (let c = 0; c <= 40; c++) {
          const rest = Math.floor((cost(real) - cost([a, b, c])) / keysOf(3));
          if (rest >= 0) best = Math.min(best, wastedReads(shape, [a, b, c, rest, 0, 0, 0]));
        }
      }
    }
    expect(spend).toBeGreaterThan(budget);
    expect(wastedReads(shape, [...real, 0, 0, 0])).toBeLessThan(best * 1.25);
  });

  test('filters larger than their level’s share leave fewer bits for new tables, and one new table does not make up for smaller ones', () => {
    const shape = (bits: number): FilteredTable[][] => levels([], tables(10, 1000), tables(100, 1000, bits));
    const right = bitsOfNewTables(levels([], tables(10, 1000), tables(100, 1000)), { level: 2, keys: 1000 }, 10);
    expect(bitsOfNewTables(shape(right + 1), { level: 2, keys: 1000 }, 10)).toBe(right - 2);
    expect(bitsOfNewTables(shape(16), { level: 2, keys: 1000 }, 10)).toBe(right - 2);
    expect(bitsOfNewTables(shape(2), { level: 2, keys: 1000 }, 10)).toBe(right + 1);
    const above = bitsOfNewTables(levels([], tables(10, 1000), tables(100, 1000)), { level: 1, keys: 1000 }, 10);
    expect(bitsOfNewTables(shape(16), { level: 1, keys: 1000 }, 10)).toBe(above - 2);
  });

  test('filters above that are larger than their share count with their bits until they are written again', () => {
    const below = (bits: number | undefined): number => bitsOfNewTables(levels([], tables(20, 1000, bits), tables(100, 1000)), { level: 2, keys: 1000 }, 10);
    expect(below(44)).toBe(below(undefined) - 2);
    expect(below(2)).toBe(below(undefined));
  });

  test('tables that are written one after another reach the average, with fractions of a bit', () => {
    const level: FilteredTable[] = [];
    const above = tables(5, 1000);
    for (let i = 0; i < 50; i++) {
      const bits = bitsOfNewTables(levels([], above, level), { level: 2, keys: 1000 }, 9.5);
      level.push({ keys: 1000, filterBits: bits * 1000 });
      if (level.length > 40) level.shift();
    }
    const upper = bitsOfNewTables(levels([], [], level), { level: 1, keys: 5000 }, 9.5);
    const sum = level.reduce((all, { filterBits }) => all + filterBits!, 0) + upper * 5000;
    expect(sum).toBeLessThanOrEqual(9.5 * 45_000);
    expect(sum).toBeGreaterThan(9 * 45_000);
  });

  test('a level that would get less than one bit gets none, and no level gets more bits than are useful', () => {
    const shape = levels([{ keys: 10, filterBits: undefined }], [], tables(10, 1_000_000));
    expect(bitsOfNewTables(shape, { level: 2, keys: 1000 }, 0.5)).toBe(0);
    expect(bitsOfNewTables(shape, { level: 0, keys: 10 }, 20)).toBe(44);
    expect(bitsOfNewTables(levels(tables(1, 0)), { level: 1, keys: 0 }, 10)).toBeGreaterThanOrEqual(0);
  });
});
