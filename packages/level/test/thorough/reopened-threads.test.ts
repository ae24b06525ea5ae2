// A write fails, and a thread opens its level again: all levels that share the database can write again.
import { mkdtempSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '@bloom/fixtures';
import { BloomLevel } from '@bloom/level';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { deleteProgram, LevelThread, threadProgram } from '../level-threads.js';

const SHARED = { multithreading: true } as const;

let program = '';
let root = '';
let path = '';
let thread: LevelThread;
let level: BloomLevel;

beforeAll(async () => {
  program = await threadProgram();
});
afterAll(() => deleteProgram(program));

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'reopened-threads-'));
  path = join(root, 'database');
  level = new BloomLevel(path, SHARED);
  await level.batch([{ type: 'put', key: 'a', value: '1' }, { type: 'put', key: 'b', value: '1' }]);
  thread = new LevelThread(program);
  await thread.open(path);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await level.close();
  await thread.terminate();
  rmSync(root, { recursive: true });
});

const NO_SPACE = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });

/** Ends writing: the folder cannot make a table. */
async function failToWrite(): Promise<void> {
  const create = vi.spyOn(WritableNodeFolder.prototype, 'create').mockImplementation(() => {
    throw NO_SPACE;
  });
  await expect(level.compactRange('a', 'z')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  create.mockRestore();
  await expect(level.put('c', '1')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  await expect(thread.call('put', 'c', '1')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  expect(await thread.call('get', 'a')).toBe('1');
}

async function mustBothWrite(): Promise<void> {
  await level.put('c', 'level');
  expect(await thread.call('get', 'c')).toBe('level');
  await thread.call('put', 'd', 'thread');
  expect(await level.get('d')).toBe('thread');
  expect(level.getSync('d')).toBe('thread');
  expect(await level.keys().all()).toEqual(['a', 'b', 'c', 'd']);
}

test('when another thread closes and opens its level', async () => {
  const [iterator, snapshot] = [level.iterator(), level.snapshot()];
  await iterator.next();
  const batch = level.batch().put('e', '1');
  await failToWrite();
  await thread.close();
  await thread.open(path);
  await mustBothWrite();
  const lost = { code: 'LEVEL_SNAPSHOT_LOST' };
  await expect(iterator.next()).rejects.toMatchObject(lost);
  await expect(level.get('a', { snapshot })).rejects.toMatchObject(lost);
  await expect(level.keys({ snapshot }).all()).rejects.toMatchObject(lost);
  await expect(batch.write()).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  await iterator.close();
  await snapshot.close();
  await level.close();
  await thread.close();
  const alone = new BloomLevel(path);
  expect(await alone.get('d')).toBe('thread');
  await alone.close();
});

test('when the level of the thread that has the database open is closed and opened', async () => {
  await failToWrite();
  await level.close();
  await level.open();
  await mustBothWrite();
});

test('and calls that are made meanwhile wait for it, and no one else gets the lock', async () => {
  await failToWrite();
  await thread.close();
  const { close } = Database.prototype;
  const other = new BloomLevel(path, SHARED);
  const alone = new BloomLevel(path);
  let isClosed = (): void => undefined;
  const closing = new Promise<void>((resolve) => (isClosed = resolve));
  vi.spyOn(Database.prototype, 'close').mockImplementation(async function (this: Database) {
    await close.call(this);
    isClosed();
    // Longer than others wait before they try to lock the folder.
    await delay(1000);
  });
  const opening = Promise.all([other.open(), thread.open(path)]);
  await closing;
  await expect(alone.open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } });
  // A synchronous call cannot.
  expect(() => level.getSync('a')).toThrow(expect.objectContaining({ code: 'LEVEL_DATABASE_NOT_OPEN', message: expect.stringContaining('opened again') as string }) as Error);
  expect(() => level.getProperty('leveldb.stats')).toThrow(expect.objectContaining({ message: expect.stringContaining('opened again') as string }) as Error);
  const calls = [level.get('a'), level.put('c', 'level'), level.getMany(['a', 'c']), level.keys().all()];
  expect(await Promise.all(calls)).toEqual(['1', undefined, ['1', 'level'], ['a', 'b', 'c']]);
  await opening;
  expect([await other.get('c'), await thread.call('get', 'c')]).toEqual(['level', 'level']);
  vi.restoreAllMocks();
  await other.close();
});

test('but not while the disk has too little space: then all can still read', async () => {
  await failToWrite();
  const statfs = vi.spyOn(files, 'statfs').mockResolvedValue({ bavail: 1000, bsize: 4096 } as never);
  await level.close();
  await level.open();
  expect(statfs).toHaveBeenCalled();
  await expect(level.put('c', '1')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  expect(await level.get('a')).toBe('1');
  expect(await thread.call('get', 'a')).toBe('1');
  statfs.mockRestore();
  await level.close();
  await level.open();
  await mustBothWrite();
});

test('but not where the free space cannot be told', async () => {
  await failToWrite();
  const statfs = vi.spyOn(files, 'statfs').mockRejectedValue(Object.assign(new Error('ENOSYS: function not implemented, statfs'), { code: 'ENOSYS', syscall: 'statfs' }));
  await level.close();
  await level.open();
  expect(statfs).toHaveBeenCalled();
  await expect(level.put('c', '1')).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  expect(await level.get('a')).toBe('1');
});

test('and if the database cannot be opened again, the calls of the others fail until it can', async () => {
  await failToWrite();
  await thread.close();
  const pin = vi.spyOn(WritableNodeFolder.prototype, 'pin').mockImplementation(() => {
    throw NO_SPACE;
  });
  const other = new BloomLevel(path, SHARED);
  await expect(other.open()).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN' });
  await expect(level.get('a')).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code: 'LEVEL_IO_ERROR' } });
  pin.mockRestore();
  await thread.open(path);
  await level.close();
  await level.open();
  await mustBothWrite();
});

describe('while the level of the thread that has the database open is being closed', () => {
  /** A thread whose level, which is open, does not answer for a while: the close waits for it. */
  let busy: LevelThread;
  beforeEach(async () => {
    busy = new LevelThread(program);
    await busy.open(path);
  });
  afterEach(() => busy.terminate());

  const beBusy = (): Promise<void> => busy.run(() => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250));

  async function reopen(one: LevelThread): Promise<void> {
    await one.close();
    await one.open(path);
  }

  async function mustBeClosed(): Promise<void> {
    const alone = new BloomLevel(path);
    expect(await alone.get('d')).toBe('thread');
    await alone.close();
  }

  test('the folder is unlocked when the others are closed too', async () => {
    await failToWrite();
    const waiting = beBusy();
    await Promise.all([level.close(), reopen(thread), waiting]);
    await thread.call('put', 'd', 'thread');
    expect(await busy.call('get', 'd')).toBe('thread');
    await Promise.all([thread.close(), busy.close()]);
    await mustBeClosed();
  });

  test('and by two threads at once', async () => {
    await failToWrite();
    await Promise.all([level.close(), reopen(thread), reopen(busy)]);
    await busy.call('put', 'd', 'thread');
    expect(await thread.call('get', 'd')).toBe('thread');
    await Promise.all([thread.close(), busy.close()]);
    await mustBeClosed();
  });

  test('and has a read pending, which both wait for', async () => {
    await failToWrite();
    const { getAs } = Database.prototype;
    vi.spyOn(Database.prototype, 'getAs').mockImplementationOnce(function (this: Database, ...given) {
      // The keys of callers are copied synchronously.
      const value = getAs.apply(this, given);
      return delay(300).then(() => value);
    });
    const reading = level.get('a');
    await Promise.all([level.close(), reopen(thread)]);
    expect(await reading).toBe('1');
    await thread.call('put', 'd', 'thread');
    await Promise.all([thread.close(), busy.close()]);
    await mustBeClosed();
  });

  test.each([1, 2, 3, 4])('or all levels are closed and opened at random, seed %i', async (seed) => {
    const random = seeded(seed);
    await failToWrite();
    const users = [{ close: () => level.close(), open: () => level.open() }, ...[thread, busy].map((one) => ({ close: () => one.close(), open: () => one.open(path) }))];
    await Promise.all(
      users.map(async ({ close, open }) => {
        for (let i = 0; i < 3; i++) {
          await delay(random.below(20));
          await close();
          await delay(random.below(20));
          await open();
        }
      }),
    );
    await thread.call('put', 'd', 'thread');
    expect([await level.get('d'), await busy.call('get', 'd')]).toEqual(['thread', 'thread']);
    await Promise.all(users.map(({ close }) => close()));
    await mustBeClosed();
  });
});
