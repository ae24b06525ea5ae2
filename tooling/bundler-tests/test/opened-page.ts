import { findChromium } from '@bloom/browser-tests/chromium';
import { chromium } from 'playwright-core';
import type { PageFindings } from '../src/page-findings.js';

/** The path of the installed Chromium, if there is one. */
export const executablePath = findChromium();

/** Opens a page in Chromium. @returns its `findings`. */
export async function openedPage(url: string): Promise<PageFindings> {
  const browser = await chromium.launch({ executablePath: executablePath! });
  try {
    const page = await browser.newPage();
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(url);
    await page.waitForFunction('"findings" in globalThis', undefined, { timeout: 30_000 }).catch((cause: unknown) => {
      throw new AggregateError(errors, `the page has no findings: ${errors.map(String).join(', ')}`, { cause });
    });
    return await page.evaluate('globalThis.findings');
  } finally {
    await browser.close();
  }
}
