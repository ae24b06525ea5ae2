// Builds the site, and looks at what came of it: every link, and the pages' tools in Chromium, without the network.
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { findChromium } from '@bloom/browser-tests/chromium';
import { root } from '@bloom/package-check/published-packages.js';
import { repository } from '@bloom/package-check/repository.js';
import type { AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MarkdownEnv } from 'vitepress';
import config from '../../.vitepress/config.js';
import { entryPointNames } from '../../src/reference.js';
import { REDIRECTS } from '../../src/redirects.js';
import { dist, pagePaths, SiteServer } from '../../src/site-server.js';

const site = join(import.meta.dirname, '../..');
const executablePath = findChromium();

const bin = (name: string): string => join(site, 'node_modules/.bin', process.platform === 'win32' ? `${name}.cmd` : name);

beforeAll(() => {
  const options: ExecFileSyncOptions = { cwd: site, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' };
  execFileSync(bin('tsx'), ['--conditions=bloom-source', 'src/pages.ts'], options);
  execFileSync(bin('vitepress'), ['build'], options);
  // A busy machine takes several times as long as a quiet one, which takes a minute.
}, 900_000);

test('every link within the site leads to a file, and its fragment to an element there', () => {
  const texts = new Map(pagePaths().map((path) => [path, readFileSync(join(dist, path), 'utf8')]));
  const broken: string[] = [];
  let links = 0;
  for (const [path, text] of texts) {
    for (const [, link = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^([a-z]+:|\/\/)/.test(link)) continue;
      links++;
      const [file = '', fragment] = link.replace(/\?[^#]*/, '').split('#');
      const target = decodeURIComponent(file === '' ? path : file.startsWith('/') ? file.slice(1) : posix.join(posix.dirname(path), file)).replace(/(^|\/)$/, '$1index.html');
      if (!existsSync(join(dist, target))) broken.push(`${path}: ${link}`);
      else if (fragment && texts.has(target) && !texts.get(target)!.includes(`id="${decodeURIComponent(fragment)}"`)) broken.push(`${path}: ${link}`);
    }
  }
  expect(links).toBeGreaterThan(1000);
  expect(broken).toEqual([]);
});

test('every renamed page leads to a page', () => {
  for (const [path, target] of REDIRECTS) {
    expect(pagePaths()).toContain(target);
    expect(readFileSync(join(dist, path), 'utf8')).toContain(`href="${target}"`);
  }
});

test('every link to the repository leads to a file or folder of it', () => {
  const gone = new Set<string>();
  let links = 0;
  for (const path of pagePaths()) {
    for (const [link, target = ''] of readFileSync(join(dist, path), 'utf8').matchAll(new RegExp(`${repository}/(?:blob|tree)/main/([^"#]*)`, 'g'))) {
      links++;
      if (/(^|\/)(\.\.|node_modules)\//.test(target) || !existsSync(join(root, decodeURIComponent(target)))) gone.add(`${path}: ${link}`);
    }
  }
  expect(links).toBeGreaterThan(1000);
  expect([...gone]).toEqual([]);
});

test('each entry point has a page that says what it is for', () => {
  const names = entryPointNames();
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !/<h1[^]*?<\/h1>(<div>)?<p>/.test(readFileSync(join(dist, `reference/${name}.html`), 'utf8')))).toEqual([]);
});

test('code in pages has colours', () => {
  for (const path of ['guide/start.html', 'packages/leveldb/index.html']) {
    expect(readFileSync(join(dist, path), 'utf8'), path).toMatch(/<span style="[^"]*--shiki-light:#/);
  }
});

test('the search index is rendered without colours, and leaves those of pages alone', async () => {
  const highlight = (): string => 'colours';
  const markdown = {
    options: { highlight } as { highlight: (() => string) | null },
    set: (changes: object) => void Object.assign(markdown.options, changes),
    render: (source: string) => source + (markdown.options.highlight?.() ?? ''),
  };
  const { search } = config.themeConfig!;
  if (search?.provider !== 'local') throw new Error('the search is not local');
  expect(await search.options!._render!('text', {} as MarkdownEnv, markdown as never)).toBe('text');
  expect(markdown.options.highlight).toBe(highlight);
});

test('llms.txt lists every page, and no other', () => {
  const listed = [...readFileSync(join(dist, 'llms.txt'), 'utf8').matchAll(/\]\(\/(?<path>[^)]*)\)/g)].map(({ groups }) => groups!.path!.replace(/(^|\/)$/, '$1index.html'));
  expect(listed.sort()).toEqual(pagePaths().filter((path) => path !== 'index.html'));
});

describe.skipIf(executablePath === undefined)(`in Chromium${executablePath === undefined ? ' (not installed)' : ''}`, () => {
  let server: SiteServer;
  let browser: Browser;
  const problems: string[] = [];

  async function open(path: string, width = 1280): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    page.on('pageerror', (error) => problems.push(`${path}: ${error.message}`));
    await page.route((url) => url.origin !== server.origin, (route) => {
      problems.push(`${path} asks for ${route.request().url()}`);
      return route.abort();
    });
    await page.goto(`${server.origin}/${path}`);
    return page;
  }

  beforeAll(async () => {
    server = await SiteServer.start();
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test('the calculator shows the trap of keys that are alike', async () => {
    const page = await open('guide/choose-a-filter.html');
    await page.getByLabel('Keys in one filter').fill('100000');
    await page.getByRole('combobox').selectOption('counters');
    await page.getByRole('button', { name: 'Build filters' }).click();
    const rate = async (row: number): Promise<number> => Number.parseFloat(await page.locator('.widget tbody tr').nth(row).locator('td').nth(2).innerText());
    await expect.poll(() => page.locator('.widget tbody tr').count()).toBe(3);
    expect(await rate(0)).toBeGreaterThan(5);
    expect(await rate(1)).toBeLessThan(1.5);
    await page.close();
  });

  test('the curve of filter lengths is measured in the page, for the chosen keys and number of keys', async () => {
    const page = await open('guide/numbered-keys.html');
    const widget = page.locator('.widget');
    const means = async (): Promise<number[]> => (await widget.locator('.means strong').allInnerTexts()).map((text) => Number.parseFloat(text));
    const matching = async (row: number): Promise<number> => Number.parseFloat(await widget.locator('tbody tr').nth(row).locator('td').nth(1).innerText());
    await expect.poll(() => widget.locator('.means').count(), { timeout: 60_000 }).toBe(1);
    const [plain, fitted] = await means();
    expect(plain).toBeGreaterThan(6);
    expect(fitted).toBeLessThan(0.5);
    for (const of of ['plain', 'fitted']) expect((await widget.locator(`polyline.${of}`).getAttribute('points'))!.split(' ').length).toBe(127);
    expect(await matching(0)).toBeGreaterThan(50);
    expect(await matching(1)).toBeLessThan(1);
    await widget.getByRole('slider').fill('39');
    await expect.poll(() => matching(0)).toBeLessThan(10);
    await widget.getByRole('slider').fill('2');
    await expect.poll(() => matching(0)).toBe(100);
    await widget.getByRole('combobox').selectOption('uint64, big-endian');
    await expect.poll(async () => (await means())[0] ?? 0, { timeout: 60_000 }).toBeGreaterThan(30);
    await page.close();
  }, 120_000);

  test('the bytes of a table follow what is typed, and keys out of order are refused', async () => {
    const page = await open('guide/format.html');
    const text = page.getByRole('textbox', { name: 'Entries' });
    await text.fill('zebra=striped');
    await expect.poll(() => page.locator('.live-bytes').innerText()).toContain('7a 65 62 72 61');
    await text.fill('b=1\na=2');
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('RangeError');
    await page.close();
  });

  test('the choice of a layer follows the answers', async () => {
    const page = await open('guide/choose-a-layer.html');
    await page.getByLabel('a table: one file').check();
    await page.getByLabel('on a web server').check();
    await page.getByLabel('with zlib').check();
    await expect.poll(() => page.locator('.widget').innerText()).toContain('npm install @bloom/sstable @bloom/codecs');
    await page.getByRole('link', { name: '@bloom/sstable/http' }).click();
    await expect.poll(() => page.locator('h1').innerText()).toContain('@bloom/sstable/http');
    await page.close();
  });

  test('the search finds guides, members and errors first, without the network', async () => {
    const page = await open('index.html');
    await page.getByRole('button', { name: 'Search' }).click();
    const first = page.locator('.VPLocalSearchBox .result').first();
    for (const [query, path] of [
      ['BLOOM_LOCKED', '/errors/BLOOM_LOCKED.html'],
      ['install', '/guide/start.html#install'],
      ['publish', '/guide/publish-data.html'],
      ['comparator', '/guide/write-a-comparator.html'],
      ['repair', '/packages/leveldb/damage.html#repair'],
      ['getSync', '#getsync'],
      ['classic-level', '/from-another-library.html'],
    ] as const) {
      await page.locator('#localsearch-input').fill(query);
      await expect.poll(() => first.getAttribute('href'), { message: query }).toContain(path);
    }
    await page.close();
  });

  test('text contrasts with its background, in the light and in the dark scheme', async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    for (const path of ['index.html', 'guide/start.html', 'guide/choose-a-layer.html', 'guide/numbered-keys.html', 'guide/write-a-policy.html', 'errors/BLOOM_LOCKED.html', 'reference/@bloom/hash.html']) {
      const page = await open(path);
      await page.evaluate(axe);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const { violations } = await page.evaluate<AxeResults>("axe.run(document, { runOnly: ['color-contrast'], resultTypes: ['violations'], selectors: false })");
        expect(violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)), `${path}, ${colorScheme}`).toEqual([]);
      }
      await page.close();
    }
  });

  test('a step of the explorer is on the page', async () => {
    const page = await open('story.html');
    const frame = page.locator('iframe').first().contentFrame();
    await expect.poll(() => frame.getByText('Looking for what is not there is slow').count()).toBeGreaterThan(0);
    await page.close();
  });

  /** The widths and heights of pages without their scripts, in pixels. Their contents are shown on one page, because loading each takes most of the time. */
  async function sizesOf(paths: readonly string[], width: number): Promise<{ path: string; width: number; height: number }[]> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, javaScriptEnabled: false });
    await page.goto(`${server.origin}/${paths[0]!}`, { waitUntil: 'load' });
    const sizes = await page.evaluate(async (all) => {
      const found = [];
      for (const path of all) {
        const other = new DOMParser().parseFromString(await (await fetch(`/${path}`)).text(), 'text/html');
        document.querySelector('.VPContent')!.replaceWith(other.querySelector('.VPContent')!);
        const { scrollWidth, scrollHeight } = document.documentElement;
        found.push({ path, width: scrollWidth, height: scrollHeight });
      }
      return found;
    }, paths);
    await page.close();
    return sizes;
  }

  test('no page of guides and packages is wider than a window of 320 or 390 pixels', async () => {
    const paths = pagePaths().filter((name) => /^(guide|packages)\//.test(name));
    const hasTools = (path: string): boolean => readFileSync(join(dist, path), 'utf8').includes('class="widget');
    const tools = await open('index.html');
    expect(paths.filter(hasTools).length).toBeGreaterThan(3);
    for (const window of [390, 320]) {
      expect((await sizesOf(paths, window)).filter(({ width }) => width > window)).toEqual([]);
      await tools.setViewportSize({ width: window, height: 900 });
      for (const path of paths.filter(hasTools)) {
        await tools.goto(`${server.origin}/${path}`, { waitUntil: 'domcontentloaded' });
        expect(await tools.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(window);
      }
    }
    await tools.close();
  });

  test('no page of the reference is higher than 8,000 pixels', async () => {
    const sizes = await sizesOf(pagePaths().filter((name) => name.startsWith('reference/')), 1280);
    expect(sizes.length).toBeGreaterThan(100);
    expect(sizes.filter(({ height }) => height > 8000)).toEqual([]);
  });

  test('a renamed page leads to the same fragment of the page that it is now', async () => {
    const page = await open('interface.html#options');
    await expect.poll(() => page.url()).toBe(`${server.origin}/public-classes.html#options`);
    await page.close();
  });

  test('an address without a page gets one that says what to do', async () => {
    const page = await open('guide/nothing.html');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await page.getByText('The search at the top').waitFor();
    await page.getByRole('link', { name: 'Go to the start page' }).click();
    await expect.poll(() => page.url()).toBe(`${server.origin}/`);
    await page.close();
  });

  test('the navigation and the start page lead to the explorer', async () => {
    for (const link of ['.VPNavBarMenuLink', '.VPHero a']) {
      const page = await open('index.html');
      await page.locator(link, { hasText: /explorer/i }).first().click();
      await expect.poll(() => page.title()).toMatch(/Bloom explorer$/);
      await page.close();
    }
  });

  test('no page failed, or asked another server', () => {
    expect(problems).toEqual([]);
  });
});
