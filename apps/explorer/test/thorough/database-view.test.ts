import { folderFiles, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import type { ExplorerPage, GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const grouped = (number: number): string => number.toLocaleString('en');

/** By default one file of each kind is tested; `npx pnpm@10 --filter @bloom/explorer every-file` tests all. */
const takesAll = process.env.EXPLORER_FILES === 'all';
const CHOSEN = ['levels', 'log-damaged', 'log-torn', 'table-damaged', 'snapshot-deletion'];
const readable = goldenDatabases().filter(({ name, open, comparator }) => open === 'OK' && comparator === undefined && (takesAll || CHOSEN.includes(name)));
const reals = realDatabases().filter(({ open }, i) => open === 'OK' && (takesAll || i < 1));

const filesOf = (path: string): GivenFile[] => Array.from(folderFiles(path), ([name, bytes]) => ({ name, bytes }));

describeInChromium('the database view', ({ open, server }) => {
  async function opened(files: readonly GivenFile[]): Promise<ExplorerPage> {
    const explorer = await open('#/database');
    await explorer.give(...files);
    return explorer;
  }

  test.each([...readable, ...reals])('shows the number of entries, the levels and the damage of $name', async (expected) => {
    const { path, levels = [], entries } = expected;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped folder' }).waitFor();
    const shown = await explorer.page.locator('.level:not(.is-log) .level-name').allTextContents();
    const wanted = levels.flatMap((tables, level) => (tables === 0 ? [] : [`Level ${level} ${tables === 1 ? '1 table' : `${tables} tables`}`]));
    expect(shown).toEqual(wanted);
    // The page always verifies checksums, which LevelDB does on request.
    const verified = 'verified' in expected ? expected.verified : undefined;
    expect(await explorer.fact('entries')).toBe(grouped(verified?.entries ?? entries!));
    const drops = 'drops' in expected ? expected.drops : [];
    const damage = await explorer.page.getByRole('region', { name: 'Damage' }).textContent();
    for (const { bytes, reason } of drops) expect(damage).toContain(`${reason} (${grouped(bytes)} bytes)`);
    if (drops.length === 0 && verified === undefined) expect(damage).toContain('Nothing was left out');
    else expect(damage).toContain('Left out');
  });

  test('reports a missing table, and suggests how to go on', async () => {
    const { path } = goldenDatabases().find(({ name }) => name === 'missing-table')!;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('alert').getByText('missing').first().waitFor();
    expect(await explorer.region('How to go on').count()).toBe(1);
  });

  test('reads a database with another comparator in bytewise order on request', async () => {
    const { path } = goldenDatabases().find(({ comparator }) => comparator !== undefined)!;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('alert').getByText('comparator').first().waitFor();
    await explorer.button('Read it in bytewise order nevertheless').click();
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped folder' }).waitFor();
  });

  test('reports files that are not a database, and suggests how to go on', async () => {
    const explorer = await opened([{ name: 'notes.txt', bytes: new Uint8Array(5) }, { name: 'more.txt', bytes: new Uint8Array(5) }]);
    await explorer.page.getByRole('alert').waitFor();
    await explorer.region('How to go on').waitFor();
  });

  test('can cancel the opening of a database', async () => {
    server().hanging.add('never/CURRENT');
    const explorer = await open(`#/database?url=${encodeURIComponent(`${server().origin}/files/never`)}`);
    await explorer.page.getByText(/^Opening .*never/).waitFor();
    await explorer.button('Cancel').click();
    await explorer.button('Open the sample').waitFor();
    await expect.poll(() => server().givenUp.has('never/CURRENT')).toBe(true);
    expect(await explorer.page.getByRole('alert').count()).toBe(0);
  });

  test('searches entries by prefix and by range', async () => {
    const { page, choose } = await openSample();
    const grid = page.getByRole('grid', { name: 'Entries of the database' });
    await page.getByLabel('Keys that begin with').fill('weather/oslo/2026-03-2');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('8');
    await expect.poll(async () => (await grid.getByRole('gridcell').first().textContent())!).toBe('weather/oslo/2026-03-20');
    await choose('Range');
    await page.getByLabel('From', { exact: true }).fill('weather/oslo/2026-01-30');
    await page.getByLabel('To, included').fill('weather/oslo/2026-02-02');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('5');
    await page.getByLabel('To, included').fill('weather/a');
    await page.getByText('No key here.').waitFor();
    expect(page.url()).toContain('from=weather');
  });

  test('moves through pages of entries and back', async () => {
    const { button, page } = await openSample();
    const first = page.getByRole('grid', { name: 'Entries of the database' }).getByRole('gridcell').first();
    await expect.poll(() => first.textContent()).toBe('weather/accra/2026-01-01');
    await button('Later →').click();
    await page.getByText('501 to 1,000').waitFor();
    await expect.poll(() => first.textContent()).not.toBe('weather/accra/2026-01-01');
    await button('Later →').click();
    await page.getByText('1,001 to 1,500').waitFor();
    await button('← Earlier').click();
    await page.getByText('501 to 1,000').waitFor();
    await button('← Earlier').click();
    await expect.poll(() => first.textContent()).toBe('weather/accra/2026-01-01');
  });

  test('shows all versions of a key and their files, by keyboard alone', async () => {
    const { page } = await openSample('&prefix=weather/oslo/2026-03-2');
    const grid = page.getByRole('grid', { name: 'Entries of the database' });
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('8');
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const rows = page.getByRole('table', { name: 'Versions of the key' }).getByRole('row');
    await expect.poll(() => rows.count()).toBeGreaterThan(1);
    const text = await rows.allTextContents();
    expect(text[1]).toContain('level 0, 000012.ldb');
    await page.getByLabel('Keys that begin with').fill('weather/berlin/2026-02-20');
    await grid.focus();
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('2');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await rows.allTextContents()).slice(1).map((row) => /level \d/.exec(row)?.[0])).toEqual(['level 1', 'level 2']);
  });

  test('opens a table of a level in the table view', async () => {
    const { page } = await openSample();
    await page.getByRole('button', { name: /^Table 000008\.ldb, level 1/ }).click();
    await page.getByRole('heading', { level: 1, name: '000008.ldb' }).waitFor();
    await page.getByText('keys with versions, as in a database').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'weather database' }).waitFor();
  });

  test('reads a database from a URL, file by file', async () => {
    for (const { name, bytes } of weatherDatabase()) server().files.set(`db/${name}`, bytes);
    const explorer = await open(`#/database?url=${encodeURIComponent(`${server().origin}/files/db`)}`);
    expect(await explorer.fact('entries')).toBe('2,407');
    // Chromium reports the requests for logs that do not exist.
    (explorer.complaints as string[]).splice(0);
  });

  async function openSample(more = ''): Promise<{ page: ExplorerPage['page']; button: ExplorerPage['button']; choose: ExplorerPage['choose'] }> {
    const explorer = await open(`#/database?sample=1${more}`);
    await explorer.page.getByRole('heading', { level: 1, name: 'weather database' }).waitFor();
    return { page: explorer.page, button: (name) => explorer.button(name), choose: (name) => explorer.choose(name) };
  }
});
