// How many requests a published database takes that is read where it lies, with parts of 16 MiB.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seeded } from '@bloom/fixtures';
import { type BulkEntry, MemoryStore, readPublication, writeParts } from '@bloom/bulk';
import { assemble, publish } from '@bloom/bulk';
import { DatabaseReader } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collected, keyAt } from '../model.js';

const ENTRIES = 320_000;
let server: Server;
let origin = '';
let requests: string[] = [];
let files: Map<string, Uint8Array>;
const store = new MemoryStore();

/** Every second key, with values that do not compress. */
function* entries(from: number, to: number, step: number): Generator<BulkEntry[]> {
  const random = seeded(from + 1);
  for (let i = from; i < to; i += 1000 * step) yield Array.from({ length: Math.ceil(Math.min(1000 * step, to - i) / step) }, (_, n) => [keyAt(i + n * step), random.bytes(100)] as const);
}

async function publishParts(input: Iterable<BulkEntry[]>, sequence: bigint): Promise<void> {
  const parts = await collected(writeParts(store, input, { sequence }));
  await publish(store, await assemble(store, parts, { previous: await readPublication(store) }));
  files = store.files();
}

beforeAll(async () => {
  await publishParts(entries(0, 2 * ENTRIES, 2), 1n);
  server = createServer((request, response) => {
    const name = request.url!.slice(1);
    requests.push(name);
    const bytes = files.get(name);
    if (bytes === undefined) return response.writeHead(404).end();
    const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '')!;
    const first = start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
    const part = bytes.subarray(first, start === '' ? bytes.length : Number(end) + 1);
    return response.writeHead(206, { etag: `"${name}${bytes.length}"`, 'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}` }).end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const folder = (): HttpFolder => new HttpFolder(origin, { isPublished: true });

test('parts have about 16 MiB', () => {
  const sizes = [...files].filter(([name]) => name.endsWith('.ldb')).map(([, { length }]) => length);
  expect(sizes.filter((size) => size > 16 * 2 ** 20 && size < 17 * 2 ** 20).length).toBeGreaterThanOrEqual(2);
});

test('the first get takes 4 requests: CURRENT, the MANIFEST, the end of a part and a block; later ones in the part 1, and no key of a cached block any', async () => {
  requests = [];
  await using reader = await DatabaseReader.open(folder());
  expect(requests).toHaveLength(2);
  expect(await reader.get(keyAt(2000))).toHaveLength(100);
  expect(requests).toHaveLength(4);
  for (let i = 1; i <= 20; i++) {
    requests = [];
    expect(await reader.get(keyAt(2000 + 2000 * i))).toHaveLength(100);
    expect(requests, `key ${i}`).toHaveLength(1);
  }
  requests = [];
  expect(await reader.get(keyAt(42_002))).toHaveLength(100);
  expect(requests).toHaveLength(0);
});

test('an absent key takes less than 0.02 requests once the filters are there', async () => {
  await using reader = await DatabaseReader.open(folder(), { filters: 'at-opening' });
  for (let i = 0; i < 2 * ENTRIES; i += ENTRIES / 8) await reader.get(keyAt(2 * i));
  requests = [];
  const random = seeded(9);
  const lookups = 5000;
  for (let i = 0; i < lookups; i++) expect(await reader.get(keyAt(2 * random.below(ENTRIES - 1) + 1))).toBeUndefined();
  expect(requests.length / lookups).toBeLessThan(0.02);
});

test('refresh takes one request where nothing was published, two where something was, and keeps the parts open that stay; open walks stay whole', async () => {
  await using reader = await DatabaseReader.open(folder(), { cache: null });
  await reader.get(keyAt(0));
  await reader.get(keyAt(2 * ENTRIES - 2));
  requests = [];
  expect(await reader.refresh()).toBe(false);
  expect(requests).toEqual(['CURRENT']);
  const walk = reader.entries({ gte: keyAt(100), lt: keyAt(120) });
  await publishParts(entries(100, 200, 1), 2n);
  requests = [];
  expect(await reader.refresh()).toBe(true);
  expect(requests).toHaveLength(2);
  requests = [];
  expect(await reader.get(keyAt(2 * ENTRIES - 2))).toHaveLength(100);
  expect(requests).toHaveLength(1);
  expect(await reader.get(keyAt(101))).toHaveLength(100);
  expect(await collected(walk)).toHaveLength(10);
  expect(await collected(reader.entries({ gte: keyAt(100), lt: keyAt(120) }))).toHaveLength(20);
});

test('a part that was collected is reported as missing, and the reader works again after a refresh', async () => {
  await using reader = await DatabaseReader.open(folder());
  const gone = [...files].filter(([name]) => name.endsWith('.ldb'));
  const parts = await collected(writeParts(store, entries(0, 1000, 1), { sequence: 9n }));
  await publish(store, await assemble(store, parts), { ifMatch: (await readPublication(store))!.etag });
  files = new Map([...store.files()].filter(([name]) => !gone.some(([other]) => other === name)));
  await expect(reader.get(keyAt(2000))).rejects.toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
  expect(await reader.refresh()).toBe(true);
  expect(await reader.get(keyAt(2000))).toBeUndefined();
  expect(await reader.get(keyAt(101))).toHaveLength(100);
});
