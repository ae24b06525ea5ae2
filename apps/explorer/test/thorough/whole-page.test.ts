import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { contentSecurityPolicy, policyWithoutWebAssembly } from '../../content-security-policy.js';
import { axeFindsNothing } from '../axe.js';
import { describeInChromium } from '../in-chromium.js';
import { FIRST_VIEW_BYTES } from '../page-server.js';

const dist = join(import.meta.dirname, '../../dist');

const VIEWS = [
  ['story, before anything is predicted', '#/story', '[data-step="7"]'],
  ['story, at its real table', '#/story?step=6', '.real-bytes'],
  ['filter, before anything is asked', '#/filter', '.added-words'],
  ['filter, both policies', '#/filter?policy=both&q=pear', '.bench'],
  ['filter, with a wrong maybe', '#/filter?bits=3&q=peach', '[data-verdict="false positive"]'],
  ['table, with nothing open', '#/table', '.drop'],
  ['database, with nothing open', '#/database', '.drop'],
  ['table', '#/table?sample=1', '[data-fact=entries]'],
  ['database', '#/database?sample=1&prefix=weather/oslo', '[data-fact=entries]'],
  ['log', `#/table?url=samples/database/000013.log`, '[data-fact=records]'],
  ['MANIFEST', `#/table?url=samples/database/MANIFEST-000002`, '[data-fact=records]'],
  ['storage', '#/storage', '.drop'],
  ['stored data', '#/storage?sample=1&find=pear', '.window-row'],
  ['lookup', '#/lookup?sample=1&key=weather/oslo/2026-01-20', '[data-outcome=found].notice'],
  ['live database', '#/live?pace=at-once', '[data-fact=last-sequence]'],
  ['database in the browser', '#/opfs', '[data-file=CURRENT]'],
] as const;

test(`the files of the first view have less than ${FIRST_VIEW_BYTES} bytes, gzipped`, () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(1);
  const bytes = [html, ...files.map((file) => readFileSync(join(dist, file)))].reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
});

test('the built page refers to no other host and contains its Content-Security-Policy', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style="|onload=/);
  expect(html.replaceAll('&#39;', "'")).toContain(contentSecurityPolicy);
});

describeInChromium('the whole page', ({ open, server }) => {
  test.each(VIEWS)('axe finds nothing in the view %s, which is never wider than the window, in both themes', async (_, hash, ready) => {
    const explorer = await open(hash);
    await explorer.page.locator(ready).first().waitFor();
    await axeFindsNothing(explorer);
  });

  test('axe finds nothing in filters that are tried, nor in the bits of a stored filter', async () => {
    const table = await open('#/table?sample=1&at=102541');
    await table.page.getByRole('grid', { name: 'Filters' }).getByRole('row').nth(1).click();
    await table.page.getByLabel('Ask it about a key').fill('weather/oslo/2026-01-20');
    await table.page.locator('.stored-filter[data-answer]').waitFor();
    await table.button('Try with 10,000 absent keys').click();
    await table.page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
    await axeFindsNothing(table);
    const lookup = await open('#/lookup?sample=1&key=weather/oslo/2026-01-20');
    await lookup.page.getByText('Its bits').first().click();
    await lookup.page.locator('.stored-filter[data-answer]').waitFor();
    await axeFindsNothing(lookup);
  });

  test('axe finds nothing in LevelDB’s filters beside fitted ones, nor in the trial of fitted ones', async () => {
    const filter = await open('#/filter?pattern=bytes&fit=38');
    await filter.page.locator('.fit-card').scrollIntoViewIfNeeded();
    await filter.page.locator('.fit-card [data-measured=true]').waitFor();
    await axeFindsNothing(filter);
    const table = await open('#/table?sample=1');
    await table.choose('LevelDB’s, fitted');
    await table.button('Try with neighbouring keys').click();
    await table.page.locator('[data-trial=leveldb] [data-cell=reads]').waitFor();
    await axeFindsNothing(table);
  });

  test('without JavaScript, it says so on the first screen', async () => {
    const { page } = await open('', { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const box = (await page.locator('.no-script p').boundingBox())!;
    expect(box.y + box.height).toBeLessThan(740);
  });

  test('works where WebAssembly is forbidden', async () => {
    server().policy = policyWithoutWebAssembly;
    try {
      // Workers that the browser has kept would have the policy that they came with.
      const explorer = await open('#/table?sample=1', { ownContext: true });
      await expect.poll(() => explorer.fact('entries')).toBe('2,705');
      await explorer.go('#/filter?n=50000');
      await explorer.page.locator('.bench').waitFor();
      // The only reports are of WebAssembly that was refused.
      const others = explorer.complaints.filter((complaint) => !/wasm|WebAssembly/i.test(complaint));
      expect(others).toEqual([]);
      (explorer.complaints as string[]).splice(0);
    } finally {
      server().policy = contentSecurityPolicy;
    }
  });

  test('works in a browser that stores nothing', async () => {
    const explorer = await open('', { ownContext: true });
    await explorer.page.addInitScript(() => {
      const refuse = (of: object, name: string): unknown => Object.defineProperty(of, name, { get: () => { throw new DOMException('it is blocked', 'SecurityError'); } });
      refuse(window, 'localStorage');
      refuse(window, 'sessionStorage');
      refuse(navigator, 'serviceWorker');
    });
    await explorer.page.reload();
    await explorer.choose('Dark');
    for (const [, hash, ready] of VIEWS.filter(([name]) => ['table', 'stored data', 'filter, both policies', 'lookup', 'live database'].includes(name))) {
      await explorer.go(hash);
      await explorer.page.locator(ready).first().waitFor();
    }
  });

  test('works offline after the first visit', async () => {
    // Then only the service worker has the assets.
    server().cachesAssets = false;
    onTestFinished(() => void (server().cachesAssets = true));
    const explorer = await open('', { serviceWorkers: 'allow' });
    const { page } = explorer;
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      while (navigator.serviceWorker.controller === null) await new Promise((resolve) => setTimeout(resolve, 50));
    });
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'How a few bits save a slow read' }).waitFor();
    await explorer.go('#/story?step=6');
    await page.locator('.real-bytes').waitFor();
    await explorer.go('#/filter');
    await page.locator('.added-words').waitFor();
    await explorer.go('#/table?sample=1');
    await expect.poll(() => explorer.fact('entries')).toBe('2,705');
    await explorer.go('#/database?sample=1');
    await page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await expect.poll(() => explorer.fact('entries')).toBe('2,407');
    await explorer.go('#/lookup?sample=1&key=weather/oslo/2026-01-20');
    await page.locator('[data-outcome=found].notice').waitFor();
    await explorer.go('#/live');
    await expect.poll(() => explorer.fact('last-sequence')).toBe('0');
    // Chromium reports the answers to requests for logs that do not exist.
    const others = explorer.complaints.filter((complaint) => !complaint.includes('404'));
    expect(others).toEqual([]);
    (explorer.complaints as string[]).splice(0);
  });

  test('an open page keeps its files when another tab finds a newer build, which the next visit gets', async () => {
    server().cachesAssets = false;
    onTestFinished(() => {
      server().cachesAssets = true;
      server().replaced.clear();
    });
    const first = await open('', { serviceWorkers: 'allow' });
    const context = first.page.context();
    const names = (page: Page): Promise<string[]> => page.evaluate(() => caches.keys());
    const state = (page: Page, which: 'active' | 'waiting'): Promise<string | undefined> => page.evaluate(async (key) => (await navigator.serviceWorker.getRegistration())?.[key]?.state, which);
    await expect.poll(() => state(first.page, 'active')).toBe('activated');
    const [old] = await names(first.page);
    // Chunks of another build have other names.
    const view = readdirSync(join(dist, 'assets')).find((name) => /^filter-view-.*\.js$/.test(name))!;
    const worker = readFileSync(join(dist, 'service-worker.js'), 'utf8');
    const version = old!.split(' ').at(-1)!;
    server().replaced.set('service-worker.js', worker.replace(version, 'newer').replace(`"assets/${view}",`, ''));
    server().replaced.set(`assets/${view}`, undefined);
    const second = await context.newPage();
    await second.goto(server().url);
    await expect.poll(() => state(first.page, 'waiting')).toBe('installed');
    await first.go('#/filter');
    await first.page.locator('.added-words').waitFor();
    await second.close();
    await first.page.goto('about:blank');
    const next = await context.newPage();
    await expect.poll(async () => {
      await next.goto(server().url);
      return names(next);
    }).toEqual([old!.replace(version, 'newer')]);
  });

  test('the only open page gets a newer build when it is reloaded, and one of two pages does not', async () => {
    server().cachesAssets = false;
    onTestFinished(() => {
      server().cachesAssets = true;
      server().replaced.clear();
    });
    const { page } = await open('', { serviceWorkers: 'allow' });
    const hasWorker = (which: 'active' | 'waiting'): Promise<boolean> => page.evaluate(async (key) => (await navigator.serviceWorker.getRegistration())?.[key]?.state === (key === 'active' ? 'activated' : 'installed'), which);
    const build = (of: Page): Promise<string | null> => of.evaluate(() => document.querySelector('meta[name=build]')?.getAttribute('content') ?? null);
    await expect.poll(() => hasWorker('active')).toBe(true);
    const [old] = await page.evaluate(() => caches.keys());
    const version = old!.split(' ').at(-1)!;
    const worker = readFileSync(join(dist, 'service-worker.js'), 'utf8');
    server().replaced.set('service-worker.js', worker.replace(version, 'newer'));
    for (const path of ['', 'index.html']) server().replaced.set(path, readFileSync(join(dist, 'index.html'), 'utf8').replace('<head>', '<head><meta name="build" content="newer">'));
    await page.reload();
    await expect.poll(() => hasWorker('waiting')).toBe(true);
    const other = await page.context().newPage();
    await other.goto(server().url);
    await other.locator('[data-step]').first().waitFor();
    await other.reload();
    await other.locator('[data-step]').first().waitFor();
    expect([await build(page), await build(other), await page.evaluate(() => caches.keys())]).toEqual([null, null, expect.arrayContaining([old])]);
    await other.close();
    await page.evaluate(() => (location.hash = '#/filter?n=77'));
    await page.locator('.bench').waitFor();
    await page.reload();
    await expect.poll(() => build(page).catch(() => undefined)).toBe('newer');
    await page.locator('.bench').waitFor();
    expect(page.url()).toBe(`${server().url}#/filter?n=77`);
    expect(await page.evaluate(() => caches.keys())).toEqual([old!.replace(version, 'newer')]);
  });

  test.each([
    ['used', true],
    ['not used', false],
  ])('a newer build that takes over only after the page is shown: a page that was %s', async (_, isUsed) => {
    server().cachesAssets = false;
    onTestFinished(() => {
      server().cachesAssets = true;
      server().replaced.clear();
    });
    const { page } = await open('', { serviceWorkers: 'allow' });
    const hasWorker = (which: 'active' | 'waiting'): Promise<boolean> => page.evaluate(async (key) => (await navigator.serviceWorker.getRegistration())?.[key] instanceof ServiceWorker, which);
    await expect.poll(() => hasWorker('active')).toBe(true);
    const version = (await page.evaluate(() => caches.keys()))[0]!.split(' ').at(-1)!;
    const worker = readFileSync(join(dist, 'service-worker.js'), 'utf8');
    const late = worker.replace(version, 'newer').replace(/\w+\.skipWaiting\(\)/, 'new Promise((resolve) => setTimeout(resolve, 6000)).then(() => $&)');
    server().replaced.set('service-worker.js', late);
    await page.reload();
    await expect.poll(() => hasWorker('waiting')).toBe(true);
    await page.evaluate(() => (location.hash = '#/live'));
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'A live database' }).waitFor();
    await page.evaluate(() => (document.body.dataset.load = 'first'));
    if (isUsed) await page.getByRole('button', { name: 'Put', exact: true }).click();
    await expect.poll(() => page.evaluate(() => caches.keys()).catch(() => []), { timeout: 20_000 }).toEqual([expect.stringMatching(/ newer$/)]);
    if (isUsed) {
      // A page that is loaded again is another one by now.
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
      await expect.poll(() => page.evaluate(() => document.body.dataset.load)).toBe('first');
      await expect.poll(() => page.locator('[data-fact=last-sequence]').textContent()).toBe('1');
    } else await expect.poll(() => page.evaluate(() => document.body.dataset.load ?? 'again').catch(() => '')).toBe('again');
  });

  test('remembers the theme, and links lead to all views', async () => {
    const explorer = await open('');
    const { page } = explorer;
    await explorer.choose('Dark');
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.reload();
    await expect.poll(() => page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark);
    for (const [link, title] of [['Filter', '“Have I seen this before?”'], ['Table', 'Inside a table'], ['Database', 'Walk through a database'], ['Storage', 'What a browser stored'], ['Lookup', 'Follow a lookup']] as const) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await expect.poll(() => page.title()).toBe(`${link} · Bloom explorer`);
    }
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'What a browser stored' }).waitFor();
  });
});
