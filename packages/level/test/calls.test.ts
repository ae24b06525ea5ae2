// What a call would ignore is refused, and a failed opening is the cause of what fails after it.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { BloomLevel, copyLevel, type LevelOptions } from '@bloom/level';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-level-calls-'));
});
afterEach(() => rmSync(path, { recursive: true }));

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}

function caught(run: () => unknown): unknown {
  try {
    return void run();
  } catch (error) {
    return error;
  }
}

/** Calls as plain JavaScript can make them. */
type Loose = Record<string, (...given: unknown[]) => Promise<unknown>>;

async function levelWith(...keys: string[]): Promise<BloomLevel> {
  const level = new BloomLevel(new WritableMemoryFolder());
  await level.batch(keys.map((key) => ({ type: 'put' as const, key, value: key.toUpperCase() })));
  return level;
}

describe('an option of a level that is nearly one that it has', () => {
  test.each([
    ['readonly', 'readOnly'],
    ['read_only', 'readOnly'],
    ['ReadOnly', 'readOnly'],
    ['redaOnly', 'readOnly'],
    ['create_if_missing', 'createIfMissing'],
    ['createIfMising', 'createIfMissing'],
    ['error_if_exists', 'errorIfExists'],
    ['errorIfExist', 'errorIfExists'],
    ['valueEncodng', 'valueEncoding'],
    ['block_size', 'blockSize'],
    ['blockCache', 'cacheSize'],
    ['fileMustExist', 'createIfMissing'],
    ['locks', 'lock'],
    ['on_event', 'onEvent'],
  ])('is a TypeError: %s', async (given, meant) => {
    const message = `BloomLevel has no option "${given}": did you mean ${meant}?`;
    expect(caught(() => new BloomLevel(path, { [given]: true }))).toEqual(new TypeError(message));
    const level = new BloomLevel(path);
    await level.open();
    await level.close();
    if (meant === 'valueEncoding') return;
    expect(await rejection(level.open({ [given]: true }))).toEqual(new TypeError(message.replace('BloomLevel has', 'BloomLevel.open has')));
    expect(level.status).toBe('closed');
  });

  test.each(['version', 'prefix', 'retry', 'storeEncoding', 'infoLogLevel', 'location', 'custom', 'passive', 'logger', 'name', 'host', 'port', 'key', 'db', 'ttl', 'clock', 'block'])(
    'is not %s, which another package may pass on',
    async (given) => {
      const level = new BloomLevel(new WritableMemoryFolder(), { [given]: false });
      await level.open();
      await level.close();
    },
  );

  test('does not take async in a put for a misspelt sync', async () => {
    const level = new BloomLevel(new WritableMemoryFolder());
    await level.put('a', 'A', { async: true } as never);
    expect(await level.get('a')).toBe('A');
    await level.close();
  });

  test.each<[keyof LevelOptions<string, string>, unknown]>([
    ['readOnly', 'true'],
    ['readOnly', 1],
    ['createIfMissing', 'false'],
    ['createIfMissing', 0],
    ['errorIfExists', 'false'],
    ['multithreading', 'true'],
    ['multithreading', 1],
  ])('has a value of its type: %s is not %j', async (name, value) => {
    const message = `${name} must be a boolean, got ${typeof value}`;
    expect(caught(() => new BloomLevel(path, { [name]: value }))).toEqual(new TypeError(message));
    if (name !== 'readOnly') expect(await rejection(new BloomLevel(new WritableMemoryFolder()).open({ [name]: value }))).toEqual(new TypeError(message));
  });

  const OF_CLASSIC_LEVEL = [
    'createIfMissing',
    'errorIfExists',
    'multithreading',
    'compression',
    'cacheSize',
    'writeBufferSize',
    'blockSize',
    'blockRestartInterval',
    'maxFileSize',
    'maxOpenFiles',
  ] as const;

  test.each([...OF_CLASSIC_LEVEL, 'readOnly'])('is not given if it is null, as in classic-level: %s', async (name) => {
    const level = new BloomLevel(path, { [name]: null });
    await level.put('a', 'A');
    await level.close();
    await level.open({ [name]: null });
    expect(await level.get('a')).toBe('A');
    await level.close();
  });

  test('is not given if it is null, of a level that only reads', async () => {
    const written = new BloomLevel(path);
    await written.put('a', 'A');
    await written.close();
    const level = new BloomLevel(path, { ...Object.fromEntries(OF_CLASSIC_LEVEL.map((name) => [name, null])), readOnly: true });
    expect(await level.get('a')).toBe('A');
    await level.close();
  });

  test('is not given to a write if it is null: sync', async () => {
    const level = new BloomLevel(new WritableMemoryFolder());
    const options = { sync: null } as unknown as { sync?: boolean };
    for (const one of [level, level.sublevel('s') as unknown as BloomLevel]) {
      await one.put('a', 'A', options);
      await one.batch([{ type: 'put', key: 'b', value: 'B' }], options);
      await one.batch().put('c', 'C', options as object).write(options);
      await one.del('b', options);
      expect(await one.getMany(['a', 'b', 'c'])).toEqual(['A', undefined, 'C']);
    }
    await level.close();
  });

  test('is refused by open if it is for the constructor: readOnly', async () => {
    const level = new BloomLevel(new WritableMemoryFolder());
    await level.close();
    expect(await rejection(level.open({ readOnly: true } as never))).toMatchObject({ name: 'TypeError', message: 'readOnly is an option of the constructor of BloomLevel' });
    const options: LevelOptions<string, string> = { createIfMissing: false };
    expect(await rejection(level.open(options))).toMatchObject({ cause: { code: 'BLOOM_DATABASE_MISSING' } });
  });

  test.each<[call: string, given: unknown[], message: string]>([
    ['put', ['a', 'x', { Sync: true }], 'BloomLevel.put has no option "Sync": did you mean sync?'],
    ['put', ['a', 'x', { snyc: true }], 'BloomLevel.put has no option "snyc": did you mean sync?'],
    ['put', ['a', 'x', { valueEncodin: 'json' }], 'BloomLevel.put has no option "valueEncodin": did you mean valueEncoding?'],
    ['del', ['a', { SYNC: true }], 'BloomLevel.del has no option "SYNC": did you mean sync?'],
    ['batch', [[{ type: 'del', key: 'a' }], { synch: true }], 'BloomLevel.batch has no option "synch": did you mean sync?'],
    ['put', ['a', 'x', { sync: 'true' }], 'sync must be a boolean, got string'],
    ['del', ['a', { sync: 1 }], 'sync must be a boolean, got number'],
    ['get', ['a', { value_encoding: 'json' }], 'BloomLevel.get has no option "value_encoding": did you mean valueEncoding?'],
    ['getMany', [['a'], { snapshott: {} }], 'BloomLevel.getMany has no option "snapshott": did you mean snapshot?'],
    ['clear', [{ GTE: 'b' }], 'BloomLevel.clear has no option "GTE": did you mean gte?'],
    ['clear', [{ limt: 1 }], 'BloomLevel.clear has no option "limt": did you mean limit?'],
    ['clear', [{ before: 'b' }], 'BloomLevel.clear has no option "before": did you mean lt?'],
    ['clear', [{ prefix: 'b' }], 'BloomLevel.clear has no option "prefix": use gte and lt, or clear a sublevel'],
    ['clear', [{ start: 'b', end: 'c' }], 'BloomLevel.clear has no option "start": did you mean gte?'],
  ])('is refused by %s', async (call, given, message) => {
    const level = await levelWith('a', 'b');
    const sublevel = level.sublevel('s');
    await sublevel.put('a', '1');
    for (const one of [level, sublevel]) expect(await rejection((one as unknown as Loose)[call]!(...given))).toEqual(new TypeError(message));
    expect(await level.keys().all()).toEqual(['!s!a', 'a', 'b']);
    expect(await level.get('a')).toBe('A');
    await level.close();
  });

  test('is refused by iterators and sublevels', async () => {
    const level = await levelWith('a', 'b');
    expect(caught(() => level.iterator({ Reverse: true } as never))).toEqual(new TypeError('BloomLevel.iterator has no option "Reverse": did you mean reverse?'));
    expect(caught(() => level.keys({ highWaterMarkByte: 1 } as never))).toMatchObject({ name: 'TypeError' });
    expect(caught(() => level.values({ limits: 1 } as never))).toMatchObject({ name: 'TypeError' });
    expect(caught(() => level.sublevel('s', { valueEncodings: 'json' } as never))).toEqual(new TypeError('BloomLevel.sublevel has no option "valueEncodings": did you mean valueEncoding?'));
    // Streams of level-read-stream pass it on.
    expect(await level.keys({ highWaterMark: 5, custom: 1 } as never).all()).toEqual(['a', 'b']);
    await level.close();
  });

  test('is refused by a chained batch', async () => {
    const level = await levelWith('a');
    const batch = level.batch() as unknown as Loose;
    expect(caught(() => batch.del!('a', { keyEncodin: 'hex' }))).toEqual(new TypeError('BloomLevel.batch().del has no option "keyEncodin": did you mean keyEncoding?'));
    expect(caught(() => batch.put!('a', 'b', 'c'))).toEqual(new TypeError('the options of BloomLevel.batch().put must be an object, got string'));
    expect(caught(() => batch.put!('a', 'b', {}, 'c'))).toEqual(new TypeError('BloomLevel.batch().put takes a key, a value and options, got 4 arguments'));
    expect(caught(() => batch.del!('a', ['b']))).toEqual(new TypeError('the options of BloomLevel.batch().del must be an object, got an Array'));
    expect(await rejection(batch.write!({}, () => undefined))).toEqual(new TypeError('BloomLevel.batch().write takes options, got 2 arguments'));
    expect(await rejection((level as unknown as Loose).open!({}, () => undefined))).toEqual(new TypeError('BloomLevel.open takes options, got 2 arguments'));
    expect(caught(() => batch.clear!('a'))).toEqual(new TypeError('BloomLevel.batch().clear takes no arguments, got 1 argument'));
    void batch.del!('a');
    expect(await rejection(batch.write!({ snyc: true }))).toEqual(new TypeError('BloomLevel.batch().write has no option "snyc": did you mean sync?'));
    expect(await rejection(batch.write!({ sync: 'true' }))).toEqual(new TypeError('sync must be a boolean, got string'));
    expect(await level.get('a')).toBe('A');
    await batch.write!({ sync: true });
    expect(await level.get('a')).toBeUndefined();
    await level.close();
  });

  test('is refused by destroy, repair and copyLevel', async () => {
    const level = new BloomLevel(path);
    await level.put('a', 'A');
    await level.close();
    const statics = BloomLevel as unknown as Loose;
    expect(await rejection(statics.destroy!(path, join(path, 'other')))).toEqual(new TypeError('BloomLevel.destroy takes a location, got 2 arguments'));
    expect(await rejection(statics.repair!(path, {}, {}))).toEqual(new TypeError('BloomLevel.repair takes a location and options, got 3 arguments'));
    expect(await rejection(statics.repair!(path, { Comparator: 1 }))).toMatchObject({ name: 'TypeError' });
    expect(await rejection(copyLevel(level, level, { onprogress: () => undefined } as never))).toEqual(new TypeError('copyLevel has no option "onprogress": did you mean onProgress?'));
    await level.open();
    expect(await level.get('a')).toBe('A');
    await level.close();
  });
});

test('destroy and repair take trailing undefined arguments, and those of map', async () => {
  const statics = BloomLevel as unknown as Loose;
  const paths = [join(path, 'a'), join(path, 'b')];
  const create = async (): Promise<void> => {
    for (const location of paths) {
      const level = new BloomLevel(location);
      await level.put('a', 'A');
      await level.close();
    }
  };
  await create();
  await statics.destroy!(paths[0], undefined);
  expect(existsSync(paths[0]!)).toBe(false);
  await create();
  await Promise.all(paths.map(statics.destroy!));
  expect(paths.map((location) => existsSync(location))).toEqual([false, false]);
  await create();
  expect(await statics.repair!(paths[0], undefined, undefined)).toBeDefined();
  expect(await Promise.all(paths.map(statics.repair!))).toHaveLength(2);
});

describe('an argument that a call of a level does not take', () => {
  test.each<[call: string, given: unknown[], message: string]>([
    ['clear', ['a'], 'the options of BloomLevel.clear must be an object, got string'],
    ['clear', ['a', 'b'], 'BloomLevel.clear takes options, got 2 arguments'],
    ['clear', [() => undefined], 'the options of BloomLevel.clear must be an object, got function'],
    ['clear', [['a']], 'the options of BloomLevel.clear must be an object, got an Array'],
    ['clear', [{ gte: undefined }], 'gte of BloomLevel.clear is undefined, so it might delete entries that it was not meant to: leave it out'],
    ['clear', [{ gt: 'a', lt: undefined }], 'lt of BloomLevel.clear is undefined, so it might delete entries that it was not meant to: leave it out'],
    ['clear', [{ gte: () => undefined, keyEncoding: 'json' }], 'gte of BloomLevel.clear is undefined in its encoding, so it might delete entries that it was not meant to: leave it out'],
    ['clear', [{ gt: '"a"', lte: Symbol('b'), keyEncoding: 'json' }], 'lte of BloomLevel.clear is undefined in its encoding, so it might delete entries that it was not meant to: leave it out'],
    ['clear', [Object.create({ lt: 'b' })], 'lt of BloomLevel.clear is inherited and would be ignored, so it might delete entries that it was not meant to: make it an option of the object itself'],
    ['clear', [Object.create({ limit: 1 })], 'limit of BloomLevel.clear is inherited and would be ignored, so it might delete entries that it was not meant to: make it an option of the object itself'],
    ['clear', [new Date()], 'the options of BloomLevel.clear must be an object, got a Date'],
    ['clear', [new AbortController().signal], 'the options of BloomLevel.clear must be an object, got an AbortSignal: pass { signal }'],
    ['clear', [{ limit: null }], 'limit must be a whole number, Infinity or -1, got null'],
    ['clear', [{ limit: '1' }], 'limit must be a whole number, Infinity or -1, got string'],
    ['clear', [{ limit: 1.5 }], 'limit must be a whole number, Infinity or -1, got 1.5'],
    ['clear', [{ limit: NaN }], 'limit must be a whole number, Infinity or -1, got NaN'],
    ['del', ['a', 'b'], 'the options of BloomLevel.del must be an object, got string'],
    ['del', ['a', ['b']], 'the options of BloomLevel.del must be an object, got an Array'],
    ['del', ['a', []], 'the options of BloomLevel.del must be an object, got an Array'],
    ['del', ['a', {}, 'b'], 'BloomLevel.del takes a key and options, got 3 arguments'],
    ['put', ['a', 'x', 'b', 'y'], 'BloomLevel.put takes a key, a value and options, got 4 arguments'],
    ['put', ['a', 'x', new Uint8Array(0)], 'the options of BloomLevel.put must be an object, got a Uint8Array'],
    ['put', ['a', 'x', () => undefined], 'the options of BloomLevel.put must be an object, got function'],
    ['batch', [[{ type: 'del', key: 'a' }], [{ type: 'del', key: 'b' }]], 'the options of BloomLevel.batch must be an object, got an Array'],
    ['batch', [[{ type: 'del', key: 'a' }], {}, []], 'BloomLevel.batch takes operations and options, got 3 arguments'],
  ])('is refused, and changes nothing: %s of %j', async (call, given, message) => {
    const level = await levelWith('a', 'b');
    const sublevel = level.sublevel('s');
    await sublevel.put('a', '1');
    for (const one of [level, sublevel]) {
      const error = await rejection((one as unknown as Loose)[call]!(...given));
      expect(error).toBeInstanceOf(Error);
      expect((error as Error).message).toBe(message);
    }
    // While it is being opened, too.
    expect(await rejection((new BloomLevel(new WritableMemoryFolder()) as unknown as Loose)[call]!(...given))).toMatchObject({ message });
    expect(await level.keys().all()).toEqual(['!s!a', 'a', 'b']);
    expect(await level.get('a')).toBe('A');
    await level.close();
  });

  test('may be undefined or null where options may be left out, as in abstract-level', async () => {
    const level = await levelWith('a', 'b') as unknown as Loose;
    await level.put!('c', 'C', undefined);
    await level.put!('d', 'D', null);
    await level.del!('c', null);
    await level.clear!({ limit: 1, reverse: undefined, snapshot: undefined });
    expect(await (level as unknown as BloomLevel).keys().all()).toEqual(['b', 'd']);
    await level.clear!({ limit: -1 });
    expect(await (level as unknown as BloomLevel).keys().all()).toEqual([]);
    await level.put!('e', 'E');
    await level.clear!(undefined);
    expect(await (level as unknown as BloomLevel).keys().all()).toEqual([]);
    await level.close!();
  });
});

describe('clear of a level', () => {
  test('does not delete what is written while it is under way', async () => {
    const level = await levelWith(...Array.from({ length: 5000 }, (_, i) => `key${String(i).padStart(6, '0')}`));
    const clearing = level.clear({ gte: 'key' });
    const putting = level.put('key004999', 'new');
    await Promise.all([clearing, putting]);
    expect(await level.iterator().all()).toEqual([['key004999', 'new']]);
    await level.close();
  });

  test('fails because it is closed, or could not be opened, before it looks for the encoding of a bound', async () => {
    const level = await levelWith('a');
    const sub = level.sublevel('s');
    const clearings = (): Promise<void>[] => [level, sub].map((one) => one.clear({ gte: 'a', keyEncoding: 'none' }));
    await sub.open();
    for (const clearing of clearings()) await expect(clearing).rejects.toMatchObject({ code: 'LEVEL_ENCODING_NOT_FOUND' });
    await level.close();
    for (const clearing of clearings()) await expect(clearing).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    const opening = level.open({ createIfMissing: false, errorIfExists: true });
    const waiting = clearings();
    await expect(opening).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    for (const clearing of waiting) await expect(clearing).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
  });
});

describe('a level that could not be opened', () => {
  /** Every call of a level or a sublevel that needs the database. */
  const CALLS: readonly (readonly [name: string, call: (level: BloomLevel) => unknown])[] = [
    ['get', (level) => level.get('a')],
    ['get with options', (level) => level.get('a', { valueEncoding: 'json' })],
    ['getMany', (level) => level.getMany(['a'])],
    ['has', (level) => level.has('a')],
    ['hasMany', (level) => level.hasMany(['a'])],
    ['put', (level) => level.put('a', 'b')],
    ['del', (level) => level.del('a')],
    ['batch', (level) => level.batch([{ type: 'del', key: 'a' }])],
    ['clear', (level) => level.clear()],
    ['iterator', async (level) => level.iterator().next()],
    ['keys', async (level) => level.keys().nextv(10)],
    ['values', async (level) => level.values().all()],
    ['a loop over an iterator', async (level) => {
      for await (const entry of level.iterator()) expect(entry).toBeUndefined();
    }],
  ];
  const ROOT_CALLS: typeof CALLS = [
    ['approximateSize', (level) => level.approximateSize('a', 'b')],
    ['compactRange', (level) => level.compactRange('a', 'b')],
    ['refresh', (level) => level.refresh()],
  ];
  /** Calls that are refused at once while the level is being opened. */
  const CALLS_WHEN_OPEN: typeof CALLS = [
    ['getSync', async (level) => Promise.resolve(level.getSync('a'))],
    ['a chained batch', async (level) => level.batch().write()],
    ['snapshot', async (level) => level.snapshot().close()],
    ['passive open', (level) => level.open({ passive: true })],
  ];
  const LOCKED = { code: 'LEVEL_LOCKED', cause: { code: 'BLOOM_LOCKED' } };

  let holder: Database;
  beforeEach(async () => {
    holder = await Database.open(new WritableNodeFolder(path));
  });
  afterEach(() => holder.close());

  test.each([...CALLS, ...ROOT_CALLS])('says why when it is called before that is known: %s', async (_, call) => {
    expect(await rejection(Promise.resolve(call(new BloomLevel(path))))).toMatchObject({ cause: LOCKED });
  });

  test.each([...CALLS, ...ROOT_CALLS, ...CALLS_WHEN_OPEN])('says why when it is called afterwards: %s', async (_, call) => {
    const level = new BloomLevel(path);
    await rejection(level.open());
    expect(await rejection(Promise.resolve(call(level)))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: LOCKED });
    expect(caught(() => level.getProperty('leveldb.stats'))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: LOCKED });
  });

  test.each(CALLS)('says why in its sublevels, and theirs: %s', async (_, call) => {
    const level = new BloomLevel(path);
    const sublevels = [level.sublevel('a'), level.sublevel('a').sublevel('b')] as unknown as BloomLevel[];
    expect(await Promise.all(sublevels.map((sublevel) => rejection(Promise.resolve(call(sublevel)))))).toMatchObject([{ cause: LOCKED }, { cause: LOCKED }]);
    for (const sublevel of sublevels) expect(await rejection(Promise.resolve(call(sublevel)))).toMatchObject({ cause: LOCKED });
  });

  test('says why to open of its sublevels, and theirs', async () => {
    const level = new BloomLevel(path);
    const sublevels = [level.sublevel('a'), level.sublevel('a').sublevel('b')];
    await rejection(level.open());
    for (const sublevel of sublevels) {
      expect(await rejection(sublevel.open())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: LOCKED });
      expect(await rejection(sublevel.open({ passive: true }))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: LOCKED });
    }
  });

  test('says why to an iterator that was begun before that was known', async () => {
    const level = new BloomLevel(path);
    const iterators = [level.iterator(), level.keys(), level.values()];
    await rejection(level.open());
    for (const iterator of iterators) {
      expect(await rejection(iterator.next())).toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN', cause: LOCKED });
      expect(await rejection(iterator.nextv(5))).toMatchObject({ cause: LOCKED });
      expect(await rejection(iterator.all())).toMatchObject({ cause: LOCKED });
    }
  });

  test('reports the reason with readOnly if there is no database', async () => {
    const level = new BloomLevel(new WritableMemoryFolder(), { readOnly: true });
    expect(await rejection(level.get('a'))).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_CORRUPTION' } });
    expect(await rejection(level.refresh())).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_CORRUPTION' } });
  });

  test('says why when a hook of it failed', async () => {
    const level = new BloomLevel(new WritableMemoryFolder());
    level.hooks.postopen.add(() => Promise.reject(new Error('of the hook')));
    const waiting = rejection(level.get('a'));
    await rejection(level.open());
    for (const error of [await waiting, await rejection(level.get('a'))]) expect(error).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { message: 'of the hook' } });
  });

  test('says the reason of the last time, and none once it was open', async () => {
    const level = new BloomLevel(path);
    expect(await rejection(level.get('a'))).toMatchObject({ cause: LOCKED });
    await holder.close();
    expect(await rejection(level.open({ errorIfExists: true }))).toMatchObject({ cause: { code: 'BLOOM_DATABASE_EXISTS' } });
    expect(await rejection(level.get('a'))).toMatchObject({ cause: { code: 'BLOOM_DATABASE_EXISTS' } });
    await level.open();
    await level.put('a', 'A');
    await level.close();
    const error = await rejection(level.get('a'));
    expect(error).toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
    expect((error as Error).cause).toBeUndefined();
  });
});
