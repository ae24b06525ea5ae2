// Requests and bytes over HTTP, for a table of 5 million entries and a database of six tables: `npx pnpm@10 --filter
// @bloom/benchmarks http-requests`; with `--write` it stores the figures and writes RESULTS.md. The time is that of a line with 50 ms from request to answer and 20 Mbit/s, which the server
// imitates: it sends each answer 50 ms after its request, or when the answers before it are over.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { seeded } from '@bloom/bytes/internal';
import { Database, DatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { MemorySink, Table, TableBuilder } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { markdownTable } from './report.js';
import { writeStored } from './results.js';

const ENTRIES = 5_000_000;
const GETS = 1000;
const ROUND_TRIP_MS = 50;
const BYTES_PER_MS = 20e6 / 8 / 1000;

const utf8 = new TextEncoder();
/** Keys of even numbers are in the table. */
const keyAt = (i: number): Uint8Array => utf8.encode(`key${String(i).padStart(9, '0')}`);

const files = new Map<string, Uint8Array>();
let requests = 0;
let bytesSent = 0;
let isLineFreeAt = 0;

const server = createServer((request, response) => {
  requests++;
  const bytes = files.get(request.url!.slice(1));
  const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  const { length } = bytes ?? '';
  const first = start === '' ? Math.max(0, length - Number(end)) : Number(start);
  const last = start === '' ? length - 1 : Math.min(Number(end), length - 1);
  const isRange = bytes !== undefined && start !== undefined && first <= last;
  const body = bytes === undefined || request.method === 'HEAD' ? undefined : isRange ? bytes.subarray(first, last + 1) : start === undefined ? bytes : undefined;
  const status = bytes === undefined ? 404 : isRange ? 206 : start === undefined ? 200 : 416;
  bytesSent += body?.length ?? 0;
  isLineFreeAt = Math.max(performance.now() + ROUND_TRIP_MS, isLineFreeAt) + (body?.length ?? 0) / BYTES_PER_MS;
  setTimeout(() => {
    response.writeHead(status, {
      etag: '"one"',
      'content-length': request.method === 'HEAD' ? length : (body?.length ?? 0),
      ...(isRange && { 'content-range': `bytes ${first}-${last}/${length}` }),
      ...(status === 416 && { 'content-range': `bytes */${length}` }),
    });
    response.end(body);
  }, isLineFreeAt - performance.now());
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const rows: string[][] = [];
async function measure<T>(what: string, work: () => Promise<T>): Promise<T> {
  requests = bytesSent = 0;
  const start = performance.now();
  const result = await work();
  const seconds = (performance.now() - start) / 1000;
  rows.push([what, `${requests}`, `${(bytesSent / 1e6).toFixed(2)} MB`, `${seconds.toFixed(2)} s`]);
  return result;
}

function mustBe(found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found} keys were found, ${expected} are there`);
}

const sink = new MemorySink();
const builder = new TableBuilder(sink, { compression: 'none' });
const random = seeded(5);
for (let i = 0; i < ENTRIES; i++) builder.add(keyAt(2 * i), random.bytes(16));
builder.finish();
files.set('table', sink.toBytes());
process.stdout.write(`${ENTRIES} entries: ${(files.get('table')!.length / 1e6).toFixed(1)} MB\n`);

const openTable = async (): Promise<Table> => Table.open(await HttpSource.open(`${origin}/table`));
const scattered = (isPresent: boolean): Uint8Array[] => Array.from({ length: GETS }, () => keyAt(2 * random.below(ENTRIES) + (isPresent ? 0 : 1)));

async function getEach(table: Table, keys: readonly Uint8Array[]): Promise<number> {
  let found = 0;
  for (const key of keys) if ((await table.get(key)) !== undefined) found++;
  return found;
}

// The first connection is not measured.
await openTable();
let table = await measure('open the table', openTable);
mustBe(await measure('100 scattered keys that are there, one after another', () => getEach(table, scattered(true).slice(0, 100))), 100);
table = await openTable();
await measure('the first absent keys, until the filters are read', async () => {
  for (const key of scattered(false)) {
    const { filterNegatives } = table.stats;
    await table.get(key);
    if (table.stats.filterNegatives > filterNegatives) return;
  }
});
mustBe(await measure(`${GETS} absent keys from then on`, () => getEach(table, scattered(false))), 0);
for (const isPresent of [true, false]) {
  table = await openTable();
  const what = `getMany of ${GETS} scattered keys that are ${isPresent ? '' : 'not '}there`;
  const values = await measure(what, () => table.getMany(scattered(isPresent)));
  mustBe(values.filter((value) => value !== undefined).length, isPresent ? GETS : 0);
}
table = await openTable();
const near = Array.from({ length: GETS }, (_, i) => keyAt(2 * (1_000_000 + i * 400)));
mustBe((await measure(`getMany of ${GETS} keys, every 400th entry`, () => table.getMany(near))).filter((value) => value !== undefined).length, GETS);

const folder = new WritableMemoryFolder();
const database = await Database.open(folder, { compression: 'none' });
for (let i = 0; i < 155_000; i++) await database.put(keyAt(2 * i), random.bytes(100));
await database.compactRange();
await database.close();
// The files after closing, which LevelDB would keep.
for (const name of folder.list()) {
  const file = folder.open(name)!;
  files.set(`database/${name}`, file.read(0, file.byteLength).slice());
}
const names = [...files.keys()].flatMap((path) => (path.startsWith('database/') ? path.slice('database/'.length) : []));
const tables = names.filter((name) => name.endsWith('.ldb')).length;
const oneInEach = Array.from({ length: tables }, (_, i) => keyAt(2 * Math.floor(((i + 0.5) * 155_000) / tables)));
for (const isListed of [true, false]) {
  const how = isListed ? 'whose files are listed' : 'whose files are not listed';
  const remote = new HttpFolder(`${origin}/database/`, isListed ? { files: names } : {});
  const reader = await measure(`open a database of ${tables} tables ${how}`, () => DatabaseReader.open(remote));
  await measure(`a key in each of its ${tables} tables`, async () => {
    for (const key of oneInEach) mustBe((await reader.get(key)) === undefined ? 0 : 1, 1);
  });
  await measure(`getMany of ${GETS} of its keys, every 40th entry`, async () => {
    const values = await reader.getMany(Array.from({ length: GETS }, (_, i) => keyAt(2 * (i * 40))));
    mustBe(values.filter((value) => value !== undefined).length, GETS);
  });
  await reader.close();
}
process.stdout.write(`${markdownTable(['', 'requests', 'bytes', 'time'], rows)}\n`);
if (process.argv.includes('--write')) writeStored(fileURLToPath(new URL('..', import.meta.url)), { 'http-requests': rows });
server.closeAllConnections();
server.close();
