// Threads that share a level and are busy, close it or end while others use it.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BloomLevel } from '@bloom/level';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { expect, test, vi } from 'vitest';
import { type ClientMessage, clientChannelName, type FolderMessage, folderChannelName, ThreadChannel } from '../../src/node/thread-channel.js';
import { BACKWARD, SHARED, ThreadsOfTest } from '../threads-of-test.js';

const threads = new ThreadsOfTest();

test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]], [[1, 2, 0]]])('threads close their levels in the order %j, and the last one releases the folder', async (order) => {
  const path = threads.newPath();
  const all = [await threads.startOpen(path), await threads.startOpen(path), await threads.startOpen(path)];
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
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
  const other = await threads.startOpen(path);
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
  const path = threads.newPath();
  for (const end of [() => process.exit(0), () => void setTimeout(() => { throw new Error('uncaught'); })]) {
    const owner = await threads.startOpen(path);
    const other = await threads.startOpen(path);
    await owner.call('put', 'k', String(end));
    owner.run(end).catch(() => undefined);
    await owner.ended;
    expect(await other.call('get', 'k')).toBe(String(end));
    await other.close();
  }
});

test('a level does not keep its thread alive, and the folder is free when the last thread has ended', async () => {
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
  const other = await threads.startOpen(path);
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
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
  await owner.call('put', 'a', '1');
  const busy = owner.run(() => {
    const end = Date.now() + 1500;
    while (Date.now() < end);
  });
  const other = await threads.startOpen(path);
  expect(await other.call('get', 'a')).toBe('1');
  await busy;
  expect(await other.call('approximateSize', 'a', 'b')).toBe(0);
});

test('close of the level that has the database open waits for its writes', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const guest = await threads.startOpen(path);
  const put = vi.spyOn(Database.prototype, 'put').mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  let isWritten = false;
  const writing = level.put('a', '1').then(() => (isWritten = true));
  put.mockRestore();
  await level.close();
  expect(isWritten).toBe(true);
  await writing;
  await guest.close();
});

test('a thread that was terminated does not keep the folder locked when the level that has the database open is closed', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.open();
  const thread = await threads.startOpen(path);
  await thread.call('put', 'a', '1');
  await thread.terminate();
  await level.close();
  const alone = new BloomLevel(path);
  expect(await alone.get('a')).toBe('1');
  await alone.close();
});

test('the database is not opened again for a thread that found it and asks only after the last level was closed', async () => {
  const path = threads.newPath();
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

test('clear and close of a thread do not fail when the one that had the database open has ended and the folder was deleted', async () => {
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
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
  const path = threads.newPath();
  const owner = await threads.startOpen(path);
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

test('a snapshot that a thread takes while another one clears a range has the writes of its thread that wait for it', async () => {
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.batch(Array.from({ length: 20_000 }, (_, i) => ({ type: 'put', key: `k${String(i).padStart(5, '0')}`, value: 'old' })));
  const thread = await threads.startOpen(path);
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
  const path = threads.newPath();
  const level = new BloomLevel(path, SHARED);
  await level.batch(Array.from({ length: 1000 }, (_, i) => ({ type: 'put', key: String(i).padStart(4, '0'), value: 'x'.repeat(1000) })));
  const other = await threads.startOpen(path);
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

test('two levels of one thread open while a third one of it is closed, which takes longer than they wait for an answer', async () => {
  const path = threads.newPath();
  const closed = new BloomLevel(path, SHARED);
  const lock = WritableNodeFolder.prototype.lock;
  const locking = vi.spyOn(WritableNodeFolder.prototype, 'lock').mockImplementationOnce(async function (this: WritableNodeFolder) {
    const held = await lock.call(this);
    return { release: () => delay(700).then(() => held.release()) };
  });
  try {
    await closed.put('a', '1');
    const closing = closed.close();
    const levels = [new BloomLevel(path, SHARED), new BloomLevel(path, SHARED)];
    await Promise.all(levels.map((level) => level.open()));
    await closing;
    for (const level of levels) expect(await level.get('a')).toBe('1');
    for (const level of levels) await level.close();
  } finally {
    locking.mockRestore();
  }
});

test('a level waits for another one of its thread whose opening takes seconds', async () => {
  const path = threads.newPath();
  const pin = WritableNodeFolder.prototype.pin;
  const pinning = vi.spyOn(WritableNodeFolder.prototype, 'pin').mockImplementationOnce(function (this: WritableNodeFolder) {
    const pinned = pin.call(this);
    const list = pinned.list.bind(pinned);
    pinned.list = () => delay(2500).then(() => list());
    return pinned;
  });
  try {
    const levels = [new BloomLevel(path, SHARED), new BloomLevel(path, SHARED)];
    await Promise.all(levels.map((level) => level.put('a', '1')));
    for (const level of levels) await level.close();
  } finally {
    pinning.mockRestore();
  }
});
