// What the collection of garbage leaves alone.
import promises, { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble, collectGarbage, MemoryStore, partName, publish, readManifest, readPublication, type Store, type StoredObject, verifyPublished } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { type R2BucketLike, R2Store } from '@bloom/bulk/r2';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { sha256Hex } from '../src/part/sha256.js';
import { FakeS3 } from './fake-s3.js';
import { collected, deliver, entriesOf, partsOf, range, utf8 } from './model.js';

const HOUR = 3_600_000;

test('a part that a job makes again while garbage is collected stays', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('garbage', () => now);
  const [lost] = await partsOf(store, entriesOf([5]), 2n);
  await deliver(store, entriesOf(range(0, 100)), 1n);
  now = Date.now();
  const get = store.get.bind(store);
  let isMade = false;
  store.get = async (name) => {
    const found = await get(name);
    if (!isMade && name !== 'CURRENT') {
      isMade = true;
      expect(await partsOf(store, entriesOf([5]), 2n)).toEqual([lost]);
    }
    return found;
  };
  expect(await collectGarbage(store, { nowMs: now })).toMatchObject({ deleted: [], freedBytes: 0 });
  await publish(store, await assemble(store, [lost!], { previous: await readPublication(store) }));
  expect(await verifyPublished(store)).toMatchObject({ findings: [] });
  expect(store.files().has(partName(lost!.number))).toBe(true);
});

test('of publications that were replaced in the same second, all stay where one of them does', async () => {
  const store = new MemoryStore('garbage', () => 0);
  for (let day = 1; day <= 5; day++) await deliver(store, entriesOf([day]), BigInt(day));
  expect((await collectGarbage(store, { keep: 1, graceMs: 0 })).manifests).toHaveLength(5);
  expect((await collectGarbage(store, { keep: 0, graceMs: 0 })).manifests).toHaveLength(1);
});

test('an object whose time the store does not know stays, and a time that is none is refused', async () => {
  const store = new MemoryStore('garbage', () => NaN);
  await partsOf(store, entriesOf([5]), 2n);
  await deliver(store, entriesOf(range(0, 100)), 1n);
  expect(await collectGarbage(store, { keep: 0, graceMs: 0 })).toMatchObject({ deleted: [] });
  for (const nowMs of [NaN, Infinity, '2026']) await expect(collectGarbage(store, { nowMs: nowMs as number })).rejects.toThrow('nowMs must be');
});

describe('a part that a job writes again between the last look at it and its deletion', () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  /** A store, and a call that makes everything in it old. */
  interface Aged {
    readonly store: Store;
    age(): unknown;
  }

  const makers: Record<string, () => Promise<Aged>> = {
    memory: async () => {
      let now = Date.now() - 100 * HOUR;
      return { store: new MemoryStore('garbage', () => now), age: () => (now = Date.now()) };
    },
    'a folder': async () => {
      const path = await mkdtemp(join(tmpdir(), 'bloom-garbage-'));
      cleanups.push(() => rm(path, { recursive: true }));
      const old = (Date.now() - 100 * HOUR) / 1000;
      return { store: new FolderStore(path), age: async () => Promise.all((await readdir(path)).map((name) => utimes(join(path, name), old, old))) };
    },
    'S3 with an ETag for each write': async () => {
      const server = await FakeS3.start();
      cleanups.push(() => server.close());
      let now = Date.now() - 100 * HOUR;
      server.clock = () => now;
      server.hasUniqueEtags = true;
      return { store: server.store(), age: () => (now = Date.now()) };
    },
  };

  test.each(Object.entries(makers))('stays in %s', async (_, make) => {
    const { store, age } = await make();
    const [lost] = await partsOf(store, entriesOf([5]), 2n);
    await deliver(store, entriesOf(range(0, 100)), 1n);
    await age();
    const name = partName(lost!.number);
    const remove = store.delete.bind(store);
    store.delete = async (...given) => {
      if (given[0] === name) expect(await partsOf(store, entriesOf([5]), 2n)).toEqual([lost]);
      return remove(...given);
    };
    expect((await collectGarbage(store)).deleted).not.toContain(name);
    await publish(store, await assemble(store, [lost!], { previous: await readPublication(store) }));
    expect(await verifyPublished(store)).toMatchObject({ findings: [] });
    for await (const object of store.list()) expect(object.name).not.toContain('.tmp');
  });

  test('stays in S3 with the same ETag if the first request to delete it failed', async () => {
    const server = await FakeS3.start();
    cleanups.push(() => server.close());
    let now = Date.now() - 100 * HOUR;
    server.clock = () => now;
    const store = server.store();
    const [lost] = await partsOf(store, entriesOf([5]), 2n);
    await deliver(store, entriesOf(range(0, 100)), 1n);
    now = Date.now();
    const name = partName(lost!.number);
    let failures = 0;
    server.fault = (request) => {
      if (request !== `DELETE ${name}` || failures++ > 0) return undefined;
      server.objects.set(`words/${name}`, { ...server.objects.get(`words/${name}`)!, modified: new Date(now) });
      return { kind: 'status', status: 503 };
    };
    expect(await collectGarbage(store)).toMatchObject({ deleted: [] });
    expect(server.bytes(name)).toHaveLength(lost!.byteLength);
    expect(failures).toBe(1);
  });

  test.each([400, 501] as const)('stays in S3 that refuses to compare in a deletion, with status %i; other objects are deleted without a condition', async (status) => {
    const server = await FakeS3.start();
    cleanups.push(() => server.close());
    server.conditionalDeleteStatus = status;
    const store = server.store();
    const names = ['000001.ldb', '000002.ldb', '000003.ldb'];
    for (const name of names) await store.put({ name, bytes: utf8(name), sha256: await sha256Hex(utf8(name)) });
    const [renewed, other, last] = await Promise.all(names.map(async (name) => (await store.head(name))!));
    server.fault = (request) => {
      const object = server.objects.get('words/000001.ldb')!;
      if (request === 'DELETE 000001.ldb') server.objects.set('words/000001.ldb', { ...object, modified: new Date(Date.now() + HOUR) });
      return undefined;
    };
    server.requests = [];
    expect(await store.delete('000001.ldb', renewed)).toBe(false);
    expect(server.requests).toEqual(['DELETE 000001.ldb', 'HEAD 000001.ldb']);
    expect(server.bytes('000001.ldb')).toBeDefined();
    const another = server.store();
    server.requests = [];
    expect(await another.delete('000002.ldb', other)).toBe(true);
    expect(await another.delete('000003.ldb', last)).toBe(true);
    expect(server.requests).toEqual(['DELETE 000002.ldb', 'HEAD 000002.ldb', 'DELETE 000002.ldb', 'DELETE 000003.ldb']);
    expect([...server.objects.keys()]).toEqual(['words/000001.ldb']);
  });

  test('stays in R2 if the first call to delete it failed', async () => {
    const object = { key: '000001.ldb', size: 1, etag: 'a', httpEtag: '"a"', uploaded: new Date(0) };
    let found: typeof object | null = object;
    let calls = 0;
    const remove = async (): Promise<void> => {
      if (calls++ === 0) throw new Error('busy');
    };
    const store = new R2Store({ get: remove, put: remove, list: remove, head: async () => found, delete: remove } as unknown as R2BucketLike);
    const seen = (await store.head('000001.ldb'))!;
    found = { ...object, uploaded: new Date(1) };
    expect(await store.delete('000001.ldb', seen)).toBe(false);
    calls = 0;
    found = object;
    expect(await store.delete('000001.ldb', seen)).toBe(true);
    calls = 0;
    found = null;
    expect(await store.delete('000001.ldb', seen)).toBe(true);
  });
});

test('the parts of an old publication that is published again while garbage is collected stay', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('garbage', () => now);
  const first = await deliver(store, entriesOf(range(0, 100)), 1n);
  await publish(store, await assemble(store, await partsOf(store, entriesOf([5]), 2n)), { ifMatch: (await readPublication(store))!.etag });
  now = Date.now();
  const head = store.head.bind(store);
  let isBack = false;
  store.head = async (name) => {
    if (!isBack) {
      isBack = true;
      const old = { ...(await readManifest(store, first.manifest)), previous: undefined, level: 6 };
      await publish(store, old, { ifMatch: (await readPublication(store))!.etag });
    }
    return head(name);
  };
  await collectGarbage(store, { keep: 0 });
  expect((await readPublication(store))!.manifest).toBe(first.manifest);
  expect(await verifyPublished(store)).toMatchObject({ findings: [] });
});

test('ages are measured by the store’s clock, whatever that of this machine is', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('behind', () => now);
  const [lost] = await partsOf(store, entriesOf([5]), 2n);
  await deliver(store, entriesOf(range(0, 100)), 1n);
  now += HOUR / 2;
  expect(await collectGarbage(store)).toMatchObject({ deleted: [] });
  await partsOf(store, entriesOf([5]), 2n);
  now += HOUR / 2;
  const name = partName(lost!.number);
  expect((await store.head(name))!.modifiedMs).toBe(now - HOUR);
  await partsOf(store, entriesOf([5]), 2n);
  expect((await store.head(name))!.modifiedMs).toBe(now);

  const server = await FakeS3.start();
  try {
    server.clock = () => now;
    const bucket = server.store();
    await deliver(bucket, entriesOf(range(0, 100)), 1n);
    await partsOf(bucket, entriesOf([5]), 2n);
    expect(await collectGarbage(bucket)).toMatchObject({ deleted: [] });
  } finally {
    server.close();
  }
});

describe('a folder whose garbage is collected', () => {
  async function newFolder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'bloom-garbage-'));
    onTestFinished(() => rm(path, { recursive: true }));
    return path;
  }

  /** Replaces the `stat` of the system until the test is over. */
  function replaceStat(replacement: typeof promises.stat): void {
    const { stat } = promises;
    onTestFinished(() => {
      promises.stat = stat;
      syncBuiltinESMExports();
    });
    promises.stat = replacement;
    syncBuiltinESMExports();
  }

  test('has a part again that was written again while it was being deleted, if the collecting process was killed', async () => {
    const path = await newFolder();
    const store = new FolderStore(path);
    const [lost] = await partsOf(store, entriesOf([5]), 2n);
    await deliver(store, entriesOf(range(0, 100)), 1n);
    const name = partName(lost!.number);
    const seen: StoredObject = { ...(await store.head(name))!, modifiedMs: 0 };
    const { stat } = promises;
    let isKilled = false;
    // The deletion never continues after it has renamed the part.
    const isStopped = new Promise<void>((resolve) => {
      replaceStat(((...given: Parameters<typeof stat>) => {
        if (isKilled || !String(given[0]).includes(`.${name}.`)) return stat(...given);
        isKilled = true;
        resolve();
        return new Promise(() => undefined);
      }) as typeof stat);
    });
    void store.delete(name, seen);
    await isStopped;
    expect(await readdir(path)).not.toContain(name);

    const other = new FolderStore(path);
    await publish(other, await assemble(other, [lost!], { previous: await readPublication(other) }));
    expect(await verifyPublished(other)).toMatchObject({ findings: [] });
    expect((await readdir(path)).filter((file) => file.startsWith('.'))).toEqual([]);
    expect(await collected(other.list())).toContainEqual(await other.head(name));
  });

  test('keeps no temporary file of a killed writer, even if the collecting process is killed too', async () => {
    const path = await newFolder();
    const store = new FolderStore(path);
    await deliver(store, entriesOf(range(0, 100)), 1n);
    const name = '.000005.ldb.0123456789abcdef.tmp';
    await writeFile(join(path, name), 'half of a pa');
    await utimes(join(path, name), 1, 1);
    const { rename } = promises;
    onTestFinished(() => {
      promises.rename = rename;
      syncBuiltinESMExports();
    });
    promises.rename = () => Promise.reject(new Error('killed'));
    syncBuiltinESMExports();
    expect(await collectGarbage(store)).toMatchObject({ deleted: [name] });
    expect(await readdir(path)).not.toContain(name);
  });
});

test('eight objects are deleted at the same time after a look at CURRENT: MANIFESTs, then parts, then the marks of MANIFESTs', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('garbage', () => now);
  for (let day = 1; day <= 3; day++) await deliver(store, entriesOf(range(0, 5000), `day ${day}`), BigInt(day));
  const whole = await assemble(store, await partsOf(store, entriesOf([5]), 9n));
  await publish(store, whole, { ifMatch: (await readPublication(store))!.etag });
  now = Date.now();
  const events: string[] = [];
  let [deletions, most] = [0, 0];
  const { get, delete: remove } = { get: store.get.bind(store), delete: store.delete.bind(store) };
  store.get = (name, signal) => (events.push(name), get(name, signal));
  store.delete = async (...given) => {
    most = Math.max(most, ++deletions);
    await new Promise((resolve) => setImmediate(resolve));
    const isDeleted = await remove(...given);
    events.push(given[0].endsWith('.replaced') ? 'mark' : given[0].endsWith('.ldb') ? 'part' : 'MANIFEST');
    deletions--;
    return isDeleted;
  };
  const { deleted } = await collectGarbage(store, { keep: 0 });
  const [manifests, parts, marks] = [/^MANIFEST-\d+$/, /\.ldb$/, /\.replaced$/].map((kind) => deleted.filter((name) => kind.test(name)).length);
  expect({ manifests, marks, most }).toEqual({ manifests: 3, marks: 3, most: 8 });
  expect(parts).toBeGreaterThan(8);
  const rounds = (kind: string, count: number): string[] => Array.from({ length: Math.ceil(count / 8) }, (_, i) => ['CURRENT', ...Array.from({ length: Math.min(8, count - 8 * i) }, () => kind)]).flat();
  expect(events.slice(events.indexOf('CURRENT', 1))).toEqual([...rounds('MANIFEST', 3), ...rounds('part', parts!), ...rounds('mark', 3)]);
});

test('a deletion that fails ends the collection after those that were begun with it', async () => {
  let now = Date.now() - 100 * HOUR;
  const store = new MemoryStore('garbage', () => now);
  const unused = await partsOf(store, entriesOf(range(0, 12_000), 'unused'), 2n);
  await deliver(store, entriesOf([5]), 1n);
  now = Date.now();
  let ended = 0;
  const remove = store.delete.bind(store);
  store.delete = async (name, seen, signal) => {
    if (ended === 0 && name === partName(unused.map(({ number }) => number).sort((a, b) => (partName(a) < partName(b) ? -1 : 1))[0]!)) throw new Error('full');
    await new Promise((resolve) => setTimeout(resolve, 5));
    const isDeleted = await remove(name, seen, signal);
    ended++;
    return isDeleted;
  };
  await expect(collectGarbage(store)).rejects.toThrow('full');
  expect(ended).toBe(Math.min(unused.length, 8) - 1);
  const left = unused.length - ended;
  expect((await collectGarbage(store)).deleted).toHaveLength(left);
});
