import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomProbes, buildFilter } from '@bloom/policy';
import { MemorySource, SyncTable } from '@bloom/sstable';
import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { weatherTable } from '../../samples/weather-table.js';
import { axeFindsNothing } from '../axe.js';
import type { ExplorerPage } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
/** The bits of a word in the story's row: 32 bits, 3 probes. */
const bitsOf = (word: string): number[] => bloomProbes(bloomHash(utf8(word)), 5, 3).probes.map(({ bit }) => bit);
const sorted = (bits: Iterable<number>): number[] => [...new Set(bits)].sort((a, b) => a - b);
const step = ({ page }: ExplorerPage, number: number): Locator => page.locator(`[data-step="${number}"]`);
/** The bits that the picture shows as 1. */
const ones = async (picture: Locator): Promise<number[]> => {
  const text = (await picture.locator('[data-ones]').getAttribute('data-ones'))!;
  return text === '' ? [] : text.split(',').map(Number);
};
const press = async (within: Locator, name: string | RegExp): Promise<void> => within.getByRole('button', { name, exact: typeof name === 'string' }).press('Enter');

/** What is predicted rightly in each step. */
const RIGHT = ['10 times', '3', 'Yes, for certain', 'Yes', 'about a tenth', 'about 3%', '“No”: it is not there'];

async function addUntilWrong(explorer: ExplorerPage): Promise<void> {
  const fourth = step(explorer, 4);
  await press(fourth, 'Yes');
  for (let words = 0; words < 30 && (await fourth.locator('[data-story-verdict="false positive"]').count()) === 0; words++) await press(fourth, /^Add “/);
}

describeInChromium('the story', ({ open }) => {
  test('is what a first visit opens, and links of the laboratory lead past it', async () => {
    const explorer = await open('');
    await expect.poll(() => explorer.heading()).toBe('How a few bits save a slow read');
    await expect.poll(() => explorer.page.locator('[data-step]').count()).toBe(7);
    const other = await open('#/filter?q=pear');
    await expect.poll(() => other.heading()).toBe('“Have I seen this before?”');
  });

  test('shows no answer before the reader has predicted it', async () => {
    const explorer = await open('');
    await step(explorer, 7).scrollIntoViewIfNeeded();
    await step(explorer, 7).locator('.bit-row svg').waitFor();
    for (let number = 1; number <= 7; number++) {
      const options = step(explorer, number).locator('.guess-options button');
      await expect.poll(() => options.count()).toBeGreaterThan(1);
      await expect.poll(() => step(explorer, number).locator('.guess-answer').textContent()).toBe('');
      await expect.poll(() => step(explorer, number).locator('.is-right').count()).toBe(0);
    }
    await expect.poll(() => step(explorer, 1).locator('.is-vain').count()).toBe(0);
    await expect.poll(() => step(explorer, 3).locator('[data-outcome]').getAttribute('data-outcome')).toBe('waiting');
    await expect.poll(() => step(explorer, 3).locator('.row-bit.is-proof').count()).toBe(0);
    await expect.poll(() => step(explorer, 7).locator('.row-bit.is-proof').count()).toBe(0);
  });

  test('a slow disk: each of the absent words costs a read', async () => {
    const explorer = await open('');
    const first = step(explorer, 1);
    await press(first, '2 times');
    await expect.poll(() => first.locator('.guess-answer').textContent()).toMatch(/^No\. It cannot know that a word is missing until it has looked\. 8 reads found nothing: 80 of 100 ms/);
    await expect.poll(() => first.locator('.is-vain').count()).toBe(8);
    await expect.poll(() => first.locator('.is-found .fetch-word').allTextContents()).toEqual(['banana?', 'plum?']);
  });

  test('an empty row of 32 bits, to which the reader adds the first word', async () => {
    const explorer = await open('');
    const second = step(explorer, 2);
    await expect.poll(() => second.locator('.row-bit').count()).toBe(32);
    await expect.poll(() => ones(second)).toEqual([]);
    await second.getByLabel('Your first word').fill('kumquat');
    await second.getByLabel('Your first word').press('Enter');
    await expect.poll(() => ones(second)).toEqual(sorted(bitsOf('kumquat')));
    await expect.poll(() => second.textContent()).toContain('The word itself is not stored');
  });

  test('asks, and shows a 0 as the proof of a no that spares the disk', async () => {
    const explorer = await open('#/story?words=kumquat');
    const third = step(explorer, 3);
    const target = /looks for “(.*?)”/.exec((await third.textContent())!)![1]!;
    const zeros = bitsOf(target).filter((bit) => !bitsOf('kumquat').includes(bit));
    await press(third, 'Yes, for certain');
    await expect.poll(() => third.locator('.guess-answer').textContent()).toContain(`Bit ${zeros[0]} is 0. If “${target}” had been added, it would be 1`);
    await expect.poll(async () => sorted(await third.locator('.row-bit.is-proof').evaluateAll((bits) => bits.map((bit) => Number((bit as HTMLElement).dataset.bit))))).toEqual(sorted(zeros));
    await expect.poll(() => third.locator('[data-outcome]').textContent()).toMatch(/“No\.”.*not read.*0 ms/);
    await press(third, 'Ask about “kumquat”');
    await third.locator('[data-story-verdict="true positive"]').waitFor();
    await expect.poll(() => third.locator('[data-outcome]').textContent()).toMatch(/“Maybe\.”.*read: found.*10 ms/);
  });

  test('the reader causes a false positive, and sees that it costs a read and nothing else', async () => {
    const explorer = await open('#/story?words=kumquat');
    const fourth = step(explorer, 4);
    await expect.poll(() => fourth.locator('[data-outcome]').getAttribute('data-outcome')).toBe('no');
    await addUntilWrong(explorer);
    const target = /“(\w+)” was never added/.exec((await fourth.textContent())!)![1]!;
    const words = (await fourth.locator('.row-words').textContent())!.replace('Added: ', '').split(', ');
    expect(words).not.toContain(target);
    const set = new Set(words.flatMap(bitsOf));
    await expect.poll(() => ones(fourth)).toEqual(sorted(set));
    expect(bitsOf(target).every((bit) => set.has(bit))).toBe(true);
    // One word earlier, it was still a no.
    const before = new Set(words.slice(0, -1).flatMap(bitsOf));
    expect(bitsOf(target).every((bit) => before.has(bit))).toBe(false);
    await expect.poll(() => fourth.locator('[data-outcome]').textContent()).toMatch(/read: nothing there.*10 ms.*wasted/);
    await expect.poll(() => fourth.locator('.notice').textContent()).toContain('The program’s answer is still right; it only comes later.');
  });

  test('a word is added bit by bit where motion is welcome, and at once where it is not', async () => {
    const after = sorted([...bitsOf('hello'), ...bitsOf('whale')]);
    // A page that gets no processor time for as long as the motion takes draws its end alone, so it is tried again.
    const movesBitByBit = async (): Promise<boolean> => {
      const explorer = await open('#/story?words=hello', { reducedMotion: 'no-preference' });
      const fourth = step(explorer, 4);
      await press(fourth, 'Yes');
      const shown = await explorer.changes(() => document.querySelector('[data-step="4"] [data-ones]')!.getAttribute('data-ones')!.split(',').length);
      await press(fourth, 'Add “whale”');
      await expect.poll(() => ones(fourth)).toEqual(after);
      return (await shown()).some((count) => count < after.length);
    };
    await expect.poll(movesBitByBit).toBe(true);
    const still = await open('#/story?words=hello');
    await press(step(still, 4), 'Yes');
    await press(step(still, 4), 'Add “whale”');
    await expect.poll(() => ones(step(still, 4))).toEqual(after);
  });

  test('the rate moves with the bits for each key, by keyboard, and is that of real filters', async () => {
    const explorer = await open('');
    const fifth = step(explorer, 5);
    const slider = fifth.getByRole('slider');
    await expect.poll(() => slider.isDisabled()).toBe(true);
    await press(fifth, 'about half');
    await expect.poll(() => fifth.locator('.guess-answer > strong').first().textContent()).toBe('No.');
    const wrong = async (): Promise<number> => Number(await explorer.fact('wrong'));
    // 9.4% and 0.87% of absent keys, within what a thousand of them show.
    const isBetween = async (low: number, high: number): Promise<boolean> => (await wrong()) > low && (await wrong()) < high;
    await expect.poll(() => isBetween(60, 130)).toBe(true);
    await slider.focus();
    for (let i = 0; i < 5; i++) await slider.press('ArrowRight');
    await expect.poll(() => explorer.fact('story-bits')).toBe('10 bits');
    await expect.poll(() => isBetween(0, 25)).toBe(true);
    await slider.press('Home');
    await expect.poll(wrong).toBeGreaterThan(500);
    await expect.poll(async () => (await fifth.locator('.dots').getAttribute('aria-label'))!.includes(`${await wrong()} get a wrong`)).toBe(true);
  });

  test('shows the bytes of a real table’s filter, and what a lookup does with them', async () => {
    const explorer = await open('#/story?step=6');
    const sixth = step(explorer, 6);
    await press(sixth, 'about 3%');
    await sixth.locator('[data-fact=real-answer]').getByText('Certainly not: no block is read.').waitFor();
    const table = SyncTable.open(new MemorySource(weatherTable()), { filterPolicies: [new BloomFilterPolicy()] });
    const explained = table.explain(utf8('weather/oslo/2027-01-20')).filter!;
    if (explained.answer !== 'no') throw new Error('the filter of the sample does not say no');
    await expect.poll(() => sixth.locator('[data-real-filter]').getAttribute('data-real-filter')).toBe(String(explained.number));
    const bytes = Buffer.from((await sixth.locator('.real-bytes .hex-byte').allTextContents()).join(''), 'hex');
    expect(bytes.length).toBe(explained.byteLength);
    expect(Buffer.from(weatherTable()).includes(bytes)).toBe(true);
    expect(new BloomFilterPolicy().keyMayMatch(utf8('weather/oslo/2027-01-20'), bytes)).toBe(false);
    await press(sixth, 'Oslo, 2026: there');
    await sixth.locator('[data-fact=real-answer]').getByText('the report is there').waitFor();
    await expect.poll(() => sixth.textContent()).toContain(new TextDecoder().decode(table.get(utf8('weather/oslo/2026-01-20'))));
    for (const key of ['', 'zzz', 'a', 'world-map/x', 'weather/oslo/2026-01-20 ']) {
      await sixth.getByLabel('Or any key').fill(key);
      const { outcome } = table.explain(utf8(key));
      expect(outcome.kind).toBe('absent');
      await expect.poll(() => sixth.locator('[data-fact=real-answer]').textContent()).toMatch(/nothing is read|no block is read|the report is not there/);
    }
  });

  test('a space at the end: the filter hides a key that the table has, until it ignores what the table ignores', async () => {
    const explorer = await open('#/story?step=7');
    const seventh = step(explorer, 7);
    await seventh.getByText('the same key').waitFor();
    await press(seventh, '“Maybe”: it is there');
    await expect.poll(() => seventh.locator('.guess-answer > strong').first().textContent()).toBe('No.');
    await expect.poll(() => explorer.fact('space-answer')).toBe('The filter: “No.” The book is there but is not found.');
    const policy = new BloomFilterPolicy();
    expect(policy.keyMayMatch(utf8('Candide '), buildFilter(policy, [utf8('Candide')]))).toBe(false);
    await expect.poll(() => seventh.locator('.refusal').textContent()).toContain('distinguishes all keys');
    await explorer.choose('without spaces at the end');
    await expect.poll(() => explorer.fact('space-answer')).toBe('The filter: “Maybe.” The book is found.');
    await expect.poll(() => seventh.locator('.row-bit.is-proof').count()).toBe(0);
  });

  test('figures in the text light their part of the picture: by mouse, by focus, and for good by Enter', async () => {
    const explorer = await open('#/story?words=hello');
    const second = step(explorer, 2);
    const lit = (): Promise<number[]> => second.locator('.row-bit.is-lit').evaluateAll((bits) => bits.map((bit) => Number((bit as HTMLElement).dataset.bit)));
    await expect.poll(() => lit()).toEqual([]);
    const figure = second.getByRole('button', { name: '24', exact: true });
    await figure.hover();
    await expect.poll(() => lit()).toEqual([24]);
    await explorer.page.mouse.move(0, 0);
    await expect.poll(() => lit()).toEqual([]);
    await figure.press('Enter');
    await figure.blur();
    await expect.poll(() => lit()).toEqual([24]);
    await second.getByRole('button', { name: '32 bits' }).focus();
    await expect.poll(async () => (await lit()).length).toBe(32);
    await figure.press('Enter');
    await figure.blur();
    await expect.poll(() => lit()).toEqual([]);
  });

  test('can be read, answered and followed to the laboratory with the Tab and Enter keys alone', async () => {
    const explorer = await open('');
    const { page } = explorer;
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');
    let wrongYes = false;
    for (let presses = 0; presses < 400; presses++) {
      await page.keyboard.press('Tab');
      const text = await focused();
      if (RIGHT.includes(text) || text === 'Add it') await page.keyboard.press('Enter');
      while (!wrongYes && (await focused()).startsWith('Add “')) {
        await page.keyboard.press('Enter');
        wrongYes = (await page.locator('[data-story-verdict="false positive"]').count()) > 0;
      }
      if (text === 'Open your 32 bits in the laboratory') break;
    }
    expect(wrongYes).toBe(true);
    await expect.poll(() => page.locator('.guess-options .is-right').count()).toBe(7);
    await page.keyboard.press('Enter');
    await page.getByRole('application', { name: /of 32 bits are 1$/ }).waitFor();
  });

  test('the laboratory opens with the reader’s own bits, and a new size is LevelDB’s again', async () => {
    const explorer = await open('#/story?words=kumquat');
    const { page } = explorer;
    await addUntilWrong(explorer);
    const words = (await step(explorer, 4).locator('.row-words').textContent())!.replace('Added: ', '').split(', ');
    const bits = await ones(step(explorer, 4));
    await page.getByRole('link', { name: 'Open your 32 bits in the laboratory' }).click();
    await page.getByRole('application', { name: `Bits: ${bits.length} of 32 bits are 1` }).waitFor();
    // The word with the wrong answer is asked about.
    await page.locator('[data-verdict="false positive"]').waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Keys added' }).locator('.is-link').allTextContents()).toEqual(words);
    const bytes = new Uint8Array(5);
    for (const bit of bits) bytes[bit >> 3]! |= 1 << (bit & 7);
    bytes[4] = 3;
    await expect.poll(async () => (await page.locator('[data-byte]').allTextContents()).join('')).toBe(Buffer.from(bytes).toString('hex'));
    await page.reload();
    await page.getByRole('application', { name: `Bits: ${bits.length} of 32 bits are 1` }).waitFor();
    await page.getByRole('spinbutton', { name: 'Bits per key' }).fill('10');
    await page.getByRole('application', { name: / of (64|72|80|88|96|1\d\d) bits are 1$/ }).waitFor();
    // Back leads to the story as it was left.
    await page.goBack();
    await step(explorer, 4).locator('[data-story-verdict="false positive"]').waitFor();
  });

  test('a reload and a link bring back the words, and a link to a step leads to it', async () => {
    const explorer = await open('');
    const second = step(explorer, 2);
    await second.getByLabel('Your first word').fill('kumquat ');
    await second.getByLabel('Your first word').press('Enter');
    await expect.poll(() => explorer.page.url()).toContain('words=kumquat');
    await explorer.page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: /5/ }).press('Enter');
    await expect.poll(() => explorer.page.evaluate(() => document.activeElement?.id)).toBe('step-5');
    await expect.poll(() => explorer.page.url()).toContain('step=5');
    await explorer.page.reload();
    await expect.poll(() => explorer.page.evaluate(() => document.activeElement?.id)).toBe('step-5');
    // Spaces count.
    await expect.poll(() => ones(second)).toEqual(sorted(bitsOf('kumquat ')));
    await expect.poll(() => explorer.page.locator('.story-steps [aria-current]').textContent()).toContain('5');
  });

  test.each([1, 2, 3, 4, 5, 6, 7])('?embed=%d gives that step alone, which works, and leads to the whole', async (number) => {
    const explorer = await open(`?embed=${number}`);
    const { page } = explorer;
    await expect.poll(() => page.locator('[data-step]').evaluateAll((steps) => steps.map((one) => (one as HTMLElement).dataset.step))).toEqual([String(number)]);
    await expect.poll(() => page.locator('header, nav, footer').count()).toBe(0);
    await press(step(explorer, number), RIGHT[number - 1]!);
    await expect.poll(() => step(explorer, number).locator('.guess-answer > strong').first().textContent()).toBe('Right.');
    await page.setViewportSize({ width: 320, height: 640 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
    const link = page.getByRole('link', { name: 'the story of Bloom filters' });
    const leadsToTheStep = (address: string): void => {
      const { search, hash } = new URL(address);
      expect(search).toBe('');
      expect(hash).toContain(`step=${number}`);
    };
    leadsToTheStep(await link.evaluate((element: HTMLAnchorElement) => element.href));
    // One of the seven links is followed.
    if (number !== 4) return;
    const [whole] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await whole.locator('[data-step]').nth(6).waitFor();
    leadsToTheStep(whole.url());
  });

  test.each(['0', '8', 'x', ''])('?embed=%s, which is no step, gives the whole story', async (number) => {
    const explorer = await open(`?embed=${number}`);
    await expect.poll(() => explorer.page.locator('[data-step]').count()).toBe(7);
  });

  test('a file dropped on an embedded step changes nothing', async () => {
    const explorer = await open('?embed=1');
    const { page } = explorer;
    const url = page.url();
    await explorer.drop('main', { name: 'words.ldb', bytes: weatherTable() });
    // The browser would open the file if the page left the event alone.
    expect(await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'x.ldb'));
      return ['dragover', 'drop'].map((type) => document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })));
    })).toEqual([false, false]);
    // Reading what was dropped and opening it would take a moment.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    expect([page.url(), await page.locator('[data-step]').count()]).toEqual([url, 1]);
  });

  test('axe finds nothing in the story with all its answers, and in a step alone, in both themes, wide and narrow', async () => {
    for (const hash of ['', '?embed=4']) {
      const explorer = await open(hash);
      if (hash === '') {
        await press(step(explorer, 2), 'Add it');
        for (const [i, name] of RIGHT.entries()) await press(step(explorer, i + 1), name);
        await step(explorer, 6).locator('.real-bytes').waitFor();
      }
      await addUntilWrong(explorer);
      await axeFindsNothing(explorer);
    }
  });
});
