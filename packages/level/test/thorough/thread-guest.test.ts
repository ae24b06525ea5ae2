import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { BloomLevel } from '@bloom/level';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test, vi } from 'vitest';
import { type ClientMessage, clientChannelName, type FolderMessage, folderChannelName, ThreadChannel } from '../../src/node/thread-channel.js';
import { ThreadGuest } from '../../src/node/thread-guest.js';
import { ThreadHost } from '../../src/node/thread-host.js';
import { webFormats } from '../../src/web-formats.js';
import { SharedDatabase } from '../../src/worker/shared-database.js';

test('a level that is closed while it tries to open the database sends no further messages', async () => {
  const post = vi.spyOn(ThreadChannel.prototype, 'post');
  let posted: number | undefined;
  const database = {
    join: () => {
      guest.fail('the level is closed');
      posted = post.mock.calls.length;
      return Promise.reject(Object.assign(new Error('locked'), { code: 'LEVEL_LOCKED' }));
    },
  };
  const place = { path: 'nowhere', identity: '0:0', options: {}, look: () => 'there' as const, makeDatabase: () => database as unknown as SharedDatabase };
  const guest = new ThreadGuest(place);
  try {
    await expect(guest.call('get', 'a', 'utf8', undefined)).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
    await delay(10);
    // Its channels are closed: posting there would be an unhandled rejection, which ends the thread.
    expect(post.mock.calls.length).toBe(posted);
  } finally {
    post.mockRestore();
  }
});

test('a level that is closed while it opens the database does not fail when that cannot be closed', async () => {
  const database = {
    join: () => {
      guest.fail('the level is closed');
      return Promise.resolve();
    },
    leave: () => Promise.reject(new Error('the folder was lost')),
  };
  const place = { path: 'nowhere', identity: '0:3', options: {}, look: () => 'there' as const, makeDatabase: () => database as unknown as SharedDatabase };
  const guest = new ThreadGuest(place);
  await expect(guest.call('get', 'a', 'utf8', undefined)).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
  // An unhandled rejection would be reported.
  await delay(10);
});

test('calls fail with LEVEL_LOCKED when another process has opened the folder meanwhile, and close does not', async () => {
  const locked = Object.assign(new Error('locked'), { code: 'LEVEL_LOCKED', cause: { heldBy: 'another process' } });
  let attempts = 0;
  const makeDatabase = () => ({ join: () => (attempts++, Promise.reject(locked)) }) as unknown as SharedDatabase;
  const guest = new ThreadGuest({ path: 'nowhere', identity: '0:6', options: {}, look: () => 'there' as const, makeDatabase });
  await expect(guest.call('get', 'a', 'utf8', undefined)).rejects.toBe(locked);
  // The thread that had it open may just have ended at the first.
  expect(attempts).toBe(2);
  const writing = guest.call('put', 'a', '1', false);
  const closing = guest.close();
  await expect(writing).rejects.toBe(locked);
  await closing;
});

test('a level whose folder cannot be looked at fails its calls with the error, and goes on when it can', async () => {
  const identity = '0:9';
  let client = '';
  const folder = new ThreadChannel<FolderMessage>(folderChannelName(identity), (message) => {
    if ('hello' in message) client = message.hello;
  });
  const denied = Object.assign(new Error('EACCES: permission denied, stat'), { code: 'EACCES', syscall: 'stat' });
  let looks = 0;
  let isDenied = true;
  const look = (): 'there' => {
    looks++;
    if (isDenied) throw denied;
    return 'there';
  };
  const memory = new WritableMemoryFolder();
  const makeDatabase = () => new SharedDatabase({ path: 'memory', folder: () => memory, canReopen: () => Promise.resolve(false) }, webFormats, {});
  const guest = new ThreadGuest({ path: 'memory', identity, options: {}, look, makeDatabase }, 50);
  void guest.find(1000);
  await expect.poll(() => client).not.toBe('');
  const owner = new ThreadChannel<ClientMessage>(clientChannelName(client), (message) => {
    if ('requests' in message) owner.post({ from: 'before', answers: message.requests.map(([id]) => [id, 0, undefined]) });
  });
  owner.post({ owner: 'before', flag: new SharedArrayBuffer(4), thread: -1 });
  await guest.call('open', {});
  owner.close();
  const before = new BloomLevel(memory);
  await before.put('a', '1');
  await before.close();
  // Without a pending call too: an unhandled rejection would end the process.
  await expect.poll(() => looks).toBeGreaterThan(1);
  for (let i = 0; i < 2; i++) await expect(guest.call('get', 'a', 'utf8', undefined)).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR', cause: denied });
  isDenied = false;
  expect(await guest.call('get', 'a', 'utf8', undefined)).toBe('1');
  await guest.close();
  folder.close();
});

test('a synchronous call gets the answer of a thread that opened the database meanwhile as soon as it is there', async () => {
  const folder = new ThreadChannel<FolderMessage>(folderChannelName('0:4'), (message) => {
    if ('hello' in message) client = message.hello;
  });
  let client = '';
  const guest = new ThreadGuest({ path: 'nowhere', identity: '0:4', options: {}, look: () => 'there' as const, makeDatabase: () => undefined as never });
  void guest.find(1000);
  await expect.poll(() => client).not.toBe('');
  const owner = new ThreadChannel<ClientMessage>(clientChannelName(client), () => undefined);
  const flags = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)] as const;
  owner.post({ owner: 'before', flag: flags[0], thread: -1 });
  // Answers the first request to the second thread.
  const program = `
    const { workerData: { name, flag }, parentPort } = require('node:worker_threads');
    const channel = new BroadcastChannel(name);
    channel.onmessage = ({ data }) => {
      if (data.to !== 'after') return;
      channel.close();
      const answers = data.requests.map(([id]) => [id, 0, 'value']);
      const again = new BroadcastChannel(name);
      again.postMessage({ from: 'after', answers });
      again.close();
      Atomics.add(new Int32Array(flag), 0, 1);
      Atomics.notify(new Int32Array(flag), 0);
    };
    parentPort.postMessage('ready');`;
  const worker = new Worker(program, { eval: true, workerData: { name: clientChannelName(client), flag: flags[1] } });
  await new Promise((resolve) => worker.once('message', resolve));
  owner.post({ owner: 'after', flag: flags[1], thread: -1 });
  const begun = performance.now();
  expect(guest.getNow('a', 'utf8', undefined)).toBe('value');
  expect(performance.now() - begun).toBeLessThan(4000);
  guest.fail('the test has ended');
  await worker.terminate();
  folder.close();
  owner.close();
});

test('a level without pending calls takes over a silent thread, unless that pings it or is only busy', async () => {
  const identity = '0:8';
  let client = '';
  const folder = new ThreadChannel<FolderMessage>(folderChannelName(identity), (message) => {
    if ('hello' in message) client = message.hello;
  });
  const memory = new WritableMemoryFolder();
  const before = new BloomLevel(memory);
  await before.put('a', '1');
  await before.close();
  let attempts = 0;
  let isLocked = true;
  const makeDatabase = (): SharedDatabase => {
    attempts++;
    if (isLocked) return { join: () => Promise.reject(Object.assign(new Error('locked'), { code: 'LEVEL_LOCKED', cause: { heldBy: 'this process' } })) } as unknown as SharedDatabase;
    return new SharedDatabase({ path: 'memory', folder: () => memory, canReopen: () => Promise.resolve(false) }, webFormats, {});
  };
  const guest = new ThreadGuest({ path: 'memory', identity, options: {}, look: () => 'there' as const, makeDatabase }, 100);
  void guest.find(1000);
  await expect.poll(() => client).not.toBe('');
  const owner = new ThreadChannel<ClientMessage>(clientChannelName(client), (message) => {
    if ('requests' in message) owner.post({ from: 'before', answers: message.requests.map(([id]) => [id, 0, undefined]) });
  });
  owner.post({ owner: 'before', flag: new SharedArrayBuffer(4), thread: -1 });
  await guest.call('open', {});
  const pings = setInterval(() => owner.post({ ping: 'before' }), 20);
  await delay(400);
  expect(attempts).toBe(0);
  clearInterval(pings);
  await expect.poll(() => attempts).toBeGreaterThan(1);
  isLocked = false;
  await expect.poll(() => attempts).toBeGreaterThan(2);
  expect(await guest.call('get', 'a', 'utf8', undefined)).toBe('1');
  const last = attempts;
  await delay(300);
  expect(attempts).toBe(last);
  await guest.close();
  folder.close();
  owner.close();
});

test('a level that waits for the thread that opens the database sends a greeting once per second', async () => {
  const post = vi.spyOn(ThreadChannel.prototype, 'post');
  const place = { path: 'nowhere', identity: '0:1', options: {}, look: () => 'there' as const, makeDatabase: () => undefined as never };
  const guest = new ThreadGuest(place);
  try {
    // Databases of other tests send pings meanwhile.
    const hellos = (): unknown[] => (post.mock.calls as [object][]).flat().filter((message) => 'hello' in message);
    for (let i = 0; i < 10; i++) expect(await guest.find(10)).toBe(undefined);
    expect(hellos()).toEqual([{ hello: expect.any(String) as string }]);
    await delay(1000);
    await guest.find(10);
    expect(hellos().length).toBe(2);
  } finally {
    guest.fail('the test has ended');
    post.mockRestore();
  }
});

test('a synchronous read in the thread that has just opened the database does not fail because the level has not joined it yet', async () => {
  const folder = new WritableMemoryFolder();
  const database = new SharedDatabase({ path: 'memory', folder: () => folder, canReopen: () => Promise.resolve(false) }, webFormats, {});
  const owner = { letGo: () => undefined };
  await database.join(owner, {});
  await database.store.put('a', '1', false);
  new ThreadHost('0:2', database);
  const guest = new ThreadGuest({ path: 'memory', identity: '0:2', options: {}, look: () => 'there' as const, makeDatabase: () => undefined as never });
  try {
    await expect.poll(() => guest.find(10)).toBe('found');
    const opening = guest.call('open', {});
    expect(guest.getNow('a', 'utf8', undefined)).toBe('1');
    expect(guest.propertyNow('leveldb.num-files-at-level0')).toBe('0');
    await opening;
    await guest.close();
  } finally {
    guest.fail('the test has ended');
    await database.leave(owner);
  }
});

test('a synchronous read finds the database that another level of its thread has just opened, with the snapshots that it had', async () => {
  const identity = '0:5';
  const hellos: string[] = [];
  const folder = new ThreadChannel<FolderMessage>(folderChannelName(identity), (message) => {
    if ('hello' in message) hellos.push(message.hello);
  });
  const guest = new ThreadGuest({ path: 'memory', identity, options: {}, look: () => 'there' as const, makeDatabase: () => undefined as never });
  void guest.find(1000);
  await expect.poll(() => hellos.length).toBe(1);
  const results: Record<string, unknown> = { open: undefined, snapshot: 1n };
  const before = new ThreadChannel<ClientMessage>(clientChannelName(hellos[0]!), (message) => {
    if ('requests' in message) before.post({ from: 'before', answers: message.requests.map(([id, call]) => [id, 0, results[call]]) });
  });
  before.post({ owner: 'before', flag: new SharedArrayBuffer(4), thread: -1 });
  await guest.call('open', {});
  await guest.call('snapshot', 1);
  before.close();
  const memory = new WritableMemoryFolder();
  const database = new SharedDatabase({ path: 'memory', folder: () => memory, canReopen: () => Promise.resolve(false) }, webFormats, {});
  const owner = { letGo: () => undefined };
  await database.join(owner, {});
  await database.store.put('a', '1', false);
  await database.leave(owner);
  await database.join(owner, {});
  await database.store.put('a', '2', false);
  new ThreadHost(identity, database);
  const begun = performance.now();
  try {
    // In this turn, the guest receives nothing.
    expect(guest.getNow('a', 'utf8', undefined)).toBe('2');
    expect(guest.getNow('a', 'utf8', 1)).toBe('1');
    expect(guest.propertyNow('leveldb.num-files-at-level0')).toMatch(/^[01]$/);
    expect(performance.now() - begun).toBeLessThan(4000);
    await guest.close();
  } finally {
    guest.fail('the test has ended');
    folder.close();
    await database.leave(owner);
  }
});

test('a synchronous read passes over a database of its thread that could not be opened again', async () => {
  const identity = '0:10';
  const failed = { isOpen: false, onClose: (_closing: Promise<void>): void => undefined };
  new ThreadHost(identity, failed as unknown as SharedDatabase);
  const guest = new ThreadGuest({ path: 'memory', identity, options: {}, look: () => 'there' as const, makeDatabase: () => undefined as never });
  const memory = new WritableMemoryFolder();
  const database = new SharedDatabase({ path: 'memory', folder: () => memory, canReopen: () => Promise.resolve(false) }, webFormats, {});
  const owner = { letGo: () => undefined };
  await database.join(owner, {});
  await database.store.put('a', '1', false);
  new ThreadHost(identity, database);
  try {
    expect(guest.getNow('a', 'utf8', undefined)).toBe('1');
  } finally {
    guest.fail('the test has ended');
    failed.onClose(Promise.resolve());
    await database.leave(owner);
  }
});
