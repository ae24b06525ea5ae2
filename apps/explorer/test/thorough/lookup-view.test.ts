import { folderFiles, goldenDatabases, realDatabases } from '@bloom/fixtures';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import type { GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('the lookup view', ({ open }) => {
  const sample = '#/lookup?sample=1&key=';

  test('shows the steps and the outcome for a key in each place, deleted and absent', async () => {
    const { page } = await open('#/lookup?sample=1');
    const seen = (): Promise<string[]> =>
      page.locator('.trace-step:not(.is-rest)').evaluateAll((elements) =>
        elements.map((element) => {
          const level = /Level (\d)/.exec(element.textContent)?.[1];
          return `${element.getAttribute('data-step')}${level === undefined ? '' : ` ${level}`}`;
        }),
      );
    for (const [place, key, outcome, steps] of [
      ['in the log', 'weather/oslo/2026-03-26', 'found', ['log']],
      ['in level 0, in its newest table', 'weather/oslo/2026-03-19', 'found', ['log', 'table 0']],
      ['in level 1', 'weather/lima/2026-02-25', 'found', ['log', 'table 0', 'table 0', 'table 1']],
      ['deleted in the log', 'weather/accra/2026-01-11', 'deleted', ['log']],
      ['deleted in level 0', 'weather/accra/2026-01-04', 'deleted', ['log', 'table 0']],
      ['absent', 'weather/oslo/2026-02-30', 'absent', undefined],
    ] as const) {
      await page.getByLabel('Key to look up').fill(key);
      await expect.poll(() => page.locator('.looked-up').textContent(), { message: place }).toContain(key);
      await expect.poll(() => page.locator('[data-outcome].notice').getAttribute('data-outcome'), { message: place }).toBe(outcome);
      if (steps !== undefined) await expect.poll(seen, { message: place }).toEqual(steps);
    }
  });

  test('counts the reads that filters saved', async () => {
    const explorer = await open(`${sample}weather%2Foslo%2F2026-01-20`);
    const { page } = explorer;
    await page.locator('[data-outcome=found].notice').waitFor();
    const no = await page.locator('[data-filter=no]').count();
    expect(no).toBeGreaterThan(0);
    await expect.poll(() => explorer.fact('saved')).toBe(String(no));
    await expect.poll(() => explorer.fact('reads')).toBe(String((await page.locator('[data-filter=maybe]').count())));
    await page.getByText('Keys that were compared and scanned').first().click();
    await expect.poll(() => page.locator('.compared').last().textContent()).toContain('weather/oslo/2026-01-20');
  });

  test('looks up a typed key and moves through its steps, by keyboard alone', async () => {
    const { page } = await open('#/lookup?sample=1');
    await page.getByLabel('Key to look up').focus();
    await page.keyboard.type('weather/oslo/2026-01-20');
    await page.locator('[data-outcome=found].notice').waitFor();
    const all = await page.locator('.trace-step').count();
    await page.getByRole('button', { name: 'From the start' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.trace-step').count()).toBe(1);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.trace-step').count()).toBe(2);
    for (let i = 2; i < all; i++) await page.getByRole('button', { name: 'One step forward' }).press('Enter');
    await page.locator('[data-outcome=found].notice').waitFor();
    expect(page.url()).toContain('key=weather%2Foslo%2F2026-01-20');
  });

  test('accepts keys in hexadecimal', async () => {
    const explorer = await open('#/lookup?sample=1');
    await explorer.page.getByRole('group', { name: 'Typed as' }).getByRole('radio', { name: 'Hex' }).check();
    await explorer.page.getByLabel('Key to look up').fill('77 65 7');
    await explorer.page.getByText('Type pairs of hexadecimal digits').waitFor();
    await explorer.page.getByLabel('Key to look up').fill(Buffer.from('weather/oslo/2026-01-20').toString('hex'));
    await explorer.page.locator('[data-outcome=found].notice').waitFor();
  });

  test('shows on a map what the lookup did with each table', async () => {
    const explorer = await open(`${sample}weather%2Foslo%2F2026-01-20`);
    const { page } = explorer;
    await page.locator('[data-outcome=found].notice').waitFor();
    const named = (kind: string): Promise<string[]> => page.locator(`.table-bar.is-${kind}`).allTextContents();
    await expect.poll(() => named('found')).toEqual(['000006.ldb']);
    await expect.poll(() => named('skipped')).toEqual(['000012.ldb']);
    await expect.poll(async () => (await named('not-asked')).length).toBe(8);
    await explorer.button('From the start').click();
    await expect.poll(() => named('found')).toEqual([]);
    await expect.poll(() => page.locator('.log-bar.is-read').count()).toBe(1);
  });

  test('each example ends where its label says', async () => {
    const { page } = await open('#/lookup?sample=1');
    const examples = page.locator('.lookup-examples button');
    await examples.first().waitFor();
    const labels = await examples.allTextContents();
    expect(labels.length).toBeGreaterThan(5);
    for (const [i, label] of labels.entries()) {
      await examples.nth(i).press('Enter');
      const said = page.locator('[data-outcome].notice');
      const outcome = label === 'deleted' || label === 'absent' ? label : 'found';
      await expect.poll(() => said.getAttribute('data-outcome')).toBe(outcome);
      if (outcome !== 'found') continue;
      await expect.poll(() => page.locator('.trace-step.is-found h3').textContent()).toMatch(label === 'in the log' ? /^Log/ : new RegExp(`^${label.replace('in level', 'Level')} `));
    }
  });

  /** For each row of the map: the bars that the line of the key touches, or undefined where the line is not drawn. */
  async function touched(page: Page): Promise<(string[] | undefined)[]> {
    return page.locator('.lane').evaluateAll((lanes) =>
      lanes.map((lane) => {
        const line = lane.querySelector('.key-line')?.getBoundingClientRect();
        if (line === undefined) return undefined;
        const bars = [...lane.querySelectorAll('.table-bar')].filter((bar) => {
          const box = bar.getBoundingClientRect();
          return line.left >= box.left - 1 && line.left <= box.right;
        });
        return bars.map((bar) => bar.textContent);
      }),
    );
  }

  test('the line of a key touches exactly the tables whose range it falls into, in the rows that were gone through', async () => {
    const { page } = await open('#/lookup?sample=1');
    for (const [key, rows] of [
      ['zzz', [[], [], [], []]],
      ['a', [[], [], [], []]],
      ['weather', [[], [], [], []]],
      ['weather/oslo/2026-01-20', [['000012.ldb'], [], [], ['000006.ldb']]],
      // Between two tables of level 2.
      ['weather/prague/2026-03-30', [['000012.ldb'], [], ['000010.ldb'], []]],
      ['weather/lima/2026-02-25', [['000012.ldb'], ['000011.ldb'], ['000009.ldb'], undefined]],
      ['weather/oslo/2026-03-19', [['000012.ldb'], undefined, undefined, undefined]],
    ] as const) {
      await page.getByLabel('Key to look up').fill(key);
      await expect.poll(() => page.locator('.looked-up').textContent()).toBe(`Looked up: ${key}`);
      await expect.poll(() => touched(page), { message: key }).toEqual(rows);
    }
  });

  test('a key before all tables is drawn left of them, and one after them right of them', async () => {
    const { page } = await open(`${sample}a`);
    const places = async (): Promise<{ line: number; first: number; last: number }> =>
      page.locator('.levels').evaluate((levels) => {
        const boxes = [...levels.querySelectorAll('.table-bar')].map((bar) => bar.getBoundingClientRect());
        return {
          line: levels.querySelector('.key-line')!.getBoundingClientRect().left,
          first: Math.min(...boxes.map(({ left }) => left)),
          last: Math.max(...boxes.map(({ right }) => right)),
        };
      });
    await page.locator('.key-line').first().waitFor();
    const hasOrder = async (order: (at: { line: number; first: number; last: number }) => boolean): Promise<boolean> => order(await places());
    await expect.poll(() => hasOrder(({ line, first }) => line < first)).toBe(true);
    await page.getByLabel('Key to look up').fill('zzz');
    await expect.poll(() => hasOrder(({ line, last }) => line > last)).toBe(true);
    // The axis begins and ends as the list of entries does.
    await expect.poll(() => page.locator('.level-axis > span').allTextContents()).toEqual(['weather/accra/2026-01-01', 'weather/tunis/2026-03-26']);
  });

  const real = (pattern: RegExp): GivenFile[] => {
    const { path } = realDatabases().find(({ name }) => pattern.test(name))!;
    return Array.from(folderFiles(path), ([name, bytes]) => ({ name, bytes }));
  };

  test('keys of IndexedDB are typed and read in words, and a stored key keeps them', async () => {
    const explorer = await open('#/lookup');
    const { page } = explorer;
    await explorer.give(...real(/file__0/));
    const typed = page.getByLabel('Key to look up');
    const isLookedUp = async (): Promise<boolean> => (await page.locator('.looked-up').textContent())!.includes(await typed.inputValue());
    // Keys from the whole database. At least one of them has no words.
    await page.evaluate(() => {
      let next = 0;
      Math.random = () => (next++ % 50) / 50;
    });
    for (let i = 0; i < 50; i++) {
      await typed.fill('');
      await explorer.button('a stored key').press('Enter');
      await expect.poll(() => typed.inputValue()).not.toBe('');
      expect(await typed.inputValue()).toMatch(/^[a-z]/);
    }
    await expect.poll(isLookedUp).toBe(true);
    await page.locator('[data-outcome=found].notice').waitFor();
    await typed.fill('');
    await typed.pressSequentially('database 1, name');
    await page.getByText('Type keys of IndexedDB as they are shown').waitFor();
    await typed.fill('database 1: store 1, name');
    await page.locator('[data-outcome=found].notice').waitFor();
    // The value is a text of UTF-16.
    await expect.poll(() => page.locator('[data-outcome=found].notice').textContent()).toMatch(/"test store[ -~]*"/);
    await expect.poll(() => page.locator('[data-outcome=found].notice').textContent()).not.toContain('\\x00');
  });

  test('keys of Minecraft are typed and read in words', async () => {
    const explorer = await open('#/lookup');
    const { page } = explorer;
    await explorer.give(...real(/mctestdb/));
    const typed = page.getByLabel('Key to look up');
    const isLookedUp = async (): Promise<boolean> => (await page.locator('.looked-up').textContent())!.includes(await typed.inputValue());
    await expect.poll(async () => {
      await explorer.button('a stored key').click();
      return typed.inputValue();
    }).toMatch(/^chunk -?\d+, -?\d+ of the Overworld: /);
    await expect.poll(isLookedUp).toBe(true);
    await page.locator('[data-outcome=found].notice').waitFor();
  });

  test('bytes that are no text are typed as they are shown', async () => {
    const explorer = await open('#/lookup?sample=1');
    const { page } = explorer;
    await page.getByLabel('Key to look up').fill('a\\x00\\xff');
    await expect.poll(() => page.locator('.looked-up').textContent()).toBe('Looked up: a\\x00\\xff');
    await page.getByRole('group', { name: 'Show bytes as' }).getByRole('radio', { name: 'Hex' }).check();
    await expect.poll(() => page.locator('.looked-up').textContent()).toBe('Looked up: 61 00 ff');
  });

  test('can cancel many lookups and start them again', async () => {
    const explorer = await open('#/lookup?sample=1');
    const { page } = explorer;
    await explorer.button('Look them up').waitFor();
    // Within the page, since this process may be slower than the lookups.
    await page.evaluate(async () => {
      const button = (name: string): HTMLButtonElement | undefined => [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === name);
      const cancelled = new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          const cancel = button('Cancel');
          if (cancel === undefined) return;
          observer.disconnect();
          cancel.click();
          resolve();
        });
        observer.observe(document.body, { subtree: true, childList: true });
      });
      button('Look them up')!.click();
      await cancelled;
    });
    await explorer.button('Look them up').waitFor();
    await expect.poll(() => page.locator('[data-fact=lookups]').count()).toBe(0);
    await explorer.button('Look them up').click();
    await expect.poll(() => explorer.fact('lookups')).toBe('10,000');
  });

  test('draws the reads with filters and without to scale, and asks for other keys each time', async () => {
    const explorer = await open('#/lookup?sample=1');
    const { page } = explorer;
    const examples = new Set<string>();
    for (const name of ['Look them up', 'Again']) {
      await explorer.button(name).click();
      await explorer.button('Again').waitFor();
      const number = async (fact: string): Promise<number> => Number((await explorer.fact(fact)).replaceAll(',', ''));
      const widths = await page.locator('.read-bar').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
      expect(widths[1]! / widths[0]!).toBeCloseTo((await number('reads-with')) / (await number('reads-without')), 3);
      examples.add((await page.getByText('Each run uses different keys.').textContent())!);
    }
    expect(examples.size).toBe(2);
  });

  test('says why nothing is saved in a database without filters', async () => {
    const { path } = goldenDatabases().find(({ name }) => name === 'plain')!;
    const explorer = await open('#/lookup');
    await explorer.give(...Array.from(folderFiles(path), ([name, bytes]) => ({ name, bytes })));
    await explorer.button('Look them up').click();
    await expect.poll(() => explorer.fact('no-filters')).toContain('No table of this database has a usable filter');
  });

  test('one damaged block does not end 10,000 lookups', async () => {
    const files = weatherDatabase().map(({ name, bytes }) => ({ name, bytes: bytes.slice() }));
    files.find(({ name }) => name === '000005.ldb')!.bytes[40]! ^= 0x20;
    const explorer = await open('#/lookup');
    await explorer.give(...files);
    await explorer.button('Look them up').click();
    await expect.poll(() => explorer.fact('lookups')).toBe('10,000');
    await explorer.page.getByText(/Without filters [1-9]\d* lookups? failed, with them \d+: they met a damaged block/).waitFor();
  });

  test('shows that lookups of 10,000 absent keys read less than 3% as many blocks with filters as without', async () => {
    const explorer = await open('#/lookup?sample=1');
    await explorer.button('Look them up').click();
    await expect.poll(() => explorer.fact('lookups')).toBe('10,000');
    const number = async (name: string): Promise<number> => Number((await explorer.fact(name)).replaceAll(',', ''));
    const without = await number('reads-without');
    expect(without).toBeGreaterThan(9000);
    await expect.poll(() => number('reads-with')).toBeLessThan(without * 0.03);
  });
});
