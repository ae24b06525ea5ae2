// Walks in the kernel come to the same entries and errors as those that go entry by entry. `thorough/packed-walk.test.ts` compares more of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type DatabaseCursor, MemoryFolder, SyncDatabaseReader, type SyncDatabaseCursor, WritableMemoryFolder } from '@bloom/leveldb';
import { bytewiseComparator } from '@bloom/sstable';
import { compareInternalBytes } from '@bloom/sstable/internal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { MergeCursor } from '../src/cursor/merge-cursor.js';
import { PackedRun } from '../src/cursor/packed-run.js';
import { PackedWalk } from '../src/cursor/packed-walk.js';
import { VisibleCursor } from '../src/cursor/visible-cursor.js';
import { VisibleKernel } from '../src/cursor/visible-kernel.js';
import { DamagePolicy } from '../src/folder/damage.js';
import { type FolderReading, othersTurn } from '../src/folder/folder-reading.js';
import { keyOrderOf } from '../src/format/database-key.js';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableCursor } from '../src/memtable/memtable-cursor.js';
import { collect } from './collect.js';
import { CopyingFolder } from './copying-folder.js';
import { damagedRestarts, disorderedKeys } from './merge-job.js';
import { anyDamage, compareWalks, withoutKernel } from './walk-job.js';

const keyOf = (i: number): string => `key ${String(i).padStart(5, '0')}`;

test('random walks over random tables and memtables', async () => {
  const { moves, samples } = await compareWalks(1, 1);
  expect(moves).toBeGreaterThan(1000);
  expect(samples).toBeGreaterThan(0);
});

test('random walks over tables some of whose blocks exceed maxBlockBytes', async () => {
  const { moves, failures } = await compareWalks(70_003, 3, undefined, 7500);
  expect(moves).toBeGreaterThan(1000);
  expect(failures).toBeGreaterThan(0);
});

test('random walks over damaged tables', async () => {
  const { moves, failures } = await compareWalks(3, 2, anyDamage);
  expect(moves).toBeGreaterThan(2000);
  expect(failures).toBeGreaterThan(0);
});

test('random walks over tables with damaged restarts, in both directions', async () => {
  const { moves, failures } = await compareWalks(60_001, 1, damagedRestarts);
  expect(moves).toBeGreaterThan(600);
  expect(failures).toBeGreaterThan(0);
});

test('random walks over tables whose keys are out of order, in both directions', async () => {
  const { moves, failures } = await compareWalks(50_002, 1, disorderedKeys);
  expect(moves).toBeGreaterThan(1000);
  // No walk checks the order: a key that is too small is hidden by a greater one before it.
  expect(failures).toBe(0);
});

test('whole walks take the same samples in the kernel as entry by entry, also of entries that are too long for it', async () => {
  const memtable = new Memtable(compareInternalBytes);
  for (let i = 0; i < 600; i++) {
    const entry = new Uint8Array(9 + (i % 100 === 50 ? 20_000 : 100));
    entry.set(new TextEncoder().encode(keyOf(i)));
    // Two versions of each key, the older of which is not visible and is sampled nevertheless.
    for (const sequence of [1n, 2n]) memtable.add(sequence, 1, entry, 0, 9, 9, entry.length);
  }
  const walk = (goesBack: boolean): Promise<string[]> => {
    const sampled: string[] = [];
    const sampler = { period: () => 700, take: (key: Uint8Array) => void sampled.push(String(key)) };
    const cursor = new VisibleCursor(new MergeCursor([new MemtableCursor(memtable)], compareInternalBytes), keyOrderOf(bytewiseComparator), 10n, new DamagePolicy(true), sampler);
    let entries = 0;
    for (goesBack ? cursor.seekToLast() : cursor.seekToFirst(); cursor.valid; goesBack ? cursor.prev() : cursor.next()) entries++;
    cursor.close();
    expect(entries).toBe(600);
    return Promise.resolve(sampled);
  };
  for (const goesBack of [false, true]) {
    const inKernel = await walk(goesBack);
    expect(inKernel.length).toBeGreaterThan(300);
    expect(inKernel).toEqual(await withoutKernel(() => walk(goesBack)));
  }
});

test('a walk that does not fail at damage passes over an entry of an unknown type, in the kernel as entry by entry', async () => {
  const memtable = new Memtable(compareInternalBytes);
  const bytes = new Uint8Array(100);
  for (let i = 0; i < 600; i++) {
    bytes.set(new TextEncoder().encode(keyOf(i)));
    memtable.add(1n, 1, bytes, 0, 9, 9, 100);
    if (i % 100 === 50) memtable.add(2n, 7, bytes, 0, 9, 9, 100);
  }
  const walk = (goesBack: boolean): Promise<string[]> => {
    const cursor = new VisibleCursor(new MergeCursor([new MemtableCursor(memtable)], compareInternalBytes), keyOrderOf(bytewiseComparator), 10n, new DamagePolicy(false));
    const keys: string[] = [];
    for (goesBack ? cursor.seekToLast() : cursor.seekToFirst(); cursor.valid; goesBack ? cursor.prev() : cursor.next()) keys.push(new TextDecoder().decode(cursor.key));
    cursor.close();
    return Promise.resolve(keys);
  };
  for (const goesBack of [false, true]) {
    const inKernel = await walk(goesBack);
    expect(inKernel).toHaveLength(600);
    expect(inKernel).toEqual(await withoutKernel(() => walk(goesBack)));
  }
});

const COUNT = 3000;

/** The files of a database of the keys below `COUNT`, some of them in its log. */
async function files(): Promise<Map<string, Uint8Array>> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  for (let i = 0; i < COUNT; i++) await database.put(keyOf((i * 7) % COUNT), `value ${i}`);
  await database.compactRange();
  for (let i = 0; i < COUNT; i += 10) await database.put(keyOf(i), 'overwritten');
  await database.close();
  return folder.files();
}

/** How many more walks could have a kernel. */
function freeKernels(): number {
  const owner = {};
  const taken: VisibleKernel[] = [];
  for (let kernel = VisibleKernel.take(owner); kernel !== undefined; kernel = VisibleKernel.take(owner)) taken.push(kernel);
  for (const kernel of taken) kernel.giveBack();
  return taken.length;
}

const shown = ({ key, value }: SyncDatabaseCursor | DatabaseCursor): string => `${new TextDecoder().decode(key)}: ${new TextDecoder().decode(value)}`;

test('walks over keys that are too long for the kernel to index come to all entries', async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { blockSize: 2 ** 17, blockRestartInterval: 64 });
  const longKey = (i: number): string => `${'long '.repeat(600)}${String(i).padStart(5, '0')}`;
  const expected: string[] = [];
  // Two tables, whose blocks the kernel has at the same time.
  for (const odd of [0, 1]) {
    for (let i = odd; i < 500; i += 2) await database.put(longKey(i), `${i}`);
    for (let i = odd; i < 500; i += 2) await database.put(keyOf(i), `${i}`);
    await database.flush();
  }
  await database.close();
  for (let i = 0; i < 500; i++) expected.push(keyOf(i));
  for (let i = 0; i < 500; i++) expected.push(longKey(i));
  const reader = SyncDatabaseReader.open(new MemoryFolder(folder.files()));
  const texts = (keys: Iterable<Uint8Array>): string[] => [...keys].map((key) => new TextDecoder().decode(key));
  expect(texts(reader.keys())).toEqual(expected);
  expect(texts(reader.keys({ reverse: true }))).toEqual(expected.reverse());
  reader.close();
});

test.each([
  ['forward', 5000],
  ['backward', 5000],
  ['forward', 3000],
  ['backward', 3000],
])('walks %s end with the same error at a block that is decompressed to more than maxBlockBytes, %i, in the kernel as entry by entry', async (way, maxBlockBytes) => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { blockSize: 1024, filterPolicy: null });
  for (let i = 0; i < 1000; i++) await database.put(keyOf(i), i === 500 ? new Uint8Array(6000) : `value ${i}`);
  await database.compactRange();
  await database.close();
  const reader = SyncDatabaseReader.open(new CopyingFolder(folder.files()), { maxBlockBytes, cache: null });
  const outcomeOf = (walk: () => unknown): unknown => {
    try {
      walk();
      return 'no error';
    } catch (error) {
      return error;
    }
  };
  const walks = (): Promise<unknown> => {
    const keys: string[] = [];
    const iteration = outcomeOf(() => {
      for (const key of reader.keys({ reverse: way === 'backward' })) keys.push(new TextDecoder().decode(key));
    });
    const cursor = reader.cursor();
    if (way === 'forward') cursor.seekToFirst();
    else cursor.seekToLast();
    const nextMany = (): unknown => (way === 'forward' ? cursor.nextMany(1000) : cursor.prevMany(1000));
    const before = nextMany();
    const many = outcomeOf(nextMany);
    cursor.close();
    return Promise.resolve({ keys, iteration, before, many });
  };
  const inKernel = await walks();
  expect(inKernel).toMatchObject({ iteration: { code: 'BLOOM_TOO_LARGE', structure: 'data block' }, many: { code: 'BLOOM_TOO_LARGE' } });
  const byEntries = await withoutKernel(walks);
  expect(inKernel).toEqual(byEntries);
  expect(String((inKernel as { iteration: unknown }).iteration)).toBe(String((byEntries as { iteration: unknown }).iteration));
  reader.close();
});

describe('a kernel', () => {
  test('is taken by long walks alone, and given back at the end, when the walk turns or goes elsewhere, and when it is closed', async () => {
    const reader = SyncDatabaseReader.open(new MemoryFolder(await files()));
    const most = freeKernels();
    const cursor = reader.cursor();
    const walk = (moves: number): void => {
      cursor.seekToFirst();
      for (let i = 0; i < moves; i++) cursor.next();
    };
    walk(10);
    expect(freeKernels()).toBe(most);
    walk(20);
    expect(freeKernels()).toBe(most - 1);
    expect([cursor.prev(), shown(cursor)]).toEqual([true, `${keyOf(19)}: value ${(19 * 2143) % COUNT}`]);
    expect(freeKernels()).toBe(most);
    const walkBack = (moves: number): void => {
      cursor.seekToLast();
      for (let i = 0; i < moves; i++) cursor.prev();
    };
    walkBack(10);
    expect(freeKernels()).toBe(most);
    walkBack(20);
    expect(freeKernels()).toBe(most - 1);
    expect([cursor.next(), shown(cursor)]).toEqual([true, `${keyOf(COUNT - 20)}: overwritten`]);
    expect(freeKernels()).toBe(most);
    for (const there of [walk, walkBack]) {
      for (const elsewhere of [() => cursor.seek(keyOf(7)), () => cursor.seekToLast(), () => walk(COUNT), () => walkBack(COUNT)]) {
        there(20);
        expect(freeKernels()).toBe(most - 1);
        elsewhere();
        expect(freeKernels()).toBe(most);
      }
    }
    walkBack(20);
    cursor.close();
    expect(freeKernels()).toBe(most);
    reader.close();
  });

  test('is not needed: of many walks at the same time some have none, and all come to the same entries', async () => {
    const reader = SyncDatabaseReader.open(new MemoryFolder(await files()));
    const cursors = Array.from({ length: 20 }, () => reader.cursor());
    for (const cursor of cursors) cursor.seekToFirst();
    for (let i = 0; i < COUNT; i++) {
      const all = new Set(cursors.map(shown));
      expect([...all]).toEqual([`${keyOf(i)}: ${i % 10 === 0 ? 'overwritten' : `value ${(i * 2143) % COUNT}`}`]);
      expect(cursors.filter((cursor) => cursor.next() !== i < COUNT - 1)).toEqual([]);
      if (i === 30) expect(freeKernels()).toBe(0);
    }
    for (const cursor of cursors) cursor.close();
    reader.close();
  });

  test('is loaded by the first long walk of a reader that reads later', async () => {
    vi.resetModules();
    const { DatabaseReader } = await import('@bloom/leveldb');
    const { packedWalk } = await import('../src/cursor/load-packed-walk.js');
    const loaded = vi.fn();
    vi.doMock('../src/cursor/packed-walk.js', async (original) => {
      loaded();
      return original();
    });
    const reader = await DatabaseReader.open(new MemoryFolder(await files()));
    expect(loaded).not.toHaveBeenCalled();
    expect(await collect(reader.keys({ limit: 100 }))).toHaveLength(100);
    const begin = (): unknown => {
      const memtable = new Memtable(compareInternalBytes);
      memtable.add(1n, 1, new TextEncoder().encode('key'), 0, 3, 3, 3);
      const merge = new MergeCursor([new MemtableCursor(memtable)], compareInternalBytes);
      merge.seekToFirst();
      return packedWalk()?.forward(undefined, merge, 1n, new Uint8Array(0), 0, undefined);
    };
    await vi.waitFor(() => expect(begin()).toBeDefined());
    expect(loaded).toHaveBeenCalledOnce();
    await reader.close();
    vi.doUnmock('../src/cursor/packed-walk.js');
  });

  test('is used by the first synchronous walk of a database on Node.js, which gives the program no time to load one', async () => {
    vi.resetModules();
    const { Database: NewDatabase } = await import('@bloom/leveldb');
    const { WritableNodeFolder } = await import('@bloom/leveldb/node');
    const { VisibleKernel: NewKernel } = await import('../src/cursor/visible-kernel.js');
    const path = mkdtempSync(join(tmpdir(), 'bloom-walk-'));
    try {
      const database = await NewDatabase.open(new WritableNodeFolder(path));
      for (let i = 0; i < 100; i++) await database.put(keyOf(i), 'value');
      const take = vi.spyOn(NewKernel, 'take');
      expect([...database.keysSync()]).toHaveLength(100);
      expect(take).toHaveBeenCalledOnce();
      await database.close();
    } finally {
      rmSync(path, { recursive: true });
    }
  });

  test('that was given back while a block was being read is left alone when the block is there', () => {
    const memtable = new Memtable(compareInternalBytes);
    for (let i = 0; i < 1000; i++) memtable.add(BigInt(i), 1, new TextEncoder().encode(keyOf(i)), 0, 9, 0, 9);
    /** Reads its blocks later. */
    class LaterEntries extends MemtableCursor {
      override nextBlock(): boolean {
        return false;
      }

      override *settle(): FolderReading<void> {
        yield* othersTurn();
        super.nextBlock();
      }
    }
    const begin = (): PackedWalk => {
      const merge = new MergeCursor([new LaterEntries(memtable)], compareInternalBytes);
      merge.seekToFirst();
      return PackedWalk.forward(new PackedRun(), merge, 1000n, new Uint8Array(0), 0, undefined)!;
    };
    const first = begin();
    expect([first.fill(), first.fill()]).toEqual(['filled', 'unsettled']);
    const settling = first.settle();
    settling.next();
    first.abandon();
    const second = begin();
    expect(second.fill()).toBe('filled');
    expect(settling.next().done).toBe(true);
    expect(second.fill()).toBe('unsettled');
    expect([...second.settle()]).toHaveLength(1);
    expect(second.fill()).toBe('filled');
    second.abandon();
  });

  test('gives the same copies of entries as a walk without it, and those stay as they are', async () => {
    const reader = SyncDatabaseReader.open(new MemoryFolder(await files()));
    const read = async (): Promise<unknown> => {
      const cursor = reader.cursor();
      cursor.seekToFirst();
      const some = cursor.nextMany(700);
      const more = cursor.nextMany(COUNT, { lt: keyOf(2500) });
      const rest = [...reader.entries({ gte: keyOf(2500) })];
      cursor.seekToLast();
      const last = cursor.prevMany(700);
      const before = cursor.prevMany(COUNT, { gte: keyOf(500) });
      const first = [...reader.entries({ lt: keyOf(500), reverse: true })];
      cursor.close();
      return Promise.resolve([some, more, rest, last, before, first]);
    };
    const inKernel = await read();
    expect(inKernel).toEqual(await withoutKernel(read));
    const [some, more, rest, last, before, first] = inKernel as unknown[][];
    const forward = [...some!, ...more!, ...rest!];
    expect(forward).toHaveLength(COUNT);
    expect([...last!, ...before!, ...first!]).toEqual(forward.reverse());
    reader.close();
  });
});

describe('without WebAssembly', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  test('there is no kernel, and walks go entry by entry', async () => {
    const contents = await files();
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    const { SyncDatabaseReader: Reader } = await import('@bloom/leveldb');
    const { VisibleKernel: Kernel } = await import('../src/cursor/visible-kernel.js');
    const reader = Reader.open(new MemoryFolder(contents));
    expect(Kernel.take({})).toBeUndefined();
    expect([...reader.keys()]).toHaveLength(COUNT);
    reader.close();
  });
});
