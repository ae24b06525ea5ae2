// Chromium can forget the names of files that were made after it was killed: databases must not depend on them.
import { describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { TestSite } from '../test-site.js';
import { WrittenLevel } from '../written-level.js';

const WRITER = 'writer';

if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so its log of file names is not damaged', () => {});
describe.runIf(findChromium() !== undefined)('in a Chromium whose log of file names ends with an incomplete record', () => {
  const site = TestSite.forTests('level-page', 'level-worker');
  const { browser } = site;

  /** Writes enough for some tables, and leaves the page that writes open. */
  async function write(level: WrittenLevel, from: number): Promise<void> {
    await level.startWriting(WRITER, from);
    await expect.poll(() => level.acknowledged.get(WRITER) ?? 0).toBeGreaterThan(from + 1000);
  }

  async function mustHaveAll(level: WrittenLevel): Promise<number> {
    const { count, others } = await level.countOf(WRITER);
    expect(others).toBe(0);
    expect(count).toBeGreaterThanOrEqual(level.acknowledged.get(WRITER)!);
    return count;
  }

  test('after two more starts, a database that was there has all entries, and so has a new one', async () => {
    const [old, made] = [new WrittenLevel(site, 'torn/old'), new WrittenLevel(site, 'torn/new')];
    await write(old, 0);
    await browser.kill();
    expect(browser.tearNames()).toBeGreaterThan(0);
    await browser.start();
    await write(made, 0);
    await write(old, await mustHaveAll(old));
    await browser.kill();
    await browser.start();
    await mustHaveAll(old);
    await mustHaveAll(made);
  });

  test('no long name is left in the root, not even that of a browser that was killed before it removed it', async () => {
    const page = await site.newPage();
    const [before, after] = await page.evaluate<[string[], string[]]>(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const root = await navigator.storage.getDirectory();
      const names = async () => { const names = []; for await (const name of root.keys()) names.push(name); return names.sort(); };
      await root.getFileHandle('.bloom-log-block-0.5', { create: true });
      const before = await names();
      await new BloomLevel('torn/other').put('key', 'value');
      return [before, await names()];
    })`);
    expect(before).toContain('.bloom-log-block-0.5');
    expect(after).toEqual(['torn']);
  });
});
