import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a page sent to the server. */
export type Outcome<Findings> = { readonly findings: Findings } | { readonly failure: string };

/** Serves one page to this machine: its script, its task, and the files that it reads. */
export class PageServer<Findings> {
  /** The header `Content-Security-Policy`, if any. */
  contentSecurityPolicy: string | undefined;
  readonly #files: ReadonlyMap<string, { readonly type: string; readonly bytes: Uint8Array }>;
  readonly #server: Server;
  #resolve: (outcome: Outcome<Findings>) => void = () => undefined;

  private constructor(script: Uint8Array, task: unknown, files: ReadonlyMap<string, Uint8Array>) {
    const text = (content: string): Uint8Array => new TextEncoder().encode(content);
    this.#files = new Map([
      ['/', { type: 'text/html', bytes: text('<!doctype html><title>Bloom</title><script type="module" src="/page.js"></script>') }],
      ['/page.js', { type: 'text/javascript', bytes: script }],
      ['/task', { type: 'application/json', bytes: text(JSON.stringify(task)) }],
      ...Array.from(files, ([path, bytes]) => [path, { type: 'application/octet-stream', bytes }] as const),
    ]);
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** @param files by their paths. */
  static async start<Findings>(script: Uint8Array, task: unknown, files: ReadonlyMap<string, Uint8Array>): Promise<PageServer<Findings>> {
    const server = new PageServer<Findings>(script, task, files);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** What the next page to finish sends. */
  nextOutcome(): Promise<Outcome<Findings>> {
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url } = request;
    if (method === 'POST') {
      const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
      response.writeHead(204).end();
      this.#resolve(url === '/findings' ? { findings: JSON.parse(body) as Findings } : { failure: body });
      return;
    }
    const file = this.#files.get(url!);
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    const headers = {
      'content-type': file.type,
      'cache-control': 'no-store',
      ...(this.contentSecurityPolicy !== undefined && { 'content-security-policy': this.contentSecurityPolicy }),
    };
    const range = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '');
    if (range === null) {
      response.writeHead(200, { ...headers, 'content-length': file.bytes.length });
      response.end(method === 'HEAD' ? undefined : file.bytes);
      return;
    }
    const isSuffix = range[1] === '';
    const start = isSuffix ? Math.max(0, file.bytes.length - Number(range[2])) : Number(range[1]);
    if (start >= file.bytes.length) {
      response.writeHead(416, { ...headers, 'content-range': `bytes */${file.bytes.length}` }).end();
      return;
    }
    const part = file.bytes.subarray(start, isSuffix ? file.bytes.length : Number(range[2]) + 1);
    const contentRange = `bytes ${start}-${start + part.length - 1}/${file.bytes.length}`;
    response.writeHead(206, { ...headers, 'content-length': part.length, 'content-range': contentRange }).end(part);
  }
}
