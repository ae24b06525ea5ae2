import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import type { ExplorerPage } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('the view of a database in the browser', ({ open }) => {
  const entriesOf = (page: Page): Promise<string[]> => page.locator('tr[data-key]').evaluateAll((rows) => rows.map((row) => Array.from(row.children, ({ textContent }) => textContent).join('=')));
  const hasEntries = (page: Page, wanted: readonly string[]): Promise<void> => expect.poll(() => entriesOf(page), { timeout: 60_000 }).toEqual(wanted);

  /** The form of this view: the live view, which leads here, has fields and a button of the same names. */
  const formOf = (page: Page): Locator => page.getByRole('form', { name: 'Write and read' });

  async function put({ page }: { readonly page: Page }, key: string, value: string): Promise<void> {
    const form = formOf(page);
    await form.getByLabel('Key', { exact: true }).fill(key);
    await form.getByLabel('Value', { exact: true }).fill(value);
    await form.getByRole('button', { name: 'Put', exact: true }).click();
  }

  async function answerTo(explorer: ExplorerPage, key: string): Promise<string> {
    const { page } = explorer;
    await formOf(page).getByLabel('Key', { exact: true }).fill(key);
    await formOf(page).getByRole('button', { name: 'Get', exact: true }).click();
    await page.locator('[data-fact=answer] b').first().waitFor();
    return explorer.fact('answer');
  }

  test('entries are there after a reload, and lookups find them', async () => {
    // A context of its own, with its own files.
    const explorer = await open('#/opfs', { ownContext: true });
    const { page } = explorer;
    await expect.poll(() => explorer.fact('entries'), { timeout: 60_000 }).toBe('0 entries');
    await put(explorer, 'pear', 'green');
    await put(explorer, 'apple', 'red');
    await hasEntries(page, ['apple=red', 'pear=green']);
    await page.reload();
    await hasEntries(page, ['apple=red', 'pear=green']);
    expect(await answerTo(explorer, 'pear')).toBe('pear is green.');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await hasEntries(page, ['apple=red']);
    expect(await answerTo(explorer, 'pear')).toBe('There is no pear.');
    await page.getByRole('button', { name: 'Delete all entries' }).click();
    await page.getByText('No entries yet.').waitFor();
  });

  test('keys and values are listed so that everything in them is seen, and long ones up to a length', async () => {
    const explorer = await open('#/opfs', { ownContext: true });
    await put(explorer, 'b\u202e', '');
    await put(explorer, ' ', 'x'.repeat(20_000));
    await hasEntries(explorer.page, [`" "=${'x'.repeat(500)} … 20,000 characters`, String.raw`"b\u202e"=""`]);
    expect(await answerTo(explorer, 'b\u202e')).toBe(String.raw`"b\u202e" is "".`);
  });

  test('a second tab sees the same entries, and continues when the first is closed', async () => {
    const first = await open('#/opfs', { ownContext: true });
    await put(first, 'apple', 'red');
    await hasEntries(first.page, ['apple=red']);
    const second = await first.page.context().newPage();
    await second.goto(first.page.url());
    await hasEntries(second, ['apple=red']);
    await put({ page: second }, 'pear', 'green');
    await hasEntries(first.page, ['apple=red', 'pear=green']);
    await first.page.close();
    await put({ page: second }, 'fig', 'blue');
    await hasEntries(second, ['apple=red', 'fig=blue', 'pear=green']);
  });

  test('its folder opens in the database view, and one of its files in the table view', async () => {
    const explorer = await open('#/live', { ownContext: true });
    const { page } = explorer;
    await page.getByRole('link', { name: 'Keep a database in this browser' }).click();
    await put(explorer, 'apple', 'red');
    await hasEntries(page, ['apple=red']);
    expect(await page.getByRole('navigation', { name: 'Views' }).locator('[aria-current]').textContent()).toBe('Live');
    await page.locator('[data-file$=".log"]').getByRole('button').click();
    await expect.poll(() => explorer.fact('records'), { timeout: 60_000 }).toBe('1');
    await explorer.go('#/opfs');
    // The database is open again when its entries are listed.
    await hasEntries(page, ['apple=red']);
    await page.getByRole('button', { name: 'Open as a database' }).click();
    await page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await expect.poll(() => explorer.fact('entries'), { timeout: 60_000 }).toBe('1');
    // The next copy takes the place of the first, in the URL too.
    await explorer.go('#/opfs');
    await hasEntries(page, ['apple=red']);
    await put(explorer, 'plum', 'blue');
    await hasEntries(page, ['apple=red', 'plum=blue']);
    await page.getByRole('button', { name: 'Open as a database' }).click();
    await expect.poll(() => explorer.fact('entries'), { timeout: 60_000 }).toBe('2');
    expect(new URL(page.url()).hash).toBe('#/database?folder=database');
  });
});
