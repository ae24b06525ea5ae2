import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import { expect, test } from 'vitest';
import { contentSecurityPolicy, policyWithoutWebAssembly } from '../../content-security-policy.js';
import { describeInChromium } from '../in-chromium.js';

const dist = join(import.meta.dirname, '../../dist');
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FIRST_VIEW_BYTES = 150_000;

const VIEWS = [
  ['filter', '#/filter?policy=both', '.bench'],
  ['filter, with a wrong yes', '#/filter?bits=3&q=peach', '[data-verdict="false positive"]'],
  ['table, with nothing open', '#/table', '.drop'],
  ['database, with nothing open', '#/database', '.drop'],
  ['table', '#/table?sample=1', '[data-fact=entries]'],
  ['database', '#/database?sample=1&prefix=weather/oslo', '[data-fact=entries]'],
  ['lookup', '#/lookup?sample=1&key=weather/oslo/2026-01-20', '[data-outcome=found].notice'],
] as const;

test('the first view is less than 150 kB when gzipped', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file!);
  expect(files.length).toBeGreaterThan(1);
  const bytes = [html, ...files.map((file) => readFileSync(join(dist, file)))].reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
});

test('the built page refers to no other host and contains its Content-Security-Policy', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style="|onload=/);
  expect(html.replaceAll('&#39;', "'")).toContain(contentSecurityPolicy);
});

describeInChromium('the whole page', ({ open, server }) => {
  test.each(VIEWS)('axe finds nothing serious in the view %s, in both themes', async (_, hash, ready) => {
    const explorer = await open(hash, {});
    const { page } = explorer;
    await page.locator(ready).first().waitFor();
    // A script element would violate the policy.
    await page.evaluate(axeSource);
    for (const theme of ['Light', 'Dark']) {
      await explorer.choose(theme);
      // The second theme changes only colours.
      const { violations } = await page.evaluate((onlyColours) => {
        const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
        return axe.run(onlyColours ? { runOnly: ['color-contrast'] } : {});
      }, theme === 'Dark');
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))])).toEqual([]);
    }
  });

  test('no view is wider than the window, at 360 pixels and more', async () => {
    const explorer = await open('', {});
    const { page } = explorer;
    for (const [, hash, ready] of VIEWS) {
      await explorer.go(hash);
      await page.locator(ready).first().waitFor();
      for (const width of [360, 900, 1600]) {
        await page.setViewportSize({ width, height: 800 });
        const excess = await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));
        expect(`${hash}: ${excess} too wide`).toBe(`${hash}: 0 too wide`);
      }
    }
  });

  test('works where WebAssembly is forbidden', async () => {
    server().policy = policyWithoutWebAssembly;
    try {
      const explorer = await open('#/table?sample=1');
      expect(await explorer.fact('entries')).toBe('2,705');
      await explorer.go('#/filter?n=50000');
      await explorer.page.locator('.bench').waitFor();
      // The only reports are of WebAssembly that was refused.
      const others = explorer.complaints.filter((complaint) => !/wasm|WebAssembly/i.test(complaint));
      expect(others).toEqual([]);
      (explorer.complaints as string[]).splice(0);
    } finally {
      server().policy = contentSecurityPolicy;
    }
  });

  test('works offline after the first visit', async () => {
    const explorer = await open('', { serviceWorkers: 'allow' });
    const { page } = explorer;
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      while (navigator.serviceWorker.controller === null) await new Promise((resolve) => setTimeout(resolve, 50));
    });
    await page.context().setOffline(true);
    await page.reload();
    await page.locator('[data-verdict]').waitFor();
    await explorer.go('#/table?sample=1');
    expect(await explorer.fact('entries')).toBe('2,705');
  });

  test('remembers the theme, and links lead to all views', async () => {
    const explorer = await open('', {});
    const { page } = explorer;
    await explorer.choose('Dark');
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.reload();
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(dark);
    for (const [link, title] of [['Table', 'Inside a table'], ['Database', 'Walk through a database'], ['Lookup', 'Follow a lookup']] as const) {
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      expect(await page.title()).toBe(`${link} · Bloom explorer`);
    }
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Walk through a database' }).waitFor();
  });
});
