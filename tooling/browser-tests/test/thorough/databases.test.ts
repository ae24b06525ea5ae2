// Reads whole database folders in a page: as files that its user picked, and over HTTP.
import { folderFiles, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabasePageFindings } from '../../src/database-page.js';
import { findChromium } from '../../src/chromium.js';
import { pageScript } from '../page-script.js';
import { PageServer } from '../page-server.js';

const databases = [
  ...goldenDatabases().filter(({ name }) => ['log-blocks', 'bloom', 'snappy'].includes(name)),
  // Raw deflate; the order of IndexedDB.
  ...realDatabases().filter(({ name }) => /mctestdb|linux_109_64/.test(name)),
].map((database, i) => ({ ...database, id: `database-${i}` }));
/** A folder on the server for each database. The server does not list its files. */
const served = new Map(
  databases.flatMap(({ id, path }) => Array.from(folderFiles(path), ([name, bytes]) => [`/${id}/${name}`, bytes] as const)),
);
const task = databases.map(({ id, comparator }) => ({ name: id, url: `/${id}`, isIndexedDb: comparator === 'idb_cmp1' }));
const executablePath = findChromium();

if (executablePath === undefined) {
  test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no page is opened', () => {});
}

describe.runIf(executablePath !== undefined)('in Chromium, under a Content-Security-Policy that forbids WebAssembly', () => {
  let browser: Browser;
  let server: PageServer<DatabasePageFindings>;
  let found: DatabasePageFindings;

  beforeAll(async () => {
    server = await PageServer.start(await pageScript('database-page.ts'), task, served);
    server.contentSecurityPolicy = "default-src 'self'";
    browser = await chromium.launch({ executablePath: executablePath! });
    const outcome = server.nextOutcome();
    const page = await browser.newPage();
    await page.goto(server.url);
    for (const { id, path } of databases) await page.setInputFiles(`#${id}`, path);
    const answer = await outcome;
    if ('failure' in answer) throw new Error(answer.failure);
    found = answer.findings;
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test('the databases are of three kinds: a log only, tables at several levels, and a single table', () => {
    expect(databases.map(({ levels }) => levels!.reduce((sum, count) => sum + count))).toEqual([0, 3, 3, 1, 0]);
  });

  test.each(databases)('$name has the entries that LevelDB reads, both as picked files and over HTTP', ({ id, levels, entries, entriesSha256 }) => {
    const { picked, overHttp } = found.find(({ name }) => name === id)!;
    for (const findings of [picked, overHttp]) {
      expect(findings).toMatchObject({
        levels,
        entries,
        forwards: entriesSha256,
        backwards: entriesSha256,
        lookups: entriesSha256,
        wronglyPresent: 0,
      });
    }
    expect(picked).toEqual(overHttp);
  });

  test('Bloom filters answer most lookups of absent keys', () => {
    const i = databases.findIndex(({ name }) => name === 'bloom');
    const { picked } = found[i]!;
    expect(picked.filterStatus).toBe('used');
    expect(picked.filterNegatives).toBeGreaterThan(picked.entries * 0.9);
  });
});
