import { seeded } from '@bloom/fixtures';
import { type BitsByLevel, type Comparator, Database, type DatabaseOptions, DatabaseReader, MemoryFolder, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { BloomFilterPolicy } from '@bloom/policy';
import { storedEntries } from '@bloom/leveldb/inspect';
import { bytewiseComparator, MemorySource } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { ThreadedMemoryFolder } from './threaded-memory-folder.js';
import { small } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The number of probes of a table's filters; 0 for a table without filters. */
async function probesOf(bytes: Uint8Array): Promise<number> {
  for await (const { label, value } of tableLayout(new MemorySource(bytes))) if (label.includes('number of probes')) return Number(value);
  return 0;
}

/** The probes of the tables of each level. */
async function probesByLevel(folder: WritableMemoryFolder, database: Database): Promise<number[][]> {
  const files = new Map(folder.files());
  return Promise.all(database.describe().levels.map((tables) => Promise.all(tables.map(({ name }) => probesOf(files.get(name)!)))));
}

async function put(database: Database, keys: readonly number[]): Promise<void> {
  const batch = new WriteBatch();
  for (const key of keys) batch.put(utf8(`key${key}`), new Uint8Array(50));
  await database.write(batch);
}

const all = Array.from({ length: 300 }, (_, i) => i);

/** A database with tables in the levels 0, 1 and 2. @param lowest how the table of level 2 is written. */
async function layered(options: DatabaseOptions, lowest = options): Promise<{ folder: WritableMemoryFolder; database: Database }> {
  const folder = new WritableMemoryFolder();
  let database = await Database.open(folder, { ...small, ...lowest });
  // A table goes to the level above those that overlap it, from level 2 on.
  for (const keys of [all, all.slice(0, 60), all.slice(0, 20)]) {
    await put(database, keys);
    await database.flush();
    await database.close();
    database = await Database.open(folder, { ...small, ...options });
  }
  expect(database.describe().levels.map((tables) => tables.length)).toEqual([1, 1, 1, 0, 0, 0, 0]);
  return { folder, database };
}

test.each<[string, DatabaseOptions]>([
  ['bitsPerKey of 2^31 - 1', { bitsPerKey: [2 ** 31 - 1] }],
  ['a policy of 2^31 - 1 bits', { filterPolicy: new BloomFilterPolicy(2 ** 31 - 1) }],
])('with %s, whose filters no block can hold, tables have none, and writing goes on', async (_, options) => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { ...small, ...options });
  for (let i = 0; i < 3; i++) {
    await put(database, all);
    await database.flush();
  }
  await database.compactRange();
  expect(database.filterStatus).toEqual({ state: 'absent' });
  expect(await database.get('key7')).toEqual(new Uint8Array(50));
  await database.close();
});

describe('bits per key by level', () => {
  test.each<[string, BitsByLevel, number[][]]>([
    ['an array', [20, 15, 5], [[13], [10], [3], [], [], [], []]],
    ['an array, whose last element is for deeper levels', [20, 6], [[13], [4], [4], [], [], [], []]],
    ['a function', (level) => Math.max(0, 20 - 6 * level), [[13], [9], [5], [], [], [], []]],
    ['0: no filters', [20, 0, 10], [[13], [0], [6], [], [], [], []]],
  ])('%s', async (_, bitsPerKey, expected) => {
    const { folder, database } = await layered({ bitsPerKey });
    expect(await probesByLevel(folder, database)).toEqual(expected);
    await database.close();
  });

  test("'auto' gives upper levels more, and describe() reports the effect", async () => {
    // What the lowest level has not spent is left for the others.
    const { folder, database } = await layered({ bitsPerKey: 'auto' }, { bitsPerKey: [8] });
    expect(await probesByLevel(folder, database)).toEqual([[10], [8], [5], [], [], [], []]);
    await collect(database.keys());
    const { filters } = database.describe();
    expect(filters.map(({ knownTables }) => knownTables)).toEqual([1, 1, 1, 0, 0, 0, 0]);
    expect(filters[0]!.wastedReads).toBeLessThan(filters[2]!.wastedReads!);
    expect(filters[2]!.filterBytes).toBeGreaterThan(300);
    expect(filters[3]).toEqual({ knownTables: 0, filterBytes: 0, wastedReads: 0 });
    await database.close();
  });

  test('{ average } is the average of the filters: random databases', async () => {
    for (const average of [4, 10, 16]) {
      const folder = new WritableMemoryFolder();
      const random = seeded(average);
      // Without the smallest filters of LevelDB, which have 64 bits.
      let database = await Database.open(folder, { ...small, blockSize: 4096, filterRange: 2 ** 40, bitsPerKey: { average } });
      for (let i = 0; i < 12; i++) {
        await put(database, Array.from({ length: 150 }, () => random.below(800)));
        if (i % 5 === 4) {
          await database.close();
          database = await Database.open(folder, { ...small, blockSize: 4096, filterRange: 2 ** 40, bitsPerKey: { average } });
        }
      }
      await database.flush();
      await database.idle();
      let bits = 0;
      for (const { name } of database.describe().levels.flat()) {
        const source = new MemorySource(new Map(folder.files()).get(name)!);
        for await (const { label, byteLength } of tableLayout(source)) if (label.endsWith(': bits')) bits += byteLength * 8;
      }
      const stored = await storedCount(folder);
      expect(bits / stored).toBeLessThan(average + 1);
      expect(bits / stored).toBeGreaterThan(average - 3);
      await database.close();
    }
  });

  test('a database is opened with other bits at any time: tables keep their filters, and all answers stay right', async () => {
    const folder = new WritableMemoryFolder();
    const random = seeded(7);
    const values = new Map<number, number>();
    const settings: DatabaseOptions[] = [{}, { bitsPerKey: 'auto' }, { bitsPerKey: [0] }, { bitsPerKey: { average: 3 } }, { filterPolicy: null }, { bitsPerKey: { average: 40 } }, { bitsPerKey: 'auto' }];
    for (const [i, options] of settings.entries()) {
      // Every second time, what was written last is in the log only.
      const database = await Database.open(folder, { ...small, ...options });
      for (let j = 0; j < 100; j++) {
        const key = random.below(200);
        if (random.below(4) === 0) {
          values.delete(key);
          await database.delete(utf8(`key${key}`));
        } else {
          values.set(key, i);
          await database.put(utf8(`key${key}`), Uint8Array.of(i));
        }
      }
      if (i % 2 === 0) await database.flush();
      await database.idle();
      for (let key = 0; key < 220; key++) expect((await database.get(utf8(`key${key}`)))?.[0]).toBe(values.get(key));
      await database.close();
    }
    const reader = await DatabaseReader.open(new MemoryFolder(folder.files()));
    for (let key = 0; key < 220; key++) expect((await reader.get(utf8(`key${key}`)))?.[0]).toBe(values.get(key));
    await reader.close();
  });

  test('a thread that writes the tables gets their bits', async () => {
    const folder = new ThreadedMemoryFolder();
    const database = await Database.open(folder, { ...small, writeBufferSize: 4 * 2 ** 20, bitsPerKey: [20, 0, 15] });
    // So large that they are sent to the thread.
    for (let i = 0; i < 2; i++) {
      for (let key = 0; key < 80; key++) await database.put(utf8(`key${key}`), new Uint8Array(20_000));
      await database.flush();
    }
    expect(await probesByLevel(folder, database)).toEqual([[], [0], [10], [], [], [], []]);
    await database.compactRange();
    expect((await probesByLevel(folder, database)).map((level) => new Set(level))).toEqual([2, 2, 1, 2, 2, 2, 2].map((n) => new Set(n === 1 ? [10] : [])));
    expect(folder.jobs).toBe(3);
    await database.close();
  });

  test('what is recovered from a log has the bits of level 0', async () => {
    const folder = new WritableMemoryFolder();
    const before = await Database.open(folder, small);
    await put(before, all);
    await before.close();
    const database = await Database.open(folder, { ...small, bitsPerKey: [30, 10] });
    expect(await probesByLevel(folder, database)).toEqual([[20], [], [], [], [], [], []]);
    await database.close();
  });

  test('tables that moved down with rich filters leave less for the others', async () => {
    const { folder, database } = await layered({ bitsPerKey: 'auto' }, { bitsPerKey: [11] });
    const [[top], [middle], [bottom]] = (await probesByLevel(folder, database)) as [[number], [number], [number]];
    expect([top, middle, bottom]).toEqual([8, 6, 7]);
    await database.close();
  });

  test('a reader knows the filters of the tables that it has opened', async () => {
    const { folder, database } = await layered({ bitsPerKey: [20, 10] });
    await collect(database.keys());
    const expected = database.describe().filters;
    await database.close();
    const reader = await DatabaseReader.open(new MemoryFolder(folder.files()), { openTables: 'when-needed' });
    expect(reader.describe().filters.slice(0, 4)).toEqual([...Array.from({ length: 3 }, () => ({ knownTables: 0, filterBytes: 0, wastedReads: undefined })), { knownTables: 0, filterBytes: 0, wastedReads: 0 }]);
    await reader.get(utf8('key1'));
    await collect(reader.keys());
    expect(reader.describe().filters).toEqual(expected);
    await reader.close();
    const without = await DatabaseReader.open(new MemoryFolder(folder.files()), { filterPolicies: [] });
    await collect(without.keys());
    expect(without.describe().filters.map(({ wastedReads }) => wastedReads)).toEqual([1, 1, 1, 0, 0, 0, 0]);
    await without.close();
  });

  test('wrong options are refused before anything is opened', async () => {
    const folder = new WritableMemoryFolder();
    const wrong: [unknown, typeof TypeError | typeof RangeError, RegExp][] = [
      ['monkey', TypeError, /bitsPerKey must be an array/],
      [10, TypeError, /bitsPerKey must be an array/],
      [null, TypeError, /bitsPerKey must be an array/],
      [{}, TypeError, /bitsPerKey must be an array/],
      [[], RangeError, /from 1 to 7 elements/],
      [[1, 2, 3, 4, 5, 6, 7, 8], RangeError, /from 1 to 7 elements/],
      [[10, 9.5], RangeError, /bitsPerKey of level 1 must be a whole number/],
      [[10, -1], RangeError, /level 1/],
      [(level: number) => (level < 6 ? 10 : undefined), RangeError, /level 6/],
      [{ average: 0 }, RangeError, /average/],
      [{ average: Number.NaN }, RangeError, /average/],
      [{ average: 65 }, RangeError, /average/],
    ];
    for (const [bitsPerKey, type, message] of wrong) {
      const error = await rejection(Database.open(folder, { bitsPerKey: bitsPerKey as BitsByLevel }));
      expect(error).toBeInstanceOf(type);
      expect(String(error)).toMatch(message);
    }
    const both = await rejection(Database.open(folder, { bitsPerKey: 'auto', filterPolicy: null }));
    expect(both).toEqual(new TypeError("bitsPerKey is for LevelDB's Bloom filter: leave out filterPolicy"));
    const comparator: Comparator = { ...bytewiseComparator, name: 'test.Equal', keyEquivalence: 'test.Equal' };
    expect(String(await rejection(Database.open(folder, { bitsPerKey: 'auto', comparator })))).toMatch(/test.Equal/);
    expect([...folder.files()]).toEqual([]);
  });
});

/** How many versions the tables of a folder store. */
async function storedCount(folder: WritableMemoryFolder): Promise<number> {
  let count = 0;
  for await (const entry of storedEntries(new MemoryFolder(folder.files()))) if (entry.file.endsWith('.ldb')) count++;
  return count;
}
