import { expect, test } from 'vitest';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('on narrow screens', ({ open }) => {
  test('the seven views are in one row from 320 to 1024 pixels', async () => {
    const { page } = await open('');
    for (const width of [320, 360, 390, 412, 480, 600, 768, 900, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      const tops = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
      expect([width, tops.length, new Set(tops).size]).toEqual([width, 7, 1]);
    }
  });

  test('what tells a key from the one before it, and values, are in sight at 320 to 390 pixels', async () => {
    const { page } = await open('#/table?sample=1');
    const grid = page.getByRole('grid', { name: 'Entries of the data block' });
    for (const width of [320, 360, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const own = grid.locator('.bytes-own').first();
      await own.waitFor();
      const value = grid.getByRole('row').nth(1).getByRole('gridcell').last();
      // The layout changes some time after the window is resized.
      const layout = async (): Promise<object> => {
        const [box, cell, shown] = await Promise.all([grid, own, value].map((part) => part.boundingBox()));
        const right = box!.x + box!.width;
        return { isOwnInSight: cell!.width > 5 && cell!.x + cell!.width < right, isValueWide: shown!.width > 200, isValueInSight: shown!.x + shown!.width <= right };
      };
      await expect.poll(layout).toEqual({ isOwnInSight: true, isValueWide: true, isValueInSight: true });
      expect(await value.textContent()).toContain('celsius');
    }
  });

  test('a window that is made narrow while a list is drawn is narrow to the list', async () => {
    const explorer = await open('', { viewport: { width: 320, height: 800 } });
    const { page } = explorer;
    // As if the window were wide until the list has been drawn.
    await page.evaluate(() => {
      const { matchMedia } = window;
      let isDrawn = false;
      window.matchMedia = (query) => {
        const list = matchMedia.call(window, query);
        if (query === '(max-width: 480px)' && !isDrawn) Object.defineProperty(list, 'matches', { value: false });
        return list;
      };
      new MutationObserver(() => (isDrawn = document.querySelector('.window') !== null)).observe(document.body, { subtree: true, childList: true });
    });
    await explorer.go('#/table?sample=1');
    const list = page.getByRole('grid', { name: 'Entries of the data block' });
    await expect.poll(() => list.getAttribute('class'), { timeout: 10_000 }).toBe('window is-stacked');
  });

  test('what a record of a log writes begins in sight at 320 pixels', async () => {
    const { page } = await open('#/table?url=samples/database/000013.log', { viewport: { width: 320, height: 800 } });
    const grid = page.getByRole('grid', { name: 'Records' });
    const written = grid.getByRole('row').nth(1).locator(':scope > *').last();
    await written.waitFor();
    const box = (await grid.boundingBox())!;
    expect((await written.boundingBox())!.x + 40).toBeLessThan(box.x + box.width);
  });

  test('a report that a lookup of the story reads does not widen the page at 360 pixels', async () => {
    const explorer = await open('#/story?key=weather/oslo/2026-01-20', { viewport: { width: 360, height: 740 } });
    const { page } = explorer;
    await page.locator('[data-step="6"]').scrollIntoViewIfNeeded();
    await explorer.button('about 3%').click();
    await page.locator('[data-step="6"] [role=status] strong').getByText('celsius').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  test('no byte of a filter’s row is cut off at 320 pixels', async () => {
    const { page } = await open('#/filter?q=pear', { viewport: { width: 320, height: 800 } });
    const grid = page.getByRole('grid', { name: 'Bytes of the filter' });
    await grid.locator('[data-byte="7"]').waitFor();
    const box = (await grid.boundingBox())!;
    const last = (await grid.locator('[data-byte="7"]').boundingBox())!;
    const cell = (await grid.getByRole('row').nth(1).locator(':scope > *').last().boundingBox())!;
    expect(last.x + last.width).toBeLessThanOrEqual(Math.min(box.x + box.width, cell.x + cell.width));
  });

  test('figures stand two in a row at 320 pixels', async () => {
    const { page } = await open('#/table?sample=1', { viewport: { width: 320, height: 800 } });
    const facts = page.getByRole('region', { name: 'Contents', exact: true }).locator('dl.facts > div');
    await facts.first().waitFor();
    const tops = await facts.evaluateAll((all) => all.slice(0, 2).map((fact) => fact.getBoundingClientRect().top));
    expect(tops[1]).toBe(tops[0]);
  });
});
