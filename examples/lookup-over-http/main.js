// Writes a table with 100,000 entries, serves it, and looks up two keys with Range requests.
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { writeTable } from '@bloom/sstable/node';

const folder = await mkdtemp(join(tmpdir(), 'lookup-over-http-'));
const file = join(folder, 'numbers.ldb');
/** @param {number} i */
const keyOf = (i) => Buffer.from(`number ${String(i).padStart(6, '0')}`);
await writeTable(file, Array.from({ length: 100_000 }, (_, i) => [keyOf(i), Buffer.from(`the square is ${i * i}`)]));
const { size } = await stat(file);

// Any web server that supports Range requests can be used.
let sent = 0;
const server = createServer(({ headers }, response) => {
  const [, first, last] = /^bytes=(\d*)-(\d+)$/.exec(headers.range ?? '') ?? [];
  // `bytes=-N` asks for the last N bytes.
  const start = first === '' ? size - Number(last) : Number(first);
  const end = first === '' ? size - 1 : Math.min(Number(last), size - 1);
  sent += end - start + 1;
  response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${size}`, 'content-length': end - start + 1 });
  createReadStream(file, { start, end }).pipe(response);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

const table = await Table.open(await HttpSource.open(`http://127.0.0.1:${port}/numbers.ldb`));
for (const key of [keyOf(4321), keyOf(100_001)]) {
  const value = await table.get(key);
  console.log(key.toString(), '→', value && Buffer.from(value).toString());
}
console.log(`sent ${Math.round((100 * sent) / size)}% of the table`);
await table.close();
server.close();
await rm(folder, { recursive: true });
