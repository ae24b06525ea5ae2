import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey, VALUE } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { keyOrderOf, seekKey } from '../src/format/database-key.js';
import { type FileMetadata, LEVEL_COUNT } from '../src/format/version-edit.js';
import { firstAtOrAfter, misnumbered, overlap, Version, VersionBuilder, versionProblems } from '../src/format/version.js';
import { caught } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const order = keyOrderOf(bytewiseComparator);
const numbersOf = (files: readonly FileMetadata[]): bigint[] => files.map(({ number }) => number);
const place = { structure: 'MANIFEST', offset: 0 } as const;

function file(number: number, smallest: string, largest: string, sequence = 100n, lastSequence = 100n): FileMetadata {
  return {
    number: BigInt(number),
    size: 1000,
    smallest: encodeInternalKey({ userKey: utf8(smallest), sequence, type: VALUE }),
    largest: encodeInternalKey({ userKey: utf8(largest), sequence: lastSequence, type: VALUE }),
  };
}

function versionOf(level: number, files: readonly FileMetadata[]): Version {
  return new Version(Array.from({ length: LEVEL_COUNT }, (_, i) => (i === level ? files : [])), order, place);
}

// LevelDB, db/version_set_test.cc, FindFileTest.
const findFile = (version: Version, key: string, sequence = 100n): number => firstAtOrAfter(version.levels[1]!, seekKey(utf8(key), sequence), order);

test('FindFile Empty: finds no table in an empty level', () => {
  expect(findFile(versionOf(1, []), 'foo')).toBe(0);
});

test('FindFile Single: finds the table for keys up to its largest key', () => {
  const version = versionOf(1, [file(1, 'p', 'q')]);
  expect(['a', 'p', 'p1', 'q', 'q1', 'z'].map((key) => findFile(version, key))).toEqual([0, 0, 0, 0, 1, 1]);
});

test('FindFile Multiple: finds the first table whose largest key is at or after the key', () => {
  const version = versionOf(1, [file(1, '150', '200'), file(2, '200', '250', 99n), file(3, '300', '350'), file(4, '400', '450')]);
  const keys = ['100', '150', '151', '199', '200', '201', '249', '250', '251', '301', '350', '351', '450', '451'];
  expect(keys.map((key) => findFile(version, key))).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4]);
  // The key 200 ends one table, and its older versions begin the next.
  expect([findFile(version, '200', 100n), findFile(version, '200', 99n)]).toEqual([0, 1]);
});

test('a table is found by its largest key itself', () => {
  const first = file(1, 'a', 'c');
  expect(firstAtOrAfter([first, file(2, 'd', 'e')], first.largest, order)).toBe(0);
});

test('a search reads one table of a level, and none if the key is between two tables', () => {
  const version = versionOf(1, [file(1, 'b', 'd'), file(2, 'f', 'h')]);
  const asked = (key: string): bigint | undefined => version.fileFor(1, seekKey(utf8(key), 100n))?.number;
  expect(['a', 'b', 'd', 'e', 'f', 'h', 'i'].map(asked)).toEqual([undefined, 1n, 1n, undefined, 2n, 2n, undefined]);
});

test('a search reads tables of level 0 with equal sequences from the highest number to the lowest, whatever their keys', () => {
  const version = versionOf(0, [file(5, 'a', 'z'), file(12, 'm', 'n'), file(7, 'c', 'd')]);
  expect(version.newestFirst.map(({ number }) => number)).toEqual([12n, 7n, 5n]);
  expect(version.levels[0]!.map(({ number }) => number)).toEqual([5n, 7n, 12n]);
});

test.each([
  ['overlap', [file(1, 'a', 'm'), file(2, 'l', 'z')], 'overlap at level 1'],
  ['share a key with the older version first', [file(1, 'a', 'm', 100n, 5n), file(2, 'm', 'z', 9n)], 'overlap'],
  ['include one table twice', [file(1, 'a', 'b'), file(1, 'c', 'd')], 'listed twice'],
  ['end before they begin', [file(1, 'b', 'a')], 'is after its largest key'],
  ['have keys of less than eight bytes', [{ ...file(1, 'a', 'b'), smallest: utf8('abc') }], 'too short'],
])('refuses tables of a level that %s', (_, files, problem) => {
  expect(caught(() => versionOf(1, files))).toMatchObject({ code: 'BLOOM_BAD_VERSION', problem: expect.stringContaining(problem) as string });
});

test('tables of level 0 may overlap', () => {
  expect(versionOf(0, [file(1, 'a', 'm'), file(2, 'b', 'z')]).files).toHaveLength(2);
});

test('an edit deletes tables before it adds tables, so a table can move down a level, and a deleted one can return', () => {
  const builder = new VersionBuilder();
  builder.apply({ newFiles: [{ level: 0, file: file(5, 'a', 'b') }] });
  builder.apply({ deletedFiles: [{ level: 0, number: 5n }], newFiles: [{ level: 1, file: file(5, 'a', 'b') }] });
  expect(builder.build(order, place).levels.map((files) => files.length)).toEqual([0, 1, 0, 0, 0, 0, 0]);
  builder.apply({ deletedFiles: [{ level: 1, number: 5n }] });
  const empty = builder.copy();
  builder.apply({ deletedFiles: [{ level: 1, number: 5n }], newFiles: [{ level: 1, file: file(5, 'a', 'b') }] });
  expect(builder.build(order, place).files.map(({ number }) => number)).toEqual([5n]);
  expect(empty.build(order, place).files).toEqual([]);
});

test('a table may hold what a search looks for when the user key lies within its first and last', () => {
  const table = file(1, 'b', 'd', 100n, 50n);
  const version = versionOf(0, [table]);
  const mayHold = (key: string, sequence: bigint): boolean => version.mayHold(table, seekKey(utf8(key), sequence));
  // Only user keys count: a version that is not within the table's bounds may be looked for in it all the same.
  for (const sequence of [0n, 49n, 50n, 100n, 101n]) {
    expect(['a', 'azz', 'b', 'c', 'd', 'd0', 'e'].map((key) => mayHold(key, sequence))).toEqual([false, false, true, true, true, false, false]);
  }
});

test('a user key that only begins as a bound does is not that bound', () => {
  const table = file(1, 'b\0', 'd');
  const version = versionOf(1, [table]);
  for (const [key, isHeld] of [['b', false], ['b\0', true], ['d', true], ['d\0', false]] as const) {
    expect(version.mayHold(table, seekKey(utf8(key), 2n ** 56n - 1n)), key).toBe(isHeld);
    expect(version.fileFor(1, seekKey(utf8(key), 2n ** 56n - 1n)) === table, key).toBe(isHeld);
  }
});

test('the tables of a level are sorted by their first key, and by number where that is the same, in whatever order they were added', () => {
  const files = [file(9, 'm', 'n'), file(10, 'a', 'z'), file(3, 'm', 'o'), file(2, 'm', 'o', 200n)];
  expect(versionOf(0, files).levels[0]!.map(({ number }) => number)).toEqual([10n, 2n, 3n, 9n]);
  expect(versionOf(2, [file(8, 'x', 'y'), file(9, 'a', 'b')]).levels[2]!.map(({ number }) => number)).toEqual([9n, 8n]);
  expect(new Version([[file(1, 'a', 'b')], [file(2, 'a', 'b')], []], order, place).files.map(({ number }) => number)).toEqual([1n, 2n]);
});

test('every problem of a folder’s tables is listed, and their order only where it is known', () => {
  const short = { ...file(3, 'a', 'b'), largest: utf8('1234567') };
  const levels = [[file(1, 'b', 'a')], [file(2, 'a', 'd'), file(4, 'e', 'h'), file(2, 'c', 'f')], [file(5, 'a', 'c'), file(6, 'b', 'd')]];
  expect([...versionProblems(levels, order, true)]).toEqual([
    'the smallest key of table 1 is after its largest key',
    'table 2 is listed twice',
    'tables 2 and 2 overlap at level 1',
    'tables 2 and 4 overlap at level 1',
    'tables 5 and 6 overlap at level 2',
  ]);
  expect([...versionProblems(levels, order, false)]).toEqual(['table 2 is listed twice']);
  // Keys that are too short cannot be compared with others.
  expect([...versionProblems([...levels, [short]], order, true)]).toEqual([
    'the smallest key of table 1 is after its largest key',
    'table 2 is listed twice',
    'the smallest or largest key of table 3 is too short for an internal key',
  ]);
  expect([...versionProblems([[{ ...file(3, 'a', 'b'), smallest: new Uint8Array(8), largest: new Uint8Array(8) }]], order, true)]).toEqual([]);
});

test('a table whose first key is its last one is in order, also next to one that begins with an older version of it', () => {
  expect(versionOf(1, [file(1, 'a', 'a'), file(2, 'a', 'b', 99n)]).files).toHaveLength(2);
  expect(caught(() => versionOf(1, [file(1, 'a', 'b'), file(2, 'b', 'c')]))).toMatchObject({ ...place, code: 'BLOOM_BAD_VERSION' });
});

test('an unknown order says nothing of the order of tables', () => {
  const levels = [[], [file(1, 'c', 'b'), file(2, 'a', 'b')]];
  expect(new Version(levels, order, place, false).files).toHaveLength(2);
  const builder = new VersionBuilder();
  builder.apply({ newFiles: levels[1]!.map((one) => ({ level: 1, file: one })) });
  expect(builder.build(order, place, false).files).toHaveLength(2);
  expect(() => builder.build(order, place)).toThrow('is after its largest key');
});

test('a search reads the tables of level 0 from the latest write to the earliest, by the higher sequence of their first and last keys', () => {
  // As LevelDB's repair numbers them: 12 was written before 7, and 5 before both. 9 has the same sequences as 7.
  const version = versionOf(0, [file(5, 'a', 'z', 1n, 20n), file(12, 'b', 'y', 30n, 21n), file(7, 'c', 'x', 31n, 40n), file(9, 'd', 'w', 40n, 31n)]);
  expect(numbersOf(version.newestFirst)).toEqual([9n, 7n, 12n, 5n]);
});

test('a version without tables has seven levels, and no table for any key', () => {
  const empty = Version.empty(order);
  expect([empty.levels, empty.files, empty.newestFirst, empty.levelBytes]).toEqual([[[], [], [], [], [], [], []], [], [], [0, 0, 0, 0, 0, 0, 0]]);
  for (let level = 1; level < LEVEL_COUNT; level++) expect(empty.fileFor(level, seekKey(utf8('a'), 1n))).toBeUndefined();
});

test('the bytes of each level are the sum of its tables', () => {
  const sized = (number: number, key: string, size: number): FileMetadata => ({ ...file(number, key, key), size });
  const levels = [[sized(1, 'a', 5), sized(2, 'b', 70)], [], [sized(3, 'c', 2 ** 40), sized(4, 'd', 1)], [sized(5, 'e', 0)]];
  const version = new Version(levels, order, place);
  expect(version.levelBytes).toEqual([75, 0, 2 ** 40 + 1, 0]);
  expect(version.levelBytes).toBe(version.levelBytes);
});

test('tables with equal first keys are sorted by number, also where they come in another order', () => {
  expect(numbersOf(versionOf(0, [file(9, 'm', 'n'), file(3, 'm', 'o')]).levels[0]!)).toEqual([3n, 9n]);
  expect(numbersOf(versionOf(0, [file(3, 'm', 'n'), file(9, 'm', 'o')]).levels[0]!)).toEqual([3n, 9n]);
});

test('tables are sorted whose keys have no user key, only a trailer', () => {
  expect(numbersOf(versionOf(1, [file(2, 'a', 'b'), file(1, '', '')]).levels[1]!)).toEqual([1n, 2n]);
});

test('no keys are compared where one of them is too short, and it is reported', () => {
  const compare = (): number => {
    throw new Error('compared');
  };
  const never = { compareInternalKeys: compare, compareUserKeys: compare };
  for (const end of ['smallest', 'largest'] as const) {
    const short = { ...file(3, 'a', 'b'), [end]: utf8('1234567') };
    const levels = [[], [file(1, 'c', 'd'), short], [file(2, 'e', 'f')]];
    expect(caught(() => new Version(levels, never, place, false))).toMatchObject({ code: 'BLOOM_BAD_VERSION', problem: 'the smallest or largest key of table 3 is too short for an internal key' });
  }
});

test('tables of a level may be listed in any order, and those that overlap are found all the same', () => {
  expect([...versionProblems([[], [file(3, 'e', 'f'), file(2, 'c', 'd'), file(1, 'a', 'b')]], order, true)]).toEqual([]);
  expect([...versionProblems([[], [file(4, 'g', 'h'), file(3, 'd', 'f', 9n), file(2, 'c', 'd', 100n, 10n), file(1, 'a', 'b')]], order, true)]).toEqual([]);
  expect([...versionProblems([[], [file(4, 'g', 'h'), file(3, 'd', 'f'), file(2, 'c', 'e'), file(1, 'a', 'b')]], order, true)]).toEqual(['tables 2 and 3 overlap at level 1']);
});

test.each([
  ['one after the other', ['a', 'b'], ['c', 'd'], false],
  ['that meet in a key', ['a', 'b'], ['b', 'c'], true],
  ['of which one begins within the other', ['a', 'c'], ['b', 'd'], true],
  ['of which one lies within the other', ['a', 'd'], ['b', 'c'], true],
  ['that are equal', ['a', 'b'], ['a', 'b'], true],
  ['of a single key', ['a', 'a'], ['a', 'a'], true],
  ['of which one ends in the beginning of the other’s first key', ['a', 'b'], ['b\0', 'c'], false],
] as const)('of two ranges %s, %j and %j, it is %j that they share a user key', (_, [first, last], [otherFirst, otherLast], isShared) => {
  // Versions count as one key: those of the first range are older.
  const a = file(1, first, last, 5n, 4n);
  const b = file(2, otherFirst, otherLast, 90n, 80n);
  expect([overlap(a, b, order), overlap(b, a, order)]).toEqual([isShared, isShared]);
});

test('a table is misnumbered if it has later writes than one with a higher number that shares a key with it', () => {
  const misnumberedOf = (...files: FileMetadata[]): bigint[] => numbersOf(misnumbered(files, order));
  expect(misnumberedOf()).toEqual([]);
  expect(misnumberedOf(file(5, 'a', 'z', 10n, 19n), file(7, 'a', 'z', 20n, 29n), file(9, 'a', 'z', 30n, 39n))).toEqual([]);
  expect(misnumberedOf(file(5, 'a', 'm', 20n, 29n), file(7, 'm', 'z', 10n, 19n))).toEqual([5n]);
  expect(misnumberedOf(file(5, 'a', 'l', 20n, 29n), file(7, 'm', 'z', 10n, 19n))).toEqual([]);
  // 5 has the latest writes, then 9, then 7; 6 shares no key with any, and 4 has a lower number.
  const files = [file(4, 'a', 'z', 1n, 1n), file(5, 'a', 'c', 50n, 50n), file(6, 'zz', 'zzz', 60n, 60n), file(7, 'b', 'k', 10n, 10n), file(9, 'c', 'd', 20n, 20n)];
  expect(misnumberedOf(...files)).toEqual([5n]);
  expect(misnumberedOf(...files, file(10, 'zz', 'zz', 2n, 2n), file(11, 'd', 'e', 5n, 5n))).toEqual([6n, 5n, 9n, 7n]);
  // The same number twice is another problem.
  expect(misnumberedOf(file(5, 'a', 'b', 20n, 20n), file(5, 'a', 'b', 10n, 10n))).toEqual([]);
});
