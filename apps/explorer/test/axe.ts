import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ExplorerPage } from './explorer-page.js';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Themes and widths that axe checks: with all rules on a wide and a narrow screen, and in a long run with those of colours and layout on others. */
const LOOKS = [['light', 1280, true], ['dark', 320, true], ...(process.env.BLOOM_ALL_LOOKS ? ([['dark', 1280, false], ['light', 360, false], ['light', 768, false]] as const) : [])] as const;
const LOOK_RULES = ['color-contrast', 'scrollable-region-focusable', 'link-in-text-block', 'avoid-inline-spacing'];
/** Further widths at which nothing may be wider than the window. */
const WIDTHS = [360, 768, 900, 1600];

interface Axe {
  run(options: RunOptions): Promise<AxeResults>;
}

/** Fails if axe finds anything, or if the view is wider than the window, in both themes, on wide and narrow screens. */
export async function axeFindsNothing({ page }: ExplorerPage): Promise<void> {
  // A script element would violate the policy.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  for (const [colorScheme, width, hasAllRules] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await isNoWider(page, width);
    const found = await page.evaluate(async (options) => {
      const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(options);
      return violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ html }) => html.slice(0, 200))]);
    }, { resultTypes: ['violations' as const], selectors: false, ...(!hasAllRules && { runOnly: LOOK_RULES }) });
    expect({ colorScheme, width, found }).toEqual({ colorScheme, width, found: [] });
  }
  for (const width of WIDTHS) await isNoWider(page, width);
}

/** Fails if the view is wider than a window of that width. */
async function isNoWider(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  const excess = await page.evaluate(async () => {
    // What depends on the size and the colours is drawn in the next frames. They are not waited for forever, because Chromium can stop drawing a page
    // on a busy machine.
    const frame = (): Promise<unknown> => Promise.race([new Promise(requestAnimationFrame), new Promise((resolve) => setTimeout(resolve, 5000))]);
    for (let frames = 0; frames < 3; frames++) await frame();
    return Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth);
  });
  expect({ width, excess }).toEqual({ width, excess: 0 });
}
