import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, sep } from 'node:path';
import process from 'node:process';
import { REDIRECTS } from './redirects.js';

/** The folder of the built site. */
export const dist = join(import.meta.dirname, '../.vitepress/dist');

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png', '.json': 'application/json', '.txt': 'text/plain' };

/** The paths of the site's own pages, without the explorer's and without redirects. */
export function pagePaths(): string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.html') && !path.startsWith('explorer/') && path !== '404.html' && !REDIRECTS.has(path))
    .sort();
}

/** The file at a path below the base, or undefined for a path without a file or outside the folder. */
function fileAt(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const file = join(dist, decodeURIComponent(path));
    if (file !== dist && !file.startsWith(dist + sep)) return undefined;
    return path === '' || path.endsWith('/') ? join(file, 'index.html') : file;
  } catch {
    // The path is not correctly encoded.
    return undefined;
  }
}

/** The base path for which the site was built. */
const base = process.env.SITE_BASE ?? '/';

/** Serves the built site to this machine only. */
export class SiteServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param port the port to try first; 0, the default, or a port that is in use gives any free one. */
  static async start(port = 0): Promise<SiteServer> {
    const server = createServer((request, response) => {
      const path = new URL(request.url!, 'http://localhost').pathname;
      const file = fileAt(path.startsWith(base) ? path.slice(base.length) : undefined);
      // As static hosts do.
      if (file === undefined || !existsSync(file) || !statSync(file).isFile()) response.writeHead(404, { 'content-type': TYPES['.html'] }).end(readFileSync(join(dist, '404.html')));
      else response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE' || port === 0) reject(error);
        else server.listen(0, '127.0.0.1', resolve);
      });
      server.listen(port, '127.0.0.1', resolve);
    });
    return new SiteServer(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
