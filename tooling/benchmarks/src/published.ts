// What published databases of 10^9 to 10^12 entries cost, computed from the measured costs of their parts: `npx pnpm@10 --filter
// @bloom/benchmarks published` prints it, and with `--write` it goes into docs/scale.md of @bloom/bulk. Requests are counted on a server in
// this process that answers each 50 ms later; no database of such a size is made.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { seeded } from '@bloom/bytes/internal';
import { arrayRun, assemble, type BulkEntry, MemoryStore, merge, type Part, partName, PartWriter, publish, type Store, writeParts } from '@bloom/bulk';
import { numberOfSha256 } from '@bloom/bulk/internal';
import { DatabaseReader } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { MemorySink, Table, TableBuilder } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { markdownTable } from './report.js';

const ROUND_TRIP_MS = 50;
/** Of a reader's line, and of a task's to the store. */
const BYTES_PER_S = 20e6 / 8;
const TASK_BYTES_PER_S = 1e9 / 8;
const VALUE_BYTES = 100;
const MANY_PARTS = 10_000;
/** What the first request for a MANIFEST reads, and each further one. */
const [FIRST_MANIFEST_BYTES, PIECE_BYTES] = [4 * 2 ** 20, 64 * 2 ** 20];
const ENTRIES = 400_000;
const GETS = 40;
const SCANNED = 1000;
/** Of all entries, that a delivery changes. */
const DELIVERED = 0.001;
const OPENINGS = 7;

const utf8 = new TextEncoder();
const keyAt = (i: number): Uint8Array => utf8.encode(`key${String(i).padStart(13, '0')}`);

function* entriesOf(count: number, step = 2): Generator<BulkEntry[]> {
  const random = seeded(count);
  for (let i = 0; i < count; i += 1000) yield Array.from({ length: Math.min(1000, count - i) }, (_, n) => [keyAt((i + n) * step), random.bytes(VALUE_BYTES)] as const);
}

/** Files behind a server that answers after a round trip. */
const files = new Map<string, Uint8Array>();
const traffic = { requests: 0, bytes: 0 };
const server = createServer((request, response) => {
  traffic.requests++;
  const bytes = files.get(request.url!.slice(1));
  setTimeout(() => {
    if (bytes === undefined) return response.writeHead(404).end();
    const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const first = start === undefined ? 0 : start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
    const body = bytes.subarray(first, start === undefined || start === '' ? bytes.length : Number(end) + 1);
    traffic.bytes += request.method === 'HEAD' ? 0 : body.length;
    response.writeHead(start === undefined ? 200 : 206, { etag: '"one"', 'content-length': body.length, ...(start !== undefined && { 'content-range': `bytes ${first}-${first + body.length - 1}/${bytes.length}` }) });
    return response.end(request.method === 'HEAD' ? undefined : body);
  }, ROUND_TRIP_MS);
});
// Building a table blocks the event loop for seconds. A connection that the server closed meanwhile would cost the next call another request.
server.keepAliveTimeout = 0;
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

interface Cost {
  readonly requests: number;
  readonly bytes: number;
  readonly ms: number;
}

/** What a call takes of requests, of bytes and of time. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  traffic.requests = traffic.bytes = 0;
  const start = performance.now();
  await work();
  return { requests: traffic.requests, bytes: traffic.bytes, ms: performance.now() - start };
}

const perCall = ({ requests, bytes, ms }: Cost, calls: number): Cost => ({ requests: requests / calls, bytes: bytes / calls, ms: ms / calls });

// Parts of 16 MiB.
const store = new MemoryStore();
const parts: Part[] = [];
let start = process.cpuUsage();
for await (const part of writeParts(store, entriesOf(ENTRIES), { sequence: 1n, compression: 'none' })) parts.push(part);
const writeUs = microseconds(process.cpuUsage(start)) / ENTRIES;
await publish(store, await assemble(store, parts));
for (const [name, bytes] of store.files()) files.set(`parts/${name}`, bytes);
const whole = parts.slice(0, -1);
const entriesPerPart = whole.reduce((sum, { entries }) => sum + entries, 0) / whole.length;
const bytesPerPart = whole.reduce((sum, { byteLength }) => sum + byteLength, 0) / whole.length;

// A merge of four runs into parts, without the time of a store.
const runs = [];
for (let run = 0; run < 4; run++) {
  const random = seeded(run);
  runs.push(arrayRun(Array.from({ length: ENTRIES / 4 }, (_, i) => [keyAt(i * 4 + run), random.bytes(VALUE_BYTES)] as const)));
}
start = process.cpuUsage();
const writer = new PartWriter({ sequence: 1n, compression: 'none' });
for await (const some of merge(runs)) {
  for (const [key, value] of some) {
    writer.put(key, value!);
    if (writer.isFull) await writer.take();
  }
}
await writer.take();
const mergeUs = microseconds(process.cpuUsage(start)) / ENTRIES;

// Requests of one reader.
const openReader = () => DatabaseReader.open(new HttpFolder(`${origin}parts/`, { isPublished: true }));
const random = seeded(3);
const present = (part: Part): Uint8Array => keyAt(2 * (parts.slice(0, parts.indexOf(part)).reduce((sum, { entries }) => sum + entries, 0) + random.below(part.entries)));
let reader = await openReader();
await reader.close();
reader = await openReader();
const cold = await costOf(() => reader.get(present(whole[0]!)));
const warm = perCall(
  await costOf(async () => {
    for (let i = 0; i < GETS; i++) if ((await reader.get(present(whole[0]!))) === undefined) throw new Error('a key is not found');
  }),
  GETS,
);
await reader.close();
reader = await openReader();
await reader.get(present(whole[0]!));
const scan = await costOf(async () => {
  let seen = 0;
  for await (const [key] of reader.entries({ gte: present(whole[0]!), limit: SCANNED })) seen += key.length > 0 ? 1 : 0;
  if (seen !== SCANNED) throw new Error(`${seen} entries were scanned`);
});
await reader.close();
reader = await DatabaseReader.open(new HttpFolder(`${origin}parts/`, { isPublished: true }), { filters: 'at-opening' });
const absent = (): Uint8Array => keyAt(2 * random.below(whole[0]!.entries) + 1);
const coldAbsent = await costOf(() => reader.get(absent()));
const warmAbsent = perCall(
  await costOf(async () => {
    for (let i = 0; i < 1000; i++) await reader.get(absent());
  }),
  1000,
);
await reader.close();

// Beside it one table of 5 million entries.
const sink = new MemorySink();
const builder = new TableBuilder(sink, { compression: 'none' });
for (let i = 0; i < 5_000_000; i++) builder.add(keyAt(2 * i), utf8.encode(`value ${i}`));
builder.finish();
files.set('table', sink.toBytes());
let table: Table | undefined;
const openTable = await costOf(async () => (table = await Table.open(await HttpSource.open(`${origin}table`))));
const tableGets = perCall(
  await costOf(async () => {
    for (let i = 0; i < GETS; i++) if ((await table!.get(keyAt(2 * random.below(5_000_000)))) === undefined) throw new Error('a key is not found');
  }),
  GETS,
);
await table!.close();

// A MANIFEST of 10,000 parts.
const described = Array.from({ length: MANY_PARTS }, (_, i): Part => {
  const sha256 = Buffer.from(seeded(i).bytes(32)).toString('hex');
  return { ...parts[0]!, sha256, number: numberOfSha256(sha256), byteLength: Math.round(bytesPerPart), first: keyAt(i * 1_000_000), last: keyAt(i * 1_000_000 + 999_999) };
});
const listed = described.map(({ number, byteLength }) => ({ name: partName(number), byteLength, modifiedMs: 0 }));
const many = new MemoryStore('many');
const listing: Pick<Store, 'name' | 'list'> = {
  name: many.name,
  async *list() {
    await Promise.resolve();
    yield* listed;
  },
};
const assembly = await assemble(listing, described);
await publish(many, assembly);
for (const [name, bytes] of many.files()) files.set(`many/${name}`, bytes);
const openings: { cost: Cost; cpuMs: number }[] = [];
for (let i = 0; i < OPENINGS; i++) {
  const before = process.cpuUsage();
  let opened: DatabaseReader | undefined;
  const cost = await costOf(async () => (opened = await DatabaseReader.open(new HttpFolder(`${origin}many/`, { isPublished: true }))));
  openings.push({ cost, cpuMs: microseconds(process.cpuUsage(before)) / 1000 });
  await opened!.close();
}
const [opening] = openings.slice().sort((a, b) => a.cpuMs - b.cpuMs).slice(Math.floor(OPENINGS / 2));
const manifestBytesPerPart = assembly.bytes.length / MANY_PARTS;
server.closeAllConnections();
server.close();

const seconds = (s: number): string => (s < 1 ? `${Math.round(s * 1000)} ms` : s < 120 ? `${s.toFixed(1)} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600).toLocaleString('en')} h`);
const size = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]!}`;
};
const count = (n: number): string => (n < 10 ? n.toFixed(n < 1 ? 3 : 1).replace(/\.0$/, '') : Math.round(n).toLocaleString('en'));
/** On a reader's line. */
const online = ({ requests, bytes }: Pick<Cost, 'requests' | 'bytes'>): string => seconds((requests * ROUND_TRIP_MS) / 1000 + bytes / BYTES_PER_S);

const measured = markdownTable(
  ['measured', 'requests', 'bytes', 'time'],
  [
    [`open ${MANY_PARTS.toLocaleString('en')} parts: ${Math.round(opening!.cpuMs)} ms of processor time, ${Math.round(openings[0]!.cpuMs)} the first time in a process`, opening!.cost],
    ['get in a part that was not opened', cold],
    ['get in a part that was opened before', warm],
    ['get of an absent key in a part that was not opened', coldAbsent],
    ['get of an absent key in a part that was opened before', warmAbsent],
    [`scan of ${SCANNED} entries in a part that was opened before`, scan],
    ['open one table of 5 million entries', openTable],
    ['get in that table', tableGets],
  ].map(([what, cost]) => {
    const { requests, bytes, ms } = cost as Cost;
    return [what as string, count(requests), size(bytes), seconds(ms / 1000)];
  }),
);

/** A level for each delivery above the base. */
const LEVELS = [1, 6];
const sizes = [1e9, 1e10, 1e11, 1e12];
const header = ['computed', ...sizes.map((n) => `10^${Math.log10(n)} entries`)];
const row = (what: string, of: (n: number, partCount: number, manifestBytes: number) => string): string[] => [
  what,
  ...sizes.map((n) => {
    const partCount = Math.ceil(n / entriesPerPart);
    return of(n, partCount, partCount * manifestBytesPerPart);
  }),
];
const times = ({ requests, bytes }: Cost, n: number): Pick<Cost, 'requests' | 'bytes'> => ({ requests: requests * n, bytes: bytes * n });
const openingUs = (opening!.cpuMs * 1000) / MANY_PARTS;
const computed = markdownTable(header, [
  row('parts of 16 MiB', (_, partCount) => count(partCount)),
  row('bytes', (_, partCount) => size(partCount * bytesPerPart)),
  row('MANIFEST', (_, _parts, manifest) => size(manifest)),
  row('open, or refresh after a publication', (_, partCount, manifest) => {
    const requests = 2 + Math.ceil(Math.max(0, manifest - FIRST_MANIFEST_BYTES) / PIECE_BYTES);
    return `${requests} requests, ${seconds((requests * ROUND_TRIP_MS) / 1000 + manifest / BYTES_PER_S + (partCount * openingUs) / 1e6)}`;
  }),
  ...LEVELS.map((levels) => row(`get, parts not opened, ${levels} ${levels === 1 ? 'level' : 'levels'}`, () => `${count(cold.requests + (levels - 1) * coldAbsent.requests)} requests, ${online({ requests: cold.requests + (levels - 1) * coldAbsent.requests, bytes: cold.bytes + (levels - 1) * coldAbsent.bytes })}`)),
  row('absent get, parts not opened, 6 levels', () => `${count(times(coldAbsent, 6).requests)} requests, ${online(times(coldAbsent, 6))}`),
  row(`scan of a prefix with ${SCANNED} entries, 1 level`, () => `${count(cold.requests - 1 + scan.requests)} requests, ${online({ requests: cold.requests - 1 + scan.requests, bytes: cold.bytes - warm.bytes + scan.bytes })}`),
  row('1,000 open parts, as a share of all parts', (_, partCount) => `${Math.min(100, (1000 / partCount) * 100).toPrecision(2)}%`),
  row('publish 0.1% as many entries: requests', (n) => count(2 * Math.ceil((n * DELIVERED) / entriesPerPart) + 6)),
  row('… bytes, with the MANIFEST', (n, _, manifest) => size(((n * DELIVERED) / entriesPerPart) * bytesPerPart + manifest)),
  row('… hours of one core', (n) => ((n * DELIVERED * writeUs) / 3.6e9).toPrecision(2)),
  row('merge of all levels: requests', (_, partCount) => count(2 * partCount)),
  row('… bytes, read and written', (_, partCount) => size(2 * partCount * bytesPerPart)),
  row('… hours of one core', (n) => count((n * mergeUs) / 3.6e9)),
  row('… on 100 cores, each with 1 Gbit/s', (n, partCount) => seconds(Math.max((n * mergeUs) / 1e6, (2 * partCount * bytesPerPart) / TASK_BYTES_PER_S) / 100)),
]);

const text = `Entries have keys of 16 bytes and values of ${VALUE_BYTES} that do not compress; ${count(entriesPerPart)} of them make a part of ${size(bytesPerPart)}. A core
writes one entry in ${writeUs.toFixed(1)} µs and merges one from four runs in ${mergeUs.toFixed(1)} µs, and a part takes ${Math.round(manifestBytesPerPart)} bytes of the MANIFEST. A response
arrives ${ROUND_TRIP_MS} ms after its request. Bandwidth is unlimited in the measured times, and 20 Mbit/s in the computed ones.

${measured}

${computed}
`;
process.stdout.write(text);
if (process.argv.includes('--write')) {
  const path = join(fileURLToPath(import.meta.url), '../../../../packages/bulk/docs/scale.md');
  const page = readFileSync(path, 'utf8');
  const written = page.replace(/(<!-- published: [^\n]*-->\n)[^]*?(<!-- end of published -->)/, (_, before: string, after: string) => `${before}\n${text}\n${after}`);
  if (written === page && !page.includes(text)) throw new Error('docs/scale.md has no place for the figures');
  writeFileSync(path, written);
}

function microseconds({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
