// Laws of the choice of bits by level, and broken variants of it, each of which breaks one.
import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { type FilteredTable, bitsOfNewTables, type NewTables } from '../src/compact/new-table-bits.js';

type Choice = typeof bitsOfNewTables;
type Shape = readonly (readonly FilteredTable[])[];

const PER_BIT = Math.LN2 ** 2;

const tables = (count: number, keys: number, bitsPerKey?: number): FilteredTable[] =>
  Array.from({ length: count }, () => ({ keys, filterBits: bitsPerKey === undefined ? undefined : bitsPerKey * keys }));

/** Four levels, each of 4 to 12 times the keys of the one above. */
function randomShape(seed: number): FilteredTable[][] {
  const random = seeded(seed);
  const shape = [tables(1 + random.below(6), 1000)];
  for (let level = 1, keys = 4000; level < 4; level++, keys *= 4 + random.below(9)) shape.push(tables(1 + random.below(30), keys));
  return [...shape, [], [], []];
}

/** What every choice of bits must hold to. */
function problemOf(choose: Choice): string | undefined {
  for (let seed = 1; seed <= 60; seed++) {
    const shape = randomShape(seed);
    const average = 3 + (seed % 15);
    const level = seed % 4;
    const tiny: NewTables = { level, keys: level === 0 ? 1000 : 1e-6 };
    const bits = choose(shape, tiny, average);
    if (!(Number.isInteger(bits) && bits >= 0 && bits <= 44)) return `${bits} is no number of bits`;
    const all = [0, 1, 2, 3].map((i) => choose(shape, { level: i, keys: 1e-6 }, average));
    const levelKeys = [0, 1, 2, 3].map((i) => shape[i]!.reduce((sum, { keys }) => sum + keys, 0));
    // Of level 0, each table by itself.
    all[0] = choose([shape[0]!.slice(1), ...shape.slice(1)], { level: 0, keys: 1000 }, average);
    const total = levelKeys.reduce((sum, keys) => sum + keys, 0);
    const sum = (some: readonly number[]): number => some.reduce((bitsSum, one, i) => bitsSum + one * levelKeys[i]!, 0);
    if (sum(all) > average * total) return `${all.join()} are more than ${average} for each key`;
    if (sum(all.map((one) => Math.min(44, one + 1))) <= average * total && all.some((one) => one < 43)) return `${all.join()} leave out a bit for each key`;
    for (let i = 1; i < 4; i++) {
      const run = (j: number): number => (j === 0 ? 1000 : levelKeys[j]!);
      const expected = Math.log(run(i) / run(i - 1)) / PER_BIT;
      if (all[i]! > 0 && all[i - 1]! < 44 && Math.abs(all[i - 1]! - all[i]! - expected) > 1.01) return `levels ${i - 1} and ${i} differ by ${all[i - 1]! - all[i]!} bits in place of ${expected}`;
    }
    const reversed = shape.map((some) => [...some].reverse());
    if (choose(reversed, tiny, average) !== bits) return 'the order of tables matters';
    const scaled = shape.map((some) => some.map(({ keys }) => ({ keys: keys * 3, filterBits: undefined })));
    if (choose(scaled, { level, keys: tiny.keys * 3 }, average) !== bits) return 'not only proportions matter';
  }
  const lower = (bits?: number): Shape => [[], tables(10, 1000), tables(100, 1000, bits), [], [], [], []];
  const next = { level: 2, keys: 1000 };
  const right = choose(lower(), next, 10);
  const answers = [right + 1, 16, 2].map((bits) => choose(lower(bits), next, 10) - right);
  if (answers.join() !== '-2,-2,1') return `tables with more and fewer bits make a difference of ${answers.join()}`;
  const above = choose(lower(), { level: 1, keys: 1000 }, 10) - choose(lower(16), { level: 1, keys: 1000 }, 10);
  if (above !== 2) return `rich tables below make a difference of ${above} above`;
  const few = [choose([[{ keys: 10, filterBits: undefined }], [], tables(10, 1e6), [], [], [], []], { level: 2, keys: 1000 }, 0.5), choose([[], [], [], [], [], [], []], { level: 3, keys: 1 }, 7.9), choose([tables(1, 0), [], []], { level: 1, keys: 0 }, 10)];
  if (few[0] !== 0 || few[1] !== 7 || !(few[2]! >= 0 && few[2]! <= 44)) return `${few.join()} where there are few bits or keys`;
  return undefined;
}

const mapped = (change: (table: FilteredTable, level: number) => FilteredTable): Choice => (kept, made, average) => bitsOfNewTables(kept.map((some, level) => some.map((table) => change(table, level))), made, average);
const after = (change: (bits: number, made: NewTables, average: number) => number): Choice => (kept, made, average) => change(bitsOfNewTables(kept, made, average), made, average);

const broken: [string, Choice][] = [
  ['gives all levels the average', (_, __, average) => Math.floor(average)],
  ['gives one bit more', after((bits) => bits + 1)],
  ['gives one bit less', after((bits) => Math.max(0, bits - 1))],
  ['does not round', after((bits) => bits + 0.5)],
  ['gives at least one bit', after((bits) => Math.max(1, bits))],
  ['gives fewer bits than none', after((bits) => bits - 30)],
  ['gives upper levels fewer', after((bits, { level }, average) => Math.max(0, Math.floor(2 * average) - bits + level))],
  ['adds a bit in level 0 only', after((bits, { level }) => (level === 0 ? bits + 1 : bits))],
  ['takes a bit from level 3 only', after((bits, { level }) => (level === 3 ? Math.max(0, bits - 1) : bits))],
  ['forgets the tables that are written', (kept, { level }, average) => bitsOfNewTables(kept, { level, keys: 0 }, average)],
  ['counts them a hundred times', (kept, { level, keys }, average) => bitsOfNewTables(kept, { level, keys: keys * 100 + 5000 }, average)],
  ['counts them in the level above', (kept, { level, keys }, average) => bitsOfNewTables(kept, { level: Math.max(0, level - 1), keys }, average)],
  ['counts them in the level below', (kept, { level, keys }, average) => bitsOfNewTables(kept, { level: level + 1, keys }, average)],
  ['ignores the lowest level', (kept, made, average) => bitsOfNewTables(kept.map((some, i) => (i === 3 ? [] : some)), made, average)],
  ['ignores level 0', (kept, made, average) => bitsOfNewTables(kept.map((some, i) => (i === 0 ? [] : some)), made, average)],
  ['takes the first table of a level for the level', (kept, made, average) => bitsOfNewTables(kept.map((some) => some.slice(0, 1)), made, average)],
  ['leaves out the last table of a level', (kept, made, average) => bitsOfNewTables(kept.map((some) => some.slice(0, -1)), made, average)],
  ['believes that all filters are as they should be', mapped(({ keys }) => ({ keys, filterBits: undefined }))],
  ['takes filters that it does not know for none', mapped(({ keys, filterBits = 0 }) => ({ keys, filterBits }))],
  ['takes bytes of filters for bits', mapped(({ keys, filterBits }) => ({ keys, filterBits: filterBits === undefined ? undefined : filterBits / 8 }))],
  ['counts tables, not keys', mapped(({ filterBits }) => ({ keys: 1000, filterBits }))],
  ['treats level 0 as one run', (kept, made, average) => bitsOfNewTables([[], [...kept[0]!, ...(kept[1] ?? [])], ...kept.slice(2)], made, average)],
  ['has a fixed average', (kept, made) => bitsOfNewTables(kept, made, 10)],
  ['rounds the average', (kept, made, average) => bitsOfNewTables(kept, made, Math.round(average))],
];

test('the choice keeps the laws', () => {
  expect(problemOf(bitsOfNewTables)).toBeUndefined();
});

test.each(broken)('a choice that %s breaks one', (_, choose) => {
  expect(problemOf(choose)).toBeDefined();
});
