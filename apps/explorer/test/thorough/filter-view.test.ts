import { readFile } from 'node:fs/promises';
import { bloomHash } from '@bloom/hash';
import { bloomBitsPerKey, bloomProbes, BloomFilterPolicy, buildFilter, fillBloomFilter, filterByteLength, FittedBloomFilterPolicy } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { expect, test } from 'vitest';
import { KEY_SAMPLES } from '../../src/filter/key-samples.js';
import { describeInChromium } from '../in-chromium.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fruit = KEY_SAMPLES.fruit.keys();
const fruitFilter = buildFilter(new BloomFilterPolicy(10), fruit.map(utf8));
const bitsOf = (key: string, filterBytes = fruitFilter.length, probes = 6): number[] => bloomProbes(bloomHash(utf8(key)), filterBytes, probes).probes.map(({ bit }) => bit);
const isSet = (filter: Uint8Array, bit: number): boolean => ((filter[bit >> 3]! >> (bit & 7)) & 1) === 1;

describeInChromium('the filter view', ({ open }) => {
  test('opens with a question, with all twelve keys and the way to the answer in sight, on screens of all sizes', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    await expect.poll(() => page.locator('[data-verdict]').count()).toBe(0);
    const words = page.locator('.added-words');
    await expect.poll(() => words.textContent()).toBe(`12 keys were added: ${fruit.join(', ')}.`);
    for (const [width, height] of [[1280, 800], [768, 1024], [360, 740], [320, 640]] as const) {
      await page.setViewportSize({ width, height });
      for (const part of [words, page.getByText('Is “pear” one of them?'), explorer.button('Ask about “pear”')]) {
        const box = (await part.boundingBox())!;
        expect(box.y + box.height, `at ${width} by ${height}`).toBeLessThan(height);
      }
    }
    // The strongest button is the one that asks.
    await expect.poll(() => page.locator('button.is-primary').allTextContents()).toEqual(['Ask about “pear”']);
  });

  test('the first answer is found out by asking, by keyboard alone', async () => {
    const explorer = await open('#/filter');
    await explorer.button('Ask about “pear”').press('Enter');
    await explorer.page.locator('[data-verdict=no]').waitFor();
    // The URL follows a moment later.
    await expect.poll(() => explorer.page.url()).toContain('q=pear');
  });

  test('shows the first bit of the key that is 0 as proof of a no', async () => {
    const { page } = await open('#/filter?q=pear');
    const zero = bitsOf('pear').find((bit) => !isSet(fruitFilter, bit))!;
    const verdict = page.locator('[data-verdict]');
    await expect.poll(() => verdict.getAttribute('data-verdict')).toBe('no');
    await expect.poll(() => verdict.textContent()).toContain(`Certainly not.Bit ${zero} is still 0. Adding “pear” would have set it to 1. So “pear” was never added.`);
    await expect.poll(() => page.locator('.steps .found-zero').textContent()).toBe('0: never added');
  });

  test('shows the bytes that LevelDB writes, and marks those that were probed', async () => {
    const { page } = await open('#/filter?q=kiwi');
    await expect.poll(async () => (await page.locator('[data-byte]').allTextContents()).join('')).toBe(hex(fruitFilter));
    const marked = page.locator('[data-byte].hex-probed');
    const probed = [...new Set(bitsOf('kiwi').map((bit) => bit >> 3))].sort((a, b) => a - b);
    await expect.poll(() => marked.evaluateAll((bytes) => bytes.map((byte) => Number(byte.getAttribute('data-byte'))))).toEqual(probed);
  });

  test('shows the hash, the delta and each probe of a key', async () => {
    const { page } = await open('#/filter?q=kiwi');
    const { delta, probes } = bloomProbes(bloomHash(utf8('kiwi')), fruitFilter.length, 6);
    await expect.poll(() => page.locator('.formula').textContent()).toContain(delta.toString(16).padStart(8, '0'));
    await expect.poll(() => page.locator('.steps tbody tr').allTextContents()).toEqual(probes.map(({ hash, bit }, i) => `${i + 1}${hash.toString(16).padStart(8, '0')}${bit}${bit >> 3}, ${bit & 7}1`));
  });

  test('checks, adds and finds a key, by keyboard alone', async () => {
    const { page } = await open('#/filter?q=');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('skip-link');
    await page.keyboard.press('Enter');
    for (let tabs = 0; tabs < 8; tabs++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.classList.contains('check-input'))) break;
    }
    await page.keyboard.type('quince');
    await page.locator('[data-verdict=no]').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('[data-verdict=added]').waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Keys added' }).textContent()).toContain('quince');
    await page.keyboard.press('Enter');
    await page.locator('[data-verdict="true positive"]').waitFor();
  });

  test('shows an addition as such: which bits were 0 and are made 1, and which were 1', async () => {
    const explorer = await open('#/filter?q=quince', { reducedMotion: 'no-preference' });
    const { page } = explorer;
    await page.locator('[data-verdict=no]').waitFor();
    await explorer.button('Add it').click();
    await page.locator('.verdict.is-looking').getByText('Adding…').waitFor();
    // Nothing is asked while a key is added.
    await expect.poll(() => page.locator('.verdict').textContent()).not.toContain('Looking');
    await page.locator('[data-verdict=added]').waitFor();
    const bits = bitsOf('quince');
    const values = await page.locator('.probe-value').allTextContents();
    expect(values).toEqual(bits.map((bit) => (isSet(fruitFilter, bit) ? '1' : '0→1')));
    const fresh = bits.filter((bit) => !isSet(fruitFilter, bit)).length;
    await expect.poll(() => page.locator('[data-verdict=added]').textContent()).toContain(`${fresh} were 0 before`);
    // A step back takes the last bit away again.
    await explorer.button('One step back').click();
    await page.locator('.verdict.is-looking').getByText('Adding…').waitFor();
  });

  test('“Add a key and watch” adds, and asks nothing', async () => {
    const explorer = await open('#/filter', { reducedMotion: 'no-preference' });
    await explorer.button('Add a key and watch').click();
    await explorer.page.locator('.verdict.is-looking').getByText(/was 0\. Now it is 1|is already 1/).first().waitFor();
    await explorer.page.locator('[data-verdict=added]').waitFor();
    await expect.poll(() => explorer.page.locator('.added-words').textContent()).toMatch(/^13 keys were added/);
  });

  test('spaces count in keys that are added and in keys that are asked about, and can be seen', async () => {
    const explorer = await open('#/filter?keys=');
    const { page } = explorer;
    const ask = page.getByLabel('Type a key to ask about it');
    await ask.fill('kumquat ');
    await page.getByText('This key ends with a space, and spaces count').waitFor();
    await ask.press('Enter');
    await page.locator('[data-verdict=added]').waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Keys added' }).textContent()).toContain('kumquat␣');
    await ask.press('Enter');
    await page.locator('[data-verdict="true positive"]').waitFor();
    await ask.fill('kumquat');
    await page.locator('[data-verdict=no]').waitFor();
    await page.getByLabel('Add keys, one per line; spaces count').fill(' fig\r\nfig\n\n  two  words ');
    await explorer.button('Add').click();
    await expect.poll(() => page.locator('.added-words').textContent()).toBe('4 keys were added: kumquat␣, ␣fig, fig, ␣␣two␣␣words␣.');
  });

  test('says what is measured: the share of absent keys that get a maybe', async () => {
    const { page } = await open('#/filter');
    await page.getByRole('heading', { name: 'How many absent keys get a maybe?' }).waitFor();
    await expect.poll(() => page.locator('main').textContent()).toContain('How often a maybe is wrong is another question');
    expect(await page.locator('main').textContent()).not.toMatch(/often is a maybe wrong\?|wrong least often|error rate/i);
  });

  test('compares both policies in equal bytes, on one axis, with their cache lines', async () => {
    const { page } = await open('#/filter?policy=both&sample=cities&n=60&q=Oslo');
    const grids = page.getByRole('application');
    await expect.poll(() => grids.evaluateAll((all) => all.map((grid) => /of (\d+) bits/.exec(grid.getAttribute('aria-label')!)?.[1]))).toEqual(['1024', '1024']);
    await expect.poll(() => page.locator('.curve').count()).toBe(1);
    const dots = page.locator('.curve [data-dot]');
    await expect.poll(() => dots.evaluateAll((all) => all.map((dot) => dot.getAttribute('data-dot')))).toEqual(['leveldb', 'blocked']);
    await expect.poll(() => page.getByText('each row of 64 bytes: a cache line').count()).toBe(2);
    // The bytes as stored are as many.
    await expect.poll(() => page.locator('.bench-bytes').evaluateAll((cards) => cards.map((card) => /(\d+) B,/.exec(card.textContent)![1]))).toEqual(['129', '129']);
  });

  test('draws ideal, usual and measured rates apart, and says why LevelDB’s is the worse one', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    // The usual rate is measured once it is seen. A measurement would begin in half a second.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await explorer.fact('usual')).toBe('…');
    await page.locator('.bench-rate').scrollIntoViewIfNeeded();
    await expect.poll(() => explorer.fact('usual')).toMatch(/%/);
    expect(Number.parseFloat(await explorer.fact('ideal'))).toBeLessThan(Number.parseFloat(await explorer.fact('usual')));
    await page.locator('.curve-line.is-ideal').waitFor({ state: 'attached' });
    await page.locator('.curve-line.is-leveldb').first().waitFor({ state: 'attached' });
    await page.getByText('derives all probes of a key from one 32-bit hash').waitFor();
    // The axis has a line for each power of ten.
    await expect.poll(async () => (await page.locator('.curve g > text').allTextContents()).slice(0, 3)).toEqual(['100%', '10%', '1.0%']);
  });

  test('takes more than 100,000 expected keys, and answers at once when no filter can reach the requested rate', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    await page.getByLabel('Expected keys').fill('1000000');
    await page.getByRole('application', { name: 'of 10000000 bits are 1' }).waitFor();
    await explorer.choose('Rate');
    const wish = page.getByLabel('Most absent keys that may get a maybe, in %');
    await wish.fill('0.0001');
    await page.getByText('cannot reach that rate').waitFor();
    await page.getByLabel('Expected keys').fill('12');
    await page.getByText('cannot reach that rate').waitFor();
    await wish.fill('1');
    await page.getByText(/LevelDB’s filter needs \d+ bits per key/).waitFor();
  });

  test('nine hundred keys of one’s own survive a reload, and a copied link says that it lacks them', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    const keys = Array.from({ length: 900 }, (_, i) => `a key of my own, number ${i}`);
    await explorer.button('Clear all').click();
    await page.getByLabel('Add keys, one per line; spaces count').fill(keys.join('\n'));
    await explorer.button('Add').click();
    await expect.poll(() => page.url()).toContain('own=900-');
    await page.reload();
    await expect.poll(() => page.locator('.added-words').textContent()).toMatch(/^900 keys were added: a key of my own, number 0/);
    const elsewhere = await open(new URL(page.url()).hash, { ownContext: true });
    await elsewhere.page.getByText('This link was made with 900 keys').waitFor();
  });

  test('shows which keys set a bit, by keyboard alone', async () => {
    const { page } = await open('#/filter?q=pear');
    await page.getByRole('application', { name: /^Bits: \d+ of 120 bits are 1$/ }).focus();
    const wanted = bitsOf('kiwi')[0]!;
    for (let presses = 0; presses <= wanted; presses++) await page.keyboard.press('ArrowRight');
    const owners = fruit.filter((key) => bitsOf(key).includes(wanted));
    await expect.poll(() => page.locator('.bit-owners').textContent()).toBe(`Bit ${wanted} (byte ${wanted >> 3}, bit ${wanted & 7} in it) was set to 1 by ${owners.join(', ')}.`);
    await page.keyboard.press('Home');
    await expect.poll(() => page.locator('.bit-owners').textContent()).toContain('Bit 0 ');
  });

  test('shows which keys set a bit that is clicked', async () => {
    const { page } = await open('#/filter');
    const bounds = (await page.locator('.bit-grid canvas').boundingBox())!;
    await page.mouse.click(bounds.x + 10, bounds.y + 10);
    await expect.poll(() => page.locator('.bit-owners').textContent()).toMatch(/^Bit 0 \(byte 0, bit 0 in it\) (was set to 1 by|is 0: no key)/);
  });

  test('finds a false positive, and labels it as one', async () => {
    const explorer = await open('#/filter?bits=3');
    await explorer.button('Show me a wrong maybe').click();
    const verdict = explorer.page.locator('[data-verdict="false positive"]');
    await expect.poll(() => verdict.textContent()).toMatch(/^Maybe, but this time it is wrong\.You never added .* This is called a false positive\.$/);
    const key = await explorer.page.getByLabel('Type a key to ask about it').inputValue();
    const filter = buildFilter(new BloomFilterPolicy(3), fruit.map(utf8));
    expect(new BloomFilterPolicy(3).keyMayMatch(utf8(key), filter)).toBe(true);
    expect(fruit).not.toContain(key);
    // Each of its bits is shown with a key that set it.
    const owners = await explorer.page.locator('.probe-owner').allTextContents();
    const bits = bitsOf(key, filter.length, filter.at(-1));
    expect(owners).toHaveLength(bits.length);
    for (const [i, owner] of owners.entries()) {
      const name = /^by (\w+)( \+\d+)?$/.exec(owner)![1]!;
      expect(bitsOf(name, filter.length, filter.at(-1))).toContain(bits[i]);
    }
  });

  test('highlights the explanation that fits the answer', async () => {
    const explorer = await open('#/filter?bits=3');
    const now = explorer.page.locator('.lesson.is-now h2');
    await explorer.button('Show me a wrong maybe').click();
    await expect.poll(() => now.allTextContents()).toEqual(['3 All 1s prove nothing: “maybe”']);
    await explorer.button('Show me a certain no').click();
    await explorer.page.locator('[data-verdict=no]').waitFor();
    await expect.poll(() => now.allTextContents()).toEqual(['2 A single 0 proves “no”']);
    await explorer.button('Add a key and watch').click();
    await explorer.page.locator('[data-verdict=added]').waitFor();
    await expect.poll(() => now.allTextContents()).toEqual(['1 Adding a key sets its bits to 1']);
  });

  test('accepts many pasted keys, sizes the array for the expected number, and warns when there are more', async () => {
    const explorer = await open('#/filter?keys=');
    const { page } = explorer;
    await page.getByLabel('Add keys, one per line; spaces count').fill(Array.from({ length: 300 }, (_, i) => `key ${i}`).join('\n'));
    await explorer.button('Add').click();
    await expect.poll(() => page.getByRole('heading', { name: 'Keys added' }).textContent()).toContain('300');
    await expect.poll(() => page.getByText('These are more than the 12 keys that the filter is sized for').count()).toBe(1);
    await page.getByLabel('Expected keys').fill('300');
    const bits = (filterByteLength(300, 10) - 1) * 8;
    await page.getByRole('application', { name: `of ${bits} bits are 1` }).waitFor();
    await expect.poll(() => page.getByText('More than the').count()).toBe(0);
    await expect.poll(async () => Number.parseFloat(await explorer.fact('measured'))).toBeLessThan(2);
  });

  test('accepts bits per key, a number of probes and a target error rate', async () => {
    const explorer = await open('#/filter');
    const { page } = explorer;
    await page.getByLabel('Bits per key', { exact: true }).last().fill('16');
    await page.getByRole('application', { name: 'of 192 bits are 1' }).waitFor();
    await page.getByLabel('Choose the number of probes yourself').check();
    await page.getByLabel('Probes per key', { exact: true }).fill('3');
    const filter = new Uint8Array(filterByteLength(12, 16));
    fillBloomFilter(filter, Uint32Array.from(fruit.map(utf8), bloomHash), 3);
    await expect.poll(async () => (await page.locator('[data-byte]').allTextContents()).join('')).toBe(hex(filter));
    await explorer.choose('Rate');
    await page.getByLabel('Most absent keys that may get a maybe, in %').fill('0.5');
    const bits = bloomBitsPerKey(0.005, 12)!;
    await page.getByText(`LevelDB’s filter needs ${bits} bits per key for that.`).waitFor();
    await page.getByRole('application', { name: `of ${(filterByteLength(12, bits) - 1) * 8} bits are 1` }).waitFor();
  });

  test('refuses invalid numbers, and says which ones are valid', async () => {
    const { page } = await open('#/filter');
    await page.getByLabel('Expected keys').fill('0.5');
    await page.getByText('A whole number from 1 to 10,000,000.').waitFor();
    await expect.poll(() => page.getByRole('application').getAttribute('aria-label')).toContain('of 120 bits');
  });

  test('scrolls a large bit array to the bit that was probed last', async () => {
    const { page } = await open('#/filter?sample=orders&n=1000&q=pear');
    const keys = KEY_SAMPLES.orders.keys();
    const filter = buildFilter(new BloomFilterPolicy(10), keys.map(utf8));
    const zero = bitsOf('pear', filter.length).find((bit) => !isSet(filter, bit))!;
    const bits = (filter.length - 1) * 8;
    const grid = page.getByRole('application', { name: `of ${bits} bits are 1` });
    await expect.poll(() => grid.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
    const [top, height, whole] = await grid.evaluate((element) => [element.scrollTop, element.clientHeight, element.scrollHeight]);
    const at = (zero / bits) * whole;
    expect(at).toBeGreaterThan(top);
    expect(at).toBeLessThan(top + height);
  });

  test('shows both policies side by side for the same keys', async () => {
    const { page } = await open('#/filter?policy=both&q=kiwi');
    await expect.poll(() => page.locator('.bench').evaluateAll((benches) => benches.map((bench) => bench.getAttribute('data-policy')))).toEqual(['leveldb', 'blocked']);
    await expect.poll(() => page.locator('[data-verdict="true positive"]').count()).toBe(2);
    await expect.poll(() => page.getByRole('application', { name: /Bits, One cache line per key: \d+ of 512 bits/ }).count()).toBe(1);
  });

  test('a fitted filter is LevelDB’s with the shape that suits its keys', async () => {
    const explorer = await open('#/filter?policy=fitted&q=kiwi');
    const { page } = explorer;
    const filter = buildFilter(new FittedBloomFilterPolicy(10), fruit.map(utf8));
    await expect.poll(async () => (await page.locator('[data-byte]').allTextContents()).join('')).toBe(hex(filter));
    await page.locator('[data-verdict="true positive"]').waitFor();
    await page.getByText('A fitted filter is built for the 12 keys that were added').waitFor();
    await expect.poll(() => page.getByLabel('Choose the number of probes yourself').count()).toBe(0);
    await explorer.button('Clear all').click();
    await page.locator('[data-verdict=no]').waitFor();
  });

  test('compares all five policies for the keys that were added', async () => {
    const { page } = await open('#/filter?sample=orders&n=1000&q=order-00001');
    await page.getByRole('heading', { name: 'Five policies, the same keys' }).scrollIntoViewIfNeeded();
    const rows = page.locator('[data-policy-row]');
    await expect.poll(() => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-policy-row')))).toEqual(['LevelDB’s', 'Fitted', 'One cache line', 'Fuse', 'Ribbon']);
    const keys = KEY_SAMPLES.orders.keys().map(utf8);
    const sizes = [new BloomFilterPolicy(10), new FittedBloomFilterPolicy(10), new BlockedBloomFilterPolicy(10), new FuseFilterPolicy()].map((policy) => buildFilter(policy, keys).length);
    const shown = (await page.locator('[data-cell=bytes]').allTextContents()).map((text) => Number(text.replace(',', '')));
    expect(shown.slice(0, 4)).toEqual(sizes);
    // A ribbon filter of the same rate is the smallest.
    expect(shown[4]).toBeLessThan(Math.min(...sizes));
    await expect.poll(() => rows.locator('.word-maybe').count()).toBe(5);
    for (const rate of await page.locator('[data-cell=rate]').allTextContents()) expect(Number.parseFloat(rate)).toBeLessThan(1.5);
  });

  test('two filters of a cache line each for one key leave room for the axis and the other policies', async () => {
    const { page } = await open('#/filter?policy=both&n=1&keys=pear');
    await page.getByRole('heading', { name: 'Five policies, the same keys' }).scrollIntoViewIfNeeded();
    await expect.poll(() => page.locator('[data-policy-row]').count(), { timeout: 10_000 }).toBe(5);
    // Each has 512 bits for its key.
    const ticks = await page.locator('.bench-rate text[text-anchor=middle]').evaluateAll((all) => all.slice(0, -1).map((tick) => tick.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    expect(ticks.length).toBeGreaterThan(5);
    for (const [i, [left]] of ticks.slice(1).entries()) expect(left).toBeGreaterThan(ticks[i]![1]!);
  });

  test('moves through the steps one at a time', async () => {
    const explorer = await open('#/filter?q=kiwi');
    const { page } = explorer;
    await explorer.button('One step back').click();
    await expect.poll(() => page.locator('.steps .found-one').count()).toBe(5);
    await explorer.button('One step forward').click();
    await expect.poll(() => page.locator('.steps .found-one').count()).toBe(6);
  });

  test('plays the probes one after another', async () => {
    const explorer = await open('#/filter?q=kiwi', { reducedMotion: 'no-preference' });
    const { page } = explorer;
    await page.locator('[data-verdict]').waitFor();
    const states = await explorer.changes(() => ({
      waiting: document.querySelectorAll('.steps .is-waiting').length,
      hasAnswer: document.querySelector('[data-verdict]') !== null,
      says: document.querySelector('.verdict.is-looking')?.textContent ?? '',
    }));
    await explorer.button('Replay').click();
    await expect.poll(async () => (await states()).some(({ waiting }) => waiting > 2)).toBe(true);
    await page.locator('[data-verdict]').waitFor();
    await expect.poll(() => page.locator('.steps .found-one').count()).toBe(6);
    // The answer appears after the last probe.
    const playing = (await states()).filter(({ waiting }) => waiting > 0);
    expect(playing.every(({ hasAnswer }) => !hasAnswer)).toBe(true);
    expect((await states()).some(({ says }) => says.includes('That proves nothing yet'))).toBe(true);
  });

  test('downloads the filter that it shows', async () => {
    const explorer = await open('#/filter');
    const [download] = await Promise.all([explorer.page.waitForEvent('download'), explorer.button('Download filter').click()]);
    expect(hex(await readFile(await download.path()))).toBe(hex(fruitFilter));
  });

  test('copies a link that opens the same filter', async () => {
    const explorer = await open('#/filter?bits=7&policy=both', { permissions: ['clipboard-read', 'clipboard-write'] });
    await explorer.page.getByLabel('Type a key to ask about it').fill('naïve & <b>');
    await explorer.button('Add it').click();
    await explorer.button('Copy link').click();
    await explorer.page.getByText('The link was copied.').waitFor();
    const link = await explorer.page.evaluate(() => navigator.clipboard.readText());
    const other = await open(new URL(link).hash);
    await expect.poll(() => other.page.getByLabel('Type a key to ask about it').inputValue()).toBe('naïve & <b>');
    await expect.poll(() => other.page.getByRole('list', { name: 'Keys added' }).textContent()).toContain('naïve & <b>');
    await expect.poll(() => other.page.locator('[data-byte]').allTextContents()).toEqual(await explorer.page.locator('[data-byte]').allTextContents());
  });
});
