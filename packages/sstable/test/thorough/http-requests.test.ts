// The goals over HTTP at full size: 5 million entries, 113 MB.
import { Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, getEach, keyAt, largeTable, openRemote, scattered } from '../request-counts.js';
import { StaticServer } from '../static-server.js';

const COUNT = 5_000_000;

describe('a table of 5 million entries over HTTP', () => {
  let server: StaticServer;
  beforeAll(async () => {
    server = await StaticServer.start(largeTable(COUNT));
  });
  afterAll(() => server.stop());

  test('takes 2 requests and less than 1.3 MB to open', async () => {
    server.requests.length = 0;
    const table = await Table.open(await HttpSource.open(server.url));
    expect(server.bytes.length).toBeGreaterThan(100e6);
    expect(server.requests).toHaveLength(2);
    expect(bytesOf(server)).toBeLessThan(1.3e6);
    expect(table.filterStatus).toEqual({ state: 'unread', policyName: 'leveldb.BuiltinBloomFilter2' });
  });

  test('takes 1 request for each key that is there, and does not read the filters for them', async () => {
    const table = await openRemote(server);
    expect(await getEach(table, scattered(COUNT, true, 500))).toBe(500);
    expect(server.requests.length).toBeLessThanOrEqual(500);
    expect(bytesOf(server)).toBeLessThan(500 * 4400);
    expect(table.filterStatus.state).toBe('unread');
    expect(table.stats.filtersUnread).toBe(500);
  });

  test('takes 1 request for each of about 50 absent keys, one for the filters, and then fewer than 0.02', async () => {
    const table = await openRemote(server);
    expect(await getEach(table, scattered(COUNT, false, 60))).toBe(0);
    expect(table.filterStatus.state).toBe('used');
    expect(server.requests.length).toBeLessThanOrEqual(56);
    expect(table.stats.filtersUnread).toBeGreaterThan(40);
    expect(table.stats.filtersUnread).toBeLessThan(56);
    server.requests.length = 0;
    expect(await getEach(table, scattered(COUNT, false, 2000, 2))).toBe(0);
    expect(server.requests.length).toBeLessThanOrEqual(0.02 * 2000);
  });

  test('takes fewer than 100 requests for 1000 absent keys at once, by getMany or by as many calls of get', async () => {
    const keys = scattered(COUNT, false, 1000);
    for (const look of [(table: Table) => table.getMany(keys), (table: Table) => Promise.all(keys.map((key) => table.get(key)))]) {
      const table = await openRemote(server);
      expect((await look(table)).every((value) => value === undefined)).toBe(true);
      expect(server.requests.length).toBeLessThan(100);
    }
  });

  test('takes fewer than 10 requests for 1000 keys that lie 8 KB apart', async () => {
    const table = await openRemote(server);
    const values = await table.getMany(Array.from({ length: 1000 }, (_, i) => keyAt(2 * (1_000_000 + i * 400))));
    expect(values.every((value) => value?.length === 16)).toBe(true);
    expect(server.requests.length).toBeLessThan(10);
  });
});
