// Kills tabs, renderers and the whole browser while levels are written, at random moments.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { nativeDatabase } from '@bloom/native';
import { ClassicLevel } from 'classic-level';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { TestSite } from '../test-site.js';
import { WrittenLevel } from '../written-level.js';

const rounds = Number(process.env.BLOOM_BROWSER_KILLS ?? 3);

if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no browser is killed', () => {});
describe.runIf(findChromium() !== undefined)('in Chromium', () => {
  const site = TestSite.forTests('level-page', 'level-worker');
  const { browser } = site;
  const level = new WrittenLevel(site, 'killed/database');
  const { acknowledged } = level;
  const folder = mkdtempSync(join(tmpdir(), 'bloom-killed-'));

  afterAll(() => rmSync(folder, { recursive: true }));

  const kills: Record<string, (page: Page) => Promise<void>> = {
    'a tab': (page) => page.close(),
    'a renderer': async (page) => {
      const session = await browser.context.newCDPSession(page);
      const crashed = page.waitForEvent('crash');
      // It has no answer.
      void session.send('Page.crash').catch(() => undefined);
      await crashed;
    },
    'the browser': async () => {
      await browser.kill();
      await browser.start();
    },
  };

  const kinds = Object.keys(kills);
  test.each(Array.from({ length: rounds }, (_, i) => [i + 1, kinds[i % kinds.length]!] as const))(
    'round %d: when %s is killed, every acknowledged entry is there, and none is missing in between',
    async (round, kind) => {
      const counts = new Map<string, number>();
      for (const writer of ['first', 'second']) counts.set(writer, (await level.countOf(writer)).count);
      // The first tab has the database open for both.
      const first = await level.startWriting('first', counts.get('first')!);
      await expect.poll(() => acknowledged.get('first') ?? 0).toBeGreaterThan(counts.get('first')!);
      const second = await level.startWriting('second', counts.get('second')!);
      await expect.poll(() => acknowledged.get('second') ?? 0).toBeGreaterThan(counts.get('second')!);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
      await kills[kind]!(first);
      const before = acknowledged.get('second')!;
      if (kind === 'a tab') {
        // The second takes over.
        await expect.poll(() => acknowledged.get('second')!).toBeGreaterThan(before + 20);
      }
      if (!second.isClosed()) await second.close();
      for (const writer of ['first', 'second']) {
        const { count, others } = await level.countOf(writer);
        expect(others, `entries of ${writer} behind a hole, in round ${round}`).toBe(0);
        expect(count).toBeGreaterThanOrEqual(acknowledged.get(writer)!);
      }
    },
  );

  test('LevelDB and classic-level read the folder, copied to the disk', async () => {
    const page = await site.newPage();
    const files = await page.evaluate<Record<string, string>>(`import('/level-page.js').then(({ filesOf }) => filesOf('${level.path}'))`);
    const expected = [...acknowledged.keys()].sort();
    const path = join(folder, 'copy');
    mkdirSync(path);
    for (const [name, base64] of Object.entries(files)) writeFileSync(join(path, name), Buffer.from(base64, 'base64'));
    let total = 0;
    // One after another: a page that is closed would end the iterator of another one that has its database through it.
    for (const writer of expected) total += (await level.countOf(writer)).count;
    const classic = new ClassicLevel(path, { createIfMissing: false });
    const keys = await classic.keys().all();
    await classic.close();
    expect(keys).toHaveLength(total);
    const native = nativeDatabase();
    if (native === undefined) return;
    const { status, entries } = native.dump(path);
    expect(status).toBe('OK');
    expect(entries.map(([key]) => Buffer.from(key).toString())).toEqual(keys);
  });
});
