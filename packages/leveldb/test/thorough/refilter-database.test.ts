import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { Database, type Folder, type RefilterProgress, type WritableFile, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy, idbFilterPolicyOf } from '@bloom/leveldb/idb-comparator';
import { describe, expect, test } from 'vitest';
import { assembleDatabase } from '../assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';
import { PowerCutFolder, type Remains } from '../power-cut-folder.js';
import { reverseComparator } from '../reverse-comparator.js';
import { asMap, entriesOf, mustBeSound, small, someDatabase } from '../some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const filterPolicy = new FittedBloomFilterPolicy(12);
// tooling/long-tests has a run with more.
const cutSeeds = Array.from({ length: Number(process.env.BLOOM_REFILTER_SEEDS ?? 1) }, (_, i) => i + 1);

async function levelsOf(folder: WritableMemoryFolder): Promise<number[]> {
  const database = await Database.open(new WritableMemoryFolder(folder.files()), small);
  const { levels } = database.describe();
  await database.close();
  return levels.map((tables) => tables.length);
}

const contents = async (folder: Folder): Promise<Map<string, string>> => asMap(await entriesOf(folder));

test.each([1, 2, 3, 4, 5])('a random database has the same entries in the same levels, logs and all, and is sound (seed %i)', async (seed) => {
  const { files, entries } = await someDatabase(seed);
  const folder = new WritableMemoryFolder(files);
  const levels = await levelsOf(folder);
  const progress: RefilterProgress[] = [];
  const { written, kept, byteLength } = await Database.refilter(folder, { lock: 'none', filterPolicy, onProgress: (step) => progress.push(step) });
  expect(written).toBeGreaterThan(0);
  expect(kept).toBe(0);
  expect(await contents(folder)).toEqual(entries);
  await mustBeSound(folder);
  expect(await levelsOf(folder)).toEqual(levels);
  const tables = [...folder.files()].filter(([name]) => name.endsWith('.ldb'));
  expect(tables.length).toBe(written);
  expect(tables.reduce((sum, [, bytes]) => sum + bytes.length, 0)).toBe(byteLength);
  expect([...folder.files().keys()].filter((name) => name.startsWith('MANIFEST'))).toHaveLength(1);
  expect(progress.at(-1)!.done).toBe(progress.at(-1)!.total);
  // A second time there is nothing to do, and nothing changes.
  const before = folder.files();
  expect(await Database.refilter(folder, { lock: 'none', filterPolicy })).toMatchObject({ written: 0, kept: written });
  expect(folder.files()).toEqual(before);
});

test('the newest of five values stays the newest, also where an older table of level 0 alone lacks the filters', async () => {
  const folder = new WritableMemoryFolder();
  for (const [value, policy] of [['v1', null], ['v2', null], ['v3', null], ['v4', filterPolicy], ['v5', filterPolicy]] as const) {
    const database = await Database.open(folder, { ...small, filterPolicy: policy });
    await database.put(utf8('k'), utf8(value));
    await database.flush();
    await database.close();
  }
  expect((await levelsOf(folder))[0]).toBe(3);
  for (const policy of [filterPolicy, new BloomFilterPolicy(9), null]) {
    await Database.refilter(folder, { lock: 'none', filterPolicy: policy });
    expect(await contents(folder)).toEqual(new Map([['k', 'v5']]));
    expect((await levelsOf(folder))[0]).toBe(3);
  }
});

test('tables under the older name keep that name, which Java’s ports of LevelDB need', async () => {
  const files = assembleDatabase({ tables: [{ level: 2, number: 5, versions: [{ key: utf8('k'), sequence: 1, value: utf8('v') }] }] });
  files.set('000005.sst', files.get('000005.ldb')!);
  files.delete('000005.ldb');
  const folder = new WritableMemoryFolder(files);
  await Database.refilter(folder, { lock: 'none' });
  expect([...folder.files().keys()].filter((name) => /\.(ldb|sst)$/.test(name))).toEqual([expect.stringMatching(/\.sst$/)]);
  expect(await contents(folder)).toEqual(new Map([['k', 'v']]));
});

test('by default, lookups of absent neighbours read a tenth of the blocks afterwards', async () => {
  const keyOf = (number: number): Uint8Array => utf8(String(number).padStart(16, '0'));
  const folder = new WritableMemoryFolder();
  const filled = await Database.open(folder, { lock: 'none' });
  const batch = new WriteBatch();
  for (let i = 0; i < 8000; i++) batch.put(keyOf(2 * i), new Uint8Array(100));
  await filled.write(batch);
  await filled.compactRange();
  await filled.close();
  const wasted = async (): Promise<number> => {
    const database = await Database.open(folder, { lock: 'none' });
    for (let i = 0; i < 8000; i++) database.getSync(keyOf(2 * i + 1));
    const { filterFalsePositives } = database.stats;
    await database.close();
    return filterFalsePositives;
  };
  const before = await wasted();
  await Database.refilter(folder, { lock: 'none' });
  expect(await wasted()).toBeLessThan(before * 0.12);
});

describe('a power cut before any operation', () => {
  test.each(cutSeeds)('leaves a database with the same entries, which can be refiltered again (seed %i)', async (seed) => {
    const { files, entries } = await someDatabase(seed);
    const random = seeded(seed);
    const folder = new PowerCutFolder(files);
    const cuts: { readonly remains: Remains; readonly operation: string }[] = [];
    folder.onOperation = (_, operation) => cuts.push({ remains: folder.remains(), operation });
    await Database.refilter(folder, { lock: 'none', filterPolicy });
    expect(cuts.length).toBeGreaterThan(15);
    for (const { remains, operation } of cuts) {
      for (let i = operation === 'syncFolder' ? 8 : 2; i > 0; i--) {
        const left = remains.folder(random);
        expect(await contents(left), operation).toEqual(entries);
        await Database.refilter(left, { lock: 'none', filterPolicy });
        expect(await contents(left), operation).toEqual(entries);
      }
    }
  });

  test('also where the operation fails', async () => {
    const { files, entries } = await someDatabase(3);
    for (let failing = 0; ; failing++) {
      const folder = new PowerCutFolder(files);
      let reached = 0;
      folder.onOperation = (number) => {
        if (number !== failing) return;
        reached++;
        throw new Error('no room');
      };
      const outcome = await Database.refilter(folder, { lock: 'none', filterPolicy }).catch((error: unknown) => error);
      expect(await contents(new WritableMemoryFolder(folder.files()))).toEqual(entries);
      if (reached === 0) break;
      // A file that cannot be deleted is left.
      if (outcome instanceof Error) expect(outcome.message).toBe('no room');
    }
  });
});

describe('an end in the middle', () => {
  const tablesIn = (files: ReadonlyMap<string, unknown>): string[] => [...files.keys()].filter((name) => name.endsWith('.ldb')).sort();

  test('by a signal rejects with its reason, keeps the entries, and leaves no unfinished table, at any operation', async () => {
    const { files, entries } = await someDatabase(2);
    let aborted = 0;
    for (let last = 0; ; last++) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const folder = new PowerCutFolder(files);
      folder.onOperation = (number) => {
        if (number === last) controller.abort(reason);
      };
      const outcome: unknown = await Database.refilter(folder, { lock: 'none', filterPolicy, signal: controller.signal }).catch((error: unknown) => error);
      const left = new WritableMemoryFolder(folder.files());
      expect(await contents(left)).toEqual(entries);
      expect(tablesIn(folder.files())).toHaveLength(tablesIn(files).length);
      if (!(outcome instanceof Error)) break;
      expect(outcome).toBe(reason);
      aborted++;
    }
    expect(aborted).toBeGreaterThan(5);
  });

  test('by a folder without room, in the middle of any table, leaves no unfinished table', async () => {
    const { files, entries } = await someDatabase(2);
    const full = new Error('no space left');
    let failed = 0;
    for (let failing = 0; ; failing++) {
      let appends = 0;
      class FullFolder extends WritableMemoryFolder {
        override create(name: string): WritableFile {
          const file = super.create(name);
          if (!name.endsWith('.ldb')) return file;
          const append = (bytes: Uint8Array): void | Promise<void> => {
            if (appends++ !== failing) return file.append(bytes);
            void file.append(bytes.subarray(0, 10));
            throw full;
          };
          return { append, sync: () => file.sync(), close: () => file.close() };
        }
      }
      const folder = new FullFolder(files);
      const outcome: unknown = await Database.refilter(folder, { lock: 'none', filterPolicy }).catch((error: unknown) => error);
      expect(await contents(folder)).toEqual(entries);
      expect(tablesIn(folder.files())).toHaveLength(tablesIn(files).length);
      if (!(outcome instanceof Error)) break;
      expect(outcome).toBe(full);
      failed++;
    }
    expect(failed).toBeGreaterThan(2);
  });

  test('is refused for progress that is not a function, before anything is read', async () => {
    const folder = new WritableMemoryFolder();
    expect(await rejection(Database.refilter(folder, { onProgress: 1 as never }))).toMatchObject({ name: 'TypeError', message: expect.stringContaining('onProgress must be a function') as string });
  });

  test('is refused for a value that is not a signal, before anything is read', async () => {
    expect(await rejection(Database.refilter(new WritableMemoryFolder(), { lock: 'none', signal: true as never }))).toBeInstanceOf(TypeError);
  });
});

describe('a database with the order of IndexedDB', () => {
  const keyOf = (number: number): Uint8Array => Uint8Array.of(0, 1, 1, 1, 3, ...new Uint8Array(new Float64Array([number]).buffer));
  const filled = async (): Promise<WritableMemoryFolder> => {
    const folder = new WritableMemoryFolder();
    const database = await Database.open(folder, { lock: 'none', comparator: idbComparator, filterPolicy: idbFilterPolicy });
    for (let i = 0; i < 500; i++) await database.put(keyOf(2 * i), new Uint8Array(100));
    await database.compactRange();
    await database.close();
    return folder;
  };

  test('gets fitted filters by idbFilterPolicyOf, and its keys are found, zero also with the other sign', async () => {
    const folder = await filled();
    const fitted = idbFilterPolicyOf(new FittedBloomFilterPolicy(10));
    const before = folder.files();
    expect(await Database.refilter(folder, { lock: 'none', comparator: idbComparator, filterPolicy: fitted })).toMatchObject({ written: 1, kept: 0, entries: 500 });
    expect(folder.files()).not.toEqual(before);
    for (const policy of [idbFilterPolicy, fitted]) {
      const database = await Database.open(folder, { lock: 'none', comparator: idbComparator, filterPolicy: policy });
      for (let i = 0; i < 500; i++) expect(await database.get(keyOf(2 * i))).toHaveLength(100);
      expect(await database.get(keyOf(-0))).toHaveLength(100);
      expect(database.filterStatus.state).toBe('used');
      await database.close();
    }
    expect(await Database.refilter(folder, { lock: 'none', comparator: idbComparator, filterPolicy: fitted })).toMatchObject({ written: 0, kept: 1 });
  });

  test('is left unchanged with a policy that distinguishes its equal keys, as the default does', async () => {
    const folder = await filled();
    const before = folder.files();
    expect(await rejection(Database.refilter(folder, { lock: 'none', comparator: idbComparator }))).toBeInstanceOf(RangeError);
    expect(folder.files()).toEqual(before);
  });

  test('idbFilterPolicyOf refuses a value that is not a policy, and a policy with equal keys', () => {
    expect(() => idbFilterPolicyOf({} as never)).toThrow(TypeError);
    expect(() => idbFilterPolicyOf(idbFilterPolicy)).toThrow(new RangeError('policy must distinguish all keys, but leveldb.BuiltinBloomFilter2 treats keys as equal by "idb_cmp1"'));
  });
});

describe('refused, and left unchanged, is', () => {
  test.each<[string, Map<string, Uint8Array>, object, object]>([
    ['a folder without a database', new Map(), {}, { code: 'BLOOM_DATABASE_MISSING' }],
    ['a database whose comparator was not given', assembleDatabase({ comparator: reverseComparator }), {}, { code: 'BLOOM_UNKNOWN_COMPARATOR' }],
    ['one that lacks a table', withoutTable(), {}, { code: 'BLOOM_MISSING_FILE' }],
    ['an unknown option', new Map(), { policy: filterPolicy }, TypeError],
    ['a wrong filter range', assembleDatabase({}), { filterRange: 3 }, RangeError],
  ])('%s', async (_, files, options, error) => {
    const folder = new WritableMemoryFolder(files);
    const outcome = await rejection(Database.refilter(folder, { lock: 'none', ...options }));
    if (typeof error === 'function') expect(outcome).toBeInstanceOf(error);
    else expect(outcome).toMatchObject(error);
    expect(folder.files()).toEqual(files);
  });

  test('a damaged table, with its name and offset', async () => {
    const { files } = await someDatabase(2);
    const name = [...files.keys()].find((one) => one.endsWith('.ldb'))!;
    files.get(name)![100]! ^= 1;
    expect(await rejection(Database.refilter(new WritableMemoryFolder(files), { lock: 'none' }))).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block', file: name });
  });
});

test('with a policy that LevelDB does not know, the database uses its filters', async () => {
  const { files, entries } = await someDatabase(4);
  const folder = new WritableMemoryFolder(files);
  const bloom = new BloomFilterPolicy(12);
  const policy: FilterPolicy = { name: 'test.Other', createFilter: (keys, dst) => bloom.createFilter(keys, dst), keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter) };
  await Database.refilter(folder, { lock: 'none', filterPolicy: policy });
  const database = await Database.open(folder, { ...small, filterPolicy: policy });
  await database.get(utf8('key1'));
  expect(database.filterStatus).toEqual({ state: 'used', policyName: policy.name });
  await database.close();
  expect(await contents(folder)).toEqual(entries);
});

function withoutTable(): Map<string, Uint8Array> {
  const files = assembleDatabase({ tables: [{ level: 1, number: 5, versions: [{ key: utf8('k'), sequence: 1, value: utf8('v') }] }] });
  files.delete('000005.ldb');
  return files;
}

test('tables whose filters would need a block of more than maxBlockBytes are written without, as by the database', async () => {
  const folder = new WritableMemoryFolder();
  const options = { lock: 'none', maxBlockBytes: 2 ** 16, filterRange: 1 } as const;
  const database = await Database.open(folder, { lock: 'none', filterPolicy: null });
  await database.put(utf8('large'), seeded(1).bytes(40_000));
  await database.put(utf8('larger'), seeded(2).bytes(50_000));
  await database.flush();
  await database.close();
  expect(await Database.refilter(folder, options)).toMatchObject({ written: 0, kept: 1, unfiltered: 1, filterBytes: 0, entries: 2 });
  expect(await Database.refilter(folder, { ...options, filterRange: 2048 })).toMatchObject({ written: 1, unfiltered: 0 });
  expect(await Database.refilter(folder, options)).toMatchObject({ written: 1, unfiltered: 1, filterBytes: 0 });
  expect([...(await contents(folder)).keys()]).toEqual(['large', 'larger']);
  expect(await Database.refilter(folder, { ...options, filterPolicy: null })).toMatchObject({ kept: 1, unfiltered: 0 });
});
