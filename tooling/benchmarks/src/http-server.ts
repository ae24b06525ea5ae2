// Serves one file, with range requests, and prints its port. It is a separate process, so that its work is not counted.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const bytes = readFileSync(process.argv[2]!);

const server = createServer((request, response) => {
  const parts = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '');
  let [start, end] = parts === null ? [0, bytes.length] : [Number(parts[1]), Math.min(Number(parts[2]) + 1, bytes.length)];
  if (parts?.[1] === '') [start, end] = [Math.max(0, bytes.length - Number(parts[2])), bytes.length];
  response.writeHead(parts === null ? 200 : 206, {
    'accept-ranges': 'bytes',
    'content-length': end - start,
    etag: '"one"',
    ...(parts !== null && { 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end));
});

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
