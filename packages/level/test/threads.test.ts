// Threads of one process that have a level open with `multithreading: true`: the first opens the database, and the others use it there.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BloomLevel } from '@bloom/level';
import { type Comparator, Database } from '@bloom/leveldb';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type ClientMessage, clientChannelName, type FolderMessage, folderChannelName, ThreadChannel } from '../src/node/thread-channel.js';
import { deleteProgram, LevelThread, threadProgram, type ThreadScope } from './level-threads.js';

const SHARED = { multithreading: true } as const;

let root = '';
let program = '';
let folders = 0;
const threads: LevelThread[] = [];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'level-threads-'));
  program = await threadProgram();
});
afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
});
afterAll(() => {
  rmSync(root, { recursive: true });
  deleteProgram(program);
});

/** Later keys come first. */
const BACKWARD: Comparator = {
  name: 'test.backward',
  compare: (a, b) => Buffer.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

const newPath = (): string => join(root, String(folders++));

function start(): LevelThread {
  const thread = new LevelThread(program);
  threads.push(thread);
  return thread;
}

async function startOpen(path: string, options?: object): Promise<LevelThread> {
  const thread = start();
  await thread.open(path, options);
  return thread;
}

test('two threads see what the other has written', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.put('a', '1');
  const thread = await startOpen(path);
  expect(await thread.call('get', 'a')).toBe('1');
  await thread.call('put', 'b', '2');
  expect(await level.get('b')).toBe('2');
  await thread.call('batch', [{ type: 'del', key: 'a' }, { type: 'put', key: 'c', value: '3' }]);
  expect(await level.iterator().all()).toEqual([['b', '2'], ['c', '3']]);
  await level.close();
});

test('without the option, in either of them, a second thread gets LEVEL_LOCKED', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const refused = { code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_LOCKED' } };
  await expect(start().open(path, {})).rejects.toMatchObject(refused);
  await expect(new BloomLevel(path).open()).rejects.toMatchObject(refused);
  await level.close();
});

test('two levels of one thread share a folder too', async () => {
  const path = newPath();
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
  const path = newPath();
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
  const path = newPath();
  const owner = await startOpen(path);
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

test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]], [[1, 2, 0]]])('threads close their levels in the order %j, and the last one releases the folder', async (order) => {
  const path = newPath();
  const all = [await startOpen(path), await startOpen(path), await startOpen(path)];
  const left = new Set(all);
  for (const index of order) {
    const closing = all[index]!;
    await closing.close();
    left.delete(closing);
    for (const thread of left) {
      await thread.call('put', `${index} was closed`, 'yes');
      expect(await thread.call('get', `${index} was closed`)).toBe('yes');
    }
  }
  const level = new BloomLevel(path);
  expect(await level.keys().all()).toHaveLength(2);
  await level.close();
});

test('a thread continues when the one that had the database open is terminated, with its iterator, its snapshot and the calls under way', async () => {
  const path = newPath();
  const owner = await startOpen(path);
  const other = await startOpen(path);
  await owner.call('batch', Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: String(i).padStart(4, '0'), value: 'x'.repeat(1000) })));
  await other.run(async ({ kept }) => {
    const level = kept.level as BloomLevel;
    kept.snapshot = level.snapshot();
    const iterator = level.iterator();
    kept.iterator = iterator;
    await iterator.next();
  });
  // Set by a thread when the owner is busy, and when the other one has sent its calls.
  const flags = new Int32Array(new SharedArrayBuffer(8));
  void owner.run((_, shared) => {
    Atomics.store(shared, 0, 1);
    for (;;);
  }, flags);
  await expect.poll(() => Atomics.load(flags, 0)).toBe(1);
  const before = other.run(async ({ kept }, shared) => {
    const level = kept.level as BloomLevel;
    // The owner is busy, and hears nothing of these before it is ended.
    const puts = Array.from({ length: 100 }, (_, i) => level.put(`late ${i}`, String(i)));
    Atomics.store(shared, 1, 1);
    await Promise.all(puts);
    return (await level.keys({ gte: 'late' }).all()).length;
  }, flags);
  await expect.poll(() => Atomics.load(flags, 1)).toBe(1);
  await owner.terminate();
  expect(await before).toBe(100);
  const rest = other.run(async ({ kept }) => {
    const level = kept.level as BloomLevel;
    const { iterator, snapshot } = kept as unknown as { iterator: ReturnType<BloomLevel['iterator']>; snapshot: ReturnType<BloomLevel['snapshot']> };
    const entries = await iterator.all();
    const late = await level.get('late 1', { snapshot });
    await iterator.close();
    await snapshot.close();
    return [entries.length, late];
  });
  expect(await rest).toEqual([999, undefined]);
  // Now this thread has the database open itself.
  expect(await other.call('getSync', 'late 99')).toBe('99');
  await other.close();
});

test('a thread that ends itself or fails leaves the database to the next one', async () => {
  const path = newPath();
  for (const end of [() => process.exit(0), () => void setTimeout(() => { throw new Error('uncaught'); })]) {
    const owner = await startOpen(path);
    const other = await startOpen(path);
    await owner.call('put', 'k', String(end));
    owner.run(end).catch(() => undefined);
    await owner.ended;
    expect(await other.call('get', 'k')).toBe(String(end));
    await other.close();
  }
});

test('a level does not keep its thread alive, and the folder is free when the last thread has ended', async () => {
  const path = newPath();
  const owner = await startOpen(path);
  const other = await startOpen(path);
  for (const thread of [owner, other]) {
    // Its port to this thread is all that keeps it alive.
    void thread.run(({ port }) => port.unref());
    await thread.ended;
  }
  const level = new BloomLevel(path);
  await level.open();
  await level.close();
});

test('the thread that has the database open answers when it is no longer busy', async () => {
  const path = newPath();
  const owner = await startOpen(path);
  await owner.call('put', 'a', '1');
  const busy = owner.run(() => {
    const end = Date.now() + 1500;
    while (Date.now() < end);
  });
  const other = await startOpen(path);
  expect(await other.call('get', 'a')).toBe('1');
  await busy;
  expect(await other.call('approximateSize', 'a', 'b')).toBe(0);
});

test('all calls work from another thread', async () => {
  const path = newPath();
  await startOpen(path);
  const thread = start();
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

test('close of the level that has the database open waits for its writes', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const guest = await startOpen(path);
  const put = vi.spyOn(Database.prototype, 'put').mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  let isWritten = false;
  const writing = level.put('a', '1').then(() => (isWritten = true));
  put.mockRestore();
  await level.close();
  expect(isWritten).toBe(true);
  await writing;
  await guest.close();
});

test('a batch from another thread refuses a value that its encoding turns into undefined, and deletes nothing', async () => {
  const path = newPath();
  await startOpen(path);
  const level = new BloomLevel<string, unknown>(path, { ...SHARED, valueEncoding: 'json' });
  await level.put('a', 1);
  for (const write of [() => level.put('a', () => 1), () => level.batch([{ type: 'put', key: 'a', value: () => 1 }]), async () => level.batch().put('a', () => 1).write()]) {
    await expect(write()).rejects.toMatchObject({ name: 'TypeError', message: expect.stringContaining('value must be') as unknown });
  }
  expect(await level.get('a')).toBe(1);
  await level.close();
});

test('an iterator of a database that is open in another thread refuses a signal that is none', async () => {
  const path = newPath();
  await startOpen(path);
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
  const path = newPath();
  const owner = await startOpen(path);
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
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  await expect(start().open(path, { ...SHARED, errorIfExists: true })).rejects.toMatchObject({ cause: { code: 'BLOOM_DATABASE_EXISTS' } });
  await expect(start().open(path, { ...SHARED, lock: 'none' })).rejects.toMatchObject({ cause: { message: expect.stringContaining('multithreading needs the lock') as unknown } });
  await level.close();
});

test('a thread that was terminated does not keep the folder locked when the level that has the database open is closed', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const thread = await startOpen(path);
  await thread.call('put', 'a', '1');
  await thread.terminate();
  await level.close();
  const alone = new BloomLevel(path);
  expect(await alone.get('a')).toBe('1');
  await alone.close();
});

test('the database is not opened again for a thread that found it and asks only after the last level was closed', async () => {
  const path = newPath();
  const level = new BloomLevel(path, { ...SHARED, comparator: BACKWARD });
  await level.open();
  const { dev, ino } = statSync(path);
  let token: string | undefined;
  let answers = 0;
  const folder = new ThreadChannel<FolderMessage>(folderChannelName(`${dev}:${ino}`), () => undefined);
  const late = new ThreadChannel<ClientMessage>(clientChannelName('late'), (message) => {
    if ('owner' in message) token = message.owner;
    else if ('ping' in message) late.post({ pong: message.ping });
    else if ('answers' in message) answers++;
  });
  folder.post({ hello: 'late' });
  await expect.poll(() => token).not.toBe(undefined);
  await level.close();
  late.post({ to: token!, requests: [[1, 'open', { createIfMissing: true }]] });
  await delay(200);
  folder.close();
  late.close();
  expect(answers).toBe(0);
  const alone = new BloomLevel(path, { comparator: BACKWARD });
  await alone.open();
  await alone.close();
});

test('the thread that takes over opens the database with the options of its own level', async () => {
  const path = newPath();
  const owner = start();
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
  const path = newPath();
  await startOpen(path);
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
  const path = newPath();
  const owner = hasTakenOver ? await startOpen(path) : undefined;
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

test('clear and close of a thread do not fail when the one that had the database open has ended and the folder was deleted', async () => {
  const path = newPath();
  const owner = await startOpen(path);
  const levels = [new BloomLevel(path, SHARED), new BloomLevel(path, SHARED)];
  await Promise.all(levels.map((level) => level.put('a', '1')));
  await owner.terminate();
  rmSync(path, { recursive: true });
  const reading = levels[0]!.get('a');
  const clearing = [levels[0]!.clear(), levels[0]!.clear({ gte: 'a' })];
  await expect(reading).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  await Promise.all(clearing);
  await levels[0]!.close();
  // Another folder of its name might mean that it was moved, with all entries.
  mkdirSync(path);
  await expect(levels[1]!.clear()).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  await levels[1]!.close();
  expect(levels.map(({ status }) => status)).toEqual(['closed', 'closed']);
  await levels[1]!.open();
  expect(await levels[1]!.keys().all()).toEqual([]);
  await levels[1]!.close();
});

test('a level does not make a new database when the thread that had it open has ended and its files were deleted', async () => {
  const path = newPath();
  const owner = await startOpen(path);
  const level = new BloomLevel(path, SHARED);
  await level.put('a', '1');
  await owner.terminate();
  for (const name of readdirSync(path)) rmSync(join(path, name));
  await expect(level.get('a')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  await expect(level.put('b', '2')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  expect(readdirSync(path)).toEqual([]);
  await level.clear();
  await level.close();
  await level.open();
  expect(await level.keys().all()).toEqual([]);
  await level.close();
});

test('clear of a shared database removes all entries at once immediately after opening, also for another thread, but not while a snapshot is open', async () => {
  const path = newPath();
  const kinds: string[] = [];
  const level = new BloomLevel(path, { ...SHARED, writeBufferSize: 65_536, onEvent: ({ kind }) => kinds.push(kind) });
  const fill = (): Promise<void> => level.batch(Array.from({ length: 100 }, (_, i) => ({ type: 'put', key: `k${i}`, value: 'x'.repeat(5000) })));
  const clearings = (): number => kinds.splice(0).filter((kind) => kind === 'cleared').length;
  await fill();
  await level.clear();
  expect(clearings()).toBe(1);
  const thread = await startOpen(path);
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

test('a snapshot that a thread takes while another one clears a range has the writes of its thread that wait for it', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.batch(Array.from({ length: 20_000 }, (_, i) => ({ type: 'put', key: `k${String(i).padStart(5, '0')}`, value: 'old' })));
  const thread = await startOpen(path);
  const clearing = level.clear({ gte: 'k' });
  const seen = await thread.run(async ({ kept }) => {
    const its = kept.level as BloomLevel;
    void its.put('k19999', 'new');
    const snapshot = its.snapshot();
    void its.put('k00000', 'later');
    const reads = await Promise.all([its.get('k19999', { snapshot }), its.keys({ snapshot }).all()]);
    await snapshot.close();
    return reads;
  });
  await clearing;
  expect(seen).toEqual(['new', ['k19999']]);
  await level.close();
});

test('an iterator and a snapshot of a thread that is busy while the owner closes its level continue', async () => {
  const path = newPath();
  const level = new BloomLevel(path, SHARED);
  await level.batch(Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: String(i).padStart(4, '0'), value: 'x'.repeat(1000) })));
  const other = await startOpen(path);
  await other.run(async ({ kept }) => {
    const its = kept.level as BloomLevel;
    kept.snapshot = its.snapshot();
    kept.iterator = its.iterator();
    await (kept.iterator as ReturnType<BloomLevel['iterator']>).next();
  });
  await level.put('0999', 'later');
  const rest = other.run(async ({ kept, port }) => {
    port.postMessage('busy');
    for (const end = Date.now() + 1000; Date.now() < end; );
    const { iterator, snapshot } = kept as unknown as { iterator: ReturnType<BloomLevel['iterator']>; snapshot: ReturnType<BloomLevel['snapshot']> };
    const entries = await iterator.all();
    return [entries.length, (await (kept.level as BloomLevel).get('0999', { snapshot }))?.length];
  });
  await new Promise((resolve) => other.worker.once('message', resolve));
  const begun = performance.now();
  await level.close();
  expect(await rest).toEqual([999, 1000]);
  // It waits no longer than the thread is busy.
  expect(performance.now() - begun).toBeLessThan(4000);
  await other.close();
});
