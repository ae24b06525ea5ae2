import { BlockCache, MemorySource, SyncTable } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { numberedEntries } from './entries.js';

test.each([0, -1, 1.5, NaN, Infinity])('rejects a cache of %d bytes', (maxBytes) => {
  expect(() => new BlockCache(maxBytes)).toThrow(RangeError);
  expect(() => new BlockCache(maxBytes)).toThrow(/maxBytes/);
});

test('a cache keeps at most its maximum, and evicts the least recently used blocks', () => {
  const cache = new BlockCache(4096);
  for (let id = 0; id < 100; id++) cache.set(id, new Uint8Array(1000));
  expect(cache.byteLength).toBeLessThanOrEqual(4096);
  expect(cache.byteLength).toBeGreaterThan(2000);
  expect(cache.get(99)).toBeDefined();
  expect(cache.get(0)).toBeUndefined();
});

test('a recently used block stays, even if it was added long ago', () => {
  const cache = new BlockCache(4096);
  for (let id = 0; id < 100; id++) {
    cache.set(id, new Uint8Array(1000));
    expect(cache.get(0)).toHaveLength(1000);
  }
  const kept = Array.from({ length: 100 }, (_, id) => id).filter((id) => cache.get(id) !== undefined);
  expect(kept).toEqual([0, 98, 99]);
});

test('a block that is added again counts once', () => {
  const cache = new BlockCache(4096);
  cache.set(0, new Uint8Array(1000));
  const one = cache.byteLength;
  for (let i = 0; i < 10; i++) cache.set(0, new Uint8Array(1000).fill(i));
  expect(cache.byteLength).toBe(one);
  expect(cache.get(0)![0]).toBe(9);
  cache.set(0, new Uint8Array(5000));
  expect([cache.get(0), cache.byteLength]).toEqual([undefined, 0]);
});

test('a block that is larger than the cache is not kept, and evicts nothing', () => {
  const cache = new BlockCache(4096);
  cache.set(0, new Uint8Array(10));
  cache.set(1, new Uint8Array(5000));
  expect([cache.get(1), cache.get(0)?.length]).toEqual([undefined, 10]);
});

describe('a full cache keeps a copy of a block that lookups read', () => {
  /** Three blocks, 10 to 12, which fill it. */
  function full(): BlockCache {
    const cache = new BlockCache(4096);
    for (let id = 10; id < 13; id++) cache.setCopy(id, new Uint8Array(1100));
    return cache;
  }
  /** What it keeps after it has missed another block. */
  const kept = (cache: BlockCache): number[] => {
    cache.setCopy(200, new Uint8Array(1100));
    return Array.from({ length: 100 }, (_, id) => id).filter((id) => cache.borrow(id) !== undefined);
  };

  test.each<[string, number[], number[]]>([
    ['not when it is missed once', [50], [10, 11, 12]],
    ['when it is missed again', [50, 50], [11, 12, 50]],
    ['when it is missed again after another', [50, 61, 50], [11, 12, 50]],
    ['when it follows the block that was missed before', [50, 51], [11, 12, 51]],
    ['when it precedes the block that was missed before', [50, 49], [11, 12, 49]],
    ['not when it was missed before many others', [50, 20, 30, 40, 60, 70, 80, 90, 25, 35, 45, 55, 65, 75, 85, 95, 27, 37, 50], [10, 11, 12]],
  ])('%s', (_, missed, expected) => {
    const cache = full();
    for (const id of missed) cache.setCopy(id, new Uint8Array(1100));
    expect(kept(cache)).toEqual(expected);
  });

  test('when it is asked for before another is missed', () => {
    const cache = full();
    cache.setCopy(50, new Uint8Array(1100).fill(5));
    expect(cache.borrow(50)).toEqual(new Uint8Array(1100).fill(5));
    expect(kept(cache)).toEqual([11, 12, 50]);
    cache.setCopy(70, new Uint8Array(1100));
    cache.setCopy(80, new Uint8Array(1100));
    expect(cache.borrow(70)).toBeUndefined();
  });

  test('not when it was replaced, or its table was closed', () => {
    const cache = full();
    cache.setCopy(50, new Uint8Array(1100).fill(1));
    cache.set(50, new Uint8Array(10).fill(2));
    cache.drop(50, 1);
    expect(cache.get(50)).toBeUndefined();
    cache.setCopy(60, new Uint8Array(1100));
    cache.drop(60, 5);
    expect(cache.get(60)).toBeUndefined();
    cache.setCopy(70, new Uint8Array(1100));
    cache.drop(70, 500);
    expect(cache.get(70)).toBeUndefined();
  });

  test('when it has room for it', () => {
    const cache = full();
    cache.setCopy(50, new Uint8Array(40));
    expect(kept(cache)).toEqual([10, 11, 12, 50]);
  });
});

test('a full cache does not make lookups of one block after another read it twice', () => {
  const entries = numberedEntries(2000);
  const bytes = buildTable(entries, { blockSize: 1024 });
  const source = {
    byteLength: bytes.length,
    read: (offset: number, length: number) => bytes.slice(offset, offset + length),
    readInto(offset: number, into: Uint8Array) {
      into.set(bytes.subarray(offset, offset + into.length));
      return into.length;
    },
  };
  const table = SyncTable.open(source, { cache: new BlockCache(5000) });
  for (let i = 0; i < 2000; i++) {
    const [key, value] = entries[(i * 701) % 2000]!;
    const { blockReads } = table.stats;
    for (let n = 0; n < 3; n++) expect(table.get(key)).toEqual(value);
    expect(table.stats.blockReads - blockReads).toBeLessThanOrEqual(1);
  }
  expect(table.stats.blockReads).toBeGreaterThan(1000);
});

test('no id is reserved twice', () => {
  const cache = new BlockCache(4096);
  expect([cache.reserve(10), cache.reserve(1), cache.reserve(0), cache.reserve(5)]).toEqual([0, 10, 11, 11]);
});

test.each([3, 3000])('dropping a range of %d ids drops exactly those ids', (count) => {
  const cache = new BlockCache(2 ** 20);
  for (let id = 0; id < 10; id++) cache.set(id, new Uint8Array(1));
  cache.drop(2, count);
  const kept = Array.from({ length: 10 }, (_, id) => id).filter((id) => cache.get(id) !== undefined);
  expect(kept).toEqual(count === 3 ? [0, 1, 5, 6, 7, 8, 9] : [0, 1]);
});

test("tables that share a cache do not get each other's blocks", () => {
  const cache = new BlockCache(2 ** 20);
  const tables = [20, 30].map((valueLength) => {
    const entries = numberedEntries(500, valueLength);
    return { entries, table: SyncTable.open(new MemorySource(buildTable(entries)), { cache }) };
  });
  for (let round = 0; round < 2; round++) {
    for (const { entries, table } of tables) {
      expect(table.getMany(entries.map(([key]) => key))).toEqual(entries.map(([, value]) => value));
    }
  }
  for (const { table } of tables) expect(table.stats.blockReads).toBe(table.blockCount);
});

test('closing a table drops its blocks, and keeps those of other tables', () => {
  const cache = new BlockCache(2 ** 20);
  const file = new MemorySource(buildTable(numberedEntries(500)));
  const [a, b] = [SyncTable.open(file, { cache }), SyncTable.open(file, { cache })];
  expect([...a.keys()]).toHaveLength(500);
  const one = cache.byteLength;
  expect([...b.keys()]).toHaveLength(500);
  expect(cache.byteLength).toBe(2 * one);
  a.close();
  expect(cache.byteLength).toBe(one);
  b.close();
  expect(cache.byteLength).toBe(0);
});

test('without a cache every lookup reads its block', () => {
  const entries = numberedEntries(10);
  const table = SyncTable.open(new MemorySource(buildTable(entries)), { cache: null });
  for (const [key] of entries) table.get(key);
  expect(table.stats).toMatchObject({ blockReads: 10, cacheHits: 0 });
});
