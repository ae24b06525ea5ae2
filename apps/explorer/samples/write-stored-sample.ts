/**
 * Writes `samples/web`, with the Chromium that is installed: what two made-up sites stored.
 *
 *     npx pnpm@10 --filter @bloom/explorer stored-sample
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findWholeChromium } from '@bloom/browser-tests/chromium';
import { chromium } from 'playwright-core';

const executablePath = findWholeChromium();
if (executablePath === undefined) throw new Error('no whole Chromium on the PATH');
const target = join(import.meta.dirname, 'web');
const folder = mkdtempSync(join(tmpdir(), 'stored-sample-'));
const browser = await chromium.launchPersistentContext(folder, { executablePath });
await browser.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Sample</title>' }));
// The names of functions, which tsx keeps by calling this.
await browser.addInitScript('globalThis.__name = (named) => named');
const page = await browser.newPage();
await page.goto('https://notes.example/');
await page.evaluate(storeNotes);
await page.goto('https://shop.example/');
await page.evaluate(storeBasket);
// Storage areas are written a few seconds after the page.
await page.waitForTimeout(8000);
await browser.close();

const profile = join(folder, 'Default');
rmSync(target, { recursive: true, force: true });
// Text logs have paths of the machine in them.
const isData = (path: string): boolean => !['LOCK', 'LOG', 'LOG.old'].includes(basename(path));
for (const part of ['IndexedDB', join('Local Storage', 'leveldb'), 'Session Storage']) cpSync(join(profile, part), join(target, part), { recursive: true, filter: isData });
rmSync(folder, { recursive: true, force: true });

async function storeNotes(): Promise<void> {
  const done = <Result>(request: IDBRequest<Result>): Promise<Result> => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error!); });
  const opening = indexedDB.open('notebook', 3);
  opening.onupgradeneeded = () => {
    const notes = opening.result.createObjectStore('notes', { keyPath: 'id', autoIncrement: true });
    notes.createIndex('by date', 'changed');
    notes.createIndex('by tag', 'tags', { multiEntry: true });
    opening.result.createObjectStore('attachments');
    opening.result.createObjectStore('settings', { keyPath: 'name' });
  };
  const database = await done(opening);
  const subjects = ['Seeds for the balcony', 'Bread with caraway', 'Letter to the landlord', 'Names for the cat', 'Train to Tromsø', 'Books to return', 'How to prune a pear tree', 'Birthday of Ines'];
  const tags = [['garden'], ['kitchen', 'recipe'], ['home'], ['cat', 'home'], ['travel'], ['books'], ['garden', 'pear'], ['family']];
  const notes = database.transaction('notes', 'readwrite').objectStore('notes');
  for (let i = 0; i < 120; i++) {
    const n = i % subjects.length;
    await done(notes.add({
      title: i < subjects.length ? subjects[n] : `${subjects[n]}, part ${Math.floor(i / subjects.length) + 1}`,
      text: `Draft ${i + 1}. ${'Water in the evening, not at noon. '.repeat(1 + (i % 4))}`,
      tags: tags[n],
      changed: new Date(Date.UTC(2026, 0, 5 + i, 7 + (i % 12), (i * 7) % 60)),
      pinned: i % 17 === 0,
      ...(i % 5 === 0 && { place: new Map<string, unknown>([['city', 'Bergen'], ['position', { latitude: 60.39, longitude: 5.32 }]]) }),
      ...(i % 9 === 0 && { readers: new Set(['ines', 'tom']) }),
    }));
  }
  const again = database.transaction('notes', 'readwrite').objectStore('notes');
  const last = (await done(again.get(5))) as object;
  await done(again.put({ ...last, text: 'Booked for the 14th. Seat 21, at the window.' }));
  await done(again.delete(7));
  const picture = new OffscreenCanvas(96, 64);
  const context = picture.getContext('2d')!;
  context.fillStyle = '#bde0c8';
  context.fillRect(0, 0, 96, 64);
  context.fillStyle = '#2f6b4f';
  context.beginPath();
  context.arc(48, 34, 18, 0, 7);
  context.fill();
  const png = await picture.convertToBlob({ type: 'image/png' });
  const attachments = database.transaction('attachments', 'readwrite').objectStore('attachments');
  await done(attachments.put({ note: 1, file: new File([png], 'pear.png', { type: 'image/png', lastModified: Date.UTC(2026, 1, 3) }) }, ['note', 1, 'pear.png']));
  await done(attachments.put({ note: 2, file: new File(['caraway 2 spoons\nflour 500 g\nwater 350 ml\n'], 'bread.txt', { type: 'text/plain', lastModified: Date.UTC(2026, 1, 4) }) }, ['note', 2, 'bread.txt']));
  await done(attachments.put({ note: 5, ticket: new Uint8Array([66, 76, 79, 79, 77, 0, 1, 2, 255]) }, ['note', 5, 'ticket']));
  const settings = database.transaction('settings', 'readwrite').objectStore('settings');
  const owner: Record<string, unknown> = { name: 'owner', address: 'ines@notes.example', since: new Date(Date.UTC(2024, 4, 1)), quota: 9_007_199_254_740_993n, pattern: /^note-\d+$/u, nothing: undefined, ratio: -0 };
  owner.self = owner;
  await done(settings.put(owner));
  const widths = [180, 320];
  widths[3] = 96;
  await done(settings.put({ name: 'columns', widths }));
  database.close();
  localStorage.setItem('theme', 'dark');
  localStorage.setItem('draft', JSON.stringify({ title: 'Unfinished', lines: ['Ask Tom about the ladder', 'Water the pear tree'], saved: 1_769_850_000_000 }));
  localStorage.setItem('greeting', 'Grüße aus Tromsø 🫎');
  sessionStorage.setItem('scroll', '1840');
}

function storeBasket(): void {
  localStorage.setItem('basket', JSON.stringify({ items: [{ sku: 'A-113', count: 2 }, { sku: 'B-7', count: 1 }], currency: 'NOK' }));
  localStorage.setItem('visited', '3');
  localStorage.setItem('visited', '4');
  localStorage.setItem('coupon', 'SPRING');
  localStorage.removeItem('coupon');
  sessionStorage.setItem('query', 'pear tree');
  sessionStorage.setItem('page', '2');
}
