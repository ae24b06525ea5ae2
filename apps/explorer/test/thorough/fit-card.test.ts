import { expect, test } from 'vitest';
import { percent } from '../../src/controls/sizes.js';
import { FitMeasurement } from '../../src/filter/fit-curve.js';
import type { ExplorerPage } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

describeInChromium('LevelDB’s filters beside fitted ones', ({ open }) => {
  async function opened(hash: string, options?: Parameters<typeof open>[1]): Promise<ExplorerPage> {
    const explorer = await open(hash, options);
    await explorer.page.locator('.fit-card').scrollIntoViewIfNeeded();
    await explorer.page.locator('.fit-card [data-measured=true]').waitFor();
    return explorer;
  }

  const slider = ({ page }: ExplorerPage) => page.locator('.fit-card input[type=range]');

  test('shows rates, bytes and probes of both for the number and the kind of keys, as they are measured, by keyboard', async () => {
    const explorer = await opened('#/filter');
    const measurement = new FitMeasurement();
    const { leveldb, fitted, filters } = measurement.point('digits', 19);
    await expect.poll(() => explorer.fact('fit-rate-leveldb')).toBe(percent(leveldb.rate));
    expect(await explorer.fact('fit-rate-fitted')).toBe(percent(fitted.rate));
    expect(await explorer.fact('fit-bytes-leveldb')).toBe('25');
    expect(await explorer.fact('fit-probes-leveldb')).toBe('6');
    expect(await explorer.fact('fit-bytes-fitted')).toBe(`${fitted.bytes.least} to ${fitted.bytes.most} ${fitted.bytes.mean.toFixed(1)} on average`);
    expect(await explorer.fact('fit-probes-fitted')).toBe(`${fitted.probes.least} to ${fitted.probes.most} ${fitted.probes.mean.toFixed(1)} on average`);
    await explorer.page.getByText(`${filters} filters of 19 keys, each with different keys`).waitFor();
    // Both lines have all numbers of keys, and screen readers hear of them.
    for (const line of ['leveldb', 'fitted']) expect((await explorer.page.locator(`.fit-chart .is-${line}[d]`).getAttribute('d'))!.match(/[ML]/g)).toHaveLength(121);
    expect(await explorer.page.locator('.fit-chart').getAttribute('aria-label')).toMatch(/most with 38 keys: 65%\. .*With 19 keys: /);
    expect(await explorer.page.locator('.fit-chart').getAttribute('aria-label')).toContain(`With 19 keys: ${percent(leveldb.rate)} and ${percent(fitted.rate)}.`);

    // One key less, and most absent neighbours get a no. A link leads back to it.
    await slider(explorer).press('ArrowLeft');
    await expect.poll(() => explorer.fact('fit-keys')).toBe('18 keys');
    await expect.poll(() => explorer.fact('fit-rate-leveldb')).toBe(percent(measurement.point('digits', 18).leveldb.rate));
    expect(await slider(explorer).getAttribute('aria-valuetext')).toMatch(/^18 keys: LevelDB’s length lets 6\.4% of absent keys pass, a fitted filter /);
    await expect.poll(() => explorer.page.url()).toContain('fit=18');
    const again = await open(new URL(explorer.page.url()).hash);
    await again.page.locator('.fit-card').scrollIntoViewIfNeeded();
    await expect.poll(() => again.fact('fit-keys')).toBe('18 keys');
    // Ends its worker, which would measure the whole curve again.
    await again.go('#/story');

    for (const [name, pattern] of [['64-bit', 'bytes'], ['Random', 'random']] as const) {
      await explorer.choose(name);
      const { leveldb, fitted } = measurement.point(pattern, 18);
      await expect.poll(() => explorer.fact('fit-rate-leveldb')).toBe(percent(leveldb.rate));
      expect(await explorer.fact('fit-rate-fitted')).toBe(percent(fitted.rate));
      await expect.poll(() => explorer.page.url()).toContain(`pattern=${pattern}`);
    }
  });

  test('the mark can be dragged, and the worst number of keys is one press away', async () => {
    const explorer = await opened('#/filter?pattern=bytes');
    const chart = explorer.page.locator('.fit-chart');
    await chart.scrollIntoViewIfNeeded();
    const box = (await chart.boundingBox())!;
    await explorer.page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await explorer.page.mouse.down();
    await explorer.page.mouse.move(box.x + box.width + 40, box.y + box.height / 2, { steps: 5 });
    await expect.poll(() => explorer.fact('fit-keys')).toBe('128 keys');
    await explorer.page.mouse.up();
    await explorer.page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    expect(await explorer.fact('fit-keys')).toBe('128 keys');
    await explorer.button('LevelDB’s worst: 38 keys').press('Enter');
    await expect.poll(() => explorer.fact('fit-rate-leveldb')).toBe('94%');
  });

  test('a worker measures, from when the reader comes near until the view is left', async () => {
    const { page } = await open('#/filter', { viewport: { width: 360, height: 640 } });
    await page.locator('.bench').waitFor();
    await page.waitForTimeout(300);
    expect(page.workers().filter((worker) => worker.url().includes('fit-worker'))).toEqual([]);
    await page.locator('.fit-card').scrollIntoViewIfNeeded();
    await expect.poll(() => page.workers().filter((worker) => worker.url().includes('fit-worker')).length).toBe(1);
    // It ends with the view, even while it measures.
    await page.evaluate(() => (location.hash = '#/story'));
    await expect.poll(() => page.workers().filter((worker) => worker.url().includes('fit-worker')).length).toBe(0);
  });
});
