/** Writes `fixtures/data/web-storage` with the Chromium that is installed: what a page stores, and what it says of it. */
import { join } from 'node:path';
import { findWholeChromium } from './chromium.js';
import { BrowserOnDisk, bundled, Origin } from './origin.js';
import type { Stored } from './described-storage.js';
import { writeStorageFixture } from './storage-fixture.js';

const target = join(import.meta.dirname, '../../fixtures/data/web-storage');
const executablePath = findWholeChromium();
if (executablePath === undefined) throw new Error('no whole Chromium on the PATH');
const browser = new BrowserOnDisk(executablePath);
const origin = await Origin.start(await bundled('pages/storing-page'));
await browser.start();
const page = await browser.newPage(origin.url);
const version = browser.context.browser()!.version();
await page.evaluate(`import('/storing-page.js').then(({ store }) => store(9, 40, false))`);
const stored = await page.evaluate<Stored>(`import('/storing-page.js').then(({ stored }) => stored())`);
await browser.close();

writeStorageFixture(target, join(browser.profile, 'Default'), { browser: `Chromium ${version}`, storageKey: origin.url.slice(0, -1), ...stored });
await origin.stop();
await browser.stop();
