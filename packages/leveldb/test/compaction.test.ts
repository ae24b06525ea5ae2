import { type Random, seeded } from '@bloom/fixtures';
import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { CompactionWalk } from '../src/compact/compaction-walk.js';
import { fitsInLevel, fullLevels, isTooFull, maxBytesOf } from '../src/compact/level-scores.js';
import { boundsOfUserKeys, Compaction, compactionOf, type CompactionState, pickCompaction } from '../src/compact/pick-compaction.js';
import { levelForFlush } from '../src/compact/flush-level.js';
import { LastKey } from '../src/compact/last-key.js';
import { boundsOf, overlappingFiles, overlapsLevel } from '../src/compact/overlap.js';
import { SeekBudget } from '../src/compact/seek-budget.js';
import { Entry } from '../src/cursor/entry-cursor.js';
import { keyOrderOf } from '../src/format/database-key.js';
import { type FileMetadata, LEVEL_COUNT } from '../src/format/version-edit.js';
import { Version } from '../src/format/version.js';
import { reverseComparator } from './reverse-comparator.js';

// The rules are those of LevelDB, db/version_set.cc. Its own cases, of version_set_test.cc, are in leveldb-cases.test.ts.

const MIB = 2 ** 20;
const order = keyOrderOf(bytewiseComparator);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (userKey: string, sequence: number): Uint8Array => encodeInternalKey({ userKey: utf8(userKey), sequence: BigInt(sequence), type: VALUE });

/** A table from `first` to `last`: user keys, or a user key and a sequence as in `b@7`. Without one it is 100. */
function file(number: number, first: string, last: string, size = 1): FileMetadata {
  const key = (text: string): Uint8Array => {
    const [userKey, sequence = '100'] = text.split('@');
    return keyOf(userKey!, Number(sequence));
  };
  return { number: BigInt(number), size, smallest: key(first), largest: key(last) };
}

/** The version with these tables, by level. */
function versionOf(levels: Readonly<Record<number, readonly FileMetadata[]>>): Version {
  return new Version(Array.from({ length: LEVEL_COUNT }, (_, level) => levels[level] ?? []), order, { structure: 'MANIFEST', offset: 0 });
}

const numbersOf = (files: readonly FileMetadata[]): number[] => files.map(({ number }) => Number(number));
const entryOf = (userKey: string, sequence = 50): Entry => Object.assign(new Entry(), { keyBytes: Uint8Array.of(9, ...keyOf(userKey, sequence), 9), keyStart: 1, keyEnd: 1 + userKey.length + 8 });

/** Whether the user keys of two ranges of letters have one in common. */
const meet = ([a, b]: readonly [string, string], [c, d]: readonly [string, string]): boolean => a <= d && c <= b;
const rangeOf = ({ smallest, largest }: FileMetadata): [string, string] => [smallest, largest].map((key) => Buffer.from(key.subarray(0, -8)).toString()) as [string, string];

function randomRange(random: Random, widest: number): [string, string] {
  const first = 97 + random.below(20);
  return [String.fromCharCode(first), String.fromCharCode(Math.min(122, first + random.below(widest)))];
}

/** Tables of a level below 0: they share no user key. */
function randomLevel(random: Random, number: number): FileMetadata[] {
  const ends = [...new Set(Array.from({ length: 2 * random.below(7) }, () => random.below(26)))].sort((a, b) => a - b);
  return Array.from({ length: ends.length >> 1 }, (_, i) => file(number + i, String.fromCharCode(97 + ends[2 * i]!), String.fromCharCode(97 + ends[2 * i + 1]!)));
}

describe('the tables that overlap a range of user keys', () => {
  test('are in a level below 0 those that have a key of it in their bounds, in the order of the level', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = seeded(seed);
      const version = versionOf({ 1: randomLevel(random, 1) });
      const range = randomRange(random, 10);
      const expected = version.levels[1]!.filter((one) => meet(rangeOf(one), range));
      // Only the user keys of the bounds count, whatever their sequences.
      const bounds = { begin: keyOf(range[0], random.below(200)), end: keyOf(range[1], random.below(200)) };
      expect(numbersOf(overlappingFiles(version, 1, order, bounds))).toEqual(numbersOf(expected));
      expect(overlapsLevel(version, 1, order, bounds)).toBe(expected.length > 0);
      const unbounded = [
        { begin: undefined, end: bounds.end, range: ['a', range[1]] as const },
        { begin: bounds.begin, end: undefined, range: [range[0], 'z'] as const },
        { begin: undefined, end: undefined, range: ['a', 'z'] as const },
      ];
      for (const { begin, end, range: meant } of unbounded) {
        expect(numbersOf(overlappingFiles(version, 1, order, { begin, end }))).toEqual(numbersOf(version.levels[1]!.filter((one) => meet(rangeOf(one), meant))));
        expect(overlapsLevel(version, 1, order, { begin, end })).toBe(version.levels[1]!.some((one) => meet(rangeOf(one), meant)));
      }
    }
  });

  test('are in level 0 also those that overlap them, and so on: exactly the least set of tables that overlaps no other', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = seeded(seed);
      const version = versionOf({ 0: Array.from({ length: random.below(10) }, (_, i) => file(i + 1, ...randomRange(random, 5))) });
      const range = randomRange(random, 5);
      let grown = range;
      let expected: FileMetadata[] = [];
      for (;;) {
        const found = version.levels[0]!.filter((one) => meet(rangeOf(one), grown));
        if (found.length === expected.length) break;
        expected = found;
        grown = [[...found.map((one) => rangeOf(one)[0]), grown[0]].sort()[0]!, [...found.map((one) => rangeOf(one)[1]), grown[1]].sort().at(-1)!];
      }
      const bounds = { begin: keyOf(range[0], 7), end: keyOf(range[1], 7) };
      expect(numbersOf(overlappingFiles(version, 0, order, bounds))).toEqual(numbersOf(expected));
      expect(numbersOf(overlappingFiles(version, 0, order, { begin: undefined, end: undefined }))).toEqual(numbersOf(version.levels[0]!));
    }
  });

  test('of level 0 are found with one bound too: the range grows only where it is bounded', () => {
    const version = versionOf({ 0: [file(1, 'a', 'c'), file(2, 'c', 'e'), file(3, 'e', 'g'), file(4, 'i', 'k')] });
    expect(numbersOf(overlappingFiles(version, 0, order, boundsOfUserKeys(undefined, utf8('a'))))).toEqual([1, 2, 3]);
    expect(numbersOf(overlappingFiles(version, 0, order, boundsOfUserKeys(utf8('g'), undefined)))).toEqual([1, 2, 3, 4]);
    expect(numbersOf(overlappingFiles(version, 0, order, boundsOfUserKeys(utf8('h'), undefined)))).toEqual([4]);
  });

  test('have as bounds the least and the greatest internal key', () => {
    const files = [file(1, 'c@5', 'f@5'), file(2, 'b@3', 'f@9'), file(3, 'b@4', 'd'), file(4, 'e', 'f@2'), file(5, 'e', 'f@3')];
    expect(boundsOf(files, order)).toEqual({ begin: keyOf('b', 4), end: keyOf('f', 2) });
    expect(boundsOf([...files].reverse(), order)).toEqual({ begin: keyOf('b', 4), end: keyOf('f', 2) });
    expect(boundsOf(files.slice(0, 1), order)).toEqual({ begin: keyOf('c', 5), end: keyOf('f', 5) });
  });
});

describe('the level that is compacted next', () => {
  const zero = (count: number): FileMetadata[] => Array.from({ length: count }, (_, i) => file(10 + i, 'a', 'b'));

  test('is the fullest: level 0 by four tables, level n by 10^n MiB, and of two that are as full the upper one', () => {
    expect([1, 2, 3, 4, 5].map(maxBytesOf)).toEqual([10, 100, 1000, 10_000, 100_000].map((n) => n * MIB));
    expect(fullLevels(versionOf({}))).toEqual([]);
    expect(fullLevels(versionOf({ 0: zero(3), 1: [file(1, 'a', 'b', 10 * MIB - 1)] }))).toEqual([]);
    expect(fullLevels(versionOf({ 0: zero(4), 1: [file(1, 'a', 'b', 5 * MIB), file(2, 'c', 'd', 5 * MIB)] }))).toEqual([0, 1]);
    expect(fullLevels(versionOf({ 0: zero(4), 1: [file(1, 'a', 'b', 5 * MIB), file(2, 'c', 'd', 6 * MIB)] }))).toEqual([1, 0]);
    const deep = { 1: [file(1, 'a', 'b', 10 * MIB)], 4: [file(2, 'c', 'd', 20_000 * MIB)], 5: [file(3, 'c', 'd', 150_000 * MIB)] };
    expect(fullLevels(versionOf(deep))).toEqual([4, 5, 1]);
    // The last level has no limit.
    expect(fullLevels(versionOf({ 5: [file(3, 'c', 'd', 100_000 * MIB)], 6: [file(2, 'c', 'd', 2 ** 50)] }))).toEqual([5]);
  });

  test('is none while the tables fit: less than four in level 0, and less than 10^n MiB in level n', () => {
    expect([0, 3, 4, 5].map((count) => fitsInLevel(0, count, 2 ** 50))).toEqual([true, true, false, false]);
    expect([10 * MIB - 1, 10 * MIB, 10 * MIB + 1].map((bytes) => fitsInLevel(1, 100, bytes))).toEqual([true, false, false]);
    expect([100 * MIB - 1, 100 * MIB].map((bytes) => fitsInLevel(2, 0, bytes))).toEqual([true, false]);
    expect(fitsInLevel(6, 1000, 2 ** 50)).toBe(true);
    expect([isTooFull(versionOf({})), isTooFull(versionOf({ 0: zero(3) })), isTooFull(versionOf({ 0: zero(4) }))]).toEqual([false, false, true]);
    expect(isTooFull(versionOf({ 2: [file(1, 'a', 'b', 100 * MIB)] }))).toBe(true);
  });

  test.each([
    ['2, where nothing overlaps it', { 0: [file(1, 'n', 'o')], 3: [file(2, 'a', 'z')] }, 2],
    ['0, where a table of level 0 overlaps it', { 0: [file(1, 'm', 'o')] }, 0],
    ['0, where a table of level 1 overlaps it', { 1: [file(1, 'a', 'f')] }, 0],
    ['1, where a table of level 2 overlaps it', { 2: [file(1, 'a', 'f'), file(2, 'g', 'h')] }, 1],
    ['2, where tables of 10 MiB overlap it two levels below', { 3: [file(1, 'a', 'g', 4 * MIB), file(2, 'h', 'z', 6 * MIB)] }, 2],
    ['0, where more than 10 MiB overlap it in level 2', { 2: [file(1, 'a', 'g', 4 * MIB), file(2, 'h', 'z', 6 * MIB + 1)] }, 0],
    ['1, where more than 10 MiB overlap it in level 3', { 3: [file(1, 'a', 'g', 4 * MIB), file(2, 'h', 'z', 6 * MIB + 1)] }, 1],
    ['2, where tables beside it are as large as they like', { 2: [file(1, 'a', 'e', 2 ** 40)], 3: [file(2, 'n', 'z', 2 ** 40)] }, 2],
  ])('for a memtable from f to m is %s', (_, levels, expected) => {
    expect(levelForFlush(versionOf(levels), order, file(99, 'f', 'm'), MIB)).toBe(expected);
  });

  test.each([
    ['0, where a merge writes tables around it to level 1', { level: 1, first: 'a', last: 'z' }, 0],
    ['1, where a merge writes tables around it to level 2', { level: 2, first: 'a', last: 'z' }, 1],
    ['2, where a merge writes tables around it to level 3', { level: 3, first: 'a', last: 'z' }, 2],
    ['1, where a merge writes tables up to its first key to level 2', { level: 2, first: 'a', last: 'f@7' }, 1],
    ['1, where a merge writes tables from its last key on to level 2', { level: 2, first: 'm@7', last: 'z' }, 1],
    ['2, where a merge writes tables before it', { level: 1, first: 'a', last: 'e' }, 2],
    ['2, where a merge writes tables after it', { level: 1, first: 'n', last: 'z' }, 2],
  ])('for a memtable from f to m is %s', (_, { level, first, last }, expected) => {
    expect(levelForFlush(versionOf({}), order, file(99, 'f', 'm'), MIB, { level, ...file(98, first, last) })).toBe(expected);
  });
});

describe('the inputs of a compaction', () => {
  const compacted = (levels: Readonly<Record<number, readonly FileMetadata[]>>, level: number, ...numbers: number[]): Compaction => {
    const version = versionOf(levels);
    return new Compaction(version, order, MIB, level, version.levels[level]!.filter(({ number }) => numbers.includes(Number(number))));
  };
  const inputsOf = ({ inputs }: Compaction): number[][] => inputs.map(numbersOf);

  test('are tables of a level and those of the next that overlap them', () => {
    const compaction = compacted({ 1: [file(1, 'c', 'f'), file(2, 'p', 'q')], 2: [file(3, 'a', 'b'), file(4, 'b1', 'd'), file(5, 'f', 'm'), file(6, 'n', 'z')] }, 1, 1);
    expect([compaction.level, inputsOf(compaction)]).toEqual([1, [[1], [4, 5]]]);
  });

  test('are enlarged by tables of the level that need no further table of the next', () => {
    const lower = [file(5, 'a', 'm'), file(6, 'n', 'z')];
    const compaction = compacted({ 1: [file(1, 'b', 'c'), file(2, 'd', 'e'), file(3, 'f', 'g'), file(4, 'o', 'p')], 2: lower }, 1, 2);
    expect(inputsOf(compaction)).toEqual([[1, 2, 3], [5]]);
    expect(compaction.pointer).toEqual(keyOf('g', 100));
    // The third table reaches into the second table of the next level, so nothing is added.
    const bounded = compacted({ 1: [file(1, 'b', 'c'), file(2, 'd', 'e'), file(3, 'f', 'o'), file(4, 'p', 'q')], 2: lower }, 1, 2);
    expect([inputsOf(bounded), bounded.pointer]).toEqual([[[2], [5]], keyOf('e', 100)]);
  });

  test('are enlarged to less than 25 times the size of a table, those of the next level included', () => {
    const sized = (size: number): number[][] => inputsOf(compacted({ 1: [file(1, 'b', 'c', 10 * MIB), file(2, 'd', 'e', 5 * MIB)], 2: [file(5, 'a', 'm', size)] }, 1, 1));
    expect(sized(10 * MIB - 1)).toEqual([[1, 2], [5]]);
    expect(sized(10 * MIB)).toEqual([[1], [5]]);
  });

  test('are not enlarged where no table of the next level is an input', () => {
    expect(inputsOf(compacted({ 1: [file(1, 'b', 'c'), file(2, 'd', 'e')] }, 1, 1))).toEqual([[1], []]);
  });

  test('include, also when they are enlarged, the tables that go on with their last user key, in the order of the level', () => {
    const upper = [file(1, 'b', 'c@9'), file(2, 'c@8', 'c@7'), file(3, 'c@6', 'd@5'), file(4, 'd@4', 'f'), file(5, 'g', 'h')];
    expect(inputsOf(compacted({ 1: upper }, 1, 1))).toEqual([[1, 2, 3, 4], []]);
    expect(inputsOf(compacted({ 1: upper, 2: [file(6, 'a', 'z')] }, 1, 1))).toEqual([[1, 2, 3, 4, 5], [6]]);
    expect(inputsOf(compacted({ 1: upper }, 1, 4, 5))).toEqual([[4, 5], []]);
  });

  test('of level 0 keep the order in which they were found', () => {
    expect(inputsOf(compacted({ 0: [file(1, 'b', 'f'), file(2, 'a', 'c'), file(3, 'a', 'd')] }, 0, 1, 2, 3))).toEqual([[2, 3, 1], []]);
  });

  test('overlap the grandparents, two levels below, with all that they cover, and those of level 5 have none', () => {
    const levels = { 1: [file(1, 'e', 'f')], 2: [file(2, 'c', 'h')], 3: [file(3, 'a', 'b'), file(4, 'b1', 'c'), file(5, 'd', 'g'), file(6, 'h', 'j'), file(7, 'k', 'z')] };
    expect(numbersOf(compacted(levels, 1, 1).grandparents)).toEqual([4, 5, 6]);
    expect(numbersOf(compacted({ 4: [file(1, 'e', 'f')], 6: [file(2, 'c', 'h')] }, 4, 1).grandparents)).toEqual([2]);
    expect(compacted({ 5: [file(1, 'e', 'f')], 6: [file(2, 'c', 'h')] }, 5, 1).grandparents).toEqual([]);
  });

  test('leave below them the tables that may hold older versions: what continues the last key, then those of each level', () => {
    const { inputs, below } = compacted(
      {
        1: [file(1, 'd', 'h')],
        2: [file(2, 'b', 'e'), file(3, 'g', 'k@9'), file(4, 'k@8', 'm'), file(5, 'n', 'o')],
        3: [file(6, 'a', 'b'), file(7, 'l', 'z')],
        6: [file(8, 'k', 'l'), file(9, 'x', 'z')],
      },
      1,
      1,
    );
    expect(inputs.map(numbersOf)).toEqual([[1], [2, 3]]);
    expect(below.map(numbersOf)).toEqual([[4], [6], [], [], [8]]);
    expect(compacted({ 1: [file(1, 'd', 'h')], 2: [file(2, 'i', 'j')] }, 1, 1).below).toEqual([[], [], [], [], []]);
  });

  test('are moved unchanged if there is only one, none of the next level, and at most ten times the size of a table below', () => {
    const isMoved = (levels: Readonly<Record<number, readonly FileMetadata[]>>, ...numbers: number[]): boolean => compacted(levels, 1, ...numbers).isTrivialMove;
    expect(isMoved({ 1: [file(1, 'a', 'c', 2 ** 40)], 3: [file(2, 'a', 'b', 4 * MIB), file(3, 'c', 'd', 6 * MIB)] }, 1)).toBe(true);
    expect(isMoved({ 1: [file(1, 'a', 'c')], 3: [file(2, 'a', 'b', 4 * MIB), file(3, 'c', 'd', 6 * MIB + 1)] }, 1)).toBe(false);
    expect(isMoved({ 1: [file(1, 'a', 'c')], 2: [file(2, 'b', 'b')] }, 1)).toBe(false);
    expect(isMoved({ 1: [file(1, 'a', 'c'), file(2, 'd', 'e')] }, 1, 2)).toBe(false);
  });
});

describe('the walk through a compaction', () => {
  test('ends an output before it overlaps more than ten times the size of a table two levels below', () => {
    const grandparents = [file(1, 'a', 'b', 100 * MIB), file(2, 'c', 'd', 6 * MIB), file(3, 'e', 'f', 4 * MIB), file(4, 'g', 'h', 1), file(5, 'i', 'j', 10 * MIB + 1), file(6, 'k', 'l', 1)];
    const walk = new CompactionWalk({ level: 1, inputs: [[], []], grandparents, below: [] }, order, MIB);
    const stops = (key: string, sequence?: number): boolean => walk.stopsBefore(entryOf(key, sequence));
    // What is before the first key does not count. A table is passed by a key behind its last one.
    expect([stops('c'), stops('c'), stops('d', 101), stops('d', 99), stops('g')]).toEqual([false, false, false, false, false]);
    // 6 + 4 MiB and a byte, and from there on anew.
    expect([stops('h1'), stops('h2'), stops('j', 100), stops('j', 99), stops('z'), stops('zz')]).toEqual([true, false, false, true, false, false]);
  });

  test('gives the key up to which only its size ends an output: the last key of the next table two levels below', () => {
    const grandparents = [file(1, 'a', 'b'), file(2, 'c', 'd@7')];
    const walk = new CompactionWalk({ level: 1, inputs: [[], []], grandparents, below: [] }, order, MIB);
    const boundAfter = (key: string, sequence?: number): Uint8Array | undefined => {
      walk.stopsBefore(entryOf(key, sequence));
      return walk.bound;
    };
    expect(walk.bound).toEqual(keyOf('b', 100));
    expect([boundAfter('a'), boundAfter('b', 100)]).toEqual([keyOf('b', 100), keyOf('b', 100)]);
    expect([boundAfter('b', 99), boundAfter('d', 7)]).toEqual([keyOf('d', 7), keyOf('d', 7)]);
    expect([boundAfter('d', 6), boundAfter('z')]).toEqual([undefined, undefined]);
    expect(new CompactionWalk({ level: 1, inputs: [[], []], grandparents: [], below: [] }, order, MIB).bound).toBeUndefined();
  });

  test('asks for older versions only where there are tables below', () => {
    const hasTablesBelow = (...below: FileMetadata[][]): boolean => new CompactionWalk({ level: 1, inputs: [[], []], grandparents: [file(9, 'a', 'b')], below }, order, MIB).hasTablesBelow;
    const tables = [file(1, 'a', 'b'), file(2, 'c', 'd')];
    expect([hasTablesBelow(), hasTablesBelow([], []), hasTablesBelow([], tables), hasTablesBelow(tables, [], []), hasTablesBelow(tables)]).toEqual([false, false, true, true, true]);
  });

  test('knows for each key whether a table below may hold an older version of it', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = seeded(seed);
      const below = Array.from({ length: 4 }, (_, i) => randomLevel(random, 100 * i));
      const walk = new CompactionWalk({ level: 1, inputs: [[], []], grandparents: [], below }, order, MIB);
      for (let letter = 97; letter <= 122; letter++) {
        const key = String.fromCharCode(letter);
        for (let asked = random.below(4); asked > 0; asked--) {
          const isCovered = below.flat().some((one) => meet(rangeOf(one), [key, key]));
          expect(walk.isBaseLevelFor(entryOf(key, asked)), `${key} of seed ${seed}`).toBe(!isCovered);
        }
      }
    }
  });
});

describe('the compaction that is due', () => {
  const stateOf = (levels: Readonly<Record<number, readonly FileMetadata[]>>, pointers: readonly (readonly [number, Uint8Array])[] = []): CompactionState => ({
    version: versionOf(levels),
    order,
    maxFileSize: MIB,
    compactPointers: new Map(pointers),
  });
  const picked = (state: CompactionState, sought?: FileMetadata, avoided: readonly number[] = []): unknown => {
    const compaction = pickCompaction(state, sought, ({ inputs }) => !numbersOf(inputs.flat()).some((number) => avoided.includes(number)));
    return compaction && [compaction.level, ...compaction.inputs.map(numbersOf)];
  };
  const full = { 1: [file(1, 'a', 'c', 4 * MIB), file(2, 'd', 'f', 4 * MIB), file(3, 'g', 'i', 2 * MIB)] };

  test('is none while no level is full and no table was sought too often', () => {
    expect(picked(stateOf({ 0: [1, 2, 3].map((n) => file(n, 'a', 'b')), 1: [file(4, 'a', 'b', 10 * MIB - 1)] }))).toBeUndefined();
  });

  test('is the first one, unless that cannot be done: then each table is tried once, from the first one on', () => {
    const state = stateOf(full, [[1, keyOf('c', 5)]]);
    expect(pickCompaction(state, undefined)?.inputs.map(numbersOf)).toEqual([[2], []]);
    const tried: number[][] = [];
    const isNone = pickCompaction(state, undefined, ({ inputs }) => tried.push(numbersOf(inputs[0])) < 0);
    expect([isNone, tried]).toEqual([undefined, [[2], [3], [1]]]);
  });

  test('begins with the first table after the level’s pointer, and at the end of the level with the first table', () => {
    expect(picked(stateOf(full))).toEqual([1, [1], []]);
    expect(picked(stateOf(full, [[1, keyOf('b', 7)]]))).toEqual([1, [1], []]);
    expect(picked(stateOf(full, [[1, keyOf('c', 101)]]))).toEqual([1, [1], []]);
    expect(picked(stateOf(full, [[1, keyOf('c', 100)]]))).toEqual([1, [2], []]);
    expect(picked(stateOf(full, [[1, keyOf('f', 100)]]))).toEqual([1, [3], []]);
    expect(picked(stateOf(full, [[1, keyOf('i', 100)]]))).toEqual([1, [1], []]);
    expect(picked(stateOf(full, [[2, keyOf('c', 100)]]))).toEqual([1, [1], []]);
  });

  test('takes of level 0 all tables that overlap the chosen one', () => {
    const zero = [file(1, 'a', 'c'), file(2, 'b', 'd'), file(3, 'f', 'g'), file(4, 'd', 'e')];
    expect(picked(stateOf({ 0: zero }))).toEqual([0, [1, 2, 4], []]);
    expect(picked(stateOf({ 0: zero }, [[0, keyOf('e', 1)]]))).toEqual([0, [3], []]);
    // Four tables are enough; of three none is due.
    expect(picked(stateOf({ 0: zero.slice(1) }))).toBeUndefined();
  });

  test('is that of a table that was sought too often, where no level is full, and it is still there', () => {
    const sought = file(7, 'p', 'q');
    expect(picked(stateOf({ 1: [file(1, 'a', 'c')], 3: [file(5, 'a', 'c'), sought], 4: [file(6, 'q', 'r')] }), sought)).toEqual([3, [7], [6]]);
    expect(picked(stateOf({ 0: [file(1, 'a', 'p'), sought, file(2, 'x', 'z')] }), sought)).toEqual([0, [1, 7], []]);
    expect(picked(stateOf({ 3: [file(5, 'a', 'c')] }), sought)).toBeUndefined();
    expect(picked(stateOf({ ...full, 3: [sought] }), sought)).toEqual([1, [1], []]);
  });

  test('is the next one in turn, then one of the next level, then that of the sought table, where the first cannot be done', () => {
    const sought = file(7, 'p', 'q');
    const state = stateOf({ 0: [file(20, 'x', 'y'), file(21, 'x', 'z'), file(22, 'u', 'v'), file(23, 's', 't')], 1: [...full[1], file(8, 'j', 'k', 2 * MIB)], 3: [sought] }, [[1, keyOf('c', 100)]]);
    expect(picked(state, sought)).toEqual([1, [2], []]);
    expect(picked(state, sought, [2])).toEqual([1, [3], []]);
    expect(picked(state, sought, [2, 3, 8])).toEqual([1, [1], []]);
    expect(picked(state, sought, [2, 3, 8, 1])).toEqual([0, [23], []]);
    expect(picked(state, sought, [2, 3, 8, 1, 22, 23])).toEqual([0, [20, 21], []]);
    expect(picked(state, sought, [2, 3, 8, 1, 22, 23, 21])).toEqual([3, [7], []]);
    expect(picked(state, sought, [2, 3, 8, 1, 21, 22, 23, 7])).toBeUndefined();
  });

  test('of a range takes all of it in level 0, and below as many tables as make one of the largest size', () => {
    const manual = (levels: Readonly<Record<number, readonly FileMetadata[]>>, level: number, begin?: string, end?: string): unknown => {
      const compaction = compactionOf(stateOf(levels), level, boundsOfUserKeys(begin === undefined ? undefined : utf8(begin), end === undefined ? undefined : utf8(end)));
      return compaction && [compaction.level, ...compaction.inputs.map(numbersOf)];
    };
    const files = [file(1, 'a', 'b', MIB / 2), file(2, 'c', 'd', MIB / 2 - 1), file(3, 'e', 'f', 1), file(4, 'g', 'h', 1)];
    expect(manual({ 1: files }, 1)).toEqual([1, [1, 2, 3], []]);
    expect(manual({ 1: files }, 1, 'c')).toEqual([1, [2, 3, 4], []]);
    expect(manual({ 1: files }, 1, 'b', 'c')).toEqual([1, [1, 2], []]);
    expect(manual({ 1: [file(1, 'a', 'b', MIB), file(2, 'c', 'd')] }, 1)).toEqual([1, [1], []]);
    expect(manual({ 0: files.map((one) => ({ ...one, size: MIB })) }, 0)).toEqual([0, [1, 2, 3, 4], []]);
    expect(manual({ 1: files }, 1, 'b1', 'b2')).toBeUndefined();
    expect(manual({ 1: files }, 2)).toBeUndefined();
  });
});

test('a range of user keys holds all their versions, and has no bound where it has no key', () => {
  const { begin, end } = boundsOfUserKeys(utf8('b'), utf8('d'));
  const compare = (a: Uint8Array, b: Uint8Array): number => Math.sign(order.compareInternalKeys(a, 0, a.length, b, 0, b.length));
  expect([compare(begin!, keyOf('b', 2 ** 50)), compare(keyOf('d', 0), end!), compare(keyOf('d\0', 2 ** 50), end!)]).toEqual([-1, -1, 1]);
  expect(boundsOfUserKeys(undefined, undefined)).toEqual({ begin: undefined, end: undefined });
});

describe('the seeks that a table is allowed', () => {
  test.each([
    [0, 100],
    [101 * 16_384 - 1, 100],
    [101 * 16_384, 101],
    [2 * MIB, 128],
    [10 * MIB, 640],
  ])('of %i bytes are %i', (size, allowed) => {
    const budget = new SeekBudget();
    const table = file(1, 'a', 'b', size);
    for (let i = 1; i < allowed; i++) if (budget.charge(table)) expect.fail(`due after ${i}`);
    expect([budget.charge(table), budget.charge(table)]).toEqual([true, true]);
    // Each table has its own.
    expect(budget.charge(file(1, 'a', 'b', size))).toBe(false);
  });
});

test('the last key is compared with all bytes or without the last eight, and a longer one replaces a shorter one', () => {
  const last = new LastKey();
  const isEqual = (key: string, sequence: number, ignored: number): boolean => last.isEqual(order.compareUserKeys, entryOf(key, sequence), ignored);
  expect(isEqual('', 5, 8)).toBe(false);
  last.set(entryOf('', 5));
  expect([isEqual('', 6, 8), isEqual('', 5, 0), isEqual('', 6, 0), isEqual('a', 5, 8)]).toEqual([true, true, false, false]);
  for (const key of ['a', 'k'.repeat(57), 'k'.repeat(500), 'b']) {
    last.set(entryOf(key, 5));
    expect([isEqual(key, 6, 8), isEqual(key, 5, 0), isEqual(key, 6, 0), isEqual(`${key}x`, 5, 8), last.length]).toEqual([true, true, false, false, key.length + 8]);
  }
  last.clear();
  expect(isEqual('b', 5, 8)).toBe(false);
});

test('where there is no last key, no key is equal to it, in an order that is given views either', () => {
  const { compareUserKeys } = keyOrderOf(reverseComparator);
  const cleared = new LastKey();
  cleared.set(entryOf('a'));
  cleared.bytes.fill(0);
  cleared.clear();
  for (const last of [new LastKey(), cleared]) {
    for (let length = 0; length < 64; length++) expect(last.isEqual(compareUserKeys, entryOf('\0'.repeat(length)), 8)).toBe(false);
  }
});
