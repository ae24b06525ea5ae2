// Threads of one process that have a level open with `multithreading: true`: the first opens the database, and the others use it there.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BloomLevel } from '@bloom/level';
import type { Comparator } from '@bloom/leveldb';
import { expect, test, vi } from 'vitest';
import { ThreadChannel } from '../src/node/thread-channel.js';
import type { ThreadScope } from './level-threads.js';
import { BACKWARD, SHARED, ThreadsOfTest } from './threads-of-test.js';

const threads = new ThreadsOfTest();

test('two threads see what the other has written', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.put('a', '1');
  const thread = await threads.startOpen(path);
  expect(await thread.call('get', 'a')).toBe('1');
  await thread.call('put', 'b', '2');
  expect(await level.get('b')).toBe('2');
  await thread.call('batch', [{ type: 'del', key: 'a' }, { type: 'put', key: 'c', value: '3' }]);
  expect(await level.iterator().all()).toEqual([['b', '2'], ['c', '3']]);
  await level.close();
});

test('without the option, in either of them, a second thread gets LEVEL_LOCKED', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const refused = { code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_LOCKED' } };
  await expect(threads.start().open(path, {})).rejects.toMatchObject(refused);
  await expect(new BloomLevel(path).open()).rejects.toMatchObject(refused);
  await level.close();
});

test('two levels of one thread share a folder too', async () => {
  const path = threads.newPath();
  const [one, two] = [new BloomLevel(path, SHARED), new BloomLevel(path, SHARED)];
  await Promise.all([one.put('a', '1'), two.put('b', '2')]);
  expect(await one.keys().all()).toEqual(['a', 'b']);
  expect(await two.keys().all()).toEqual(['a', 'b']);
  await one.close();
  expect(await two.get('a')).toBe('1');
  await two.close();
  const alone = new BloomLevel(path);
  expect(await alone.keys().all()).toEqual(['a', 'b']);
  await alone.close();
});

test('a snapshot and an iterator of a second level of a thread do not show what the first level writes next', async () => {
  const path = threads.newPath();
  const one = new BloomLevel(path, SHARED);
  await one.put('a', '1');
  const two = new BloomLevel(path, SHARED);
  await two.open();
  const reading = two.get('a');
  const writing = [two.put('a', '2')];
  const [snapshot, iterator] = [two.snapshot(), two.iterator()];
  writing.push(one.put('a', '3'), one.put('b', '3'));
  expect(await iterator.all()).toEqual([['a', '2']]);
  expect(await two.keys({ snapshot }).all()).toEqual(['a']);
  expect(await reading).toBe('1');
  await Promise.all(writing);
  expect(await two.get('a')).toBe('3');
  await snapshot.close();
  await two.close();
  await one.close();
});

test('a second level of a thread reads synchronously too, at a snapshot as well, and after its thread has taken over the database', async () => {
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
  const levels = [new BloomLevel(path, SHARED), new BloomLevel<string, string>(path, { ...SHARED, valueEncoding: 'buffer' })];
  await Promise.all(levels.map((level) => level.open()));
  await owner.call('put', 'a', '1');
  await owner.terminate();
  // The first that waits for an answer opens the database, and the other is in the same thread then. It finds the database before it makes a
  // snapshot: one that is not answered when the database is opened again would be lost to the write behind it.
  for (const level of levels) expect(await level.get('a', { valueEncoding: 'utf8' })).toBe('1');
  for (const level of levels) {
    const snapshot = level.snapshot();
    await level.put('a', Buffer.from('2'), { valueEncoding: 'buffer' });
    expect([level.getSync('a', { valueEncoding: 'utf8' }), level.getSync('a', { snapshot, valueEncoding: 'utf8' }), level.getSync('absent')]).toEqual(['2', '1', undefined]);
    expect(level.getProperty('leveldb.num-files-at-level0')).toMatch(/^\d+$/);
    await snapshot.close();
    await level.put('a', Buffer.from('1'), { valueEncoding: 'buffer' });
  }
  expect(levels[1]!.getSync('a')).toEqual(Buffer.from('1'));
  await levels[0]!.close();
  expect(levels[1]!.getSync('a', { valueEncoding: 'utf8' })).toBe('1');
  await levels[1]!.close();
});

test('all calls work from another thread', async () => {
  const path = threads.newPath();
  await threads.startOpen(path);
  const thread = threads.start();
  await thread.open(path, { ...SHARED, keyEncoding: 'utf8', valueEncoding: 'json' });
  await thread.call('batch', Array.from({ length: 300 }, (_, i) => ({ type: 'put', key: `k${1000 + i}`, value: { i, text: 'x'.repeat(100) } })));
  expect(await thread.call('getSync', 'k1007')).toMatchObject({ i: 7 });
  expect(await thread.call('getSync', 'absent')).toBe(undefined);
  expect(await thread.call('getMany', ['k1001', 'absent'])).toMatchObject([{ i: 1 }, undefined]);
  expect(await thread.call('has', 'k1299')).toBe(true);
  await thread.call('compactRange', 'k', 'l');
  expect(await thread.call('getProperty', 'leveldb.num-files-at-level0')).toBe('0');
  expect(await thread.call('approximateSize', 'k', 'l')).toBeGreaterThan(0);
  await thread.call('clear', { gte: 'k1100', lt: 'k1200' });
  const result = await thread.run(async ({ kept }) => {
    const level = kept.level as BloomLevel;
    await level.put('k1000', 'old');
    const snapshot = level.snapshot();
    void level.put('k1000', 'new');
    const seen = [await level.get('k1000'), await level.get('k1000', { snapshot }), level.getSync('k1000', { snapshot })];
    await snapshot.close();
    const iterator = level.keys<Buffer>({ keyEncoding: 'buffer', reverse: true });
    iterator.seek(Buffer.from('k1250'));
    const first = await iterator.next();
    await iterator.close();
    const bytes = await level.get('k1000', { valueEncoding: 'view' });
    const sub = level.sublevel<string, Buffer>('sub', { valueEncoding: 'buffer' });
    await sub.put('x', Buffer.from([1, 2, 3]));
    return { seen, keys: (await level.keys({ gte: 'k' }).all()).length, first: String(first), areBuffers: [Buffer.isBuffer(first), Buffer.isBuffer(bytes), Buffer.isBuffer(await sub.get('x'))] };
  });
  expect(result).toEqual({ seen: ['new', 'old', 'old'], keys: 200, first: 'k1250', areBuffers: [true, true, true] });
});

test('a batch from another thread refuses a value that its encoding turns into undefined, and deletes nothing', async () => {
  const path = threads.newPath();
  await threads.startOpen(path);
  const level = new BloomLevel<string, unknown>(path, { ...SHARED, valueEncoding: 'json' });
  await level.put('a', 1);
  for (const write of [() => level.put('a', () => 1), () => level.batch([{ type: 'put', key: 'a', value: () => 1 }]), async () => level.batch().put('a', () => 1).write()]) {
    await expect(write()).rejects.toMatchObject({ name: 'TypeError', message: expect.stringContaining('value must be') as unknown });
  }
  expect(await level.get('a')).toBe(1);
  await level.close();
});

test('an iterator of a database that is open in another thread refuses a signal that is none', async () => {
  const path = threads.newPath();
  await threads.startOpen(path);
  const level = new BloomLevel(path, SHARED);
  await level.put('a', '1');
  for (const signal of [0, '', 'x', {}] as never[]) {
    const iterator = level.keys({ signal });
    await expect(iterator.next()).rejects.toMatchObject({ name: 'TypeError', message: expect.stringContaining('signal must be an AbortSignal, got ') as unknown });
    await iterator.close();
  }
  await level.close();
});

test('a synchronous read sees the write before it, when its thread has taken over the database', async () => {
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
  const level = new BloomLevel(path, SHARED);
  await level.open();
  await owner.terminate();
  await level.put('a', '1');
  const writing = level.put('a', '2');
  expect(level.getSync('a')).toBe('2');
  await writing;
  await level.close();
});

test('a thread does not open a database that exists with errorIfExists, nor one without the lock', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  await expect(threads.start().open(path, { ...SHARED, errorIfExists: true })).rejects.toMatchObject({ cause: { code: 'BLOOM_DATABASE_EXISTS' } });
  await expect(threads.start().open(path, { ...SHARED, lock: 'none' })).rejects.toMatchObject({ cause: { message: expect.stringContaining('multithreading needs the lock') as unknown } });
  await level.close();
});

test('the thread that takes over opens the database with the options of its own level', async () => {
  const path = threads.newPath();
  const owner = threads.start();
  const openBackward = async ({ BloomLevel: Level, kept }: ThreadScope, location: string): Promise<void> => {
    const same = (key: Uint8Array): Uint8Array => key;
    const comparator: Comparator = { name: 'test.backward', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: same, findShortSuccessor: same };
    kept.level = new Level(location, { multithreading: true, comparator });
    await (kept.level as BloomLevel).open();
  };
  await owner.run(openBackward, path);
  const kinds: string[] = [];
  const level = new BloomLevel(path, { ...SHARED, comparator: BACKWARD, onEvent: ({ kind }) => kinds.push(kind) });
  await level.batch([{ type: 'put', key: 'a', value: '1' }, { type: 'put', key: 'b', value: '2' }]);
  expect(kinds).toEqual([]);
  await owner.terminate();
  expect(await level.keys().all()).toEqual(['b', 'a']);
  expect(kinds).toContain('log-replayed');
  await level.close();
});

test('a value that cannot be sent to another thread rejects only its own call', async () => {
  const path = threads.newPath();
  await threads.startOpen(path);
  const level = new BloomLevel<string, unknown>(path, SHARED);
  const raw = { name: 'raw', format: 'view', encode: (value: unknown) => value as Uint8Array, decode: (value: Uint8Array) => value } as const;
  await level.open();
  const unsendable = expect.objectContaining({ name: 'DataCloneError' }) as unknown;
  const calls = [level.put('a', '1'), level.put('b', () => 1, { valueEncoding: raw }), level.put('c', '3'), level.get('a')];
  expect(await Promise.allSettled(calls)).toMatchObject([{ status: 'fulfilled' }, { reason: unsendable }, { status: 'fulfilled' }, { value: '1' }]);
  void level.put('a', '2');
  const refused = level.put('b', () => 1, { valueEncoding: raw });
  expect(level.getSync('a')).toBe('2');
  await expect(refused).rejects.toThrow('could not be cloned');
  expect(await level.keys().all()).toEqual(['a', 'c']);
  await level.close();
});

test.each([[false], [true]])('a shared level is closed even if that fails, and opens anew; after its thread has taken over: %s', async (hasTakenOver) => {
  const path = threads.newPath();
  const owner = hasTakenOver ? await threads.startOpen(path) : undefined;
  const level = new BloomLevel(path, SHARED);
  await level.put('a', '1');
  await owner?.terminate();
  await level.put('a', '2');
  for (const name of readdirSync(path)) if (name.endsWith('.log')) rmSync(join(path, name));
  const close = vi.spyOn(ThreadChannel.prototype, 'close');
  await expect(level.close()).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_CLOSED' });
  await delay(10);
  // Of the host, and two more of a level that has used the database of another thread.
  expect(new Set(close.mock.contexts).size).toBe(hasTakenOver ? 3 : 1);
  close.mockRestore();
  await level.open();
  expect(await level.get('a')).toBe(hasTakenOver ? '1' : undefined);
  await level.close();
});

test('clear of a shared database removes all entries at once immediately after opening, also for another thread, but not while a snapshot is open', async () => {
  const path = threads.newPath();
  const kinds: string[] = [];
  const level = new BloomLevel(path, { ...SHARED, writeBufferSize: 65_536, onEvent: ({ kind }) => kinds.push(kind) });
  const fill = (): Promise<void> => level.batch(Array.from({ length: 100 }, (_, i) => ({ type: 'put', key: `k${i}`, value: 'x'.repeat(5000) })));
  const clearings = (): number => kinds.splice(0).filter((kind) => kind === 'cleared').length;
  await fill();
  await level.clear();
  expect(clearings()).toBe(1);
  const thread = await threads.startOpen(path);
  await fill();
  await thread.call('clear');
  expect(clearings()).toBe(1);
  await fill();
  const snapshot = level.snapshot();
  await thread.call('clear');
  expect(clearings()).toBe(0);
  expect([(await level.keys().all()).length, (await level.keys({ snapshot }).all()).length]).toEqual([0, 100]);
  await snapshot.close();
  await level.close();
});
