// Months of deliveries, races of publishers, readers beside them, and the collection of garbage.
import process from 'node:process';
import { assemble, BulkError, collectGarbage, MemoryStore, publish, readPublication, verifyPublished } from '@bloom/bulk';
import { DatabaseReader } from '@bloom/leveldb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeS3 } from '../fake-s3.js';
import { collected, deliver, entriesOf, keyAt, makeRoom, Model, partsOf, range, someChanges, textOf, utf8 } from '../model.js';

// tooling/long-tests has a longer run.
const PUBLICATIONS = Number(process.env.BLOOM_PUBLICATIONS ?? 10);
const races = Array.from({ length: Math.ceil(PUBLICATIONS / 10) }, (_, i) => i + 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let s3: FakeS3;
beforeAll(async () => {
  s3 = await FakeS3.start();
});
afterAll(() => {
  s3.close();
});

test('30 days of changes and deletions, merged on the way, equal a sorted map on each day, also for readers of the last three; and the rest is freed', async () => {
  let now = Date.now() - 40 * DAY;
  const store = new MemoryStore('days', () => now);
  const model = new Model();
  /** Readers that were opened on a day, and what they are to see. */
  const readers: { readonly reader: DatabaseReader; readonly text: string; readonly lastUse: number }[] = [];
  let most = 0;
  let deleted = 0;
  for (let day = 1; day <= 30; day++) {
    now += DAY / 2;
    const made = await makeRoom(store);
    now += DAY / 2;
    const changes = day === 1 ? entriesOf(range(0, 2000)) : someChanges(day, 2200, 150);
    await deliver(store, changes, BigInt(day));
    model.apply(changes);
    const reader = await DatabaseReader.open(store.folder(), { openTables: 'when-needed' });
    expect(textOf(await collected(reader.entries())), `day ${day}`).toBe(String(model));
    await reader.close();
    // It has opened no part yet.
    const lazy = await DatabaseReader.open(store.folder(), { openTables: 'when-needed', cache: null });
    readers.push({ reader: lazy, text: String(model), lastUse: day + 1 });
    const report = await collectGarbage(store, { keep: 3, graceMs: DAY / 4, nowMs: now });
    deleted += report.deleted.length;
    expect(report.manifests.length).toBeLessThanOrEqual(4);
    const names = [...store.files().keys()];
    most = Math.max(most, names.length);
    for (const { reader: open, text } of readers.filter(({ lastUse }) => lastUse === day)) {
      // A day and a merge later, at most three publications, each of its parts is still there.
      expect(textOf(await collected(open.entries())), `the reader of day ${day - 1}, after ${made ? 'a merge' : 'no merge'}`).toBe(text);
      await open.close();
    }
  }
  for (const { reader } of readers) await reader.close();
  expect(deleted).toBeGreaterThan(30);
  const listed = (await readPublication(store))!.levels.flat().length;
  const final = await collectGarbage(store, { keep: 0, graceMs: 0, nowMs: now + DAY });
  expect(final.freedBytes).toBeGreaterThan(0);
  expect([...store.files().keys()].filter((name) => name.endsWith('.ldb'))).toHaveLength(listed);
  expect([...store.files().keys()].filter((name) => name.startsWith('MANIFEST'))).toEqual([(await readPublication(store))!.manifest]);
  expect(await verifyPublished(store)).toMatchObject({ findings: [] });
  expect(await collectGarbage(store, { keep: 0, graceMs: 0, nowMs: now + DAY })).toMatchObject({ deleted: [] });
});

describe('collectGarbage', () => {
  test('keeps recent objects, including those of publishers that lost, and in a dry run lists what it would delete', async () => {
    let now = Date.now() - 10 * DAY;
    const store = new MemoryStore('garbage', () => now);
    await deliver(store, entriesOf(range(0, 100)), 1n);
    const lost = await assemble(store, await partsOf(store, entriesOf([5]), 2n), { previous: await readPublication(store) });
    await deliver(store, entriesOf([6]), 2n);
    await expect(publish(store, lost)).rejects.toThrow(BulkError);
    // One that loses only when it replaces CURRENT has written its MANIFEST.
    await store.put({ name: lost.manifest, bytes: lost.bytes, sha256: lost.sha256 });
    const before = [...store.files().keys()].sort();
    now += HOUR;
    expect((await collectGarbage(store, { keep: 1, graceMs: 2 * HOUR, nowMs: now })).deleted).toEqual([]);
    const { deleted } = await collectGarbage(store, { keep: 1, graceMs: HOUR / 2, nowMs: now, isDryRun: true });
    expect(deleted).toHaveLength(2);
    expect(deleted[0]).toBe(lost.manifest);
    expect([...store.files().keys()].sort()).toEqual(before);
    // Losers do not count among the publications that are kept.
    expect((await collectGarbage(store, { keep: 1, graceMs: HOUR / 2, nowMs: now })).manifests).toHaveLength(2);
    expect([...store.files().keys()].sort()).toEqual(before.filter((name) => !deleted.includes(name)));
  });

  test('leaves other objects alone, and deletes nothing without CURRENT or when a MANIFEST that is kept is damaged', async () => {
    let now = 0;
    const store = new MemoryStore('garbage', () => now);
    const put = (name: string) => store.put({ name, bytes: utf8('x'), sha256: '' });
    for (const name of ['notes.txt', 'LOCK', '000005.log', 'LOG', '99.ldb', '.x.tmp']) await put(name);
    await put('1234567.ldb');
    await expect(collectGarbage(store)).rejects.toMatchObject({ code: 'BLOOM_NOT_PUBLISHED' });
    await deliver(store, entriesOf(range(0, 100)), 1n);
    await deliver(store, entriesOf([1]), 2n);
    const [replaced] = [...store.files().keys()].filter((name) => name.endsWith('.replaced'));
    const manifest = replaced!.replace('.replaced', '');
    const { bytes } = (await store.get(manifest))!;
    await put(manifest);
    await expect(collectGarbage(store)).rejects.toMatchObject({ code: 'BLOOM_NOT_PUBLISHED' });
    expect(store.files().has('1234567.ldb')).toBe(true);
    await store.put({ name: manifest, bytes, sha256: '' });
    expect((await collectGarbage(store)).deleted).toEqual([]);
    now = 10 * DAY;
    expect((await collectGarbage(store)).deleted).toEqual(['1234567.ldb']);
  });

  test('that is interrupted after any deletion is made good by the next', async () => {
    for (let stop = 0; ; stop++) {
      let now = 0;
      const store = new MemoryStore('garbage', () => now++);
      for (let day = 1; day <= 4; day++) await deliver(store, entriesOf(range(0, 10 * day)), BigInt(day));
      const previous = (await readPublication(store))!;
      await publish(store, await assemble(store, await partsOf(store, entriesOf(range(0, 7)), 9n), {}), { ifMatch: previous.etag });
      now += 10 * DAY;
      let deletions = 0;
      const remove = store.delete.bind(store);
      store.delete = async (...deletion) => {
        if (deletions++ === stop) throw new Error('killed');
        return remove(...deletion);
      };
      const isOver = await collectGarbage(store, { keep: 1 }).then(
        () => true,
        () => false,
      );
      store.delete = remove;
      expect(await verifyPublished(store)).toMatchObject({ findings: [] });
      await collectGarbage(store, { keep: 1 });
      expect([...store.files().keys()].filter((name) => name.startsWith('MANIFEST'))).toHaveLength(3);
      if (isOver) break;
      expect(stop).toBeLessThan(50);
    }
  });
});

describe('eight publishers at once', () => {
  test.each(races)('have one winner in each round, and each of them gets its turn by going on from the new state (round %i)', async (round) => {
    s3.objects.clear();
    s3.requests = [];
    const random = (n: number): number => (n * 7919 + round * 104_729) % 13;
    s3.hold = () => new Promise((resolve) => setTimeout(resolve, random(s3.requests.length)));
    await deliver(s3.store(), entriesOf(range(0, 100)), 1n);
    let wins = 0;
    let conflicts = 0;
    const publisher = async (i: number): Promise<void> => {
      const store = s3.store();
      for (;;) {
        const previous = (await readPublication(store))!;
        const entries = [[keyAt(1000 + i), utf8(`of ${i}`)] as const];
        if (await makeRoom(store).catch(() => true)) continue;
        try {
          await publish(store, await assemble(store, await partsOf(store, entries, previous.lastSequence + 1n), { previous }));
          wins++;
          return;
        } catch (error) {
          if (!(error instanceof BulkError && ['BLOOM_CONFLICT', 'BLOOM_NO_LEVEL'].includes(error.code))) throw error;
          conflicts++;
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, i) => publisher(i)));
    s3.hold = () => undefined;
    expect(wins).toBe(8);
    expect(conflicts).toBeGreaterThan(3);
    await using reader = await DatabaseReader.open(s3.store().folder());
    for (let i = 0; i < 8; i++) expect(new TextDecoder().decode(await reader.get(keyAt(1000 + i)))).toBe(`of ${i}`);
    expect(await verifyPublished(s3.store())).toMatchObject({ findings: [] });
  });

  test('on one state have exactly one winner, and the others say so', async () => {
    s3.objects.clear();
    await deliver(s3.store(), entriesOf(range(0, 100)), 1n);
    const previous = (await readPublication(s3.store()))!;
    const assemblies = await Promise.all(range(0, 8).map(async (i) => assemble(s3.store(), await partsOf(s3.store(), entriesOf([i], `of ${i}`), 2n), { previous })));
    const results = await Promise.allSettled(assemblies.map((assembly) => publish(s3.store(), assembly)));
    const winners = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
    expect(winners).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'BLOOM_CONFLICT' });
    expect((await readPublication(s3.store()))!.manifest).toBe(assemblies[winners[0]!]!.manifest);
  });
});

test(`readers that get, scan and refresh during ${PUBLICATIONS} publications see only whole ones`, async () => {
  s3.objects.clear();
  s3.fault = () => undefined;
  const keys = 60;
  // Each publication gives all keys the same value, its number.
  const state = (n: number) => range(0, keys).map((i) => [keyAt(i), utf8(String(n))] as const);
  const store = s3.store();
  await deliver(store, state(1), 1n);
  let isOver = false;
  let seen = 0;
  let renewed = 0;
  const read = async (): Promise<void> => {
    await using reader = await DatabaseReader.open(s3.store().folder(), { cache: null });
    let last = 0;
    while (!isOver) {
      const walk = reader.entries();
      const first = await walk.next();
      if (await reader.refresh()) renewed++;
      const values = new Set([first, ...(await collected(walk)).map((value) => ({ value }))].map(({ value }) => new TextDecoder().decode((value as [Uint8Array, Uint8Array])[1])));
      expect(values.size, [...values].join(' ')).toBe(1);
      const [value] = [...values];
      expect(Number(value)).toBeGreaterThanOrEqual(last);
      const gotten = new Set((await reader.getMany(range(0, keys).map(keyAt))).map((bytes) => new TextDecoder().decode(bytes)));
      expect(gotten.size).toBe(1);
      last = Number(value);
      seen++;
    }
  };
  const readers = Promise.all([read(), read(), read()]);
  for (let n = 2; n <= PUBLICATIONS; n++) {
    await makeRoom(store);
    await deliver(store, state(n), BigInt(n));
  }
  isOver = true;
  await readers;
  expect(seen).toBeGreaterThan(3);
  expect(renewed).toBeGreaterThan(3);
});
