/**
 * Takes pictures of the built page: each step of the story, and each view, at four widths, light and dark.
 *
 *     npx pnpm@10 --filter @bloom/explorer screenshots FOLDER [NAME]
 *
 * `NAME` is the start of the pictures' names: only those are taken.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { findChromium } from '@bloom/browser-tests/chromium';
import { chromium, type Locator } from 'playwright-core';
import { ExplorerPage } from './explorer-page.js';
import { PageServer } from './page-server.js';

const WIDTHS = [320, 390, 768, 1280];
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 800;

/** What a reader predicts rightly, by the story's steps. */
const RIGHT = ['10 times', '3', 'Yes, for certain', 'Yes', 'about a tenth', 'about 3%', '“No”: it is not there'];

interface Scene {
  readonly name: string;
  readonly hash: string;
  /** Brings the page into the state that is shown. */
  readonly prepare: (explorer: ExplorerPage) => Promise<void>;
  /** The part that is shown; otherwise the whole page. */
  readonly part?: string;
}

const step = ({ page }: ExplorerPage, number: number): Locator => page.locator(`[data-step="${number}"]`);

async function predict(explorer: ExplorerPage, number: number): Promise<void> {
  const here = step(explorer, number);
  await here.scrollIntoViewIfNeeded();
  if (number === 6) await here.locator('.real-bytes').waitFor();
  if (number === 7) await here.locator('.bit-row svg').waitFor();
  if (number === 2) await here.getByRole('button', { name: 'Add it' }).click();
  await here.getByRole('button', { name: RIGHT[number - 1]!, exact: true }).click();
  while (number === 4 && (await here.locator('[data-story-verdict="false positive"]').count()) === 0) {
    await here.getByRole('button', { name: /^Add “/ }).click();
  }
}

const waitFor =
  (selector: string): Scene['prepare'] =>
  async ({ page }) =>
    page.locator(selector).first().waitFor();

const SCENES: readonly Scene[] = [
  { name: 'story-start', hash: '', prepare: waitFor('[data-step="7"]') },
  ...RIGHT.flatMap((_, i): Scene[] => {
    const number = i + 1;
    const part = `[data-step="${number}"]`;
    return [
      {
        name: `story-${number}-before`,
        hash: '',
        part,
        async prepare(explorer) {
          // A reader comes from the steps before.
          for (let earlier = 2; earlier < number; earlier++) await predict(explorer, earlier);
          await step(explorer, number).scrollIntoViewIfNeeded();
          if (number >= 6) await step(explorer, number).locator('svg').first().waitFor();
        },
      },
      {
        name: `story-${number}-told`,
        hash: '',
        part,
        async prepare(explorer) {
          for (let each = number === 1 ? 1 : 2; each <= number; each++) await predict(explorer, each);
        },
      },
    ];
  }),
  { name: 'filter', hash: '#/filter?q=pear', prepare: waitFor('.verdict[data-verdict=no]') },
  { name: 'filter-both', hash: '#/filter?policy=both&q=pear', prepare: waitFor('.bench') },
  ...['digits', 'bytes', 'random'].map((pattern): Scene => ({
    name: `filter-fit-${pattern}`,
    hash: `#/filter?pattern=${pattern}`,
    part: '.fit-card',
    async prepare({ page }) {
      await page.locator('.fit-card').scrollIntoViewIfNeeded();
      await page.locator('[data-measured=true]').waitFor();
    },
  })),
  { name: 'table', hash: '#/table?sample=1', prepare: waitFor('[data-fact=entries]') },
  {
    name: 'table-filters',
    hash: '#/table?sample=1&at=102541',
    async prepare({ page }) {
      await page.getByRole('grid', { name: 'Filters' }).getByRole('row').nth(1).click();
      await page.getByLabel('Ask it about a key').fill('weather/oslo/2026-01-20');
      await page.locator('.stored-filter[data-answer]').waitFor();
      await page.getByRole('button', { name: 'Try with 10,000 absent keys' }).click();
      await page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
    },
  },
  {
    name: 'table-fitted',
    hash: '#/table?sample=1',
    async prepare(explorer) {
      await explorer.choose('LevelDB’s, fitted');
      await explorer.button('Try with neighbouring keys').click();
      await explorer.page.locator('[data-trial=leveldb] [data-cell=reads]').waitFor();
    },
  },
  { name: 'database', hash: '#/database?sample=1&prefix=weather/oslo', prepare: waitFor('[data-fact=entries]') },
  { name: 'storage-empty', hash: '#/storage', prepare: waitFor('.drop') },
  {
    name: 'storage-profile',
    hash: '#/storage?sample=1',
    async prepare({ page }) {
      await page.getByRole('grid').getByRole('row').nth(5).waitFor();
      await page.getByText('shop.example').first().waitFor();
    },
  },
  {
    name: 'storage-record',
    hash: '#/storage?sample=1&in=IndexedDB%2Fhttps_notes.example_0.indexeddb.leveldb&database=1&store=1',
    async prepare({ page }) {
      await page.getByRole('grid').getByRole('row').nth(1).click();
      await page.locator('.value-tree ul').first().waitFor();
    },
  },
  {
    name: 'storage-file',
    hash: '#/storage?sample=1&in=IndexedDB%2Fhttps_notes.example_0.indexeddb.leveldb&database=1&store=2&versions=1',
    async prepare({ page }) {
      await page.getByRole('grid').getByRole('row').nth(1).click();
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.locator('.stored-file img').waitFor();
    },
  },
  { name: 'lookup', hash: '#/lookup?sample=1&key=weather/oslo/2026-01-20', prepare: waitFor('[data-outcome=found].notice') },
  {
    name: 'live',
    hash: '#/live?pace=at-once',
    async prepare({ page }) {
      await page.getByRole('button', { name: 'Write a thousand', exact: true }).click();
      await page.locator('[data-fact=last-sequence]').getByText('1,000').waitFor();
      await page.locator('[data-fact=next-step]').getByText('Nothing to do.').waitFor();
    },
  },
  {
    name: 'opfs',
    hash: '#/opfs',
    async prepare({ page }) {
      for (const [key, value] of [['pear', 'green, and yellow when it is ripe'], ['apple', 'red'], ['fig', 'violet']] as const) {
        await page.getByLabel('Key', { exact: true }).fill(key);
        await page.getByLabel('Value', { exact: true }).fill(value);
        await page.getByRole('button', { name: 'Put', exact: true }).click();
        await page.locator(`[data-key="${key}"]`).waitFor();
      }
      await page.getByRole('button', { name: 'Get', exact: true }).click();
      await page.locator('[data-fact=answer] b').first().waitFor();
    },
  },
  { name: 'log', hash: '#/table?url=samples/database/000013.log', prepare: waitFor('[data-fact=records]') },
  { name: 'manifest', hash: '#/table?url=samples/database/MANIFEST-000002', prepare: waitFor('[data-fact=records]') },
];

const [folder, wanted = ''] = process.argv.slice(2);
if (folder === undefined) throw new Error('which folder are the pictures for?');
const executablePath = findChromium();
if (executablePath === undefined) throw new Error('no Chromium on the PATH');
const out = resolve(process.env.INIT_CWD ?? '.', folder);
mkdirSync(out, { recursive: true });
const server = await PageServer.start(join(import.meta.dirname, '../dist'));
const browser = await chromium.launch({ executablePath });
try {
  for (const { name, hash, prepare, part } of SCENES.filter((scene) => scene.name.startsWith(wanted))) {
    const context = await ExplorerPage.newContext(browser, { viewport: { width: WIDTHS[0]!, height: HEIGHT } });
    const explorer = await ExplorerPage.open(context, server, hash, true);
    const { page } = explorer;
    await prepare(explorer);
    // The links to the steps would stay at the top of the window, over what is below them.
    await page.locator('.story-steps').evaluateAll((links) => links.forEach((element) => ((element as HTMLElement).style.position = 'static')));
    // No part of the page is pointed at.
    await page.mouse.move(0, 0);
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme });
        // Colours and sizes take a moment to arrive at canvases.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const path = join(out, `${name}-${width}-${scheme}.png`);
        if (part === undefined) await page.screenshot({ path, fullPage: true });
        else {
          // With the margins beside it.
          const { y, height } = await page.locator(part).evaluate((element) => ({ y: element.getBoundingClientRect().y + scrollY, height: element.clientHeight }));
          await page.screenshot({ path, fullPage: true, clip: { x: 0, y, width, height } });
        }
      }
    }
    process.stdout.write(`${name}\n`);
    await explorer.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
