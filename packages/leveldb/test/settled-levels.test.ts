import { describe, expect, test } from 'vitest';
import { settledLevels, type SizedTable } from '../src/compact/settled-levels.js';

const MEBIBYTE = 2 ** 20;

/** Tables of 2 MiB with 20,000 keys and ten bits for each. */
function tables(count: number): SizedTable[] {
  return Array.from({ length: count }, () => ({ keys: 20_000, bytes: 2 * MEBIBYTE, filterBits: 200_000 }));
}

function levels(...counts: readonly number[]): SizedTable[][] {
  return Array.from({ length: 7 }, (_, level) => tables(counts[level] ?? 0));
}

function shapeOf(some: readonly (readonly SizedTable[])[]): number[] {
  return some.map(({ length }) => length);
}

/** How many tables of each level have come down to it. */
function fallenOf(some: readonly (readonly SizedTable[])[]): number[] {
  return some.map((level) => level.filter(({ filterBits }) => filterBits === undefined).length);
}

const none = { keys: 0, bytes: 0 };

describe('levels as they will be', () => {
  test('stay the same where no compaction is due', () => {
    const kept = levels(3, 4, 30, 10);
    expect(settledLevels(kept, { level: 3, ...none })).toEqual({ levels: kept, addedKeys: 0 });
  });

  test('the excess of a level moves down, at most to the level below the one being written', () => {
    // 10 MiB stay in level 1, less than which is four tables; 100 MiB in level 2.
    const { levels: settled } = settledLevels(levels(8, 20, 60, 200), { level: 2, ...none });
    expect(shapeOf(settled)).toEqual([3, 4, 49, 232, 0, 0, 0]);
    expect(fallenOf(settled)).toEqual([0, 0, 0, 32, 0, 0, 0]);
  });

  test('the excess stays in the level being written while the next one has less than three times as much', () => {
    const shapeAbove = (below: number): number[] => shapeOf(settledLevels(levels(8, 20, 60, below), { level: 2, ...none }).levels);
    expect(shapeAbove(0)).toEqual([3, 4, 81, 0, 0, 0, 0]);
    expect(shapeAbove(92)).toEqual([3, 4, 81, 92, 0, 0, 0]);
    expect(shapeAbove(93)).toEqual([3, 4, 49, 125, 0, 0, 0]);
  });

  test('the excess fills the level below before it moves further down', () => {
    const { levels: settled } = settledLevels(levels(8, 20, 10), { level: 2, ...none });
    expect(shapeOf(settled)).toEqual([3, 4, 31, 0, 0, 0, 0]);
    expect(fallenOf(settled)).toEqual([0, 0, 21, 0, 0, 0, 0]);
  });

  test('levels below the one of the new tables stay the same, however full', () => {
    expect(shapeOf(settledLevels(levels(2, 100, 500), { level: 0, ...none }).levels)).toEqual([2, 100, 500, 0, 0, 0, 0]);
  });

  test('the new tables get room first, and their excess moves down', () => {
    const { levels: settled, addedKeys } = settledLevels(levels(0, 3, 60), { level: 1, keys: 400_000, bytes: 40 * MEBIBYTE });
    expect(addedKeys).toBe(100_000);
    expect(shapeOf(settled)).toEqual([0, 0, 64, 0, 0, 0, 0]);
    expect(settled[2]!.slice(60).reduce((sum, { keys }) => sum + keys, 0)).toBe(360_000);
  });

  test('a new table of level 0 stays, with two others', () => {
    const { levels: settled, addedKeys } = settledLevels(levels(6), { level: 0, keys: 9, bytes: 2 ** 40 });
    expect(addedKeys).toBe(9);
    expect(shapeOf(settled)).toEqual([2, 4, 0, 0, 0, 0, 0]);
  });

  test('no key is lost', () => {
    const keysOf = (some: readonly (readonly SizedTable[])[]): number => some.flat().reduce((sum, { keys }) => sum + keys, 0);
    for (let level = 0; level < 7; level++) {
      const kept = levels(9, 17, 80, 700, 40, 1, 2);
      const { levels: settled, addedKeys } = settledLevels(kept, { level, keys: 50_000, bytes: 5 * MEBIBYTE });
      expect(keysOf(settled) + addedKeys).toBe(keysOf(kept) + 50_000);
    }
  });
});
