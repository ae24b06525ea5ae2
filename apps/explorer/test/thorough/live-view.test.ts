import { expect, test } from 'vitest';
import { axeFindsNothing } from '../axe.js';
import type { ExplorerPage } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('the view of a live database', ({ open }) => {
  async function opened(hash = '#/live?pace=at-once'): Promise<ExplorerPage> {
    const explorer = await open(hash);
    await explorer.page.locator('[data-fact=last-sequence]').waitFor();
    return explorer;
  }

  const press = ({ page }: ExplorerPage, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
  const lastSequence = (explorer: ExplorerPage, wanted: string): Promise<void> => expect.poll(() => explorer.fact('last-sequence')).toBe(wanted);
  const isIdle = (explorer: ExplorerPage): Promise<void> =>
    expect.poll(async () => `${await explorer.fact('next-step')} ${await explorer.fact('making')}`).toBe('Nothing to do. There is no background work.');
  /** The step that waits, once it is another than `before`; undefined where there is nothing to do for a while. */
  async function nextStep(explorer: ExplorerPage, before?: string): Promise<string | undefined> {
    for (let quiet = 0; quiet < 20; ) {
      const said = await explorer.fact('next-step');
      const [, next] = /^Next: (.*)$/.exec(said) ?? [];
      if (next !== undefined && next !== before) return next;
      quiet = said === 'Working…' ? 0 : quiet + 1;
      await explorer.page.waitForTimeout(40);
    }
    return undefined;
  }

  /** The newest event of a kind, in the page's words. */
  const newest = ({ page }: ExplorerPage, kind: string): Promise<string | null> => page.locator(`[data-event=${kind}]`).first().textContent();
  const numberIn = (text: string | null, pattern: RegExp): number => Number(pattern.exec(text ?? '')![1]!.replaceAll(',', ''));

  async function put(explorer: ExplorerPage, value: string): Promise<void> {
    const before = Number((await explorer.fact('last-sequence')).replaceAll(',', ''));
    await explorer.page.getByLabel('Value').fill(value);
    await press(explorer, 'Put');
    await lastSequence(explorer, (before + 1).toLocaleString('en'));
  }

  /** `value of write: where`, the newest first. */
  const versions = async ({ page }: ExplorerPage): Promise<string[]> =>
    page.locator('[data-version]').evaluateAll((rows) =>
      rows.map((row) => {
        const [, what, where] = [...row.children].map(({ textContent }) => textContent);
        return `${what}: ${where!.replace(/, .*| \(.*/, '')}`;
      }),
    );
  const hasVersions = (explorer: ExplorerPage, wanted: readonly string[]): Promise<void> => expect.poll(() => versions(explorer)).toEqual(wanted);

  test('a thousand writes fill memtables, which become tables with filters, and none is lost on the way', async () => {
    const explorer = await opened();
    await press(explorer, 'Write a thousand');
    await lastSequence(explorer, '1,000');
    await isIdle(explorer);
    const inMemory = async (): Promise<number> => numberIn(await explorer.page.locator('[data-memtable]').textContent(), /(\d+) entries/);
    await expect.poll(async () => Number((await explorer.fact('table-entries')).replaceAll(',', '')) + (await inMemory())).toBe(1000);
    await expect.poll(() => newest(explorer, 'memtable-switched')).toMatch(/with \d+ entries/);
    const [, entries, filters] = /has (\d+) entries in .*, (\d+) filters of/.exec((await newest(explorer, 'flush-ended'))!)!;
    const table = explorer.page.locator('[data-table]');
    await expect.poll(() => table.textContent()).toContain(`${entries} entries`);
    await expect.poll(() => table.locator('.live-fills > span').count()).toBe(Number(filters));
    await expect.poll(() => table.getByRole('img').getAttribute('aria-label')).toMatch(/^\d+ filters of 00\d+\.ldb: [345]\d% of their bits are 1$/);
    await explorer.page.getByRole('button', { name: /^Table 00\d+\.ldb, level 2,/ }).waitFor();
  });

  test('a compaction makes hidden versions of a key disappear, and then its deletion', async () => {
    const explorer = await opened();
    for (const value of ['one', 'two']) await put(explorer, value);
    await press(explorer, 'Flush');
    await isIdle(explorer);
    await put(explorer, 'three');
    await hasVersions(explorer, ['three: memtable', 'two: level 2', 'one: level 2']);
    await press(explorer, 'Compact all');
    await hasVersions(explorer, ['three: level 2', 'two: gone', 'one: gone']);
    await expect.poll(() => newest(explorer, 'compaction-ended')).toBe('Compaction ended: 3 entries read, 1 written. 2 hidden versions and 0 deletions were dropped.');
    await press(explorer, 'Delete');
    await hasVersions(explorer, ['deleted: memtable', 'three: level 2', 'two: gone', 'one: gone']);
    await press(explorer, 'Compact all');
    await hasVersions(explorer, ['deleted: gone', 'three: gone', 'two: gone', 'one: gone']);
    await expect.poll(() => newest(explorer, 'compaction-ended')).toBe('Compaction ended: 2 entries read, 0 written. 1 hidden version and 1 deletion were dropped.');
    await expect.poll(() => explorer.fact('tables')).toBe('0 tables');
  });

  test('a snapshot keeps what it sees through a compaction, and lookups and cursors read as of it, until it is released', async () => {
    const explorer = await opened();
    const { page } = explorer;
    await put(explorer, 'before');
    await press(explorer, 'Hold a snapshot');
    await page.locator('[data-snapshot]').waitFor();
    await put(explorer, 'after');
    await press(explorer, 'Compact all');
    await hasVersions(explorer, ['after: level 2', 'before: level 2']);
    await press(explorer, 'Look up');
    await page.getByText('Found, with sequence 2.').waitFor();
    await page.getByRole('radio', { name: /^snapshot 1, after write 1/ }).check();
    await press(explorer, 'Look up');
    await page.getByText('Found, with sequence 1.').waitFor();
    await expect.poll(() => page.locator('.notice[data-outcome=found]').textContent()).toContain('before');
    await press(explorer, 'Seek');
    await page.getByRole('list', { name: 'Entries from the key on' }).getByText('before').waitFor();
    await press(explorer, 'Release snapshot 1');
    await put(explorer, 'last');
    await press(explorer, 'Compact all');
    await hasVersions(explorer, ['last: level 2', 'after: gone', 'before: gone']);
  });

  test('a power failure loses what was not synced, and a crash of the program loses nothing', async () => {
    const explorer = await opened();
    const { page } = explorer;
    await page.getByLabel('Sync each write').check();
    await put(explorer, 'synced');
    await expect.poll(() => explorer.fact('synced')).toBe('all synced');
    await page.getByLabel('Sync each write').uncheck();
    await put(explorer, 'not synced');
    await expect.poll(() => explorer.fact('synced')).toMatch(/^\d+ B synced$/);
    await press(explorer, 'Crash the program');
    await expect.poll(() => newest(explorer, 'reopened')).toBe('Reopened: no write is lost.');
    // What opening makes of a log is in level 0.
    await hasVersions(explorer, ['not synced: level 0', 'synced: level 0']);
    await put(explorer, 'soon lost');
    await press(explorer, 'Cut the power');
    await expect.poll(() => newest(explorer, 'reopened')).toBe('Reopened: the last write is lost; all earlier ones are there.');
    await hasVersions(explorer, ['soon lost: gone', 'not synced: level 0', 'synced: level 0']);
  });

  test('what a power failure lost is counted right, though the MANIFEST knows of later writes', async () => {
    const explorer = await opened();
    await press(explorer, 'Write a thousand');
    await lastSequence(explorer, '1,000');
    await isIdle(explorer);
    const inMemory = numberIn(await explorer.page.locator('[data-memtable]').textContent(), /(\d+) entries/);
    expect(inMemory).toBeGreaterThan(100);
    await press(explorer, 'Cut the power');
    await expect.poll(() => newest(explorer, 'reopened')).toBe(`Reopened: the last ${inMemory} writes are lost; all earlier ones are there.`);
    await expect.poll(() => explorer.fact('table-entries')).toBe(String(1000 - inMemory));
  });

  test('step by step, each change of the folder waits until it is asked for, and says what it is', async () => {
    const explorer = await opened('#/live?pace=step');
    await press(explorer, 'Put');
    await expect.poll(() => explorer.fact('next-step')).toMatch(/^Next: append \d+ bytes to 00000\d\.log$/);
    await expect.poll(() => explorer.fact('last-sequence')).toBe('0');
    await press(explorer, 'Next step');
    await lastSequence(explorer, '1');
    await press(explorer, 'Flush');
    const steps: string[] = [];
    for (let next = await nextStep(explorer); next !== undefined; next = await nextStep(explorer, next)) {
      steps.push(next);
      await press(explorer, 'Next step');
    }
    expect(steps.map((step) => step.replace(/[\d,]+ bytes/, 'bytes').replace(/\d{6}/g, 'N'))).toEqual([
      'sync N.log',
      'create N.log',
      'create N.ldb',
      'append bytes to N.ldb',
      'sync N.ldb',
      'sync the names in the folder',
      'append bytes to MANIFEST-N',
      'sync MANIFEST-N',
      'delete N.log',
    ]);
  });

  test('in slow motion one sees the flush, and which tables are merged', async () => {
    const explorer = await opened();
    const { page } = explorer;
    for (const value of ['one', 'two']) {
      await put(explorer, value);
      await press(explorer, 'Flush');
      await isIdle(explorer);
    }
    await put(explorer, 'three');
    await explorer.choose('Slow motion');
    // The page itself waits for these, so that none is missed where this process is slow.
    const seen = [
      page.locator('[data-fact=making]', { hasText: /^Flushing the memtable of/ }),
      page.locator('[data-fact=making]', { hasText: /^Merging 00.*into level/ }),
      page.getByRole('button', { name: /^Table .*, being merged$/ }).first(),
    ].map((locator) => locator.waitFor());
    await press(explorer, 'Compact all');
    await Promise.all(seen);
    await hasVersions(explorer, ['three: level 2', 'two: gone', 'one: gone']);
  });

  test('a lookup says which filters saved a read, and a table opens from its bar', async () => {
    const explorer = await opened('#/live?pace=at-once&key=user%2F0042x');
    const { page } = explorer;
    for (const wanted of ['1,000', '2,000', '3,000']) {
      await press(explorer, 'Write a thousand');
      await lastSequence(explorer, wanted);
    }
    await isIdle(explorer);
    await press(explorer, 'Look up');
    await page.locator('[data-outcome=absent].notice').waitFor();
    const nos = await page.locator('[data-filter=no]').count();
    expect(nos).toBeGreaterThan(1);
    await page.getByText(`${nos} reads saved by filters`).waitFor();
    await expect.poll(() => page.locator('.table-bar.is-skipped').count()).toBe(nos);
    const bar = page.locator('.table-bar').first();
    const name = (await bar.getAttribute('aria-label'))!.split(/[ ,]/)[1]!;
    await bar.click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.locator('[data-fact=entries]').waitFor();
  });

  test('works on while other views are looked at, and its link has the key and the pace', async () => {
    const explorer = await opened();
    const { page } = explorer;
    await page.getByLabel('Key', { exact: true }).fill('mine');
    await put(explorer, 'kept');
    const navigation = page.getByRole('navigation');
    await navigation.getByRole('link', { name: 'Filter' }).click();
    await navigation.getByRole('link', { name: 'Live' }).click();
    await hasVersions(explorer, ['kept: memtable']);
    await expect.poll(() => page.evaluate(() => location.hash)).toBe('#/live?key=mine&pace=at-once');
  });

  test('can be used with the keyboard alone, and the focus stays where it was through a crash', async () => {
    const explorer = await opened();
    const { page } = explorer;
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent.trim() ?? '');
    await page.getByLabel('Value').focus();
    await page.keyboard.press('Enter');
    await lastSequence(explorer, '1');
    const reached: string[] = [];
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab');
      reached.push(await focused());
    }
    expect(reached).toEqual(['Put', 'Delete', 'Write a thousand', 'Flush', 'Compact all', '', 'Crash the program', 'Cut the power']);
    await page.keyboard.press('Enter');
    await expect.poll(() => newest(explorer, 'reopened')).toContain('the last write is lost');
    await expect.poll(() => focused()).toBe('Cut the power');
    await page.getByRole('radio', { name: 'At once' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused()).toBe('Next step');
  });

  test('axe finds nothing, and nothing is too wide, while tables are merged, a lookup is shown and versions are gone', async () => {
    const explorer = await open('#/live?pace=at-once');
    const { page } = explorer;
    await page.locator('[data-fact=last-sequence]').waitFor();
    for (const wanted of ['1,000', '2,000', '3,000', '4,000', '5,000']) {
      await press(explorer, 'Write a thousand');
      await lastSequence(explorer, wanted);
    }
    await isIdle(explorer);
    await press(explorer, 'Hold a snapshot');
    await press(explorer, 'Look up');
    await page.locator('.trace').waitFor();
    await page.locator('[data-gone=true]').first().waitFor();
    await explorer.choose('Step by step');
    await press(explorer, 'Compact all');
    for (let next = await nextStep(explorer); next !== undefined && (await page.locator('.table-bar.is-marked').count()) === 0; next = await nextStep(explorer, next)) await press(explorer, 'Next step');
    await expect.poll(() => page.locator('.table-bar.is-marked').count()).toBeGreaterThan(1);
    await axeFindsNothing(explorer);
  });

  test('starting over throws everything away', async () => {
    const explorer = await opened();
    await put(explorer, 'away');
    await press(explorer, 'Start over');
    await lastSequence(explorer, '0');
    await hasVersions(explorer, []);
    await press(explorer, 'Look up');
    await explorer.page.locator('[data-outcome=absent].notice').waitFor();
  });
});
