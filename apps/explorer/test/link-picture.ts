/** Makes the picture for links from the built page: the bits of a filter, with those of a key. Writes it to `public`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { findChromium } from '@bloom/browser-tests/chromium';
import { chromium } from 'playwright-core';
import { LINK_PICTURE } from '../link-preview.js';
import { ExplorerPage } from './explorer-page.js';
import { PageServer } from './page-server.js';

const PADDING = 56;
/** The grid is drawn for this width, and enlarged. */
const SCALE = 1.35;

const executablePath = findChromium();
if (executablePath === undefined) throw new Error('no Chromium on the PATH');
const server = await PageServer.start(join(import.meta.dirname, '../dist'));
const browser = await chromium.launch({ executablePath });
try {
  const { file, width, height } = LINK_PICTURE;
  const context = await ExplorerPage.newContext(browser, { viewport: { width, height }, colorScheme: 'light' });
  const { page } = await ExplorerPage.open(context, server, '#/filter?q=pear', true);
  await page.locator('.verdict[data-verdict=no]').waitFor();
  await page.evaluate(
    ({ padding, scale, title, text }) => {
      // The mark, the grid and the answer are the page's own, without what surrounds them.
      const mark = document.querySelector('.brand .mark')!;
      const grid = document.querySelector<HTMLElement>('.bit-grid')!;
      const verdict = document.querySelector('.verdict')!;
      const heading = document.createElement('h1');
      heading.append(mark, ` ${title}`);
      const lead = document.createElement('p');
      lead.textContent = text;
      const picture = document.createElement('div');
      picture.append(heading, lead, grid, verdict);
      document.body.append(picture);
      for (const other of document.body.children) if (other !== picture) (other as HTMLElement).hidden = true;
      // Named functions would need tsx's own helper, which the page does not have.
      for (const [element, style] of [
        [document.documentElement, { overflow: 'hidden' }],
        [picture, { position: 'fixed', inset: '0', padding: `${padding}px`, boxSizing: 'border-box', display: 'grid', gap: '26px', alignContent: 'center', zoom: String(scale), background: 'var(--paper)' }],
        [heading, { fontSize: '40px', display: 'flex', gap: '14px', alignItems: 'center', lineHeight: '1', margin: '0' }],
        [mark, { width: '44px', height: '44px' }],
        [lead, { fontSize: '21px', margin: '0', color: 'var(--muted)' }],
      ] as const) {
        Object.assign((element as HTMLElement).style, style);
      }
    },
    { padding: Math.round(PADDING / SCALE), scale: SCALE, title: 'Bloom explorer', text: 'Touch a Bloom filter, and see it at work in a LevelDB database.' },
  );
  await page.waitForTimeout(500);
  const path = join(import.meta.dirname, '../public', file);
  writeFileSync(path, await page.screenshot({ path, clip: { x: 0, y: 0, width, height } }));
  process.stdout.write(`${path}\n`);
} finally {
  await browser.close();
  await server.stop();
}
