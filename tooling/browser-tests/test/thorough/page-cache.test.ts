// A server that does not say how long its files may be cached, as most do by default, and a page whose cache then keeps them.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserBundle } from '../../src/browser-bundle.js';
import { findChromium } from '../../src/chromium.js';

const executablePath = findChromium();
/** Browsers keep a file for a tenth of its age. */
const MODIFIED = new Date(Date.now() - 100 * 24 * 3_600_000).toUTCString();

/** The files of a database after a further write, which is in a table, so that only CURRENT leads to it. */
async function filesAfterWrite(folder: WritableMemoryFolder, value: string): Promise<Map<string, Uint8Array>> {
  const database = await Database.open(folder);
  await database.put('key', value);
  await database.compactRange();
  await database.close();
  return new Map(folder.list().map((name) => {
    const file = folder.open(name)!;
    return [name, file.byteLength === 0 ? new Uint8Array(0) : file.read(0, file.byteLength).slice()];
  }));
}

/** Sends the range that is requested, or all bytes. Browsers keep only the answers of servers with ranges. */
function sendRange(bytes: Uint8Array, range: string | undefined, headers: Record<string, string>, response: ServerResponse): void {
  const [, start = '', end = ''] = /^bytes=(\d*)-(\d+)$/.exec(range ?? '') ?? [];
  const first = start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
  const part = bytes.subarray(first, start === '' ? bytes.length : Number(end) + 1);
  if (range === undefined) response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
  else if (part.length === 0) response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
  else response.writeHead(206, { ...headers, 'content-length': part.length, 'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}` }).end(part);
}

if (executablePath === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no page has a cache', () => {});
describe.runIf(executablePath !== undefined)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let server: Server;
  let files: Map<string, Uint8Array>;
  let version = 1;

  beforeAll(async () => {
    const script = await browserBundle(`export { DatabaseReader } from '@bloom/leveldb'; export { HttpFolder } from '@bloom/leveldb/http';`, import.meta.dirname);
    server = createServer((request, response) => {
      const bytes = request.url === '/bloom.js' ? script : files.get(request.url!.slice('/database/'.length));
      if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><script src="/bloom.js"></script>');
      else if (bytes === undefined) response.writeHead(404).end();
      else sendRange(bytes, request.headers.range, { etag: `"${version}"`, 'last-modified': MODIFIED }, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await chromium.launch({ executablePath: executablePath! });
    page = await browser.newPage();
  });

  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('a new state on the server is seen by refresh, and by a page that is loaded again', async () => {
    const folder = new WritableMemoryFolder();
    files = await filesAfterWrite(folder, 'old');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const opened = `window.reader = await bloom.DatabaseReader.open(new bloom.HttpFolder('/database/', { isPublished: true }));`;
    const value = `new TextDecoder().decode(await window.reader.get('key'))`;
    await page.goto(url);
    expect(await page.evaluate(`(async () => { ${opened} return ${value}; })()`)).toBe('old');
    files = await filesAfterWrite(folder, 'new');
    version++;
    expect(await page.evaluate(`(async () => [await window.reader.refresh(), ${value}])()`)).toEqual([true, 'new']);
    files = await filesAfterWrite(folder, 'newest');
    version++;
    await page.goto(url);
    expect(await page.evaluate(`(async () => { ${opened} return ${value}; })()`)).toBe('newest');
  });
});
