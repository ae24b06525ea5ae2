import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { existsSync, readFileSync, statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { contentSecurityPolicy } from '../content-security-policy.js';

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png' };

/** The page's first view takes fewer bytes than this after gzip. */
export const FIRST_VIEW_BYTES = 62_000;

/** Serves the built page under a path, with its Content-Security-Policy as a header, and files that a test adds. */
export class PageServer {
  /** The path of the page. */
  static readonly path = '/some/where/';
  /** The header `Content-Security-Policy` of every response. */
  policy = contentSecurityPolicy;
  /** Files under `/files/`, by name. */
  readonly files = new Map<string, Uint8Array>();
  /** Files whose requests are never answered, and those whose requests the page aborted. */
  readonly hanging = new Set<string>();
  readonly givenUp = new Set<string>();
  /** The number of bytes of files that were sent. */
  bytesSent = 0;
  /** Files of the page that a test replaces, by their paths in it; undefined for those that it takes away. */
  readonly replaced = new Map<string, string | undefined>();
  /** Requests for files that would make it more are not answered. */
  mostBytes = Number.POSITIVE_INFINITY;
  /** The files of requests that were not answered because of that. */
  readonly held = new Set<string>();
  /** Whether the page is sent for all names without a file, as servers of single-page apps do. */
  hasFallback = false;
  /** Whether browsers may keep the page's assets, which have hashes of their contents in their names, without asking again. */
  cachesAssets = true;
  readonly #root: string;
  readonly #server: Server;

  private constructor(root: string) {
    this.#root = root;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(root: string): Promise<PageServer> {
    const server = new PageServer(root);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return this.origin + PageServer.path;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(request.url!.split('?')[0]!);
    const name = path.slice('/files/'.length);
    if (path.startsWith('/files/') && this.hanging.has(name)) {
      response.on('close', () => this.givenUp.add(name));
      return;
    }
    const found = this.#bytesOf(path);
    const bytes = found ?? (this.hasFallback ? this.#bytesOf(PageServer.path) : undefined);
    if (bytes === undefined) {
      // As static hosts do. That page has a policy of its own.
      const notFound = path.startsWith(PageServer.path) ? this.#bytesOf(`${PageServer.path}404.html`) : undefined;
      response.writeHead(404, { 'content-type': TYPES['.html'], ...(notFound === undefined && { 'content-security-policy': this.policy }) }).end(notFound);
      return;
    }
    const isAsset = found !== undefined && path.startsWith(`${PageServer.path}assets/`);
    const headers = {
      'content-type': TYPES[(found === undefined ? '' : extname(path)) || '.html'] ?? 'application/octet-stream',
      'content-security-policy': this.policy,
      ...(isAsset && { 'cache-control': this.cachesAssets ? 'max-age=31536000, immutable' : 'no-store' }),
    };
    const range = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '');
    // Without a start, a range has so many bytes at the end.
    const isSuffix = range?.[1] === '';
    const start = range === null ? 0 : isSuffix ? Math.max(0, bytes.length - Number(range[2])) : Number(range[1]);
    const part = range === null ? bytes : bytes.subarray(start, isSuffix ? bytes.length : Number(range[2]) + 1);
    const contentRange = { 'content-range': `bytes ${start}-${start + part.length - 1}/${bytes.length}` };
    if (path.startsWith('/files/') && this.bytesSent + part.length > this.mostBytes) {
      this.held.add(name);
      response.on('close', () => this.givenUp.add(name));
      return;
    }
    response.writeHead(range === null ? 200 : 206, { ...headers, 'content-length': part.length, ...(range !== null && contentRange) });
    if (path.startsWith('/files/') && request.method !== 'HEAD') this.bytesSent += part.length;
    response.end(request.method === 'HEAD' ? undefined : part);
  }

  #bytesOf(path: string): Uint8Array | undefined {
    if (path.startsWith('/files/')) return this.files.get(path.slice('/files/'.length));
    if (!path.startsWith(PageServer.path)) return undefined;
    const inPage = path.slice(PageServer.path.length);
    if (this.replaced.has(inPage)) {
      const text = this.replaced.get(inPage);
      return text === undefined ? undefined : Buffer.from(text);
    }
    const file = join(this.#root, inPage || 'index.html');
    return file.startsWith(this.#root) && existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
  }
}
