import { afterAll, beforeAll } from 'vitest';
import type { Page } from 'playwright-core';
import { BrowserOnDisk, bundled, Origin } from '../src/origin.js';

/** A Chromium with a profile on the disk, and an origin with scripts, from the first test of a file to the last. */
export class TestSite {
  readonly browser = new BrowserOnDisk();
  #origin: Origin | undefined;

  /** @param scripts of `src`, without `.ts`. */
  static forTests(...scripts: readonly string[]): TestSite {
    const site = new TestSite();
    beforeAll(async () => {
      site.#origin = await Origin.start(await bundled(...scripts));
      await site.browser.start();
    });
    afterAll(async () => {
      await site.browser.stop();
      await site.#origin?.stop();
    });
    return site;
  }

  get url(): string {
    return this.#origin!.url;
  }

  newPage(): Promise<Page> {
    return this.browser.newPage(this.url);
  }
}
