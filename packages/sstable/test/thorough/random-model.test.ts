import { formatKv, type KeyValue, type Random, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import {
  BlockCache,
  bytewiseComparator,
  type Comparator,
  type EntryBatch,
  type KeyRange,
  MemorySource,
  SyncTable,
  Table,
} from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import type { ByteRange } from '../byte-range.js';
import { buildTable } from '../build-table.js';
import { collect, hex, sameBytes, sameEntries } from '../entries.js';
import { randomEntries, randomKey } from '../random-entries.js';

// Compares tables of random entries with the sorted arrays that they were built from. The seed is in the test's name.

const compare = (a: Uint8Array, b: Uint8Array): number => bytewiseComparator.compare(a, b);

const comparators: readonly Comparator[] = [
  bytewiseComparator,
  {
    name: 'test.ReverseBytewise',
    compare: (a, b) => compare(b, a),
    compareRange: (a, aStart, aEnd, b, bStart, bEnd) => bytewiseComparator.compareRange!(b, bStart, bEnd, a, aStart, aEnd),
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  },
  {
    name: 'test.BytewiseWithoutRanges',
    compare,
    findShortestSeparator: (start, limit) => bytewiseComparator.findShortestSeparator(start, limit),
    findShortSuccessor: (key) => bytewiseComparator.findShortSuccessor(key),
  },
  {
    // Orders short keys first, which is no prefix order and has no separators other than the keys themselves.
    name: 'test.ByLength',
    compare: (a, b) => a.length - b.length || compare(a, b),
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  },
];

/** Moves: more steps than seeks. */
const moves = ['next', 'next', 'next', 'prev', 'prev', 'prev', 'seek', 'seekToFirst', 'seekToLast'] as const;

const blockSizes = [1, 16, 64, 256, 1024, 4096, 65536];
const restartIntervals = [1, 2, 3, 16, 128];

interface Case {
  readonly seed: number;
  readonly blockSize: number;
  readonly blockRestartInterval: number;
  readonly compression: 'none' | 'snappy';
  readonly comparator: Comparator;
}

const cases: Case[] = blockSizes
  .flatMap((blockSize) => restartIntervals.map((blockRestartInterval) => ({ blockSize, blockRestartInterval })))
  .flatMap((setting) => (['none', 'snappy'] as const).map((compression) => ({ ...setting, compression })))
  .map((setting, i) => ({ ...setting, seed: 0x5eed00 + i, comparator: comparators[i % 5 < 2 ? 0 : (i % 5) - 1]! }));

describe.each(cases)(
  'seed $seed: blocks of $blockSize bytes, restarts every $blockRestartInterval, compression $compression, $comparator.name',
  ({ seed, comparator, ...options }) => {
    const random = seeded(seed);
    const entries = randomEntries(random, { most: 150, compare: (a, b) => comparator.compare(a, b) });
    const source = new MemorySource(buildTable(entries, { ...options, comparator }));
    // The cache has room for a few blocks, but for none of the large ones.
    const cache = new BlockCache(3000);
    const reading = {
      comparator,
      filterPolicies: [new BloomFilterPolicy()],
      cache,
      tailBytes: random.pick([48, 1000, 65536]),
      readAheadBytes: random.pick([0, 1, 1000, 2 ** 18]),
      gapBytes: random.pick([0, 100, 2 ** 14]),
    };
    const syncTable = SyncTable.open(source, reading);
    const targets = neighbours(entries, random);

    test('every key is found, and adjacent absent keys are not', async () => {
      const table = await Table.open(source, reading);
      const present = new Map(entries.map(([key, value]) => [hex(key), value]));
      const keys = random.shuffle([...entries.map(([key]) => key), ...targets]);
      const many = await table.getMany(keys);
      const wrong: string[] = [];
      for (const [i, key] of keys.entries()) {
        const expected = present.get(hex(key));
        if (!sameBytes(syncTable.get(key), expected)) wrong.push(`SyncTable.get ${hex(key)}`);
        if (!sameBytes(many[i], expected)) wrong.push(`Table.getMany ${hex(key)}`);
        if (expected !== undefined && !syncTable.mayContain(key)) wrong.push(`mayContain ${hex(key)}`);
      }
      for (const key of keys.slice(0, 20)) {
        if (!sameBytes(await table.get(key), present.get(hex(key)))) wrong.push(`Table.get ${hex(key)}`);
      }
      if (!sameList(syncTable.getMany(keys), many)) wrong.push('SyncTable.getMany');
      expect(wrong).toEqual([]);
    });

    test('every range returns exactly its entries, in its direction', async () => {
      const table = await Table.open(source, reading);
      const wrong: string[] = [];
      const bounds = [...targets, ...entries.map(([key]) => key)];
      for (let i = 0; i < 60; i++) {
        const range = randomRange(random, bounds, entries.length);
        const expected = inRange(entries, range, comparator);
        const said = describeRange(range);
        if (!sameEntries(syncTable.entries(range), expected)) wrong.push(`SyncTable.entries ${said}`);
        if (!sameEntries(await collect(table.entries(range)), expected)) wrong.push(`Table.entries ${said}`);
        const batched = [...syncTable.batches(range)].length;
        if (batched > expected.length) wrong.push(`SyncTable.batches, without entries ${said}`);
        if (!sameEntries(unbatched(syncTable.batches(range)), expected)) wrong.push(`SyncTable.batches ${said}`);
        const found: KeyValue[] = [];
        for await (const batch of table.batches(range)) found.push(...unbatched([batch]));
        if (!sameEntries(found, expected)) wrong.push(`Table.batches ${said}`);
        if (i % 4 !== 0) continue;
        const keys = expected.map(([key]) => key);
        const values = expected.map(([, value]) => value);
        if (!sameList([...syncTable.keys(range)], keys)) wrong.push(`SyncTable.keys ${said}`);
        if (!sameList([...syncTable.values(range)], values)) wrong.push(`SyncTable.values ${said}`);
        if (!sameList(await collect(table.keys(range)), keys)) wrong.push(`Table.keys ${said}`);
        if (!sameList(await collect(table.values(range)), values)) wrong.push(`Table.values ${said}`);
      }
      expect(wrong).toEqual([]);
    });

    test('a cursor that moves at random agrees with the array', async () => {
      const cursor = syncTable.cursor();
      const asyncCursor = (await Table.open(source, reading)).cursor();
      const wrong: string[] = [];
      // The number of the entry, or undefined if the cursor is on none.
      let place: number | undefined;
      for (let step = 0; step < 300; step++) {
        const move = random.pick(moves);
        const target = random.pick(targets);
        let moved: boolean;
        let asyncMoved: boolean;
        if (move === 'seek') {
          place = entries.findIndex(([key]) => comparator.compare(key, target) >= 0);
          moved = cursor.seek(target);
          asyncMoved = await asyncCursor.seek(target);
        } else {
          if (move === 'seekToFirst') place = 0;
          else if (move === 'seekToLast') place = entries.length - 1;
          else if (place !== undefined) place += move === 'next' ? 1 : -1;
          moved = cursor[move]();
          asyncMoved = await asyncCursor[move]();
        }
        const entry: KeyValue | undefined = place === undefined ? undefined : entries[place];
        if (entry === undefined) place = undefined;
        const valid = entry !== undefined;
        if (moved !== valid || cursor.valid !== valid || asyncMoved !== valid || asyncCursor.valid !== valid) {
          wrong.push(`step ${step}, ${move}: on an entry or not`);
          break;
        }
        if (entry === undefined) continue;
        const [key, value] = entry;
        const isThere = ({ key: k, value: v }: { key: Uint8Array; value: Uint8Array }): boolean =>
          sameBytes(k, key) && sameBytes(v, value);
        if (!isThere(cursor)) wrong.push(`step ${step}, ${move}: SyncCursor`);
        if (!isThere(asyncCursor)) wrong.push(`step ${step}, ${move}: Cursor`);
        if (cursor.keyLength !== key.length || cursor.valueLength !== value.length) wrong.push(`step ${step}: lengths`);
      }
      expect(wrong).toEqual([]);
    });

    test('approximate offsets ascend with the keys, and the profile counts the entries', async () => {
      const ascending = [...entries.map(([key]) => key), ...targets].sort((a, b) => comparator.compare(a, b));
      const offsets = ascending.map((key) => syncTable.approximateOffset(key));
      expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
      const profile = await profileTable(source, { comparator: reading.comparator, filterPolicies: reading.filterPolicies });
      expect(profile).toMatchObject({
        entries: entries.length,
        keyBytes: entries.reduce((sum, [key]) => sum + key.length, 0),
        valueBytes: entries.reduce((sum, [, value]) => sum + value.length, 0),
        dataBlocks: syncTable.blockCount,
      });
      expect(cache.byteLength).toBeLessThanOrEqual(cache.maxBytes);
    });
  },
);

/** Copies of the entries, made before the next batch is requested. */
function* unbatched(batches: Iterable<EntryBatch>): Generator<KeyValue> {
  for (const batch of batches) {
    const copies = Array.from({ length: batch.length }, (_, i): KeyValue => [batch.key(i).slice(), batch.value(i).slice()]);
    yield* copies;
  }
}

/** Absent keys, most of them next to a present one. */
function neighbours(entries: readonly KeyValue[], random: Random): Uint8Array[] {
  const present = new Set(entries.map(([key]) => hex(key)));
  const near = entries.flatMap(([key]) => {
    const last = key.slice();
    if (last.length > 0) last[last.length - 1]! ^= 1;
    return [Uint8Array.of(...key, 0), key.subarray(0, -1), last, Uint8Array.of(...key.subarray(0, -1), 0xff)];
  });
  const far = Array.from({ length: 20 }, () => randomKey(random, [random.bytes(2)]));
  // Ensures that there is at least one.
  far.push(Uint8Array.of(), new Uint8Array(20).fill(0xff), Uint8Array.of(0x6e, 0x6f));
  return [...random.shuffle(near).slice(0, 100), ...far].filter((key) => !present.has(hex(key)));
}

/** Any combination of bounds, including none, two on the same side, and bounds that are out of order. */
function randomRange(random: Random, bounds: readonly Uint8Array[], entryCount: number): ByteRange {
  const range: { -readonly [Name in keyof ByteRange]: ByteRange[Name] } = {};
  for (const name of ['gt', 'gte', 'lt', 'lte'] as const) if (random.below(3) === 0) range[name] = random.pick(bounds);
  // The same key as two bounds on one side, or as the bounds on both sides.
  if (random.below(4) === 0) range.gte = range.gt;
  if (random.below(4) === 0) range.lte = range.lt;
  if (random.below(6) === 0) range[random.pick(['lt', 'lte'] as const)] = range.gt ?? range.gte;
  if (random.below(2) === 0) range.reverse = random.below(4) !== 0;
  if (random.below(3) === 0) range.limit = random.pick([0, 1, 2, 1 + random.below(entryCount + 1), entryCount, Infinity]);
  return range;
}

function inRange(entries: readonly KeyValue[], range: ByteRange, comparator: Comparator): KeyValue[] {
  const { gt, gte, lt, lte } = range;
  const inside = entries.filter(
    ([key]) =>
      (gt === undefined || comparator.compare(key, gt) > 0) &&
      (gte === undefined || comparator.compare(key, gte) >= 0) &&
      (lt === undefined || comparator.compare(key, lt) < 0) &&
      (lte === undefined || comparator.compare(key, lte) <= 0),
  );
  return (range.reverse === true ? inside.reverse() : inside).slice(0, range.limit);
}

function describeRange(range: KeyRange): string {
  return JSON.stringify(range, (_, value: unknown) => (value instanceof Uint8Array ? hex(value) : value));
}

function sameList(a: readonly (Uint8Array | undefined)[], b: readonly (Uint8Array | undefined)[]): boolean {
  const bytes = (list: readonly (Uint8Array | undefined)[]): Uint8Array =>
    formatKv(list.map((item) => [item === undefined ? Uint8Array.of() : Uint8Array.of(1), item ?? Uint8Array.of()]));
  return sameBytes(bytes(a), bytes(b));
}
