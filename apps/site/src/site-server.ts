import { readdirSync, readFileSync, statSync } from 'node:fs';
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

/** The file of a folder at a path below the base, or undefined for a path without a file or outside the folder. */
function fileAt(folder: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const file = join(folder, decodeURIComponent(path));
    if (file !== folder && !file.startsWith(folder + sep)) return undefined;
    return fileIfAny(path === '' || path.endsWith('/') ? join(file, 'index.html') : file);
  } catch {
    // The path is not correctly encoded.
    return undefined;
  }
}

function fileIfAny(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true ? file : undefined;
}

/** The base path for which the site was built. */
const base = process.env.SITE_BASE ?? '/';

/** Serves the built site to this machine only. */
export class SiteServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /**
   * @param port the port to try first; 0, the default, or a port that is in use gives any free one.
   * @param folder the folder of the built site.
   */
  static async start(port = 0, folder = dist): Promise<SiteServer> {
    const server = createServer((request, response) => {
      const path = new URL(request.url!, 'http://localhost').pathname;
      const file = fileAt(folder, path.startsWith(base) ? path.slice(base.length) : undefined);
      // As static hosts do. A site that is not built has no such page either.
      const shown = file ?? fileIfAny(join(folder, '404.html'));
      const type = shown === undefined ? TYPES['.txt'] : (TYPES[extname(shown)] ?? 'application/octet-stream');
      response.writeHead(file === undefined ? 404 : 200, { 'content-type': type }).end(shown === undefined ? 'Not found' : readFileSync(shown));
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
