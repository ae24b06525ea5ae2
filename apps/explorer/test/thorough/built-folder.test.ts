import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LINK_PICTURE, publicUrl } from '../../link-preview.js';
import { describeInChromium } from '../in-chromium.js';
import { FIRST_VIEW_BYTES, PageServer } from '../page-server.js';

const app = join(import.meta.dirname, '../..');
const PUBLIC_URL = `https://example.org${PageServer.path}`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-explorer-'));
  const vite = join(app, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '--outDir', folder, '--logLevel', 'error'], { cwd: app, env: { ...process.env, NODE_ENV: 'production', EXPLORER_URL: PUBLIC_URL.slice(0, -1) } });
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the address of the page is one of a folder over HTTP', () => {
  expect(publicUrl(undefined)).toBeUndefined();
  expect(publicUrl('https://example.org/bloom')).toBe('https://example.org/bloom/');
  for (const wrong of ['example.org', 'file:///bloom/', 'https://example.org/?a=b', 'https://example.org/#/filter']) {
    expect(() => publicUrl(wrong)).toThrow('EXPLORER_URL must be the address of a folder');
  }
});

describeInChromium('the built folder', ({ open, browser }) => {
  test('a link to the page shows title, description and picture, and its canonical address', async () => {
    const server = await PageServer.start(folder);
    const page = await browser().newPage({ serviceWorkers: 'block' });
    await page.goto(server.url);
    const content = (name: string): Promise<string | null> => page.locator(`meta[property="${name}"], meta[name="${name}"]`).getAttribute('content');
    await expect.poll(() => page.locator('link[rel=canonical]').getAttribute('href')).toBe(PUBLIC_URL);
    await expect.poll(() => content('og:url')).toBe(PUBLIC_URL);
    await expect.poll(() => content('og:title')).toBe('Bloom explorer');
    expect(await content('og:description')).toBe(await content('description'));
    await expect.poll(() => content('twitter:card')).toBe('summary_large_image');
    const picture = await content('og:image');
    expect(picture).toBe(PUBLIC_URL + LINK_PICTURE.file);
    // The picture is there, and as large as the page says.
    const size = await page.evaluate(async (name) => {
      const { width, height } = await createImageBitmap(await (await fetch(name)).blob());
      return [String(width), String(height)];
    }, LINK_PICTURE.file);
    expect(size).toEqual([await content('og:image:width'), await content('og:image:height')]);
    await page.close();
    await server.stop();
  });

  test('an address without a file leads back to the page, from any depth', async () => {
    const server = await PageServer.start(folder);
    const page = await browser().newPage({ serviceWorkers: 'block' });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    for (const path of ['nothing', 'filter/of/old/links.html']) {
      expect((await page.goto(server.url + path))!.status()).toBe(404);
      await page.getByRole('heading', { name: 'Certainly not here' }).waitFor();
      await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).display)).toBe('grid');
      await page.getByRole('link', { name: 'To the Bloom explorer' }).press('Enter');
      await page.waitForURL((url) => url.href.split('#')[0] === server.url);
      await page.locator('main').waitFor();
    }
    expect(complaints.filter((complaint) => !/404|Service Worker registration blocked/.test(complaint))).toEqual([]);
    await page.close();
    await server.stop();
  });

  test('every view works under a path of a server, and asks for nothing outside of it', async () => {
    const explorer = await open('');
    const asked: string[] = [];
    explorer.page.on('request', (request) => asked.push(request.url()));
    await explorer.page.reload();
    await explorer.page.locator('main').waitFor();
    await explorer.go('#/table?sample=1');
    await expect.poll(() => explorer.fact('entries')).toBe('2,705');
    await explorer.go('#/database?sample=1');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await explorer.go('#/lookup?sample=1&key=weather/oslo/2026-01-20');
    await explorer.page.locator('[data-outcome=found].notice').waitFor();
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((url) => !new URL(url).pathname.startsWith(PageServer.path))).toEqual([]);
    // Chromium reports the answers to requests for logs that do not exist.
    (explorer.complaints as string[]).splice(0);
  });

  test(`the browser fetches less than ${FIRST_VIEW_BYTES} bytes for the first view, gzipped`, async () => {
    const page = await browser().newPage({ serviceWorkers: 'block' });
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (response) => bodies.push(response.body()));
    const server = await PageServer.start(folder);
    await page.goto(server.url, { waitUntil: 'load' });
    await page.locator('main h1, main h2').first().waitFor();
    const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
    await page.close();
    await server.stop();
  });

  test('offline, the page keeps what it needs and not what only other sites show', () => {
    const worker = readFileSync(join(folder, 'service-worker.js'), 'utf8');
    expect(worker).toContain('samples/weather.ldb');
    expect(worker).not.toContain(LINK_PICTURE.file);
    expect(worker).not.toContain('404.html');
  });
});
