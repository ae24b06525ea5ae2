import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '@bloom/browser-tests/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ExplorerPage } from './explorer-page.js';
import { PageServer } from './page-server.js';

const built = join(import.meta.dirname, '../dist');
const executablePath = findChromium();

/** The tools of a test in a browser. */
export interface InChromium {
  readonly browser: () => Browser;
  readonly server: () => PageServer;
  /** Opens the page. It is closed after the test, and its console must be empty. */
  readonly open: (hash: string, options?: BrowserContextOptions) => Promise<ExplorerPage>;
}

/** Tests of the built page in a real browser. If there is none, they are skipped with a message. */
export function describeInChromium(name: string, define: (given: InChromium) => void): void {
  if (executablePath === undefined) {
    test.skip(`no Chromium on the PATH (Debian: apt-get install chromium), so ${name} is not tested`, () => {});
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let server: PageServer;
    let shared: BrowserContext;
    const pages: ExplorerPage[] = [];

    beforeAll(async () => {
      if (!existsSync(join(built, 'index.html'))) throw new Error('the page is not built: run npx pnpm@10 --filter @bloom/explorer build');
      server = await PageServer.start(built);
      browser = await chromium.launch({ executablePath });
      shared = await ExplorerPage.newContext(browser);
    });
    afterAll(async () => {
      await browser.close();
      await server.stop();
    });
    afterEach(async () => {
      const complaints = pages.flatMap((page) => page.complaints);
      await Promise.all(pages.splice(0).map((page) => page.close()));
      expect(complaints).toEqual([]);
    });

    define({
      browser: () => browser,
      server: () => server,
      async open(hash, options) {
        const context = options === undefined ? shared : await ExplorerPage.newContext(browser, options);
        const page = await ExplorerPage.open(context, server, hash, options !== undefined);
        pages.push(page);
        return page;
      },
    });
  });
}
