/** Writes `fixtures/data/web-storage` with the Chromium that is installed: what a page stores, and what it says of it. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BrowserOnDisk, bundled, Origin } from './origin.js';
import type { Stored } from './described-storage.js';

const target = join(import.meta.dirname, '../../fixtures/data/web-storage');
const browser = new BrowserOnDisk();
const origin = await Origin.start(await bundled('pages/storing-page'));
await browser.start();
const page = await browser.newPage(origin.url);
const version = browser.context.browser()!.version();
await page.evaluate(`import('/storing-page.js').then(({ store }) => store(9, 40, false))`);
const stored = await page.evaluate<Stored>(`import('/storing-page.js').then(({ stored }) => stored())`);
await browser.close();

const profile = join(browser.profile, 'Default');
const indexedDb = join(profile, 'IndexedDB');
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
// Text logs have paths of the machine in them.
const isData = (path: string): boolean => !['LOCK', 'LOG', 'LOG.old'].includes(basename(path));
for (const name of readdirSync(indexedDb)) cpSync(join(indexedDb, name), join(target, `page.indexeddb.${name.endsWith('.blob') ? 'blob' : 'leveldb'}`), { recursive: true, filter: isData });
cpSync(join(profile, 'Local Storage', 'leveldb'), join(target, 'local-storage'), { recursive: true, filter: isData });
cpSync(join(profile, 'Session Storage'), join(target, 'session-storage'), { recursive: true, filter: isData });
writeFileSync(join(target, 'stored.json'), `${JSON.stringify({ browser: `Chromium ${version}`, storageKey: origin.url.slice(0, -1), ...stored }, undefined, 1)}\n`);
await origin.stop();
await browser.stop();
