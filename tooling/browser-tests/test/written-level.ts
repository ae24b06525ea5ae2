import type { Page } from 'playwright-core';
import type { TestSite } from './test-site.js';

/** A level that pages write to until they are closed or killed. */
export class WrittenLevel {
  readonly path: string;
  readonly #site: TestSite;
  /** Of each writer, the number of entries that are known to be acknowledged. */
  readonly acknowledged = new Map<string, number>();

  constructor(site: TestSite, path: string) {
    this.#site = site;
    this.path = path;
  }

  /** Opens a page that writes, from the first number that the level does not have. */
  async startWriting(writer: string, from: number): Promise<Page> {
    const page = await this.#site.newPage();
    await page.exposeFunction('acknowledged', (by: string, end: number) => void this.acknowledged.set(by, end));
    await page.evaluate(`void import('/level-page.js').then(({ writeOn }) => writeOn('${this.path}', '${writer}', ${from}, acknowledged))`);
    return page;
  }

  /** The number of entries of a writer, from 0 on without a hole, and how many others there are. */
  async countOf(writer: string): Promise<{ readonly count: number; readonly others: number }> {
    const page = await this.#site.newPage();
    const counts = await page.evaluate<{ readonly count: number; readonly others: number }>(`import('/level-page.js').then(({ countOf }) => countOf('${this.path}', '${writer}'))`);
    await page.close();
    return counts;
  }
}
