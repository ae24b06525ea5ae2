// A page is not told where a redirect leads. Here the secrets of an HttpSource are seen to stay at their origin all the same.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { goldenTables } from '@bloom/fixtures';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findChromium } from '../src/chromium.js';

const golden = goldenTables().find(({ name }) => name === 'words-bits10.ldb')!;
const table = golden.bytes();
const executablePath = findChromium();

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server of one origin, and the requests that came to it, but for those by which a browser asks for leave. */
class Origin {
  readonly seen: Seen[] = [];
  readonly #server: Server;

  private constructor(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      const { method = '', url: path = '', headers } = request;
      if (method === 'OPTIONS') {
        const leave = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'x-api-key, range' };
        response.writeHead(204, leave).end();
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

/** Sends the table, or a range of it, to pages of any origin. */
function sendTable({ method, headers }: IncomingMessage, response: ServerResponse): void {
  const open = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'content-range, etag',
    'cache-control': 'no-store',
    etag: '"one"',
  };
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
  if (range === null) {
    response.writeHead(200, { ...open, 'content-length': table.length }).end(method === 'HEAD' ? undefined : table);
    return;
  }
  const part = table.subarray(Number(range[1]), Number(range[2]) + 1);
  response.writeHead(206, { ...open, 'content-range': `bytes ${range[1]}-${range[2]}/${table.length}` }).end(part);
}

describe.runIf(executablePath !== undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let home: Origin;
  let foreign: Origin;

  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export { HttpSource } from '@bloom/sstable/http'; export { Table } from '@bloom/sstable';`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      format: 'iife',
      globalName: 'bloom',
      platform: 'browser',
      write: false,
      logLevel: 'error',
    });
    foreign = await Origin.start(sendTable);
    home = await Origin.start((request, response) => {
      if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script src="/bloom.js"></script>');
      else if (request.url === '/bloom.js') response.writeHead(200, { 'content-type': 'text/javascript' }).end(outputFiles[0]!.contents);
      else if (request.url === '/to-foreign') response.writeHead(302, { location: `${foreign.url}/table.ldb` }).end();
      else if (request.url === '/to-home') response.writeHead(302, { location: '/table.ldb' }).end();
      else if (request.url === '/table.ldb' && request.headers['x-api-key'] !== 'secret') response.writeHead(401).end();
      else sendTable(request, response);
    });
    browser = await chromium.launch({ executablePath: executablePath! });
    page = await browser.newPage();
    await page.goto(home.url);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await home.stop();
    await foreign.stop();
  });

  beforeEach(() => {
    home.seen.length = 0;
    foreign.seen.length = 0;
  });

  /** How many entries a page reads from a path of its own server, which is given a secret header. */
  function countEntries(path: string): Promise<unknown> {
    return page.evaluate(`(async () => {
      const source = await bloom.HttpSource.open('${path}', { headers: { 'x-api-key': 'secret' } });
      let count = 0;
      for await (const entry of await bloom.Table.open(source)) count++;
      return count;
    })()`);
  }

  test('a redirect to another origin takes no secret there, and the table is read', async () => {
    expect(await countEntries('/to-foreign')).toBe(golden.entries);
    expect(foreign.secrets).toEqual([]);
    expect(foreign.seen.length).toBeGreaterThan(2);
    expect(home.secrets).toEqual(['secret']);
    // With the secret, which was not to be followed, and without.
    expect(home.seen.filter(({ path }) => path === '/to-foreign')).toHaveLength(2);
  });

  test('while fetch by itself takes it there', async () => {
    await page.evaluate(`fetch('/to-foreign', { headers: { 'x-api-key': 'secret' } })`);
    expect(foreign.secrets).toEqual(['secret']);
  });

  test('a redirect within the origin gets the secret where it is wanted', async () => {
    expect(await countEntries('/to-home')).toBe(golden.entries);
    expect(home.seen.filter(({ path }) => path === '/to-home')).toHaveLength(2);
    expect(foreign.seen).toEqual([]);
  });

  test('a relative address without a redirect is read with the secret', async () => {
    expect(await countEntries('/table.ldb')).toBe(golden.entries);
    expect(home.secrets).toHaveLength(home.seen.length);
  });
});
