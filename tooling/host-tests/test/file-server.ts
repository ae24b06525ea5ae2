import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A web server with files in memory. It knows ranges, and lists no folders. */
export class FileServer {
  /** By path, with its slash. */
  readonly files = new Map<string, Uint8Array>();
  readonly #server = createServer((request, response) => {
    this.requests++;
    const bytes = this.files.get(request.url!);
    if (bytes === undefined) return void response.writeHead(404).end();
    const headers = { etag: `"${bytes.length}"`, 'accept-ranges': 'bytes' };
    const match = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '');
    if (match === null) return void response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(request.method === 'HEAD' ? undefined : bytes);
    // Without a start, a range has so many bytes at the end.
    const isSuffix = match[1] === '';
    const first = isSuffix ? Math.max(0, bytes.length - Number(match[2])) : Number(match[1]);
    const last = isSuffix ? bytes.length - 1 : Math.min(Number(match[2]), bytes.length - 1);
    if (first > last) return void response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
    const part = bytes.subarray(first, last + 1);
    response.writeHead(206, { ...headers, 'content-range': `bytes ${first}-${last}/${bytes.length}`, 'content-length': part.length });
    setTimeout(() => response.end(part), this.delayMs);
  });
  requests = 0;
  /** Milliseconds between the headers of a range and its bytes. */
  delayMs = 0;

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
