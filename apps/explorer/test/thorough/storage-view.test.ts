import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@bloom/browser-tests/chromium';
import { dataPath, folderFiles } from '@bloom/fixtures';
import { chromium, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import { axeFindsNothing } from '../axe.js';
import type { ExplorerPage, GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';
import { filesBelow, noteKey, NOTES, rewrittenNotes, samplePath } from '../stored-profile.js';

const IN_NOTES = `in=${encodeURIComponent(NOTES)}&database=1&store=1`;

const grid = (page: Page) => page.getByRole('grid');
const rows = (page: Page) => grid(page).locator('.window-row');
const status = ({ page }: ExplorerPage) => page.locator('[data-fact=rows]').textContent();

/** A profile with the sample, one more database, and files that are none of LevelDB's. */
function profile(): GivenFile[] {
  return [
    ...filesBelow(samplePath).map(({ name, bytes }) => ({ name: `Default/${name}`, bytes })),
    ...weatherDatabase().map(({ name, bytes }) => ({ name: `Default/Sync Data/LevelDB/${name}`, bytes })),
    { name: 'Default/Preferences', bytes: new Uint8Array(9) },
  ];
}

describeInChromium('the view of stored data', ({ open }) => {
  test('leads from the sample to a store, a record and its parts, and back', async () => {
    const explorer = await open('#/storage');
    const { page } = explorer;
    await explorer.button('Open the sample').click();
    await page.getByRole('heading', { level: 1, name: 'sample profile' }).waitFor();
    await expect.poll(() => status(explorer)).toBe('132 rows');
    await page.getByRole('navigation', { name: 'Stored data' }).getByRole('button', { name: /^settings/ }).click();
    await page.getByRole('heading', { level: 2, name: 'settings' }).waitFor();
    await expect.poll(() => status(explorer)).toBe('2 rows');
    await rows(page).nth(1).click();
    const tree = page.getByRole('list', { name: 'Value' });
    await expect.poll(() => tree.textContent()).toContain('since: Date 2024-05-01T00:00:00.000Z');
    const text = (await tree.textContent())!;
    for (const part of ['quota: 9007199254740993n', 'pattern: RegExp /^note-\\d+$/u', 'nothing: undefined', 'ratio: -0', 'self: ↑ the same Object as value']) expect(text).toContain(part);
    await rows(page).nth(0).click();
    await tree.getByRole('button', { name: /^widths/ }).click();
    await expect.poll(() => tree.textContent()).toContain('widths: Array(4) 0: 1801: 3203: 96');
    await page.goBack();
    await page.getByRole('heading', { level: 2, name: 'Everything' }).waitFor();
  });

  test('lists a store by one of its indexes', async () => {
    const { page } = await open(`#/storage?sample=1&${IN_NOTES}`);
    await page.getByRole('button', { name: 'What is in notes' }).click();
    await page.getByRole('button', { name: /^index by tag/ }).click();
    await page.getByRole('heading', { level: 2, name: 'by tag' }).waitFor();
    await expect.poll(() => rows(page).first().textContent()).toContain('"books"');
    await rows(page).first().click();
    await expect.poll(() => page.getByRole('region', { name: 'The selected row' }).textContent()).toContain('Primary key');
  });

  test('finds a text in keys and values of all folders, and links to it', async () => {
    const explorer = await open('#/storage?sample=1');
    const { page } = explorer;
    await page.getByLabel('Find in keys and values').fill('PEAR tree');
    await expect.poll(() => status(explorer)).toMatch(/^\d+ rows of 132 read$/);
    await expect.poll(async () => (await rows(page).allTextContents()).some((row) => row.includes('Local Storage'))).toBe(true);
    const found = await rows(page).allTextContents();
    await expect.poll(() => page.url()).toContain('find=PEAR+tree');
    await page.reload();
    await expect.poll(() => rows(page).allTextContents()).toEqual(found);
  });

  test('shows deleted and overwritten versions on request', async () => {
    const explorer = await open(`#/storage?sample=1&${IN_NOTES}`);
    const { page } = explorer;
    await expect.poll(() => status(explorer)).toBe('119 rows');
    await page.getByLabel('Include deleted and overwritten rows').check();
    await expect.poll(() => status(explorer)).toBe('122 rows');
    await page.getByLabel('Find in keys and values').fill('how to prune a pear tree');
    await expect.poll(async () => (await rows(page).first().textContent()) ?? '').toContain('deleted later');
    await rows(page).first().click();
    await expect.poll(() => page.getByRole('region', { name: 'The selected row' }).textContent()).toContain('in 000003.log');
  });

  test('shows a stored picture and a stored text, and saves bytes', async () => {
    const { page } = await open(`#/storage?sample=1&in=${encodeURIComponent(NOTES)}&database=1&store=2`);
    await rows(page).nth(0).click();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const picture = page.getByRole('img', { name: 'pear.png' });
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight])).toEqual([96, 64]);
    await rows(page).nth(1).click();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => page.getByRole('region', { name: 'Contents of bread.txt' }).textContent()).toContain('caraway 2 spoons');
    await rows(page).nth(2).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save bytes' }).click()]);
    expect(new Uint8Array(await readFile(await download.path()))).toEqual(Uint8Array.of(66, 76, 79, 79, 77, 0, 1, 2, 255));
  });

  test('exports what is shown as JSON Lines', async () => {
    const explorer = await open(`#/storage?sample=1&find=${encodeURIComponent('Tromsø')}`);
    await expect.poll(() => status(explorer)).toContain('of 132 read');
    const [download] = await Promise.all([explorer.page.waitForEvent('download'), explorer.button('Export as JSON Lines').click()]);
    expect(download.suggestedFilename()).toBe('Everything.jsonl');
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(`${lines.length} rows of 132 read`).toBe(await status(explorer));
    expect(lines[0]).toMatchObject({ origin: 'https://notes.example', database: 'notebook', store: 'notes', key: 5, value: { changed: { $type: 'Date' } } });
    expect(lines.at(-1)).toEqual({ folder: 'Local Storage', origin: 'https://notes.example', key: 'greeting', value: 'Grüße aus Tromsø 🫎' });
  });

  test('shows JSON of Local Storage as a tree, or as its text', async () => {
    const explorer = await open(`#/storage?sample=1&in=${encodeURIComponent('Local Storage/leveldb')}&items=${encodeURIComponent('https://shop.example')}`);
    const { page } = explorer;
    await rows(page).first().click();
    const tree = page.getByRole('list', { name: 'Value' });
    await expect.poll(() => tree.textContent()).toContain('currency: "NOK"');
    await explorer.choose('Text');
    await expect.poll(() => tree.textContent()).toContain('{\\"items\\":');
  });

  test('takes a whole profile, wherever it is dropped, and opens other databases as such', async () => {
    const explorer = await open('');
    const { page } = explorer;
    await explorer.dropFolders('main', ...profile());
    await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor();
    await expect.poll(() => status(explorer)).toBe('132 rows');
    const outline = page.getByRole('navigation', { name: 'Stored data' });
    await expect.poll(() => outline.locator('h2').allTextContents()).toEqual(['IndexedDB', 'Local Storage', 'Session Storage', 'Other databases']);
    await outline.getByRole('button', { name: /^Sync/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Sync Data/LevelDB' }).waitFor();
    await expect.poll(() => explorer.fact('entries')).toBe('2,407');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor();
  });

  test.each(['cat.jpg', 'words.ldb'])('stays and says that a dropped folder with only %s has no database', async (file) => {
    const explorer = await open('#/storage?sample=1');
    const { page } = explorer;
    await expect.poll(() => status(explorer)).toBe('132 rows');
    await explorer.dropFolders('main', { name: `Pictures/${file}`, bytes: new Uint8Array(9) });
    const alert = page.getByRole('alert');
    await alert.getByText('Pictures could not be opened.').waitFor({ timeout: 10_000 });
    await alert.getByText('In the folder: it has no LevelDB database, because neither it nor any folder in it has a CURRENT').waitFor();
    // What was open stays open.
    await page.getByRole('heading', { level: 1, name: 'sample profile' }).waitFor();
    await explorer.dropFolders('main', ...profile());
    await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor();
    expect(await alert.count()).toBe(0);
  });

  test('takes the files of a folder without the folder', async () => {
    const explorer = await open('#/storage');
    await explorer.drop('main', ...filesBelow(join(samplePath, NOTES)));
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped folder' }).waitFor();
    await expect.poll(() => status(explorer)).toBe('124 rows');
  });

  test('a folder of IndexedDB in the view of databases leads to its values', async () => {
    const explorer = await open('#/database');
    await explorer.dropFolders('main', ...filesBelow(join(samplePath, NOTES)).map(({ name, bytes }) => ({ name: `https_notes.example_0.indexeddb.leveldb/${name}`, bytes })));
    await explorer.button('Show the stored values').click();
    await expect.poll(() => status(explorer)).toBe('124 rows');
  });

  test('recognizes folders by their contents, where their names say nothing', async () => {
    const explorer = await open('#/storage');
    const data = dataPath('web-storage');
    const files = ['local-storage', 'session-storage'].flatMap((folder) => Array.from(folderFiles(`${data}/${folder}`), ([name, bytes]) => ({ name: `copy/of-${folder}/${name}`, bytes })));
    await explorer.dropFolders('main', ...files);
    await expect.poll(() => explorer.page.getByRole('navigation', { name: 'Stored data' }).locator('h2').allTextContents()).toEqual(['Local Storage', 'Session Storage']);
    await expect.poll(() => status(explorer)).toMatch(/^\d+ rows$/);
  });

  test('reads what is there of a folder that lacks tables', async () => {
    const explorer = await open('#/storage');
    const name = 'https_teams.microsoft.com_0.indexeddb.leveldb';
    const path = dataPath(`real/forensicsim/Jane_Doe/IndexedDB/${name}`);
    await explorer.dropFolders('main', ...Array.from(folderFiles(path), ([file, bytes]) => ({ name: `${name}/${file}`, bytes })));
    await expect.poll(() => rows(explorer.page).first().textContent()).toContain('it lists 2 missing tables');
    await explorer.page.getByLabel('Include deleted and overwritten rows').check();
    await expect.poll(() => status(explorer)).toBe('119 rows');
  });

  test('reads a large store as it is scrolled, and a search in it can be stopped', async () => {
    const files = await rewrittenNotes(async (database, { value }) => {
      for (let i = 200; i < 20_000; i++) await database.put(noteKey(i), value);
    });
    const explorer = await open('#/storage');
    const { page } = explorer;
    await explorer.dropFolders('main', ...Array.from(files, ([name, bytes]) => ({ name: `https_notes.example_0.indexeddb.leveldb/${name}`, bytes })));
    await expect.poll(() => status(explorer)).toBe('the first 200 rows, more as you scroll');
    await grid(page).evaluate((element) => (element.scrollTop = element.scrollHeight));
    await expect.poll(() => status(explorer)).toBe('the first 400 rows, more as you scroll');
    await grid(page).focus();
    await page.keyboard.press('End');
    await expect.poll(() => status(explorer)).toBe('the first 600 rows, more as you scroll');
    // Within the page, as the search may have ended before a click from outside arrives.
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        const stop = Array.from(document.querySelectorAll('button')).find((button) => button.textContent === 'Stop');
        if (stop === undefined) return;
        observer.disconnect();
        stop.click();
      });
      observer.observe(document.body, { subtree: true, childList: true });
    });
    await page.getByLabel('Find in keys and values').fill('text that no note has');
    await expect.poll(() => status(explorer)).toMatch(/^0 rows of [\d,]+ read$/);
    expect(Number((await status(explorer))!.replace(/\D/gu, '').slice(1))).toBeLessThan(19_000);
    await explorer.button('Continue').click();
    await expect.poll(() => status(explorer), { timeout: 30_000 }).toBe('0 rows of 19,924 read');
  });

  test('a record that cannot be read shows its error in its row, and when it is opened', async () => {
    const files = await rewrittenNotes(async (database, { value }) => database.put(noteKey(3), value.subarray(0, 40)));
    const explorer = await open('#/storage');
    const { page } = explorer;
    await explorer.dropFolders('main', ...Array.from(files, ([name, bytes]) => ({ name: `https_notes.example_0.indexeddb.leveldb/${name}`, bytes })));
    await expect.poll(() => status(explorer)).toBe('124 rows');
    const damaged = rows(page).and(page.locator('.is-damaged'));
    await expect.poll(() => damaged.count()).toBe(1);
    await damaged.click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('BLOOM_BAD_VALUE');
  });

  test('axe finds nothing in a record that is open, nor in versions', async () => {
    const explorer = await open(`#/storage?sample=1&in=${encodeURIComponent(NOTES)}&database=1&store=2&versions=1`);
    await rows(explorer.page).nth(1).click();
    await explorer.button('Show').click();
    await explorer.page.locator('.stored-file pre').waitFor();
    await axeFindsNothing(explorer);
  });

  test('reads the profile of a browser that is running, and again what it has written since', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bloom-profile-'));
    const running = await chromium.launchPersistentContext(folder, { executablePath: findChromium()! });
    try {
      await running.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '<title>Page</title>' }));
      const writer = await running.newPage();
      await writer.goto('https://running.example/');
      await writer.evaluate(store, 3);
      const explorer = await open('#/storage', { ownContext: true });
      const { page } = explorer;
      await dropFromDisk(page, join(folder, 'Default'));
      await page.getByRole('heading', { level: 1, name: 'Default' }).waitFor();
      const outline = page.getByRole('navigation', { name: 'Stored data' });
      await outline.getByRole('button', { name: /^https:\/\/running\.example / }).first().click();
      await expect.poll(() => status(explorer)).toBe('3 rows');
      await writer.evaluate(store, 5);
      await explorer.button('Read again').click();
      await expect.poll(() => status(explorer)).toBe('5 rows');
    } finally {
      await running.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Stores records with the keys 1 to `count`. */
function store(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('numbers');
    opening.onupgradeneeded = () => void opening.result.createObjectStore('squares');
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('squares', 'readwrite');
      for (let i = 1; i <= count; i++) transaction.objectStore('squares').put({ square: i * i }, i);
      transaction.oncomplete = () => {
        opening.result.close();
        resolve();
      };
      transaction.onerror = () => reject(transaction.error!);
    };
  });
}

/** Drops a folder of the disk, as a file manager does. */
async function dropFromDisk(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { x, y, width, height } = (await page.locator('.drop').boundingBox())!;
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
  await session.detach();
}
