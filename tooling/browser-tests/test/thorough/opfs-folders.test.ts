import process from 'node:process';
import { SUITE_OF_LEVELS, WHOLE_SUITE } from '@bloom/fixtures/abstract-suite';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { startWorker } from '../../src/page-worker.js';
import { TestSite } from '../test-site.js';

if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so folders in the origin private file system are not tested', () => {});
describe.runIf(findChromium() !== undefined)('in Chromium, on the origin private file system', () => {
  const site = TestSite.forTests('opfs-worker');
  const { browser } = site;
  let page: Page;

  beforeAll(async () => {
    page = await site.newPage();
  });

  test.each([
    ['with', true],
    ['without', false],
  ])('a folder keeps the laws %s a move() of the browser', async (_, withMove) => {
    const worker = await startWorker(page, '/opfs-worker.js');
    const results = (await worker.call('checkLaws', withMove)) as (readonly [string, string | undefined])[];
    expect(results.filter(([, failure]) => failure !== undefined)).toEqual([]);
    expect(results.map(([law]) => parseInt(law, 10))).toEqual(Array.from({ length: 27 }, (__, i) => i + 1));
    await worker.terminate();
  });

  test('a folder that is only read keeps the laws', async () => {
    const worker = await startWorker(page, '/opfs-worker.js');
    const results = (await worker.call('checkReadLaws')) as (readonly [string, string | undefined])[];
    expect(results.filter(([, failure]) => failure !== undefined)).toEqual([]);
    expect(results.map(([law]) => parseInt(law, 10))).toEqual(Array.from({ length: 8 }, (_, i) => i + 1));
    await worker.terminate();
  });

  test('a database has one writer, until it is closed or its worker is terminated, and readers beside it', async () => {
    const [first, second] = [await startWorker(page, '/opfs-worker.js'), await startWorker(page, '/opfs-worker.js')];
    const locked = { code: expect.stringContaining('LEVEL_LOCKED BLOOM_LOCKED') as string };
    await first.call('open', 'one-writer');
    await first.call('put', 'key 00000000', 'value');
    await expect(second.call('open', 'one-writer')).rejects.toMatchObject(locked);
    expect(await second.call('countReadOnly', 'one-writer')).toBe(1);
    await first.call('close');
    await second.call('open', 'one-writer');
    const start = performance.now();
    await expect(first.call('open', 'one-writer')).rejects.toMatchObject(locked);
    // It does not wait for the files, as it does after a worker was terminated.
    expect(performance.now() - start).toBeLessThan(5000);
    await second.call('put', 'key 00000001', 'value');
    // The browser lets go of the lock and the files some time after the worker has ended: opening waits for both.
    await Promise.all([second.terminate(), first.call('open', 'one-writer')]);
    expect(await first.call('count')).toBe(2);
    let owner = first;
    for (const count of [2, 3, 4]) {
      const next = await startWorker(page, '/opfs-worker.js');
      await Promise.all([owner.terminate(), next.call('open', 'one-writer')]);
      expect(await next.call('count')).toBe(count);
      await next.call('put', `key 0000000${count}`, 'value');
      owner = next;
    }
    await owner.terminate();
  });

  test.each([
    ['a log', undefined],
    ['tables', 2 ** 16],
  ])('when the quota is used up by %s, writes fail with a code, and nothing is lost', async (_, writeBufferSize) => {
    const path = `quota-${writeBufferSize}`;
    const worker = await startWorker(page, '/opfs-worker.js');
    const session = await browser.context.newCDPSession(page);
    const setQuota = (quotaSize: number | undefined): Promise<unknown> => session.send('Storage.overrideQuotaForOrigin', { origin: site.url, ...(quotaSize !== undefined && { quotaSize }) });
    const { usage } = await session.send('Storage.getUsageAndQuota', { origin: site.url });
    await worker.call('open', path, writeBufferSize);
    await setQuota(usage + 8e6);
    const { count, codes } = (await worker.call('putUntilFull', 10_000)) as { readonly count: number; readonly codes: unknown[] };
    expect(count).toBeGreaterThan(50);
    expect(codes).toEqual(['LEVEL_NO_SPACE', 'BLOOM_WRITING_ENDED', 'BLOOM_FOLDER_FULL', 'QuotaExceededError']);
    expect(await worker.call('count')).toBe(count);
    await worker.call('close');
    await expect(worker.call('open', path, writeBufferSize, false)).rejects.toMatchObject({ code: expect.stringContaining('LEVEL_NO_SPACE') as string });
    // By default, no new MANIFEST is written, and what is left of the quota may be enough for the table of a small log.
    const refusal = await worker.call('open', path, writeBufferSize).then(() => undefined, (error: unknown) => (error as { readonly code: unknown }).code);
    if (writeBufferSize === undefined || refusal !== undefined) {
      expect(refusal).toContain('LEVEL_NO_SPACE');
    } else {
      expect(await worker.call('count')).toBe(count);
      await worker.call('close');
    }
    expect(await worker.call('countReadOnly', path)).toBe(count);
    await setQuota(undefined);
    await worker.call('open', path, writeBufferSize);
    expect(await worker.call('count')).toBe(count);
    await worker.terminate();
  });

  test('a call that failed for lack of space leaves its file free for the next one', async () => {
    const worker = await startWorker(page, '/opfs-worker.js');
    expect(await worker.call('failFirst')).toEqual(['BLOOM_FOLDER_FULL', 'QuotaExceededError', 'BLOOM_FOLDER_FULL', 'QuotaExceededError', 'bytes']);
    await worker.terminate();
  });

  // Sublevels use the folder in the same way, so only the long run includes them: `npx pnpm@10 --filter @bloom/long-tests level-suite`.
  const withSublevels = process.env.BLOOM_LEVEL_SUITE !== undefined;
  test(`in a worker, every assertion of abstract-level's suite holds of levels${withSublevels ? ' and of sublevels' : ''}`, async () => {
    const worker = await startWorker(page, '/opfs-worker.js');
    expect(await worker.call('runSuite', withSublevels)).toEqual(withSublevels ? WHOLE_SUITE : SUITE_OF_LEVELS);
    await worker.terminate();
  });
});
