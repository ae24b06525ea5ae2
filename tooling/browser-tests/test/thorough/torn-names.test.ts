// Chromium forgets names of files that were made after it was killed within a write: databases must not depend on them.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { BrowserOnDisk, bundled, Origin } from '../../src/origin.js';

describe.runIf(findChromium() !== undefined)('in a Chromium whose log of names ends with a part of a record', () => {
  const browser = new BrowserOnDisk();
  let origin: Origin;
  /** Of each database, the number of entries that are known to be acknowledged. */
  const acknowledged = new Map<string, number>();

  beforeAll(async () => {
    origin = await Origin.start(await bundled('level-page', 'level-worker'));
    await browser.start();
  });

  afterAll(async () => {
    await browser.stop();
    await origin.stop();
  });

  async function opened(): Promise<Page> {
    return browser.newPage(origin.url);
  }

  /** Writes to a database, which has tables afterwards, and is still open. */
  async function write(path: string, from: number): Promise<void> {
    const page = await opened();
    await page.exposeFunction('acknowledged', (_writer: string, end: number) => void acknowledged.set(path, end));
    await page.evaluate(`void import('/level-page.js').then(({ writeOn }) => writeOn('${path}', 'writer', ${from}, acknowledged))`);
    await expect.poll(() => acknowledged.get(path) ?? 0, { timeout: 60_000 }).toBeGreaterThan(from + 1000);
  }

  async function countOf(path: string): Promise<{ readonly count: number; readonly others: number }> {
    const page = await opened();
    const counts = await page.evaluate<{ readonly count: number; readonly others: number }>(`import('/level-page.js').then(({ countOf }) => countOf('${path}', 'writer'))`);
    await page.close();
    return counts;
  }

  async function mustHaveAll(path: string): Promise<number> {
    const { count, others } = await countOf(path);
    expect(others).toBe(0);
    expect(count).toBeGreaterThanOrEqual(acknowledged.get(path)!);
    return count;
  }

  test('a database that is written to is there after the next start, and so is a new one', async () => {
    await write('torn/old', 0);
    await browser.kill();
    expect(browser.tearNames()).toBeGreaterThan(0);
    await browser.start();
    await write('torn/new', 0);
    await write('torn/old', await mustHaveAll('torn/old'));
    await browser.kill();
    await browser.start();
    await mustHaveAll('torn/old');
    await mustHaveAll('torn/new');
  });

  test('there are no other names in the root for it, not even those of a browser that was killed before it removed them', async () => {
    const page = await opened();
    const [before, after] = await page.evaluate<[string[], string[]]>(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const root = await navigator.storage.getDirectory();
      const names = async () => { const names = []; for await (const name of root.keys()) names.push(name); return names.sort(); };
      await root.getFileHandle('.bloom-log-block-0.5', { create: true });
      const before = await names();
      await new BloomLevel('torn/other').put('key', 'value');
      return [before, await names()];
    })`);
    expect(before).toEqual(['.bloom-log-block-0.5', 'torn']);
    expect(after).toEqual(['torn']);
  });
});
