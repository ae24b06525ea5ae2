import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';

/** A request that the server got. */
export interface Request {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly range: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

/** How a server misbehaves. */
export type Misbehaviour = (request: Request, response: ServerResponse, number: number) => boolean;

/** A server of one file that supports Range, also for the last bytes, and HEAD, and can be made to misbehave. */
export class StaticServer {
  bytes: Uint8Array;
  etag: string | undefined = '"one"';
  lastModified: string | undefined = 'Wed, 21 Oct 2015 07:28:00 GMT';
  readonly requests: Request[] = [];
  /** Returns true for a request that it answered itself. */
  misbehave: Misbehaviour = () => false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#server = createServer((incoming, response) => this.#answer(incoming, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  static async start(bytes: Uint8Array): Promise<StaticServer> {
    const server = new StaticServer(bytes);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/table.ldb`;
  }

  /** The requested ranges, as [offset, length]. */
  get ranges(): [number, number][] {
    return this.requests.flatMap(({ range }) => this.rangeOf(range) ?? []).map(([start, end]) => [start, end - start]);
  }

  /** The first byte of a range and the byte behind its last one. */
  rangeOf(range: string | undefined): [[number, number]] | undefined {
    const parts = /^bytes=(\d*)-(\d+)$/.exec(range ?? '');
    if (parts === null) return undefined;
    const { length } = this.bytes;
    return [parts[1] === '' ? [Math.max(0, length - Number(parts[2])), length] : [Number(parts[1]), Number(parts[2]) + 1]];
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The headers of a correct response. */
  headers(): Record<string, string> {
    return {
      ...(this.etag !== undefined && { etag: this.etag }),
      ...(this.lastModified !== undefined && { 'last-modified': this.lastModified }),
    };
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const request = { method: incoming.method!, path: incoming.url!, range: incoming.headers.range, headers: incoming.headers };
    this.requests.push(request);
    if (this.misbehave(request, response, this.requests.length)) return;
    const { bytes } = this;
    const headers = this.headers();
    if (request.method === 'HEAD') {
      response.writeHead(200, { ...headers, 'content-length': bytes.length, 'accept-ranges': 'bytes' }).end();
      return;
    }
    const range = this.rangeOf(request.range)?.[0];
    if (range === undefined) {
      response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
      return;
    }
    const [start, end] = range;
    if (start >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    const part = bytes.subarray(start, Math.min(bytes.length, end));
    const contentRange = `bytes ${start}-${start + part.length - 1}/${bytes.length}`;
    response.writeHead(206, { ...headers, 'content-length': part.length, 'content-range': contentRange }).end(part);
  }
}
