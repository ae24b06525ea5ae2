import { expect, test } from 'vitest';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('the lookup view', ({ open }) => {
  const sample = '#/lookup?sample=1&key=';

  test.each([
    ['in the log', 'weather/oslo/2026-03-26', 'found', ['log']],
    ['in level 0, in its newest table', 'weather/oslo/2026-03-19', 'found', ['log', 'table 0']],
    ['in level 1', 'weather/lima/2026-02-25', 'found', ['log', 'table 0', 'table 0', 'table 1']],
    ['deleted in the log', 'weather/accra/2026-01-11', 'deleted', ['log']],
    ['deleted in level 0', 'weather/accra/2026-01-04', 'deleted', ['log', 'table 0']],
    ['absent', 'weather/oslo/2026-02-30', 'absent', undefined],
  ] as const)('shows the steps and the outcome for a key that is %s', async (_, key, outcome, steps) => {
    const { page } = await open(sample + encodeURIComponent(key));
    expect(await page.locator('[data-outcome].notice').getAttribute('data-outcome')).toBe(outcome);
    if (steps === undefined) return;
    const seen = await page.locator('.trace-step:not(.is-rest)').evaluateAll((elements) =>
      elements.map((element) => {
        const level = /Level (\d)/.exec(element.textContent)?.[1];
        return `${element.getAttribute('data-step')}${level === undefined ? '' : ` ${level}`}`;
      }),
    );
    expect(seen).toEqual(steps);
  });

  test('counts the reads that filters saved', async () => {
    const explorer = await open(`${sample}weather%2Foslo%2F2026-01-20`);
    const { page } = explorer;
    await page.locator('[data-outcome=found].notice').waitFor();
    const no = await page.locator('[data-filter=no]').count();
    expect(no).toBeGreaterThan(0);
    expect(await explorer.fact('saved')).toBe(String(no));
    expect(await explorer.fact('reads')).toBe(String((await page.locator('[data-filter=maybe]').count())));
    await page.getByText('What was walked').first().click();
    expect(await page.locator('.compared').last().textContent()).toContain('weather/oslo/2026-01-20');
  });

  test('looks up a typed key and moves through its steps, by keyboard alone', async () => {
    const { page } = await open('#/lookup?sample=1');
    await page.getByLabel('Key to look up').focus();
    await page.keyboard.type('weather/oslo/2026-01-20');
    await page.locator('[data-outcome=found].notice').waitFor();
    const all = await page.locator('.trace-step').count();
    await page.getByRole('button', { name: 'From the start' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('.trace-step').count()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator('.trace-step').count()).toBe(2);
    for (let i = 2; i < all; i++) await page.getByRole('button', { name: 'One step on' }).press('Enter');
    await page.locator('[data-outcome=found].notice').waitFor();
    expect(page.url()).toContain('key=weather%2Foslo%2F2026-01-20');
  });

  test('accepts keys in hexadecimal', async () => {
    const explorer = await open('#/lookup?sample=1');
    await explorer.choose('Hex');
    await explorer.page.getByLabel('Key to look up').fill('77 65 7');
    await explorer.page.getByText('Hexadecimal digits come in pairs').waitFor();
    await explorer.page.getByLabel('Key to look up').fill(Buffer.from('weather/oslo/2026-01-20').toString('hex'));
    await explorer.page.locator('[data-outcome=found].notice').waitFor();
  });

  test('shows on a map what the lookup did with each table', async () => {
    const explorer = await open(`${sample}weather%2Foslo%2F2026-01-20`);
    const { page } = explorer;
    await page.locator('[data-outcome=found].notice').waitFor();
    const named = (kind: string): Promise<string[]> => page.locator(`.table-bar.is-${kind}`).allTextContents();
    expect(await named('found')).toEqual(['000006.ldb']);
    expect(await named('skipped')).toEqual(['000012.ldb']);
    expect((await named('not-asked')).length).toBe(8);
    await explorer.button('From the start').click();
    expect(await named('found')).toEqual([]);
    expect(await page.locator('.log-bar.is-read').count()).toBe(1);
  });

  test('can cancel many lookups and start them again', async () => {
    const explorer = await open('#/lookup?sample=1');
    const { page } = explorer;
    await explorer.button('Look them up').click();
    await explorer.button('Cancel').click();
    await explorer.button('Look them up').waitFor();
    expect(await page.locator('[data-fact=lookups]').count()).toBe(0);
    await explorer.button('Look them up').click();
    expect(await explorer.fact('lookups')).toBe('10,000');
  });

  test('shows that lookups of 10,000 absent keys read less than 3% as many blocks with filters as without', async () => {
    const explorer = await open('#/lookup?sample=1');
    await explorer.button('Look them up').click();
    expect(await explorer.fact('lookups')).toBe('10,000');
    const number = async (name: string): Promise<number> => Number((await explorer.fact(name)).replaceAll(',', ''));
    const without = await number('reads-without');
    expect(without).toBeGreaterThan(9000);
    expect(await number('reads-with')).toBeLessThan(without * 0.03);
  });
});
