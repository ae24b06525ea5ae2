// A page cannot see where a redirect leads. These tests check that the secrets of an HttpSource stay at their origin anyway.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { goldenTables } from '@bloom/fixtures';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { browserBundle } from '../../src/browser-bundle.js';
import { findChromium } from '../../src/chromium.js';

const golden = goldenTables().find(({ name }) => name === 'words-bits10.ldb')!;
const table = golden.bytes();
const executablePath = findChromium();

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server with its own origin, which records the requests that it gets, except for CORS preflights. */
class Origin {
  readonly seen: Seen[] = [];
  readonly #server: Server;

  private constructor(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      const { method = '', url: path = '', headers } = request;
      if (method === 'OPTIONS') {
        const permission = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-api-key, range' };
        response.writeHead(204, permission).end();
        return;
      }
      this.seen.push({ method, path, headers });
      answer(request, response);
    });
  }

  static async start(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Origin> {
    const origin = new Origin(answer);
    await new Promise<void>((resolve) => origin.#server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get secrets(): unknown[] {
    return this.seen.flatMap(({ headers }) => headers['x-api-key'] ?? []);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Sends the table, or a range of it, and allows pages of any origin to read it. */
function sendTable({ method, headers }: IncomingMessage, response: ServerResponse): void {
  const open = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'content-range, etag',
    'cache-control': 'no-store',
    etag: '"one"',
  };
  const range = /^bytes=(\d*)-(\d+)$/.exec(headers.range ?? '');
  if (range === null) {
    response.writeHead(200, { ...open, 'content-length': table.length }).end(method === 'HEAD' ? undefined : table);
    return;
  }
  const first = range[1] === '' ? Math.max(0, table.length - Number(range[2])) : Number(range[1]);
  const last = range[1] === '' ? table.length - 1 : Number(range[2]);
  response.writeHead(206, { ...open, 'content-range': `bytes ${first}-${last}/${table.length}` }).end(table.subarray(first, last + 1));
}

if (executablePath === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so redirects are not followed in a page', () => {});
describe.runIf(executablePath !== undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let home: Origin;
  let foreign: Origin;

  beforeAll(async () => {
    const script = await browserBundle(`export { HttpSource } from '@bloom/sstable/http'; export { Table } from '@bloom/sstable';`, import.meta.dirname);
    foreign = await Origin.start(sendTable);
    home = await Origin.start((request, response) => {
      if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script src="/bloom.js"></script>');
      else if (request.url === '/bloom.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
      else if (request.url === '/to-foreign') response.writeHead(302, { location: `${foreign.url}/table.ldb` }).end();
      else if (request.url === '/to-home') response.writeHead(302, { location: '/table.ldb' }).end();
      else if (request.url === '/table.ldb' && request.headers['x-api-key'] !== 'secret') response.writeHead(401).end();
      else sendTable(request, response);
    });
    browser = await chromium.launch({ executablePath: executablePath! });
    page = await browser.newPage();
    await page.goto(home.url);
  });

  afterAll(async () => {
    await browser.close();
    await home.stop();
    await foreign.stop();
  });

  beforeEach(() => {
    home.seen.length = 0;
    foreign.seen.length = 0;
  });

  /** Reads the table at a path of the page's own server, with a secret header. @returns the number of entries. */
  function countEntries(path: string): Promise<unknown> {
    return page.evaluate(`(async () => {
      const source = await bloom.HttpSource.open('${path}', { headers: { 'x-api-key': 'secret' } });
      let count = 0;
      for await (const entry of await bloom.Table.open(source)) count++;
      return count;
    })()`);
  }

  test('reads a table after a redirect to another origin without sending the secret there', async () => {
    expect(await countEntries('/to-foreign')).toBe(golden.entries);
    expect(foreign.secrets).toEqual([]);
    expect(foreign.seen.length).toBeGreaterThan(2);
    expect(home.secrets).toEqual(['secret']);
    // Once with the secret, when the redirect is not followed, and once without.
    expect(home.seen.filter(({ path }) => path === '/to-foreign')).toHaveLength(2);
  });

  test('fetch alone would send the secret to the other origin', async () => {
    await page.evaluate(`fetch('/to-foreign', { headers: { 'x-api-key': 'secret' } })`);
    expect(foreign.secrets).toEqual(['secret']);
  });

  test('sends the secret after a redirect within the origin', async () => {
    expect(await countEntries('/to-home')).toBe(golden.entries);
    expect(home.seen.filter(({ path }) => path === '/to-home')).toHaveLength(2);
    expect(foreign.seen).toEqual([]);
  });

  test('sends the secret with every request to a relative address without a redirect', async () => {
    expect(await countEntries('/table.ldb')).toBe(golden.entries);
    expect(home.secrets).toHaveLength(home.seen.length);
  });
});
