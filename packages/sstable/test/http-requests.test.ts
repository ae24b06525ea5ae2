// How many requests and bytes lookups take over HTTP. The same at 5 million entries: thorough/http-requests.test.ts.
import { seeded } from '@bloom/fixtures';
import { turns } from '@bloom/fixtures/event-loop';
import { BloomFilterPolicy } from '@bloom/policy';
import { type AsyncTableOptions, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable, internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { type Fetch, HttpSource } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { sameBytes, utf8 } from './entries.js';
import { bytesOf, getEach, keyAt, largeTable, openRemote, scattered } from './request-counts.js';
import { gate } from './sources.js';
import { StaticServer } from './static-server.js';

const COUNT = 120_000;
/** 2.7 MB, of which the filters are 160 KB: more than the tail that is read at once. */
const file = largeTable(COUNT);
const policyName = new BloomFilterPolicy().name;

/** Where the filter block is: right before the metaindex, by the footer's first handle. */
const filterStart = SyncTable.open(new MemorySource(file)).approximateOffset(utf8('z')) - filterLength();

function filterLength(): number {
  const table = SyncTable.open(new MemorySource(file), { tailBytes: 48, filters: 'at-opening' });
  const without = SyncTable.open(new MemorySource(file), { tailBytes: 48, filters: 'never' });
  return table.stats.bytesRead - without.stats.bytesRead;
}

let server: StaticServer;
beforeEach(async () => {
  server = await StaticServer.start(file);
});
afterEach(() => server.stop());

/** Whether a request was for the filters. */
function isForFilter(range: string | undefined): boolean {
  return range?.startsWith(`bytes=${filterStart}-`) === true;
}

function filterRequests(): number {
  return server.requests.filter(({ range }) => isForFilter(range)).length;
}

describe('opening', () => {
  test('reads nothing twice: the end of the file, and what that lacks of metaindex and index', async () => {
    await Table.open(await HttpSource.open(server.url, { tailBytes: 4096 }));
    const [tail, front] = server.ranges;
    expect(server.ranges).toHaveLength(2);
    expect(tail).toEqual([file.length - 4096, 4096]);
    expect(front).toEqual([filterStart + filterLength(), file.length - 4096 - (filterStart + filterLength())]);
  });

  test.each<[AsyncTableOptions['filters'], number, string]>([
    [undefined, 1, 'unread'],
    ['when-needed', 1, 'unread'],
    ['never', 1, 'unread'],
    ['at-opening', 2, 'used'],
  ])('with filters %s takes %i requests, and the filters are %s', async (filters, requests, state) => {
    const table = await Table.open(await HttpSource.open(server.url), { filters });
    expect([server.requests.length, table.filterStatus.state]).toEqual([requests, state]);
    expect(table.filterStatus).toEqual({ state, policyName });
  });

  test('of a local file reads the filters, unless they are to be read when needed', async () => {
    const states = [undefined, 'at-opening', 'when-needed', 'never'] as const;
    const small = largeTable(1000);
    const found = states.map((filters) => SyncTable.open(new MemorySource(small), { filters }).filterStatus.state);
    expect(found).toEqual(['used', 'used', 'used', 'unread']);
    const large = states.map((filters) => SyncTable.open(new MemorySource(file), { filters }).filterStatus.state);
    expect(large).toEqual(['used', 'used', 'unread', 'unread']);
  });

  test('says at once what needs no filter to be read', async () => {
    const table = await Table.open(await HttpSource.open(server.url), { filterPolicies: [] });
    expect(table.filterStatus).toEqual({ state: 'unknown-policy', policyNames: [policyName] });
  });

  test.each(['now', 1, {}, null])('refuses filters: %j by name', async (filters) => {
    const error = await rejection(Table.open(new MemorySource(file), { filters: filters as never }));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toMatch(/^filters must be 'at-opening', 'when-needed' or 'never', got/);
  });
});

describe('lookups', () => {
  test('of keys that are there take one request each, and never read the filters', async () => {
    const table = await openRemote(server, { cache: null });
    expect(await getEach(table, scattered(COUNT, true, 60))).toBe(60);
    expect(server.requests).toHaveLength(60);
    expect(table.filterStatus.state).toBe('unread');
    expect(table.stats).toMatchObject({ filtersUnread: 60, filterTruePositives: 0, filterFalsePositives: 0 });
  });

  test('of absent keys read the filters when they have cost as much, and take few requests from then on', async () => {
    const table = await openRemote(server);
    expect(table.mayContain(keyAt(1))).toBe(true);
    expect(await getEach(table, scattered(COUNT, false, 10))).toBe(0);
    // (160 KB + 128 KiB) / (4 KB + 128 KiB) lookups.
    expect(table.stats.filtersUnread).toBe(3);
    expect(filterRequests()).toBe(1);
    expect(table.filterStatus).toEqual({ state: 'used', policyName });
    server.requests.length = 0;
    expect(await getEach(table, scattered(COUNT, false, 1000, 2))).toBe(0);
    expect(server.requests.length).toBeLessThanOrEqual(20);
    expect(table.stats.filterNegatives + table.stats.filterFalsePositives).toBe(1007);
  });

  test('count all bytes that they read', async () => {
    const table = await openRemote(server);
    const { bytesRead } = table.stats;
    await getEach(table, scattered(COUNT, false, 100));
    expect(table.stats.bytesRead - bytesRead).toBe(bytesOf(server));
  });

  test('never read the filters if they are not wanted', async () => {
    const table = await openRemote(server, { filters: 'never' });
    expect(await getEach(table, scattered(COUNT, false, 50))).toBe(0);
    expect([filterRequests(), table.filterStatus.state, table.stats.filtersUnread]).toEqual([0, 'unread', 50]);
  });

  test.each([
    ['getMany', (table: Table, keys: Uint8Array[]) => table.getMany(keys)],
    ['simultaneous calls of get', (table: Table, keys: Uint8Array[]) => Promise.all(keys.map((key) => table.get(key)))],
    ['simultaneous calls of find', (table: Table, keys: Uint8Array[]) => Promise.all(keys.map(async (key) => (await table.find(key, (found) => sameBytes(found, key)))?.[1]))],
  ])('of 60 absent keys by %s read the filters once, after few blocks', async (_, look) => {
    const table = await openRemote(server, { gapBytes: 0 });
    const values = await look(table, scattered(COUNT, false, 60));
    expect(values.every((value) => value === undefined)).toBe(true);
    expect(filterRequests()).toBe(1);
    expect(server.requests.length).toBeLessThan(25);
    expect(table.filterStatus.state).toBe('used');
  });

  test('of keys of which half are there give what a table in memory gives, in any order and at any time (seed 12)', async () => {
    const random = seeded(12);
    const local = SyncTable.open(new MemorySource(file));
    for (let round = 0; round < 6; round++) {
      const table = await openRemote(server, { gapBytes: [0, 16_384, 200_000][round % 3]! });
      const calls = Array.from({ length: 20 }, async () => {
        const keys = Array.from({ length: 1 + random.below(12) }, () => keyAt(random.below(2 * COUNT + 10)));
        const expected = local.getMany(keys);
        const values = random.below(2) === 0 ? await table.getMany(keys) : await Promise.all(keys.map((key) => table.get(key)));
        return values.every((value, i) => sameBytes(value, expected[i]));
      });
      expect(await Promise.all(calls)).not.toContain(false);
    }
  });

  test('of a SyncTable read the filters when needed, if the option says so', () => {
    const table = SyncTable.open(new MemorySource(file), { tailBytes: 48, filters: 'when-needed' });
    for (const key of scattered(COUNT, true, 100)) expect(table.get(key)).toHaveLength(16);
    expect(table.filterStatus.state).toBe('unread');
    // Absent keys in blocks that are in the cache cost nothing, so they do not count.
    for (const key of scattered(COUNT, false, 100)) expect(table.get(key)).toBeUndefined();
    expect(table.filterStatus.state).toBe('unread');
    for (const key of scattered(COUNT, false, 100, 2)) expect(table.get(key)).toBeUndefined();
    expect(table.filterStatus.state).toBe('used');
    expect(table.stats.filterNegatives).toBeGreaterThan(90);
  });
});

describe('simultaneous lookups', () => {
  /** Keys of `count` blocks that follow one another. */
  const adjacent = (count: number): Uint8Array[] => Array.from({ length: count }, (_, i) => keyAt(2 * (30_000 + i * 200)));

  test('of neighbouring blocks share a request', async () => {
    const table = await openRemote(server, { filters: 'never' });
    const values = await Promise.all(adjacent(40).map((key) => table.get(key)));
    expect(values.every((value) => value?.length === 16)).toBe(true);
    expect(table.stats.blockReads).toBeGreaterThan(30);
    expect(server.requests).toHaveLength(1);
  });

  test('make at most 16 requests at the same time', async () => {
    let isHeld = false;
    let sent = 0;
    let open = 0;
    let most = 0;
    const { opened: released, open: release } = gate();
    const counting: Fetch = async (url, init) => {
      sent++;
      most = Math.max(most, ++open);
      if (isHeld) await released;
      return fetch(url, init).finally(() => open--);
    };
    const table = await Table.open(await HttpSource.open(server.url, { fetch: counting }), { gapBytes: 0, filters: 'never' });
    isHeld = true;
    const keys = scattered(COUNT, true, 200);
    const values = Promise.all(keys.map((key) => table.get(key)));
    await turns();
    expect(open).toBe(16);
    release();
    expect((await values).every((value) => value?.length === 16)).toBe(true);
    expect(sent).toBeGreaterThan(32);
    expect(most).toBe(16);
  });

  test('of which one is damaged fail only for that one', async () => {
    const keys = adjacent(12);
    const at = SyncTable.open(new MemorySource(file)).approximateOffset(keys[5]!);
    server.bytes = file.slice();
    server.bytes[at + 20]! ^= 1;
    const table = await openRemote(server, { filters: 'never' });
    const results = await Promise.allSettled(keys.map((key) => table.get(key)));
    expect(results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([5]);
    expect(server.requests).toHaveLength(1);
  });

  test('end the request they share when the last of them is aborted, and not before', async () => {
    let signal: Parameters<Fetch>[1]['signal'] | undefined;
    const noting: Fetch = (url, init) => {
      ({ signal } = init);
      return fetch(url, init);
    };
    const table = await Table.open(await HttpSource.open(server.url, { fetch: noting }));
    const ended = gate();
    const arrived = gate();
    server.misbehave = (_, response) => {
      response.on('close', ended.open);
      arrived.open();
      return true;
    };
    const controllers = [new AbortController(), new AbortController()];
    const [first, second] = adjacent(2).map((key, i) => rejection(table.get(key, { signal: controllers[i]!.signal })));
    await arrived.opened;
    const reason = new Error('enough');
    controllers[0]!.abort(reason);
    expect(await first).toBe(reason);
    await turns();
    expect(signal!.aborted).toBe(false);
    controllers[1]!.abort(reason);
    expect(await second).toBe(reason);
    await ended.opened;
    server.misbehave = () => false;
    expect(await table.get(adjacent(1)[0]!)).toHaveLength(16);
  });

  test('that wait for their turn are rejected by an abort and by close', async () => {
    const table = await openRemote(server, { gapBytes: 0, filters: 'never' });
    const sixteen = gate();
    server.requests.length = 0;
    server.misbehave = () => {
      if (server.requests.length === 16) sixteen.open();
      return true;
    };
    const controller = new AbortController();
    const reason = new Error('enough');
    const keys = scattered(COUNT, true, 100);
    const aborted = keys.slice(50).map((key) => rejection(table.get(key, { signal: controller.signal })));
    const closed = keys.slice(0, 50).map((key) => rejection(table.get(key)));
    await sixteen.opened;
    controller.abort(reason);
    expect(new Set(await Promise.all(aborted))).toEqual(new Set([reason]));
    void table.close();
    for (const error of await Promise.all(closed)) expect(error).toBeInstanceOf(TypeError);
  });
});

describe('filters that are read when needed', () => {
  /** Looks up so many absent keys that the filters are read. */
  const lookUpAbsent = (table: Table): Promise<number> => getEach(table, scattered(COUNT, false, 20));

  test.each([
    ['a bit of them flipped', filterStart + 1000],
    ['their checksum damaged', filterStart + filterLength() - 2],
  ])('and have %s are corrupt, and hide no key', async (_, at) => {
    server.bytes = file.slice();
    server.bytes[at]! ^= 4;
    const table = await openRemote(server);
    await lookUpAbsent(table);
    expect(table.filterStatus).toMatchObject({ state: 'corrupt', policyName, error: { code: 'BLOOM_BAD_CHECKSUM', structure: 'filter block' } });
    expect(filterRequests()).toBe(1);
    expect(await getEach(table, scattered(COUNT, true, 200))).toBe(200);
  });

  test('and were made of whole keys in a table that is opened as a database’s are contradicted, and hide no key', async () => {
    const random = seeded(3);
    const versions = Array.from({ length: 60_000 }, (_, i): [Uint8Array, Uint8Array] => [
      Uint8Array.of(...keyAt(2 * i), 1, 5, 0, 0, 0, 0, 0, 0),
      random.bytes(16),
    ]);
    const comparator = internalKeyComparator();
    for (const filterPolicy of [new BloomFilterPolicy(), internalKeyPolicy(new BloomFilterPolicy())]) {
      server.bytes = buildTable(versions, { comparator, filterPolicy, compression: 'none' });
      const table = await DatabaseTable.open(await HttpSource.open(server.url));
      expect(table.table.filterStatus.state).toBe('unread');
      for (let i = 0; i < 20; i++) expect(await table.get(keyAt(6001 * i + 1 - ((6001 * i) % 2)))).toBeUndefined();
      const { filterStatus } = table.table;
      if (filterPolicy instanceof BloomFilterPolicy) expect(filterStatus).toMatchObject({ state: 'contradicted', filteredKeys: 'whole-keys' });
      else expect(filterStatus.state).toBe('used');
      for (let i = 0; i < 100; i++) expect((await table.get(keyAt(2 * 599 * i)))?.value).toHaveLength(16);
    }
  });

  test('are read immediately in a table of a database that is opened as a plain one, because only they show that it is not', async () => {
    const versions = Array.from({ length: 60_000 }, (_, i): [Uint8Array, Uint8Array] => [Uint8Array.of(...keyAt(2 * i), 1, 5, 0, 0, 0, 0, 0, 0), utf8('value of some length')]);
    server.bytes = buildTable(versions, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy()), compression: 'none' });
    const table = await openRemote(server);
    expect(table.filterStatus).toMatchObject({ state: 'contradicted', filteredKeys: 'user-keys' });
    expect(await table.get(versions[7777]![0])).toBeDefined();
  });

  test('and cannot be fetched cost reads, are reported, and are fetched later', async () => {
    const table = await openRemote(server, { cache: null });
    server.misbehave = ({ range }, response) => isForFilter(range) && Boolean(response.writeHead(403).end());
    const keys = scattered(COUNT, false, 20);
    for (const key of keys.slice(0, 4)) expect(await table.get(key)).toBeUndefined();
    expect(table.filterStatus).toMatchObject({ state: 'unread', policyName, error: { code: 'BLOOM_HTTP_STATUS', status: 403 } });
    expect(await table.getMany(keys)).toEqual(new Array(20).fill(undefined));
    expect(await table.getMany(scattered(COUNT, true, 100))).not.toContain(undefined);
    server.misbehave = () => false;
    expect(await getEach(table, keys)).toBe(0);
    expect(table.filterStatus).toEqual({ state: 'used', policyName });
  });

  test('are not waited for after an abort or close, and one aborted call does not end the read for another', async () => {
    const table = await openRemote(server);
    const arrived = gate();
    const answers: (() => void)[] = [];
    await getEach(table, scattered(COUNT, false, 3));
    server.misbehave = ({ range }, response) => {
      if (!isForFilter(range)) return false;
      answers.push(() => {
        const [[offset, length]] = server.ranges.slice(-1) as [[number, number]];
        response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${offset}-${offset + length - 1}/${file.length}` }).end(file.subarray(offset, offset + length));
      });
      arrived.open();
      return true;
    };
    const controller = new AbortController();
    const reason = new Error('enough');
    const [aborted, waiting] = [rejection(table.get(keyAt(77), { signal: controller.signal })), table.get(keyAt(99))];
    await arrived.opened;
    controller.abort(reason);
    expect(await aborted).toBe(reason);
    expect(table.filterStatus).toEqual({ state: 'unread', policyName });
    for (const answer of answers) answer();
    expect(await waiting).toBeUndefined();
    expect(table.filterStatus.state).toBe('used');

    const other = await openRemote(server);
    await getEach(other, scattered(COUNT, false, 3));
    const asked = gate();
    server.misbehave = ({ range }) => {
      if (isForFilter(range)) asked.open();
      return isForFilter(range);
    };
    const pending = rejection(other.get(keyAt(77)));
    const many = rejection(other.getMany([keyAt(77)]));
    await asked.opened;
    void other.close();
    expect(await pending).toBeInstanceOf(TypeError);
    expect(await many).toBeInstanceOf(TypeError);
  });

  test('and were replaced together with the file are an error of the next read, and hide no key', async () => {
    const table = await openRemote(server, { cache: null });
    await getEach(table, scattered(COUNT, false, 3));
    server.etag = '"two"';
    expect(await rejection(table.get(keyAt(2)))).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
    expect(table.filterStatus).toMatchObject({ state: 'unread', error: { code: 'BLOOM_HTTP_CHANGED' } });
  });
});
