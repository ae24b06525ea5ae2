import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '@bloom/browser-tests/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ExplorerPage } from './explorer-page.js';
import { PageServer } from './page-server.js';

const built = join(import.meta.dirname, '../dist');
const executablePath = findChromium();

/**
 * The end of Playwright's log when no frame was drawn: it waits for two frames that show an element in the same place. On a busy machine
 * Chromium can stop drawing a page for a minute. With colours, the log ends with the code that resets them.
 */
const NO_FRAMES = /waiting for element to be visible, enabled and stable(?:\W*22m)?\s*$/;

/** How a page is opened. */
export interface PageOptions extends BrowserContextOptions {
  /** Gives the page storage and clipboard of its own. */
  readonly ownContext?: boolean;
}

/** The browser of all files that this process tests, one after another. It ends with the process. */
let launched: Browser | undefined;

/** Waits for a new context or page, which has no time limit. A browser that takes a minute hangs: the next file gets another one. */
async function orForget<T>(made: Promise<T>): Promise<T> {
  const timer = setTimeout(() => (launched = undefined), 60_000);
  try {
    return await made;
  } finally {
    clearTimeout(timer);
  }
}

/** The tools of a test in a browser. */
export interface InChromium {
  readonly browser: () => Browser;
  readonly server: () => PageServer;
  /** Opens the page. After the test, its console must be empty. A page with nothing but a viewport or `reducedMotion` is reused. */
  readonly open: (hash: string, options?: PageOptions) => Promise<ExplorerPage>;
}

/**
 * Tests of the built page in a real browser. If there is none, they are skipped with a message. A test is retried once on a new page if the
 * browser drew no frames.
 */
export function describeInChromium(name: string, define: (given: InChromium) => void): void {
  if (executablePath === undefined) {
    test.skip(`no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so ${name} is not tested`, () => {});
    return;
  }
  describe(name, { retry: { count: 1, condition: NO_FRAMES } }, () => {
    let browser: Browser;
    let server: PageServer;
    let shared: BrowserContext;
    /** The pages of the running test: those of the shared context, and those with a context of their own. */
    const reusable: ExplorerPage[] = [];
    const own: ExplorerPage[] = [];
    /** Pages of the shared context that no test uses. */
    const idle: ExplorerPage[] = [];

    beforeAll(async () => {
      if (!existsSync(join(built, 'index.html'))) throw new Error('the page is not built: run npx pnpm@10 --filter @bloom/explorer build');
      server = await PageServer.start(built);
      if (launched?.isConnected() !== true) launched = await chromium.launch({ executablePath });
      browser = launched;
      shared = await orForget(ExplorerPage.newContext(browser));
    });
    afterAll(async () => {
      await shared.close();
      await server.stop();
    });
    afterEach(async ({ task }) => {
      const hasFailed = task.result?.state === 'fail';
      if (hasFailed) for (const page of [...reusable, ...own]) process.stderr.write(`“${task.name}” failed at ${await page.described()}\n`);
      const complaints = [...reusable, ...own].flatMap((page) => page.complaints);
      await Promise.all(own.splice(0).map((page) => page.close()));
      const ours = new Set([...reusable, ...idle].map(({ page }) => page));
      // Those that a link of a page opened.
      await Promise.all(shared.pages().filter((page) => !ours.has(page)).map((page) => page.close()));
      for (const page of reusable.splice(0)) {
        // A page that the test closed, or that hangs, cannot be reset.
        const isReset = !hasFailed && (await page.reset().then(() => true, () => false));
        if (isReset) idle.push(page);
        else await page.close();
      }
      expect(complaints).toEqual([]);
    });

    async function openShared(hash: string, { viewport, reducedMotion }: BrowserContextOptions): Promise<ExplorerPage> {
      const page = idle.pop() ?? (await orForget(ExplorerPage.inContext(shared, false)));
      reusable.push(page);
      await page.page.bringToFront();
      if (viewport) await page.page.setViewportSize(viewport);
      if (reducedMotion !== undefined) await page.page.emulateMedia({ reducedMotion });
      await page.load(server, hash);
      return page;
    }

    async function openOwn(hash: string, options: BrowserContextOptions): Promise<ExplorerPage> {
      const page = await orForget(ExplorerPage.newContext(browser, options).then((context) => ExplorerPage.inContext(context, true)));
      own.push(page);
      await page.load(server, hash);
      return page;
    }

    define({
      browser: () => browser,
      server: () => server,
      open(hash, { ownContext = false, ...options } = {}) {
        const { viewport: _viewport, reducedMotion: _reducedMotion, ...others } = options;
        return ownContext || Object.keys(others).length > 0 ? openOwn(hash, options) : openShared(hash, options);
      },
    });
  });
}
