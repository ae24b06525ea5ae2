/**
 * Takes screenshots of the hand-written pages of the built site, and of some generated ones: light, dark, and on a phone.
 *
 *     npx pnpm@10 --filter @bloom/site screenshots FOLDER [NAME]
 *
 * Only pages whose paths start with `NAME` are taken.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { findChromium } from '@bloom/browser-tests/chromium';
import { chromium } from 'playwright-core';
import { pagePaths, SiteServer } from './site-server.js';

const VIEWS = [
  { name: 'light', width: 1280, scheme: 'light' },
  { name: 'dark', width: 1280, scheme: 'dark' },
  { name: 'phone', width: 390, scheme: 'light' },
] as const;

const [folder, wanted = ''] = process.argv.slice(2);
if (folder === undefined) throw new Error('pass the folder for the screenshots');
const executablePath = findChromium();
if (executablePath === undefined) throw new Error('no Chromium on the PATH');
const out = resolve(process.env.INIT_CWD ?? '.', folder);
mkdirSync(out, { recursive: true });

const server = await SiteServer.start();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const paths = pagePaths().filter((path) => /^(index|story|guide\/.*|errors\/(index|BLOOM_BAD_CHECKSUM)|reference\/(index|@bloom\/hash)|results)\.html$/.test(path) && path.startsWith(wanted));
  for (const { name, width, scheme } of VIEWS) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    for (const path of paths) {
      await page.goto(`${server.origin}/${path}`, { waitUntil: 'load' });
      await page.screenshot({ path: `${out}/${path.replace(/\.html$/, '').replaceAll('/', '-')}-${name}.png` });
    }
    await page.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
