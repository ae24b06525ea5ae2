// What the choice of bits is asked with: the tables of a version, those that are merged, and those that are not known.
import { describe, expect, test } from 'vitest';
import { type FilteredTable, bitsOfNewTables } from '../src/compact/new-table-bits.js';
import { settledLevels, type SizedTable } from '../src/compact/settled-levels.js';
import type { CompactionPlan } from '../src/folder/table-thread.js';
import type { FileMetadata } from '../src/format/version-edit.js';
import type { Version } from '../src/format/version.js';
import type { Memtable } from '../src/memtable/memtable.js';
import { BitsChoice, type FilterLook, levelBitsOf } from '../src/write/bits-by-level.js';

const MEBIBYTE = 2 ** 20;
const AVERAGE = 10;

interface KnownFile extends FileMetadata {
  readonly known: FilteredTable | undefined;
}

let lastNumber = 0n;

/** Tables of so many bytes and keys, with bits per key that may be unknown. */
function files(count: number, size: number, keys: number, bitsPerKey?: number): KnownFile[] {
  return Array.from({ length: count }, () => {
    const known = { keys, filterBits: bitsPerKey === undefined ? undefined : bitsPerKey * keys };
    return { number: ++lastNumber, size, known } as unknown as KnownFile;
  });
}

function versionOf(...levels: readonly (readonly KnownFile[])[]): Version {
  const all = Array.from({ length: 7 }, (_, level) => levels[level] ?? []);
  return { levels: all, files: all.flat() } as unknown as Version;
}

const look: FilterLook = (some) => Promise.resolve(some.map((file) => (file as KnownFile).known));

const plan = (level: number, upper: readonly KnownFile[], lower: readonly KnownFile[]): CompactionPlan => ({ level, inputs: [upper, lower], below: [], grandparents: [] });

const sized = (some: readonly KnownFile[]): SizedTable[] => some.map(({ size, known }) => ({ bytes: size, ...known! }));

describe('bits of a compaction', () => {
  test.each([
    ['of a few tables', 3, 2, 2 * MEBIBYTE, 20_000],
    ['of more than the level can hold', 90, 40, 2 * MEBIBYTE, 20_000],
    ['of tables with many small entries', 2, 1, 2 * MEBIBYTE, 400_000],
  ])('%s are those of its output, in the level below, together with the tables that stay', async (_, merged, into, size, keys) => {
    const upper = files(merged, size, keys, 12);
    const lower = files(into, size, keys, 9);
    const [top, staying, beside, deep] = [files(2, MEBIBYTE, 8000, 20), files(1, size, keys, 12), files(9, size, keys, 9), files(400, size, keys, 8)];
    const version = versionOf(top, [...staying, ...upper], [...beside, ...lower], deep);
    const added = { level: 2, keys: (merged + into) * keys, bytes: (merged + into) * size };
    const { levels, addedKeys } = settledLevels([sized(top), sized(staying), sized(beside), sized(deep), [], [], []], added);
    const expected = bitsOfNewTables(levels, { level: 2, keys: addedKeys }, AVERAGE);
    expect(await new BitsChoice({ average: AVERAGE }, look).ofCompaction(plan(1, upper, lower), version)).toBe(expected);
  });

  test('do not count the merged tables twice', async () => {
    const merged = files(40, 2 * MEBIBYTE, 20_000, 10);
    const lower = files(40, 2 * MEBIBYTE, 20_000, 10);
    const bits = await new BitsChoice({ average: AVERAGE }, look).ofCompaction(plan(2, merged, lower), versionOf([], [], merged, lower));
    expect(bits).toBe(AVERAGE);
  });
});

describe('tables of a version', () => {
  const memtable = { count: 1000, memoryUsage: 100_000 } as unknown as Memtable;

  test('are looked at once, also when others are added', async () => {
    const seen: bigint[] = [];
    const choice = new BitsChoice({ average: AVERAGE }, (some) => {
      seen.push(...some.map(({ number }) => number));
      return look(some);
    });
    const [first, second] = [files(2, 1000, 10), files(1, 1000, 10)];
    for (const level of [first, first, [...first, ...second], second, second]) await choice.ofMemtable(0, memtable, versionOf([], level));
    expect(seen).toEqual([...first, ...second].map(({ number }) => number));
  });

  test('are remembered with their keys and filters', async () => {
    // As many keys for their bytes as the memtable has, so that only what is known of their filters differs.
    const keys = (2 * MEBIBYTE) / 100;
    const rich = versionOf([], files(9, 2 * MEBIBYTE, keys, 30), files(90, 2 * MEBIBYTE, keys, 16));
    const choice = new BitsChoice({ average: AVERAGE }, look);
    const first = await choice.ofMemtable(0, memtable, rich);
    expect(await choice.ofMemtable(0, memtable, rich)).toBe(first);
    const keysAlone: FilterLook = (some) => Promise.resolve(some.map((file) => ({ keys: (file as KnownFile).known!.keys, filterBits: undefined })));
    expect(await new BitsChoice({ average: AVERAGE }, keysAlone).ofMemtable(0, memtable, rich)).toBeGreaterThan(first);
  });

  test('that cannot be read have as many keys for their bytes as the others, or as the memtable where there are no others', async () => {
    const known = files(9, 2 * MEBIBYTE, 50_000);
    const unknown = files(300, 2 * MEBIBYTE, 50_000);
    const bitsOf = (version: Version, choice: BitsChoice): Promise<number> => choice.ofMemtable(0, memtable, version);
    const blind: FilterLook = (some) => Promise.resolve(some.map((file) => (known.includes(file as KnownFile) ? (file as KnownFile).known : undefined)));
    const version = versionOf([], known, unknown);
    const expected = await bitsOf(version, new BitsChoice({ average: AVERAGE }, look));
    expect(await bitsOf(version, new BitsChoice({ average: AVERAGE }, blind))).toBe(expected);
    const asTheMemtable = versionOf([], [], files(300, 2 * MEBIBYTE, (2 * MEBIBYTE) / 100));
    const readable = await bitsOf(asTheMemtable, new BitsChoice({ average: AVERAGE }, look));
    expect(await bitsOf(asTheMemtable, new BitsChoice({ average: AVERAGE }))).toBe(readable);
  });
});

test('bits of a level are at most those of an int of LevelDB', () => {
  expect(levelBitsOf([2 ** 31 - 1])).toEqual(Array.from({ length: 7 }, () => 2 ** 31 - 1));
  expect(() => levelBitsOf([2 ** 31])).toThrow('bitsPerKey of level 0 must be a whole number from 0 to 2^31 - 1');
});
