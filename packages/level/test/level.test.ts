import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { BloomLevel, LevelError } from '@bloom/level';
import { type Comparator, DatabaseReader, FolderError, MemoryFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

let root = '';
let folders = 0;
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'bloom-level-'))));
afterAll(() => rmSync(root, { recursive: true }));

const newPath = (): string => join(root, String(folders++));
const inMemory = (): BloomLevel => new BloomLevel(new WritableMemoryFolder());
const rejection = (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined, (error: unknown) => error);

/** Deletes the log under an open level, whose `close` then fails. */
function deleteLogs(path: string): void {
  for (const name of readdirSync(path)) if (name.endsWith('.log')) rmSync(join(path, name));
}
const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function withLetters<Level extends BloomLevel>(level: Level): Promise<Level> {
  await level.batch(LETTERS.map((key) => ({ type: 'put', key, value: key.toUpperCase() })));
  return level;
}

/** The name of the one file of a folder that ends so. */
function fileOf(path: string, end: string): string {
  const [name, ...others] = readdirSync(path).filter((file) => file.endsWith(end));
  expect(others).toEqual([]);
  return join(path, name!);
}

describe('a location', () => {
  test.each([undefined, '', 5, null, {}])('is a string or a folder, not %j', (location) => {
    const error = { name: 'TypeError', message: "The first argument 'location' must be a non-empty string" };
    expect(() => new BloomLevel(location as never)).toThrow(expect.objectContaining(error));
  });

  test('is a folder that exists as soon as open was called', async () => {
    const path = newPath();
    const level = new BloomLevel(path);
    const opening = level.open();
    writeFileSync(join(path, 'notes.txt'), 'mine');
    await opening;
    await level.close();
    await BloomLevel.destroy(path);
    expect(readdirSync(path)).toEqual(['notes.txt']);
  });

  test.each([ClassicLevel, BloomLevel])('is relative to the directory that is current when the level is opened: %o', async (Level) => {
    const [here, there] = [newPath(), newPath()];
    const start = process.cwd();
    for (const path of [here, there]) mkdirSync(path);
    try {
      process.chdir(here);
      const level = new Level('words');
      process.chdir(there);
      await level.put('a', 'there');
      expect([readdirSync(here), readdirSync(there)]).toEqual([[], ['words']]);
      await level.close();
      process.chdir(here);
      await level.open();
      expect(await level.get('a')).toBeUndefined();
      await level.put('b', 'here');
      await level.close();
      const readers = Level === BloomLevel ? [new BloomLevel('words', { readOnly: true })] : [];
      process.chdir(there);
      for (const reader of readers) {
        expect(await reader.keys().all()).toEqual(['a']);
        await reader.close();
      }
    } finally {
      process.chdir(start);
    }
  });

  test('is the path that the constructor was given, or the name of the folder', async () => {
    const levels = [new BloomLevel(newPath()), new BloomLevel(new WritableMemoryFolder()), new BloomLevel(Object.assign(new WritableMemoryFolder(), { name: 'memory' }))];
    const locations: string[] = levels.map(({ location }) => location);
    expect(locations).toEqual([join(root, String(folders - 1)), '', 'memory']);
    await Promise.all(levels.map((level) => level.close()));
  });

  test('for which the level has no folder is refused immediately on a host without a file system', async () => {
    const web = (await import('../src/index.js')).BloomLevel;
    const refused = (message: string): unknown => expect.objectContaining({ name: 'LevelError', code: 'LEVEL_NOT_SUPPORTED', message: expect.stringContaining(message) as unknown });
    // As in Jest's jsdom environment, which loads the files for browsers.
    expect(() => new web('database')).toThrow(refused('Load those for Node, with the export condition "node"'));
    vi.stubGlobal('process', undefined);
    try {
      expect(() => new web('database')).toThrow(refused('where there is no file system'));
    } finally {
      vi.unstubAllGlobals();
    }
    const level = await withLetters(new web(new WritableMemoryFolder()));
    expect((await level.get<string, Buffer>('a', { valueEncoding: 'buffer' }))?.toString('base64')).toBe('QQ==');
    expect(await level.keys({ gt: 'b' }).all()).toEqual(['c', 'd', 'e', 'f']);
    await level.close();
  });
});

describe('classic-level', () => {
  test('reads what this package wrote, and vice versa', async () => {
    const path = newPath();
    const entries = Array.from({ length: 500 }, (_, i) => [`key ${String(i).padStart(4, '0')}`, `välue ${i}`] as const);
    const ours = new BloomLevel(path);
    await ours.batch(entries.map(([key, value]) => ({ type: 'put', key, value })));
    await ours.sublevel('sub').put('a', 'b');
    await ours.close();
    const theirs = new ClassicLevel(path);
    expect(await theirs.iterator({ gte: 'key' }).all()).toEqual(entries);
    expect(await theirs.sublevel('sub').get('a')).toBe('b');
    await theirs.clear({ gt: 'key 0400' });
    await theirs.close();
    const again = new BloomLevel(path);
    expect(await again.iterator({ gte: 'key' }).all()).toEqual(entries.slice(0, 401));
    await again.close();
  });

  test('gives the same iterators for every bound, direction, limit and target', async () => {
    const ours = await withLetters(new BloomLevel(newPath()));
    const theirs = new ClassicLevel(newPath());
    await theirs.batch(LETTERS.map((key) => ({ type: 'put', key, value: key.toUpperCase() })));
    const bounds = [{}, { gt: 'b' }, { gte: 'b' }, { gt: 'b', gte: 'a' }, { gt: 'a', gte: 'bb' }, { lt: 'e' }, { lte: 'e' }, { lt: 'd', lte: 'e' }, { lt: 'e', lte: 'cc' }, { gt: 'b', lt: 'e' }, { gte: 'e', lte: 'b' }, { gt: '' }, { lt: '' }, { gte: undefined as never }];
    let compared = 0;
    for (const range of bounds) {
      for (const reverse of [false, true]) {
        for (const limit of [-1, 2]) {
          const options = { ...range, reverse, limit };
          expect(await ours.iterator(options).all(), JSON.stringify(options)).toEqual(await theirs.iterator(options).all());
          for (const target of ['', 'a', 'bb', 'c', 'e', 'z']) {
            const [a, b] = [ours.keys(options), theirs.keys(options)];
            await Promise.all([a.next(), b.next()]);
            a.seek(target);
            b.seek(target);
            expect(await a.all(), JSON.stringify({ ...options, target })).toEqual(await b.all());
            compared++;
          }
        }
      }
    }
    expect(compared).toBe(14 * 2 * 2 * 6);
    await Promise.all([ours.close(), theirs.close()]);
  });

  test('has the same properties and approximate sizes', async () => {
    const levels = [new BloomLevel(newPath(), { compression: false }), new ClassicLevel(newPath(), { compression: false })] as const;
    const facts: unknown[] = [];
    for (const level of levels) {
      const value = 'x'.repeat(10_000);
      for (const key of LETTERS) await level.put(key, value);
      await level.compactRange('a', 'z');
      const sizes = [await level.approximateSize('a', 'c'), await level.approximateSize('a', 'zz'), await level.approximateSize('x', 'z')];
      // The filters, which classic-level writes as well, are behind the last key.
      facts.push([sizes, level.getProperty('leveldb.num-files-at-level2'), level.getProperty('leveldb.nothing'), level.supports.additionalMethods]);
      await level.close();
    }
    expect(facts[0]).toEqual(facts[1]);
    expect((facts[0] as [number[]])[0][1]).toBeGreaterThan(60_000);
  });
});

describe('an error has a code of abstract-level', () => {
  test('when the database is open elsewhere', async () => {
    const path = newPath();
    const level = new BloomLevel(path);
    await level.open();
    const second = new BloomLevel(path, { multithreading: true });
    expect(await rejection(second.open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_LOCKED', cause: { code: 'BLOOM_LOCKED' } } });
    expect(await rejection(BloomLevel.destroy(path))).toMatchObject({ code: 'LEVEL_LOCKED' });
    expect(await rejection(BloomLevel.repair(path))).toMatchObject({ code: 'LEVEL_LOCKED' });
    await level.close();
    await second.open();
    await second.close();
  });

  test.each([false, true])('but none while the level of the same path is being closed, with an open iterator: %j', async (hasIterator) => {
    const path = newPath();
    const first = await withLetters(new BloomLevel(path));
    if (hasIterator) await first.iterator().next();
    const closing = first.close();
    const second = new BloomLevel(path);
    await second.open();
    expect(await second.keys().all()).toEqual(LETTERS);
    await closing;
    await second.close();
  });

  test.each<[string, (level: BloomLevel) => Promise<unknown>]>([
    ['getMany', (level) => level.getMany(LETTERS)],
    ['all', (level) => level.iterator().all()],
    ['all in many reads', (level) => level.iterator({ highWaterMarkBytes: 1 }).all()],
    ['compactRange', (level) => level.compactRange('a', 'z')],
  ])('but none while the level of the same path is being closed and waits for %s', async (_, call) => {
    const path = newPath();
    const first = await withLetters(new BloomLevel(path));
    await first.compactRange('a', 'z');
    await first.close();
    for (const isOpen of [true, false]) {
      const opening = first.open();
      if (isOpen) await opening;
      const pending = call(first);
      const closing = first.close();
      const second = new BloomLevel(path);
      expect(await second.keys().all()).toEqual(LETTERS);
      await Promise.allSettled([pending, closing]);
      await second.close();
    }
  });

  test('but none when the level is opened after a repair was called, which ends first', async () => {
    const path = newPath();
    await (await withLetters(new BloomLevel(path))).close();
    const repairing = BloomLevel.repair(path);
    const level = new BloomLevel(path);
    expect(await level.keys().all()).toEqual(LETTERS);
    expect(await repairing).toMatchObject({ entries: LETTERS.length, lost: [] });
    await level.close();
  });

  test('but none for an opening after destroy, which deletes the entries first', async () => {
    const path = newPath();
    await (await withLetters(new BloomLevel(path))).close();
    const destroying = BloomLevel.destroy(path);
    const level = new BloomLevel(path);
    expect(await level.keys().all()).toEqual([]);
    await destroying;
    await level.close();
  });

  test('when a table is damaged, and a repair keeps the rest', async () => {
    const path = newPath();
    const level = await withLetters(new BloomLevel(path, { compression: false }));
    await level.compactRange('a', 'z');
    await level.close();
    const table = fileOf(path, '.ldb');
    const bytes = readFileSync(table);
    bytes[3]! ^= 1;
    writeFileSync(table, bytes);
    const damaged = new BloomLevel(path);
    const cause = { code: 'BLOOM_BAD_CHECKSUM' };
    expect(await rejection(damaged.get('a'))).toMatchObject({ name: 'LevelError', code: 'LEVEL_CORRUPTION', cause });
    expect(await rejection(damaged.getMany(['a']))).toMatchObject({ code: 'LEVEL_CORRUPTION' });
    expect(await rejection(damaged.has('a'))).toMatchObject({ code: 'LEVEL_CORRUPTION' });
    expect(await rejection(damaged.hasMany(['a']))).toMatchObject({ code: 'LEVEL_CORRUPTION' });
    expect(await rejection(damaged.iterator().next())).toMatchObject({ code: 'LEVEL_CORRUPTION' });
    expect(await rejection(damaged.clear({ gt: 'a' }))).toMatchObject({ code: 'LEVEL_CORRUPTION' });
    expect(() => damaged.getSync('a')).toThrow(expect.objectContaining({ code: 'LEVEL_CORRUPTION', cause: expect.objectContaining(cause) as unknown }));
    await damaged.close();
    const report = await BloomLevel.repair(path);
    expect(report.lost).toHaveLength(1);
    await BloomLevel.destroy(path);
    expect(readdirSync(path)).toEqual(['lost']);
  });

  test('when CURRENT is damaged', async () => {
    const path = newPath();
    await (await withLetters(new BloomLevel(path))).close();
    writeFileSync(join(path, 'CURRENT'), 'MANIFEST');
    expect(await rejection(new BloomLevel(path).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_CORRUPTION' } });
  });

  test('when a folder that is repaired has a block above an inherited limit', async () => {
    const { BloomLevel: WebLevel } = await import('../src/index.js');
    const folder = new WritableMemoryFolder();
    const level = await withLetters(new WebLevel(folder));
    await level.compactRange('a', 'z');
    await level.close();
    const options = Object.create({ maxBlockBytes: 1 }) as { maxBlockBytes: number };
    expect((await WebLevel.repair(folder, Object.assign(options, { worker: {} as never }))).lost).not.toEqual([]);
  });

  test.each([{ options: null }, { options: [] }, { options: new Map() }, { options: 'options' }])('when a folder is repaired with another value: %o', async ({ options }) => {
    const { BloomLevel: WebLevel } = await import('../src/index.js');
    const given = options as object;
    await expect(WebLevel.repair(new WritableMemoryFolder(), given)).rejects.toThrow('the options of Database.repair must be');
  });

  test('when the folder fails', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(await rejection(new BloomLevel(join(file, 'database')).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_IO_ERROR', cause: { code: 'ENOTDIR' } } });
    expect(await rejection(BloomLevel.repair(newPath()))).toMatchObject({ code: 'LEVEL_IO_ERROR', message: expect.stringMatching(/no such file or directory/) as unknown, cause: { code: 'BLOOM_DATABASE_MISSING' } });
    const folder = new WritableMemoryFolder();
    const level = new BloomLevel(folder);
    await level.open();
    vi.spyOn(folder, 'create').mockImplementation(() => {
      throw new FolderError('BLOOM_FOLDER_CHANGED', 'gone');
    });
    expect(await rejection(level.compactRange('a', 'b'))).toMatchObject({ code: 'LEVEL_IO_ERROR', cause: { code: 'BLOOM_WRITING_ENDED' } });
    for (const write of [level.put('a', ''), level.del('a'), level.batch([{ type: 'del', key: 'a' }]), level.batch().del('a').write()]) {
      expect(await rejection(write)).toMatchObject({ code: 'LEVEL_IO_ERROR' });
    }
    await level.close();
  });

  test('when the system reports an error of another realm, as in Jest', async () => {
    const folder = new WritableMemoryFolder();
    vi.spyOn(folder, 'list').mockRejectedValue(runInNewContext(`Object.assign(new Error('no access'), { code: 'EACCES', syscall: 'scandir' })`));
    expect(await rejection(new BloomLevel(folder).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_IO_ERROR', message: 'no access' } });
    expect(await rejection(BloomLevel.destroy(folder))).toMatchObject({ code: 'LEVEL_IO_ERROR', cause: { code: 'EACCES' } });
  });

  test('and a mistake of the caller is a TypeError or a RangeError, as the cause where the database is not opened', async () => {
    expect(await rejection(new BloomLevel(new WritableMemoryFolder(), { blockSize: 'x' as never }).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { name: 'RangeError' } });
    for (const cacheSize of [-1, 0.5, NaN, '1' as never]) {
      const cause = { name: 'RangeError', message: `cacheSize must be a whole number, at least 0, got ${typeof cacheSize === 'number' ? cacheSize : '"1"'}` };
      expect(await rejection(new BloomLevel(new WritableMemoryFolder(), { cacheSize }).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause });
    }
    const level = await withLetters(inMemory());
    for (const method of ['approximateSize', 'compactRange'] as const) {
      const call = level[method].bind(level) as (...args: unknown[]) => Promise<unknown>;
      for (const args of [[], ['a']]) expect(await rejection(call(...args))).toMatchObject({ name: 'TypeError', message: "The arguments 'start' and 'end' are required" });
      // The first and the last key of a level without entries, as programs pass them.
      expect(await rejection(call(undefined, undefined))).toBeUndefined();
      const unknown = { keyEncoding: 'nope' };
      expect(await rejection(call('a', 'b', unknown))).toMatchObject({ code: 'LEVEL_ENCODING_NOT_FOUND' });
      // As in classic-level, a level that is closed has no encodings.
      const closed = inMemory();
      expect(await rejection((closed[method] as (...args: unknown[]) => Promise<unknown>)('a', 'b', unknown))).toMatchObject({ code: 'LEVEL_ENCODING_NOT_FOUND' });
      await closed.close();
      expect(await rejection((closed[method] as (...args: unknown[]) => Promise<unknown>)('a', 'b', unknown))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    }
    expect(() => level.getProperty(5 as never)).toThrow("The first argument 'property' must be a string");
    const other = await withLetters(inMemory());
    const snapshot = other.snapshot();
    expect(await rejection(level.get('a', { snapshot }))).toMatchObject({ name: 'TypeError', message: 'snapshot must be a snapshot of this database' });
    expect(() => level.iterator({ snapshot })).toThrow('snapshot must be a snapshot of this database');
    const noSnapshot = { ref: () => undefined, unref: () => undefined } as never;
    expect(await rejection(level.get('a', { snapshot: noSnapshot }))).toMatchObject({ name: 'TypeError', message: 'snapshot must be a snapshot of this database' });
    expect(await level.get('a', { snapshot: null as never })).toBe('A');
    for (const signal of [0, '', 'x', {}] as never[]) {
      const message = expect.stringMatching(/^signal must be an AbortSignal, got /) as unknown;
      expect(await rejection(level.keys({ signal }).all())).toMatchObject({ name: 'TypeError', message });
    }
    await Promise.all([level.close(), other.close()]);
    for (const call of [() => level.approximateSize('a', 'b'), () => level.compactRange('a', 'b'), () => level.refresh()]) {
      expect(await rejection(call())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', message: expect.stringMatching(/^Database is not open: cannot call \w+\(\)$/) as unknown });
    }
    expect(() => level.getProperty('leveldb.stats')).toThrow(expect.objectContaining({ code: 'LEVEL_DATABASE_NOT_OPEN', message: 'Database is not open' }));
  });
});

test('a level whose log is empty is opened without writing, and classic-level opens it afterwards', async () => {
  const folder = newPath();
  const bytes = (): [string, Buffer][] => readdirSync(folder).sort().map((name) => [name, readFileSync(join(folder, name))]);
  await (await withLetters(new BloomLevel(folder))).close();
  // What the log holds becomes a table.
  const second = new BloomLevel(folder);
  await second.open();
  await second.close();
  const before = bytes();
  for (let i = 0; i < 2; i++) {
    const level = new BloomLevel(folder);
    expect(await level.keys().all()).toEqual(LETTERS);
    await level.close();
    expect(bytes()).toEqual(before);
  }
  const theirs = new ClassicLevel(folder);
  expect(await theirs.keys().all()).toEqual(LETTERS);
  await theirs.close();
  const anew = new BloomLevel(folder, { reuseLogs: false });
  await anew.open();
  await anew.close();
  expect(bytes().map(([name]) => name)).not.toEqual(before.map(([name]) => name));
});

describe('options', () => {
  test('of filters, codecs and orders reach the tables', async () => {
    const reversed: Comparator = { ...(await import('@bloom/leveldb')).bytewiseComparator, name: 'reversed', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: (a) => a, findShortSuccessor: (a) => a };
    const folder = new WritableMemoryFolder();
    const options = { comparator: reversed, filterPolicy: null, compression: false, cacheSize: 0, valueEncoding: 'json' } as const;
    const level = new BloomLevel<string, unknown>(folder, options);
    for (const key of LETTERS) await level.put(key, { key });
    expect(await level.keys({ gt: 'e', lte: 'b' }).all()).toEqual(['d', 'c', 'b']);
    expect(await level.keys({ reverse: true, limit: 2 }).all()).toEqual(['a', 'b']);
    await level.compactRange('f', 'a');
    await level.close();
    expect(await rejection(new BloomLevel(folder).open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'BLOOM_UNKNOWN_COMPARATOR' } });
    const reader = new BloomLevel<string, unknown>(folder, { ...options, readOnly: true });
    expect(await reader.get('c')).toEqual({ key: 'c' });
    await reader.close();
    const raw = await DatabaseReader.open(folder, { comparators: [reversed] });
    expect(raw.filterStatus).toEqual({ state: 'absent' });
    await raw.close();
  });

  test('highWaterMarkBytes limits nextv, and what next reads ahead', async () => {
    const level = await withLetters(inMemory());
    const sizes = async (highWaterMarkBytes: number): Promise<number[]> => {
      const entries = level.iterator({ highWaterMarkBytes });
      const keys = level.keys({ highWaterMarkBytes });
      const found = [(await entries.nextv(10)).length, (await keys.nextv(10)).length];
      const ahead = level.iterator({ highWaterMarkBytes });
      await ahead.next();
      await ahead.next();
      found.push((ahead as unknown as { readonly cached: number }).cached);
      await Promise.all([entries.close(), keys.close(), ahead.close()]);
      return found;
    };
    expect([await sizes(0), await sizes(Infinity), await sizes(2), await sizes(3), await sizes(100)]).toEqual([[1, 1, 0], [1, 1, 0], [2, 3, 1], [2, 4, 1], [6, 6, 4]]);
    expect([await sizes(null as never), await sizes('1' as never), await sizes(-1)]).toEqual([[6, 6, 4], [6, 6, 4], [6, 6, 4]]);
    await level.close();
  });

  test('next reads no further ahead than to the limit, and nothing is ahead at the end', async () => {
    const level = await withLetters(inMemory());
    const aheadAfter = async (options: object, calls: number): Promise<number[]> => {
      const found: number[] = [];
      const [entries, values] = [level.iterator(options), level.values(options)];
      for (const items of [entries, level.keys(options), values]) {
        for (let i = 0; i < calls; i++) await items.next();
        found.push((items as unknown as { readonly cached: number }).cached);
        await items.close();
      }
      return found;
    };
    expect(await aheadAfter({}, 2)).toEqual([4, 4, 4]);
    expect(await aheadAfter({ limit: 2 }, 2)).toEqual([0, 0, 0]);
    expect(await aheadAfter({ limit: 4, reverse: true }, 2)).toEqual([2, 2, 2]);
    expect(await aheadAfter({}, 9)).toEqual([0, 0, 0]);
    expect(await aheadAfter({ gt: 'f' }, 2)).toEqual([0, 0, 0]);
    await level.close();
  });

  test('fillCache: false keeps what an iterator reads out of the cache', async () => {
    const folder = new WritableMemoryFolder();
    const level = await withLetters(new BloomLevel(folder));
    await level.compactRange('a', 'z');
    const used = (): number => Number(level.getProperty('leveldb.approximate-memory-usage'));
    const before = used();
    expect(await level.keys({ fillCache: false }).all()).toEqual(LETTERS);
    expect(await level.iterator({ fillCache: false, limit: 1 }).all()).toEqual([['a', 'A']]);
    expect(used()).toBe(before);
    // Of single keys it is taken, and changes nothing.
    expect([await level.get('a', { fillCache: false }), await level.has('b', { fillCache: false }), level.getSync('z', { fillCache: false })]).toEqual(['A', true, undefined]);
    expect([await level.getMany(['a'], { fillCache: false }), await level.hasMany(['z'], { fillCache: false })]).toEqual([['A'], [false]]);
    expect(await level.values({ limit: 1 }).all()).toEqual(['A']);
    expect(used()).toBeGreaterThan(before);
    await level.close();
  });

  test('sync is passed on', async () => {
    const folder = new WritableMemoryFolder();
    const synced: boolean[] = [];
    const level = new BloomLevel(folder, {
      onEvent(event) {
        if (event.kind === 'write-logged') synced.push(event.isSynced);
      },
    });
    await level.put('a', '1', { sync: true });
    await level.put('a', '1');
    await level.del('a', { sync: true });
    await level.batch([{ type: 'put', key: 'b', value: '2' }], { sync: true });
    await level.batch().put('c', '3').write({ sync: true });
    await level.batch().put('c', '3').write();
    expect(synced).toEqual([true, false, true, true, true, false]);
    await level.close();
  });
});

describe('views', () => {
  const floats = new Float32Array([0, 1.5, -2]).subarray(1);
  const stored = Uint8Array.of(0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0);
  test.each([
    ['a Float32Array', floats],
    ['a DataView', new DataView(floats.buffer, floats.byteOffset, floats.byteLength)],
    ['a Uint8ClampedArray', new Uint8ClampedArray(stored)],
  ])('%s is a key, a value and a bound', async (_, view) => {
    const level = new BloomLevel<ArrayBufferView, ArrayBufferView>(new WritableMemoryFolder(), { keyEncoding: 'view', valueEncoding: 'view' });
    await level.put(view, view);
    expect(await level.get(view)).toEqual(Buffer.from(stored));
    expect(level.getSync(view)).toEqual(Buffer.from(stored));
    expect(await level.getMany([view])).toEqual([Buffer.from(stored)]);
    expect(await level.has(view)).toBe(true);
    expect(await level.keys({ gte: view, lte: view }).all()).toEqual([Buffer.from(stored)]);
    const iterator = level.keys();
    iterator.seek(view);
    expect(await iterator.next()).toEqual(Buffer.from(stored));
    await iterator.close();
    await level.del(view);
    await level.batch([{ type: 'put', key: view, value: view }]);
    await level.batch().put(view, view).write();
    expect(await level.keys({ gt: view }).all()).toEqual([]);
    await level.clear({ gte: view });
    expect(await level.has(view)).toBe(false);
    await level.close();
  });
});

test('views of all lengths have the stored bytes, in memory of their own that can be transferred', async () => {
  const level = inMemory();
  const entries = Array.from({ length: 300 }, (_, i) => ({ type: 'put' as const, key: String(i).padStart(3, '0'), value: Buffer.from(Array.from({ length: i }, (_byte, n) => (i * 7 + n) & 0xff)) }));
  await level.batch(entries, { valueEncoding: 'view' });
  const read = await level.iterator<Uint8Array, Uint8Array>({ keyEncoding: 'view', valueEncoding: 'view' }).all();
  for (const view of read.flat()) expect([Buffer.isBuffer(view), view.byteOffset, view.buffer.byteLength]).toEqual([true, 0, view.length]);
  const [, transferred] = read.splice(150, 1)[0]!;
  structuredClone(transferred, { transfer: [transferred.buffer as ArrayBuffer] });
  expect(transferred).toHaveLength(0);
  expect(read).toEqual(entries.filter((_, i) => i !== 150).map(({ key, value }) => [Buffer.from(key), value]));
  await level.close();
});

describe('text', () => {
  test.each(['', 'a', '\ufeffbom', 'ünï', '😀', '\0', 'x'.repeat(5000)])('%j is the same after a round trip, in every format and on every host', async (text) => {
    const { BloomLevel: WebLevel } = await import('../src/index.js');
    for (const level of [inMemory(), new WebLevel(new WritableMemoryFolder())]) {
      await level.put(text, text);
      expect(await level.get(text)).toBe(text);
      expect(level.getSync(text)).toBe(text);
      const bytes = Buffer.from(text);
      const viewOf = (view: Uint8Array): Uint8Array => (level instanceof WebLevel ? new Uint8Array(view) : Buffer.from(view));
      expect(await level.get(bytes, { keyEncoding: 'buffer', valueEncoding: 'view' })).toStrictEqual(viewOf(bytes));
      expect(await level.iterator().all()).toEqual([[text, text]]);
      const [[key, value] = []] = await level.iterator<Buffer, Uint8Array>({ keyEncoding: 'buffer', valueEncoding: 'view' }).all();
      expect([key?.toString('hex'), value]).toStrictEqual([bytes.toString('hex'), viewOf(bytes)]);
      // Nothing else is in its memory, so that a program can send it to a worker, or take it as numbers.
      expect(value?.buffer.byteLength).toBe(bytes.length);
      await level.close();
    }
  });

  test('is the same on hosts whose utf8Slice takes nothing but Buffers', async () => {
    const prototype = Buffer.prototype as unknown as { utf8Slice: (start: number, end: number) => string };
    const { utf8Slice } = prototype;
    const strict = vi.spyOn(prototype, 'utf8Slice').mockImplementation(function (this: Buffer, start, end) {
      if (!Buffer.isBuffer(this)) throw new TypeError('this must be a Buffer');
      return utf8Slice.call(this, start, end);
    });
    vi.resetModules();
    try {
      const level = new (await import('../src/node.js')).BloomLevel(new WritableMemoryFolder());
      await level.batch([{ type: 'put', key: 'kéy', value: '\ufeffvälue' }, { type: 'put', key: 'm', value: '' }]);
      expect([await level.get('kéy'), await level.iterator().all()]).toEqual(['\ufeffvälue', [['kéy', '\ufeffvälue'], ['m', '']]]);
      await level.close();
    } finally {
      strict.mockRestore();
      vi.resetModules();
    }
  });
});

test('simultaneous reads that wait for files each find their own key, of keys of the same length', async () => {
  const path = newPath();
  const keys = Array.from({ length: 300 }, (_, i) => `key ${i % 7 === 0 ? 'é' : 'e'}${String(i).padStart(3, '0')}`);
  const level = new BloomLevel(path);
  await level.batch(keys.map((key) => ({ type: 'put', key, value: key.toUpperCase().repeat(20) })));
  await level.compactRange('', '~');
  await level.close();
  const reader = new BloomLevel(new NodeFolder(path, { readsAtOnce: false }), { readOnly: true });
  await reader.open();
  const absent = keys.map((key) => `${key}?`);
  const [one, many, has, hasMany] = await Promise.all([
    Promise.all(keys.map((key) => reader.get(key))),
    reader.getMany([...keys, ...absent]),
    Promise.all([...keys, ...absent].map((key) => reader.has(key))),
    reader.hasMany([...keys, ...absent]),
  ]);
  const values = keys.map((key) => key.toUpperCase().repeat(20));
  expect(one).toEqual(values);
  expect(many).toEqual([...values, ...absent.map(() => undefined)]);
  for (const found of [has, hasMany]) expect(found).toEqual([...keys.map(() => true), ...absent.map(() => false)]);
  await reader.close();
});

describe('an iterator', () => {
  test('with a snapshot of another level, made while its level opens, blocks no other call', async () => {
    const other = inMemory();
    await other.open();
    const snapshot = other.snapshot();
    const level = inMemory();
    const sublevel = level.sublevel('s');
    const iterators = [level.iterator({ snapshot }), level.keys({ snapshot }), level.values({ snapshot }), sublevel.iterator({ snapshot })];
    const got = level.get('a');
    for (const iterator of iterators) {
      iterator.seek('a');
      expect(await rejection(iterator.next())).toMatchObject({ name: 'TypeError', message: 'snapshot must be a snapshot of this database' });
      await iterator.close();
    }
    expect(await got).toBeUndefined();
    await Promise.all([level.close(), other.close()]);
  });

  test('ends with its signal where nothing has to be read', async () => {
    const level = await withLetters(inMemory());
    for (const read of ['next', 'all', 'nextv'] as const) {
      const controller = new AbortController();
      const iterator = level.iterator({ signal: controller.signal });
      const reading = rejection(read === 'nextv' ? iterator.nextv(100) : iterator[read]());
      controller.abort();
      expect(await reading).toMatchObject({ name: 'AbortError', code: 'LEVEL_ABORTED' });
      await iterator.close();
    }
    await level.close();
  });

  test('sees the database as it was when it was made, also after a seek', async () => {
    const level = await withLetters(inMemory());
    const iterator = level.keys({ reverse: true });
    await level.clear();
    await level.put('aa', '');
    expect(await iterator.nextv(2)).toEqual(['f', 'e']);
    iterator.seek('bb');
    expect(await iterator.all()).toEqual(['b', 'a']);
    expect(await level.keys().all()).toEqual(['aa']);
    await level.close();
  });
});

test('a sublevel has the name of its class that it has with classic-level', async () => {
  const level = inMemory();
  const classic = new ClassicLevel(newPath());
  expect([level, classic].map((one) => one.sublevel('s').constructor.name)).toEqual(['AbstractSublevel', 'AbstractSublevel']);
  await Promise.all([level.close(), classic.close()]);
});

test('a subclass that changes what iterators return changes keys and values too, as with classic-level', async () => {
  /** With a method that abstract-level calls, which its types do not have. */
  type Extensible = new (path: string) => { _iterator(options: object): object };
  /** Hides entries from 'd' on. */
  const hiding = (base: Extensible): BloomLevel => {
    class Hiding extends base {
      override _iterator(options: object): object {
        return super._iterator({ ...options, lt: 'd' });
      }
    }
    return new Hiding(newPath()) as unknown as BloomLevel;
  };
  for (const level of [BloomLevel, ClassicLevel].map((base) => hiding(base as unknown as Extensible))) {
    await withLetters(level);
    expect(await level.keys().all()).toEqual(['a', 'b', 'c']);
    expect(await level.values({ reverse: true, limit: 2 }).all()).toEqual(['C', 'B']);
    const keys = level.keys();
    keys.seek('c');
    expect(await keys.nextv(5)).toEqual(['c']);
    await level.close();
  }
});

test('clear with a snapshot that was taken during another clear deletes what the snapshot has, and no later writes', async () => {
  for (const [range, left] of [[{ lt: 'c' }, ['a', 'd']], [{}, ['a']]] as const) {
    const level = inMemory();
    await level.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: key })));
    const clearing = level.clear(range);
    const snapshot = level.snapshot();
    await Promise.all([clearing, level.put('a', 'new'), level.clear({ snapshot, limit: 1 })]);
    expect(await level.keys({ snapshot }).all()).toEqual(['a', 'b', 'c', 'd'].filter((key) => 'lt' in range && key >= 'c'));
    expect(await level.keys().all()).toEqual(left);
    await level.close();
  }
});

test('a clear with a snapshot that was taken during another clear does not delete what is written after it', async () => {
  const level = inMemory();
  await level.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: key })));
  const clearing = level.clear({ lt: 'b' });
  const snapshot = level.snapshot();
  await Promise.all([clearing, level.clear({ snapshot }), level.put('c', 'later')]);
  expect(await level.iterator().all()).toEqual([['c', 'later']]);
  await level.close();
});

test('an explicit snapshot is seen until it is closed, and closed with the level', async () => {
  const level = await withLetters(inMemory());
  const snapshot = level.snapshot();
  await level.clear();
  await level.compactRange('a', 'z');
  expect(await level.getMany(['a', 'z'], { snapshot })).toEqual(['A', undefined]);
  expect(await level.hasMany(['a', 'z'], { snapshot })).toEqual([true, false]);
  expect(level.getSync('f', { snapshot })).toBe('F');
  expect(await level.sublevel('s').get('x', { snapshot })).toBeUndefined();
  expect(await level.values({ snapshot, limit: 2 }).all()).toEqual(['A', 'B']);
  // What was written since is not deleted.
  await level.put('g', 'G');
  await level.clear({ snapshot });
  expect(await level.keys().all()).toEqual(['g']);
  await level.close();
  expect(await rejection(snapshot.close())).toBeUndefined();
  const reads = (): Promise<unknown>[] => [level.get('a', { snapshot }), level.clear({ snapshot }), ...[level.iterator({ snapshot }), level.keys({ snapshot }), level.values({ snapshot })].map((items) => items.next())];
  const closed = Array.from({ length: 5 }, () => expect.objectContaining({ code: 'LEVEL_SNAPSHOT_NOT_OPEN' }) as unknown);
  // Also in a level that was opened again.
  await level.open();
  expect(await Promise.all(reads().map(rejection))).toEqual(closed);
  await level.close();
});

test('clear deletes what is in the range, of many entries and in either direction', async () => {
  const level = inMemory();
  const key = (i: number): string => `key ${String(i).padStart(5, '0')}`;
  await level.batch(Array.from({ length: 20_000 }, (_, i) => ({ type: 'put', key: key(i), value: '' })));
  await level.clear({ lt: key(5000), limit: 1000, reverse: true });
  expect(await level.keys({ gte: key(3998), lt: key(5002) }).all()).toEqual([3998, 3999, 5000, 5001].map(key));
  await level.clear({ gte: key(1), lt: key(19_999) });
  expect(await level.keys().all()).toEqual([key(0), key(19_999)]);
  await level.close();
});

describe('close', () => {
  test('waits for the reads that are under way', async () => {
    const path = newPath();
    const level = await withLetters(new BloomLevel(path));
    await level.compactRange('a', 'z');
    await level.close();
    await level.open();
    const reads = Promise.all([level.get('a'), level.getMany(['b']), level.has('c'), level.hasMany(['d']), level.put('g', 'G')]);
    await level.close();
    expect(await reads).toEqual(['A', ['B'], true, [true], undefined]);
    expect(await rejection(level.get('a'))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
  });

  test('can be repeated when the log was lost, and then the level opens anew', async () => {
    const path = newPath();
    const level = await withLetters(new BloomLevel(path));
    deleteLogs(path);
    expect(await rejection(level.close())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_CLOSED', cause: { code: 'LEVEL_IO_ERROR' } });
    expect(await rejection(level.get('a'))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    await level.close();
    await level.open();
    expect(await level.get('a')).toBeUndefined();
    await level.close();
  });
});

test.each(['after', 'during'])('open %s a close that fails opens the level anew', async (when) => {
  const path = newPath();
  const level = await withLetters(new BloomLevel(path));
  deleteLogs(path);
  const closing = rejection(level.close());
  if (when === 'after') await closing;
  await level.open();
  expect(await closing).toMatchObject({ code: 'LEVEL_DATABASE_NOT_CLOSED' });
  expect(await level.get('a')).toBeUndefined();
  await level.put('a', 'new');
  await level.open();
  expect(await level.get('a')).toBe('new');
  await level.close();
});

describe('readOnly', () => {
  test('opens while another level writes, and shows its writes after refresh', async () => {
    const path = newPath();
    const writer = await withLetters(new BloomLevel(path));
    const reader = new BloomLevel(path, { readOnly: true });
    expect(await reader.keys().all()).toEqual(LETTERS);
    const before = readdirSync(path);
    await writer.put('g', 'G');
    const iterator = reader.keys();
    expect([await reader.get('g'), await reader.refresh(), await reader.get('g'), await reader.refresh()]).toEqual([undefined, true, 'G', false]);
    expect(await iterator.all()).toEqual(LETTERS);
    expect(await reader.sublevel('s').keys().all()).toEqual([]);
    await reader.close();
    expect(readdirSync(path)).toEqual(before);
    await writer.close();
  });

  test('takes folders that cannot be written to', async () => {
    const files = new WritableMemoryFolder();
    await (await withLetters(new BloomLevel(files))).close();
    for (const folder of [new MemoryFolder(files.files()), files]) {
      const level = new BloomLevel(folder, { readOnly: true });
      expect(await level.getMany(['a', 'x'])).toEqual(['A', undefined]);
      await level.close();
    }
    const missing = new BloomLevel(new NodeFolder(newPath()), { readOnly: true });
    expect(await rejection(missing.open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    expect(await rejection(new BloomLevel(files, { readOnly: true, errorIfExists: true }).open())).toMatchObject({ cause: { name: 'TypeError' } });
  });

  test('refuses what writes, and what it does not have', async () => {
    const folder = new WritableMemoryFolder();
    await (await withLetters(new BloomLevel(folder))).close();
    const before = folder.files();
    const level = new BloomLevel(folder, { readOnly: true });
    await level.open();
    expect(level.supports).toMatchObject({ getSync: false, explicitSnapshots: false, additionalMethods: { refresh: true } });
    const writes = [() => level.put('a', ''), () => level.del('a'), () => level.batch([{ type: 'del', key: 'a' }]), () => level.clear()];
    for (const write of writes) expect(await rejection(write())).toMatchObject({ code: 'LEVEL_READONLY' });
    expect(() => level.batch()).toThrow(expect.objectContaining({ code: 'LEVEL_READONLY' }));
    const others = [() => level.getSync('a'), () => level.snapshot(), () => level.getProperty('leveldb.stats')];
    for (const other of others) expect(other).toThrow(expect.objectContaining({ code: 'LEVEL_NOT_SUPPORTED' }));
    for (const other of [level.compactRange('a', 'b'), level.approximateSize('a', 'b')]) expect(await rejection(other)).toMatchObject({ code: 'LEVEL_NOT_SUPPORTED' });
    await level.close();
    expect(folder.files()).toEqual(before);
    const writer = inMemory();
    const error = await rejection(writer.refresh());
    expect(error).toBeInstanceOf(LevelError);
    expect(error).toMatchObject({ code: 'LEVEL_NOT_SUPPORTED' });
    await writer.close();
  });
});

test('a level keeps the codec that the tables of its database have, unless its options name a compression', async () => {
  const codec = {
    type: 4,
    name: 'deflate',
    compress: (contents: Uint8Array) => new Uint8Array(deflateRawSync(contents)),
    decompress: (compressed: Uint8Array, maxOutputLength: number) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength })),
  };
  /** Whether a level that merges all tables leaves some which need the codec. */
  const keepsCodec = async (options: object): Promise<boolean> => {
    const folder = new WritableMemoryFolder();
    const value = 'value '.repeat(100);
    const first = new BloomLevel(folder, { compression: codec });
    for (const key of LETTERS) await first.put(key, value);
    await first.compactRange('a', 'z');
    await first.close();
    const level = new BloomLevel(folder, { codecs: [codec], ...options });
    for (const key of LETTERS) await level.put(key, `${value}again`);
    await level.compactRange('a', 'z');
    await level.close();
    const error = await rejection(new BloomLevel(folder).open());
    if (error !== undefined) expect(error).toMatchObject({ cause: { code: 'BLOOM_UNSUPPORTED_CODEC' } });
    return error !== undefined;
  };
  expect(await keepsCodec({})).toBe(true);
  expect(await keepsCodec({ compression: true })).toBe(false);
  expect(await keepsCodec({ compression: false })).toBe(false);
});

test('a sublevel of an open level is open after as many promises as in classic-level', async () => {
  const counts: number[] = [];
  for (const level of [new ClassicLevel(newPath()), new BloomLevel(newPath())]) {
    await level.open();
    const sublevel = level.sublevel('inner');
    let promises = 0;
    for (; sublevel.status !== 'open' && promises < 100; promises++) await Promise.resolve();
    counts.push(promises);
    // A chained batch throws before that.
    await sublevel.batch().put('a', '1').write();
    await level.close();
  }
  expect(counts[1]).toBe(counts[0]);
});
