import process from 'node:process';
import { SUITE_WITHOUT_GET_SYNC, type SuiteResult } from '@bloom/fixtures/abstract-suite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { BrowserOnDisk, bundled, Origin } from '../../src/origin.js';

describe.runIf(findChromium() !== undefined)('in pages of Chromium, levels in the origin private file system', () => {
  const browser = new BrowserOnDisk();
  let origin: Origin;

  beforeAll(async () => {
    origin = await Origin.start(await bundled('level-page', 'level-worker'));
    await browser.start();
  });

  afterAll(async () => {
    await browser.stop();
    await origin.stop();
  });

  test('tabs share a level, and go on when the one that opened it is closed', async () => {
    const [first, second] = [await browser.newPage(origin.url), await browser.newPage(origin.url)];
    for (const page of [first, second]) await page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => void (globalThis.level = new BloomLevel('tabs')))`);
    await first.evaluate(`level.put('a', '1')`);
    await second.evaluate(`level.put('b', '2')`);
    expect(await first.evaluate(`level.iterator().all()`)).toEqual([['a', '1'], ['b', '2']]);
    await second.evaluate(`void (globalThis.begun = level.iterator({ highWaterMarkBytes: 0 })), begun.next()`);
    await first.close();
    expect(await second.evaluate(`level.put('c', '3').then(() => level.iterator().all())`)).toEqual([['a', '1'], ['b', '2'], ['c', '3']]);
    expect(await second.evaluate(`begun.next().catch(({ code }) => code)`)).toBe('LEVEL_SNAPSHOT_LOST');
    await second.close();
  });

  test('a browser-level is copied, and a copy that was interrupted goes on', async () => {
    const page = await browser.newPage(origin.url);
    const copied = await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel, BrowserLevel, copyLevel }) => {
      const old = new BrowserLevel('old');
      await old.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: String(i), value: 'value ' + i })));
      const level = new BloomLevel('copied');
      const abort = new AbortController();
      const code = await copyLevel(old, level, { signal: abort.signal, onProgress: ({ entries }) => entries > 500 && abort.abort() }).catch((error) => error.code);
      const { entries, copiedNow } = await copyLevel(old, level);
      const [expected, found] = [await old.iterator().all(), await level.iterator().all()];
      await old.close();
      await level.close();
      return { code, entries, wentOn: copiedNow < 2500, isSame: JSON.stringify(found) === JSON.stringify(expected), count: found.length };
    })`);
    expect(copied).toEqual({ code: 'LEVEL_ABORTED', entries: 3000, wentOn: true, isSame: true, count: 3000 });
    await page.close();
  });

  // It takes minutes where the machine is slow: `pnpm --filter @bloom/long-tests level-suite`.
  test.runIf(process.env.BLOOM_LEVEL_SUITE === 'page')("every assertion of abstract-level's suite holds but those of getSync", async () => {
    const page = await browser.newPage(origin.url);
    const result = await page.evaluate<SuiteResult>(`import('/level-page.js').then(({ runSuite }) => runSuite())`);
    expect(result).toEqual(SUITE_WITHOUT_GET_SYNC);
    await page.close();
  });
});
