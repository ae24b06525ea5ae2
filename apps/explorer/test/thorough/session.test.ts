import { folderFiles, goldenDatabases } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import { weatherTable } from '../../samples/weather-table.js';
import type { ExplorerPage, GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const weather: readonly GivenFile[] = weatherDatabase();

describeInChromium('what is open and shown', ({ open }) => {
  async function withFolder(): Promise<ExplorerPage> {
    const explorer = await open('#/database');
    await explorer.give(...weather);
    await explorer.page.locator('[data-fact=entries]').waitFor();
    return explorer;
  }
  const to = async ({ page }: ExplorerPage, view: string): Promise<void> => page.getByRole('navigation').getByRole('link', { name: view, exact: true }).click();
  const heading = async ({ page }: ExplorerPage, name: string | RegExp): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();

  test('a folder that is open in Database is open in Lookup too, and the other way round', async () => {
    const explorer = await withFolder();
    await to(explorer, 'Lookup');
    await explorer.page.getByLabel('Key to look up').fill('weather/oslo/2026-01-20');
    await explorer.page.locator('[data-outcome=found].notice').waitFor();
    await to(explorer, 'Database');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
  });

  test('a database stays open while one of its tables is looked at, and the table leads back to it', async () => {
    const explorer = await withFolder();
    await explorer.page.getByLabel('Keys that begin with').fill('weather/rome');
    await explorer.page.getByRole('button', { name: /^Table 000008\.ldb/ }).click();
    await heading(explorer, '000008.ldb');
    await to(explorer, 'Database');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await expect.poll(() => explorer.page.getByLabel('Keys that begin with').inputValue()).toBe('weather/rome');
    await explorer.page.goBack();
    await heading(explorer, '000008.ldb');
    await explorer.button('Back to its database').click();
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
  });

  test('a view that is left while it loads does not take the place of the next view, even if the page draws no frames', async () => {
    const explorer = await open('#/filter', { ownContext: true });
    const { page } = explorer;
    await page.locator('#view .field').first().waitFor();
    const title = await page.getByRole('heading', { level: 1 }).textContent();
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/lookup-view.*js/, async (route) => {
      await held;
      await route.continue();
    });
    const requested = page.waitForRequest(/lookup-view.*js/);
    await to(explorer, 'Lookup');
    await requested;
    // Preact runs effects after the next frame, or 35 ms later if there is none.
    await page.evaluate(() => {
      const { setTimeout: startTimer } = globalThis;
      window.requestAnimationFrame = () => 0;
      window.setTimeout = ((run: () => void, delay = 0) => startTimer(run, delay + 1000)) as typeof setTimeout;
      location.hash = '#/filter';
    });
    const loaded = page.waitForResponse(/lookup-view.*js/);
    release();
    await (await loaded).finished();
    await page.waitForTimeout(3000);
    await expect.poll(() => page.getByRole('heading', { level: 1 }).allTextContents()).toEqual([title]);
  });

  test('a table that was opened by a link leads to the database that it lies in', async () => {
    const explorer = await open('#/database?sample=1');
    await explorer.page.getByRole('button', { name: /^Table 000008\.ldb/ }).click();
    await heading(explorer, '000008.ldb');
    await explorer.page.reload();
    await explorer.button('Back to its database').click();
    await heading(explorer, 'weather database');
  });

  test('another theme changes nothing of what the links lead to', async () => {
    const explorer = await withFolder();
    await explorer.page.getByRole('button', { name: /^Table 000008\.ldb/ }).click();
    await heading(explorer, '000008.ldb');
    await explorer.choose('Dark');
    await to(explorer, 'Database');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
  });

  test('each view is as it was left: the key of a lookup, the place in a table, the keys of a filter', async () => {
    const explorer = await open('#/lookup?sample=1&key=weather/oslo/2026-01-20');
    const { page } = explorer;
    await page.locator('[data-outcome=found].notice').waitFor();
    await to(explorer, 'Table');
    await explorer.button('Open the sample').click();
    await page.locator('[role=slider]').press('End');
    await page.getByRole('heading', { name: /^Footer, 48 bytes/ }).waitFor();
    await to(explorer, 'Filter');
    await page.getByLabel('Type a key to ask about it').fill('quince');
    await to(explorer, 'Lookup');
    await page.locator('[data-outcome=found].notice').waitFor();
    await to(explorer, 'Table');
    await page.getByRole('heading', { name: /^Footer, 48 bytes/ }).waitFor();
    await to(explorer, 'Filter');
    await expect.poll(() => page.getByLabel('Type a key to ask about it').inputValue()).toBe('quince');
  });

  test('the result of many lookups is kept while another view is looked at', async () => {
    const explorer = await open('#/lookup?sample=1');
    await explorer.button('Look them up').click();
    await expect.poll(() => explorer.fact('lookups')).toBe('10,000');
    await to(explorer, 'Database');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await to(explorer, 'Lookup');
    await explorer.page.locator('[data-fact=lookups]').waitFor();
  });

  test('Back leads to the table that was dropped before, and from there to the empty view', async () => {
    const explorer = await open('#/table');
    const { page } = explorer;
    await explorer.give({ name: 'first.ldb', bytes: weatherTable() });
    await heading(explorer, 'first.ldb');
    await explorer.drop('main', { name: 'second.ldb', bytes: weatherTable() });
    await heading(explorer, 'second.ldb');
    await page.goBack();
    await heading(explorer, 'first.ldb');
    await page.goForward();
    await heading(explorer, 'second.ldb');
  });

  test('a file that is dropped again keeps its name in the URL', async () => {
    const explorer = await open('#/table');
    const { page } = explorer;
    const small = weather.find(({ name }) => name === '000012.ldb')!;
    const drop = (): Promise<void> =>
      page.locator('main').evaluate((main, bytes) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([Uint8Array.from(bytes)], 'again.ldb', { lastModified: 5 }));
        main.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      }, [...small.bytes]);
    await drop();
    await heading(explorer, 'again.ldb');
    await explorer.drop('main', { name: 'other.ldb', bytes: small.bytes });
    await heading(explorer, 'other.ldb');
    await drop();
    await heading(explorer, 'again.ldb');
    expect(new URL(page.url()).hash).toBe('#/table?file=again.ldb');
  });

  test('Back leads to the file and the folder that were dropped before others of the same name', async () => {
    const explorer = await open('#/table');
    const { page } = explorer;
    const entries = (count: string): Promise<void> => expect.poll(() => explorer.fact('entries')).toBe(count);
    const [small] = weather.filter(({ name }) => name === '000012.ldb');
    await explorer.give({ name: '000005.ldb', bytes: weatherTable() });
    await entries('2,705');
    await explorer.drop('main', { name: '000005.ldb', bytes: small!.bytes });
    await expect.poll(() => explorer.fact('entries')).not.toBe('2,705');
    expect(await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('file'))).toBe('000005.ldb (2)');
    await heading(explorer, '000005.ldb');
    await page.goBack();
    await entries('2,705');
    await explorer.go('#/database');
    await explorer.dropFolders('main', ...weather.map(({ name, bytes }) => ({ name: `leveldb/${name}`, bytes })));
    await entries('2,407');
    const { path } = goldenDatabases().find(({ comparator }) => comparator === undefined)!;
    await explorer.dropFolders('main', ...Array.from(folderFiles(path), ([name, bytes]) => ({ name: `leveldb/${name}`, bytes })));
    await expect.poll(() => explorer.fact('entries')).not.toBe('2,407');
    await page.goBack();
    await entries('2,407');
  });

  test('files may be dropped beside the view, and text into fields', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    await page.getByLabel('Type a key to ask about it').waitFor();
    const isPrevented = (type: string): Promise<boolean> =>
      page.getByLabel('Type a key to ask about it').evaluate((element, name) => {
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('text/plain', 'pear');
        return !element.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer }));
      }, type);
    expect([await isPrevented('dragover'), await isPrevented('drop')]).toEqual([false, false]);
    await explorer.drop('header.masthead', { name: 'words.ldb', bytes: weatherTable() });
    await heading(explorer, 'words.ldb');
  });

  test('a change just before Back does not overwrite the history entry that Back leads to', async () => {
    const { page } = await open('#/filter?q=pear');
    await page.getByRole('navigation').getByRole('link', { name: 'Story', exact: true }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Type a key to ask about it').waitFor();
    // The view writes a change into the URL a moment later, or when the page is left: here between `popstate` and `hashchange`.
    await page.evaluate(() => addEventListener('popstate', () => dispatchEvent(new Event('pagehide'))));
    await page.getByLabel('Type a key to ask about it').fill('quince');
    await page.evaluate(() => history.back());
    await page.getByRole('heading', { level: 1, name: 'How a few bits save a slow read' }).waitFor();
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch('#/story');
  });

  test('a table that is opened between popstate and hashchange is shown, and the next Back leads to the story', async () => {
    const { page } = await open('#/story');
    await page.getByRole('navigation').getByRole('link', { name: 'Table', exact: true }).click();
    await page.getByRole('button', { name: 'Open the sample' }).waitFor();
    await page.evaluate(() => {
      const sample = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Open the sample')!;
      addEventListener('popstate', () => sample.click(), { once: true });
    });
    await page.evaluate(() => history.back());
    await page.locator('[role=slider]').waitFor();
    await expect.poll(() => page.evaluate(() => location.hash)).toMatch('#/table?');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'How a few bits save a slow read' }).waitFor();
  });

  test('a database that cannot be opened leaves the one that is open, and says so', async () => {
    const explorer = await withFolder();
    const { path } = goldenDatabases().find(({ comparator }) => comparator !== undefined)!;
    await explorer.drop('main', ...Array.from(folderFiles(path), ([name, bytes]) => ({ name, bytes })));
    await explorer.page.getByRole('alert').waitFor();
    await expect.poll(() => explorer.page.getByRole('grid', { name: 'Entries of the database' }).count()).toBe(1);
  });
});
