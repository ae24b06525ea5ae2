// Runs are merged, and split into ranges, as a sorted map would be.
import { seeded } from '@bloom/fixtures';
import { arrayRun, type BulkEntry, MemoryStore, merge, type Part, partName, partRun, readPublication, split, splitParts, tableRun, writeParts } from '@bloom/bulk';
import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { MemorySink, MemorySource, Table, TableBuilder } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { refilterTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { collected, deliver, entriesOf, keyAt, levelEntries, makeRoom, Model, range, SMALL, someChanges, textOf, utf8 } from './model.js';

/** A table with plain keys. */
function tableBytes(entries: readonly BulkEntry[]): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { blockSize: 256 });
  for (const [key, value] of entries) builder.add(key, value!);
  builder.finish();
  return sink.toBytes();
}

const shown = (entries: readonly BulkEntry[]): string => textOf(entries.map(([key, value]) => [key, value ?? utf8('(deleted)')] as const));

/** What the first run that has a key says of it. */
function expected(runs: readonly (readonly BulkEntry[])[], dropDeletions: boolean): string {
  const newest = new Map<string, BulkEntry>();
  for (const run of [...runs].reverse()) for (const entry of run) newest.set(new TextDecoder().decode(entry[0]), entry);
  const sorted = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  return shown(sorted.filter(([, value]) => !dropDeletions || value !== undefined));
}

describe('merge', () => {
  test.each([1, 2, 3, 4])('gives of random runs what the newest says of each key, with and without deletions (seed %i)', async (seed) => {
    const random = seeded(seed);
    const runs = Array.from({ length: 1 + random.below(9) }, (_, i) => someChanges(100 * seed + i, 500, random.below(400)));
    for (const dropDeletions of [false, true]) {
      const merged = (await collected(merge(runs.map((run) => arrayRun(run)), { dropDeletions }))).flat();
      expect(shown(merged)).toBe(expected(runs, dropDeletions));
    }
  });

  test('of each range of a split is, one after another, the merge of everything', async () => {
    const runs = [1, 2, 3].map((seed) => entriesOf(range(seed, 3000, seed + 1), `run ${seed}`));
    const sources = runs.map((run) => new MemorySource(tableBytes(run)));
    const tables = await Promise.all(sources.map((source) => Table.open(source)));
    const boundaries = await split(sources, 5);
    expect(boundaries).toHaveLength(4);
    const parts: BulkEntry[][] = [];
    for (let i = 0; i <= boundaries.length; i++) {
      parts.push((await collected(merge(tables.map(tableRun), { gte: boundaries[i - 1], lt: boundaries[i] }))).flat());
    }
    expect(shown(parts.flat())).toBe(expected(runs, false));
    const sizes = parts.map((part) => part.length);
    expect(Math.max(...sizes) / Math.min(...sizes)).toBeLessThan(1.3);
  });

  test('makes the same parts, byte for byte, whether ranges are written by one after another or by each on its own, and from any order of sources', async () => {
    const runs = [1, 2, 3].map((seed) => entriesOf(range(seed, 3000, seed + 1), `run ${seed}`));
    const boundaries = await split(runs.map((run) => new MemorySource(tableBytes(run))), 3);
    expect(await split(runs.reverse().map((run) => new MemorySource(tableBytes(run))), 3)).toEqual(boundaries);
    runs.reverse();
    const write = async (i: number): Promise<Part[]> => {
      const entries = merge(runs.map((run) => arrayRun(run)), { gte: boundaries[i - 1], lt: boundaries[i] });
      return collected(writeParts(new MemoryStore(), entries, { ...SMALL, sequence: 1n }));
    };
    const alone = await Promise.all([2, 0, 1].map(write));
    expect([await write(0), await write(1), await write(2)]).toEqual([alone[1], alone[2], alone[0]]);
  });

  test('reads parts, whose newest versions count', async () => {
    const store = new MemoryStore();
    const entries = someChanges(7, 300, 200);
    for (const { number } of await collected(writeParts(store, [entries], { ...SMALL, sequence: 5n }))) {
      const table = await DatabaseTable.open(new MemorySource((await store.get(partName(number)))!.bytes));
      const some = (await collected(merge([partRun(table)], { gte: keyAt(50), lt: keyAt(60) }))).flat();
      expect(shown(some)).toBe(shown(entries.filter(([key]) => Buffer.compare(key, keyAt(50)) >= 0 && Buffer.compare(key, keyAt(60)) < 0)));
    }
  });

  test('refuses a run that is not in ascending order, and closes the others', async () => {
    let isClosed = false;
    const endless = {
      async *entries() {
        try {
          for (let i = 0; ; i++) yield entriesOf([i]);
        } finally {
          isClosed = true;
        }
      },
    };
    const wrong = { entries: () => arrayRun([...entriesOf([3]), ...entriesOf([2])]).entries({}) };
    await expect(collected(merge([endless, wrong]))).rejects.toThrow('runs[1] is not in ascending order');
    expect(isClosed).toBe(true);
  });

  test('passes on the errors of a run, and the signal to it', async () => {
    const failing = {
      // eslint-disable-next-line require-yield -- a run that fails before its first batch
      async *entries(): AsyncGenerator<BulkEntry[]> {
        throw new Error('the disk is gone');
      },
    };
    await expect(collected(merge([arrayRun(entriesOf([1])), failing]))).rejects.toThrow('the disk is gone');
    const controller = new AbortController();
    const entries = merge([arrayRun(entriesOf(range(0, 5000)))], { signal: controller.signal });
    await entries.next();
    controller.abort(new Error('enough'));
    await expect(entries.next()).rejects.toThrow('enough');
  });
});

describe('split', () => {
  test('gives fewer keys where there are fewer blocks, and none for one range', async () => {
    const source = new MemorySource(tableBytes(entriesOf(range(0, 5))));
    expect(await split([source], 1)).toEqual([]);
    expect((await split([source], 100)).length).toBeLessThan(5);
    expect(await split([], 4)).toEqual([]);
  });

  test('of parts that end in the same key does not depend on their order', () => {
    const part = (key: string, size: number) => ({ size, largest: encodeInternalKey({ userKey: utf8(key), sequence: 1n, type: VALUE }) });
    for (const last of ['y', 'z']) {
      const parts = [part('a', 100), part('b', 5), part(last, 10), part(last, 1000), part('z', 7)];
      expect(splitParts(parts, 3)).toEqual(splitParts([...parts].reverse(), 3));
    }
  });

  test('of parts reads nothing and gives their last keys', async () => {
    const store = new MemoryStore();
    await deliver(store, entriesOf(range(0, 3000)), 1n);
    const [parts] = (await readPublication(store))!.levels.slice(-1);
    const boundaries = splitParts(parts!, 3);
    expect(boundaries).toHaveLength(2);
    for (const boundary of boundaries) expect(parts!.some(({ largest }) => Buffer.compare(largest.subarray(0, -8), boundary) === 0)).toBe(true);
  });
});

test('deliveries that are merged when there is no room equal a sorted map, and deletions leave no trace in the lowest level', async () => {
  const store = new MemoryStore();
  const model = new Model();
  let merges = 0;
  for (let day = 1; day <= 12; day++) {
    const entries = day === 1 ? entriesOf(range(0, 600)) : someChanges(day, 700, 60);
    if (await makeRoom(store)) merges++;
    await deliver(store, entries, BigInt(day));
    model.apply(entries);
  }
  expect(merges).toBeGreaterThan(3);
  const { DatabaseReader } = await import('@bloom/leveldb');
  await using reader = await DatabaseReader.open(store.folder());
  expect(textOf(await collected(reader.entries()))).toBe(String(model));
  const publication = (await readPublication(store))!;
  const lowest = (await collected((await levelEntries(store, publication, 6)).entries({}))).flat();
  expect(lowest.filter(([, value]) => value === undefined)).toEqual([]);
});

test('parts that are written and merged with fitted filters have those of a table that is refiltered, and no part has LevelDB’s own', async () => {
  const filterPolicy = new FittedBloomFilterPolicy(12);
  const store = new MemoryStore();
  const runs = [1, 2].map((seed) => entriesOf(range(seed, 4000, seed + 1), `run ${seed}`));
  const options = { ...SMALL, sequence: 1n, filterPolicy };
  const parts = await collected(writeParts(store, merge(runs.map((run) => arrayRun(run))), options));
  expect(parts.length).toBeGreaterThan(1);
  const isChangedBy = async (policy: FilterPolicy, number: bigint): Promise<boolean> => {
    const source = new MemorySource((await store.get(partName(number)))!.bytes);
    return (await refilterTable(source, { filterPolicy: internalKeyPolicy(policy) })).isChanged;
  };
  for (const { number } of parts) {
    expect(await isChangedBy(filterPolicy, number)).toBe(false);
    expect(await isChangedBy(new BloomFilterPolicy(12), number)).toBe(true);
  }
});
