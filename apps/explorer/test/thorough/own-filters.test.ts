import { dataPath, folderFiles } from '@bloom/fixtures';
import { bloomHash } from '@bloom/hash';
import { bloomProbes, BloomFilterPolicy, buildFilter, filterByteLength, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { MemorySink, MemorySource, Table, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { inspectBlock, outlineTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import type { ExplorerPage } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const grouped = (number: number): string => number.toLocaleString('en');
const entries = Array.from({ length: 900 }, (_, i) => [utf8(`key ${String(i).padStart(6, '0')}`), utf8(`value ${i} `.repeat(i % 7))] as const);

/** Tables of the same entries have the same data blocks, whatever their filters are. */
function tableWith(options: TableBuilderOptions): { readonly bytes: Uint8Array; readonly filterBytes: number } {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { blockSize: 1024, compression: 'none', ...options });
  for (const [key, value] of entries) builder.add(key, value);
  const { filterBytes } = builder.finish();
  return { bytes: sink.toBytes(), filterBytes };
}

const given = tableWith({});

/** Even numbers, about 19 of them in each block and so in each filter: with that many, LevelDB's length is at its worst. */
const numberedKeys = Array.from({ length: 1500 }, (_, i) => utf8(String(1000 + 2 * i).padStart(16, '0')));

function numbers(filterPolicy: FilterPolicy): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: 'none', filterPolicy });
  for (const [i, key] of numberedKeys.entries()) builder.add(key, new Uint8Array(200).fill(i));
  builder.finish();
  return sink.toBytes();
}

describeInChromium('filters of one’s own data', ({ open }) => {
  async function openedTable(bytes = given.bytes): Promise<ExplorerPage> {
    const explorer = await open('#/table');
    await explorer.give({ name: 'own.ldb', bytes });
    await explorer.page.getByRole('heading', { level: 1, name: 'own.ldb' }).waitFor();
    return explorer;
  }

  const sizeOf = async (explorer: ExplorerPage, row: string): Promise<string | null> => explorer.page.locator(`[data-trial="${row}"] [data-cell=size]`).getAttribute('title');
  const readsOf = async (explorer: ExplorerPage, row: string): Promise<number> => Number((await explorer.page.locator(`[data-trial="${row}"] [data-cell=reads]`).textContent())!.replaceAll(',', ''));

  test('a filter of a table shows its bits, and those of a key, by keyboard alone', async () => {
    const explorer = await openedTable();
    const { page } = explorer;
    const source = new MemorySource(given.bytes);
    const outline = await outlineTable(source);
    const { offset, size } = outline.metaindex[0]!.handle!;
    const { contents } = await inspectBlock(source, 'filter block', { offset, size });
    // The first filter begins where the block does, and ends where the second one begins.
    const view = new DataView(contents!.buffer, contents!.byteOffset, contents!.length);
    const filter = contents!.subarray(0, view.getUint32(view.getUint32(contents!.length - 5, true) + 4, true));
    const isSet = (bit: number): boolean => ((filter[bit >> 3]! >> (bit & 7)) & 1) === 1;
    const bitsOf = (key: string): number[] => bloomProbes(bloomHash(utf8(key)), filter.length, 6).probes.map(({ bit }) => bit);

    await page.locator('[role=slider]').press('End');
    for (let i = 0; i < 3; i++) await page.locator('[role=slider]').press('ArrowLeft');
    const list = page.getByRole('grid', { name: 'Filters' });
    await list.press('Enter');
    const region = explorer.region('Filter 0');
    const set = Array.from({ length: (filter.length - 1) * 8 }, (_, bit) => bit).filter(isSet).length;
    await region.getByRole('application', { name: `Filter 0: ${set} of ${(filter.length - 1) * 8} bits are 1` }).waitFor();

    await page.getByLabel('Ask it about a key').fill('key 000003');
    await region.locator('[data-answer=maybe]').waitFor();
    await expect.poll(() => region.getByRole('status').first().textContent()).toContain('key 000003 is among the');
    await expect.poll(() => region.locator('.stored-probes li').allTextContents()).toEqual(bitsOf('key 000003').map((bit, i) => `${i + 1} bit ${grouped(bit)} is 1`));

    const absent = Array.from({ length: 50 }, (_, i) => `absent ${i}`).find((key) => !bitsOf(key).every(isSet))!;
    await page.getByLabel('Ask it about a key').fill(absent);
    await region.locator('[data-answer=no]').waitFor();
    const firstZero = bitsOf(absent).find((bit) => !isSet(bit))!;
    await expect.poll(() => region.getByRole('status').first().textContent()).toContain(`Bit ${grouped(firstZero)} is 0.`);

    const wrong = Array.from({ length: 5000 }, (_, i) => `absent ${i}`).find((key) => bitsOf(key).every(isSet))!;
    await page.getByLabel('Ask it about a key').fill(wrong);
    await region.getByText('and this time it is wrong').waitFor();

    // Which keys made a bit 1.
    const grid = region.getByRole('application');
    await grid.press('Home');
    const owned = entries.slice(0, 40).map(([key]) => new TextDecoder().decode(key));
    let bit = 0;
    while (!isSet(bit)) {
      await expect.poll(() => region.getByRole('status').last().textContent()).toBe(`Bit ${bit} is 0: no key uses it.`);
      await grid.press('ArrowRight');
      bit++;
    }
    const owner = owned.find((key) => bitsOf(key).includes(bit))!;
    await expect.poll(() => region.getByRole('status').last().textContent()).toContain(`Bit ${bit} was set to 1 by ${owner}`);
  });

  test('a filter that is chosen before the list has its rows is shown when they come', async () => {
    const explorer = await openedTable();
    const { page } = explorer;
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        const list = document.querySelector('[role=grid][aria-label=Filters]');
        if (list === null) return;
        observer.disconnect();
        document.documentElement.dataset.rowsAtEnter = String(list.querySelectorAll('[role=gridcell]').length);
        list.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
    await page.locator('[role=slider]').press('End');
    for (let i = 0; i < 3; i++) await page.locator('[role=slider]').press('ArrowLeft');
    await explorer.region('Filter 0').waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.rowsAtEnter)).toBe('0');
  });

  test('a “no” in a lookup shows the bit that proves it, and a “maybe” its ones', async () => {
    const { page } = await open('#/lookup?sample=1&key=weather%2Foslo%2F2026-01-20');
    await page.locator('[data-outcome=found].notice').waitFor();
    await page.locator('[data-filter=no] summary').first().press('Enter');
    const no = page.locator('[data-filter=no] .stored-filter');
    await no.waitFor();
    await expect.poll(() => no.getAttribute('data-answer')).toBe('no');
    await expect.poll(() => no.locator('.stored-probes .is-zero').count()).toBe(1);
    await page.locator('[data-filter=maybe] summary').first().press('Enter');
    const maybe = page.locator('[data-filter=maybe] .stored-filter').first();
    await maybe.waitFor();
    await expect.poll(() => maybe.getAttribute('data-answer')).toBe('maybe');
    await expect.poll(() => maybe.locator('.stored-probes .is-one').count()).toBe(6);
    await maybe.getByText('Maybe, and that is right.').waitFor();
  });

  test.each([
    ['LevelDB’s filter', '2048', [6, 10, 14], (bits: number) => ({ filterPolicy: new BloomFilterPolicy(bits), filterRange: 2048 })],
    ['LevelDB’s filter', String(2 ** 40), [6, 10, 14], (bits: number) => ({ filterPolicy: new BloomFilterPolicy(bits), filterRange: 2 ** 40 })],
    ['LevelDB’s, fitted', '2048', [6, 10, 14], (bits: number) => ({ filterPolicy: new FittedBloomFilterPolicy(bits), filterRange: 2048 })],
    ['One cache line per key', '32768', [6, 10, 14], (bits: number) => ({ filterPolicy: new BlockedBloomFilterPolicy(bits), filterRange: 32_768 })],
  ] as const)('with %s and one for %s bytes, sizes and reads are those of tables that are written so', async (title, range, bits, optionsFor) => {
    const explorer = await openedTable();
    const keys = Array.from({ length: 3000 }, (_, i) => `key ${String(i % 900).padStart(6, '0')}.${i}`);
    await explorer.choose(title);
    await explorer.page.getByLabel('One filter for').selectOption(range);
    const stored = ['key 000001', 'key 000899'];
    await explorer.page.locator('.keys-input').setInputFiles({ name: 'keys.txt', mimeType: 'text/plain', buffer: Buffer.from([...keys, ...stored, keys[0]!].join('\r\n')) });
    await explorer.page.locator(`[data-trial="${bits[2]}"] [data-cell=reads]`).waitFor();
    await explorer.page.getByText('2 keys are stored here and not looked up.').waitFor();
    // The last index key is after all of them, so each costs a read where there is no filter.
    await expect.poll(() => readsOf(explorer, 'Without filters')).toBe(keys.length);
    for (const bitsPerKey of bits) {
      const options = optionsFor(bitsPerKey);
      const written = tableWith(options);
      await expect.poll(() => sizeOf(explorer, String(bitsPerKey))).toBe(`${grouped(written.filterBytes)} bytes`);
      const table = await Table.open(new MemorySource(written.bytes), { filterPolicies: [options.filterPolicy] });
      for (const key of keys) expect(await table.get(utf8(key))).toBeUndefined();
      await expect.poll(() => readsOf(explorer, String(bitsPerKey))).toBe(table.stats.blockReads + table.stats.cacheHits);
      await table.close();
    }
  });

  test('a table of numbers shows what fitted filters would save, by keyboard, before they are chosen', async () => {
    const explorer = await openedTable(numbers(new BloomFilterPolicy()));
    const { page } = explorer;
    await explorer.button('Try with neighbouring keys').press('Enter');
    await page.locator('[data-trial=fitted] [data-cell=reads]').waitFor();
    await page.getByText(/The keys are the nearest absent neighbours of stored keys.*, such as 0{12}\d{4}/).waitFor();
    const [stored, leveldb, fitted] = await Promise.all(['As stored', '10', 'fitted'].map((row) => readsOf(explorer, row)));
    expect(leveldb).toBe(stored);
    expect(leveldb).toBeGreaterThan(100);
    expect(fitted).toBeLessThan(leveldb! / 10);
    // When they are chosen, the row that was beside the others stands among them, and LevelDB's is beside.
    const size = await sizeOf(explorer, 'fitted');
    await explorer.choose('LevelDB’s, fitted');
    await page.locator('[data-trial=leveldb] [data-cell=reads]').waitFor();
    await expect.poll(() => page.locator('.is-chosen').getAttribute('data-trial')).toBe('10');
    expect(await readsOf(explorer, '10')).toBe(fitted);
    expect(await sizeOf(explorer, '10')).toBe(size);
    expect(await readsOf(explorer, 'leveldb')).toBe(leveldb);
    await page.getByText('Fitted filters were chosen to let few of them pass.').waitFor();
  });

  test('a table without absent neighbours says that there is nothing to look up', async () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, {});
    for (let byte = 0; byte < 256; byte++) builder.add(Uint8Array.of(byte), utf8('x'));
    builder.finish();
    const explorer = await openedTable(sink.toBytes());
    await explorer.button('Try with neighbouring keys').click();
    await explorer.page.locator('.trial .notice').waitFor();
    await expect.poll(() => explorer.page.locator('.trial .notice').textContent()).toBe('No stored key has an absent neighbour, so there is nothing to look up.');
  });

  test('a fitted filter of a table shows its own length and number of probes, and those of its keys', async () => {
    const explorer = await openedTable(numbers(new FittedBloomFilterPolicy()));
    const { page } = explorer;
    await expect.poll(async () => page.locator('[data-fact=bits-per-key] + small').textContent()).toMatch(/^\d to \d+ probes; /);
    await page.locator('[role=slider]').press('End');
    for (let i = 0; i < 3; i++) await page.locator('[role=slider]').press('ArrowLeft');
    const list = page.getByRole('grid', { name: 'Filters' });
    await list.press('Enter');
    const region = explorer.region('Filter 0');
    await region.locator('.stored-filter').waitFor();
    const keyCount = Number(/(\d+) keys\./.exec((await region.getByRole('status').last().textContent())!)![1]);
    const keys = numberedKeys.slice(0, keyCount);
    const filter = buildFilter(new FittedBloomFilterPolicy(), keys);
    const probes = filter.at(-1)!;
    // It differs from LevelDB's.
    expect([filter.length, probes]).not.toEqual([filterByteLength(keyCount, 10), 6]);
    const bits = (filter.length - 1) * 8;
    const set = Array.from({ length: bits }, (_, bit) => bit).filter((bit) => ((filter[bit >> 3]! >> (bit & 7)) & 1) === 1).length;
    await region.getByRole('application', { name: `Filter 0: ${set} of ${bits} bits are 1` }).waitFor();
    await expect.poll(() => region.getByRole('status').last().textContent()).toContain(`${probes} probes per key`);
    await page.getByLabel('Ask it about a key').fill(new TextDecoder().decode(keys[3]));
    const expected = bloomProbes(bloomHash(keys[3]!), filter.length, probes).probes.map(({ bit }, i) => `${i + 1} bit ${grouped(bit)} is 1`);
    await expect.poll(() => region.locator('.stored-probes li').allTextContents()).toEqual(expected);
  });

  test('the slider builds further filters, by keyboard, and they are there when the reader comes back', async () => {
    const explorer = await openedTable();
    const { page } = explorer;
    await explorer.button('Try with 10,000 absent keys').press('Enter');
    await page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
    const slider = page.getByRole('slider', { name: 'Bits per key, slider' });
    for (let i = 0; i < 8; i++) await slider.press('ArrowRight');
    await page.locator('[data-trial="18"] [data-cell=reads]').waitFor();
    await expect.poll(() => sizeOf(explorer, '18')).toBe(`${grouped(tableWith({ filterPolicy: new BloomFilterPolicy(18) }).filterBytes)} bytes`);
    expect(await readsOf(explorer, '18')).toBeLessThan(await readsOf(explorer, '6'));
    await page.getByRole('link', { name: 'Lookup', exact: true }).click();
    await page.getByRole('link', { name: 'Table', exact: true }).click();
    await page.locator('[data-trial="18"] [data-cell=reads]').waitFor();
    await expect.poll(() => slider.inputValue()).toBe('18');
  });

  test('a database’s filters are built again for all its tables: at 10 bits per key they are those that are stored', async () => {
    const explorer = await open('#/database?sample=1');
    await explorer.button('Try with 10,000 absent keys').click();
    await explorer.page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
    expect(await sizeOf(explorer, '10')).toBe(await sizeOf(explorer, 'As stored'));
    const [none, six, ten, fourteen, stored] = await Promise.all(['Without filters', '6', '10', '14', 'As stored'].map((row) => readsOf(explorer, row)));
    expect(ten).toBe(stored);
    expect(none).toBeGreaterThan(10_000);
    expect(none).toBeGreaterThan(six! * 5);
    expect(six).toBeGreaterThan(ten!);
    expect(ten).toBeGreaterThan(fourteen!);
    // The page asks for no logs that are not there but those that any opening does.
    (explorer.complaints as string[]).splice(0);
  });

  test('a damaged table keeps its filters, and is named', async () => {
    const files = weatherDatabase().map(({ name, bytes }) => ({ name: `database/${name}`, bytes: bytes.slice() }));
    const table = files.find(({ name }) => name.endsWith('000006.ldb'))!;
    table.bytes[700]! ^= 1;
    const explorer = await open('#/database');
    await explorer.dropFolders('.database-view', ...files);
    await explorer.button('Try with 10,000 absent keys').click();
    await explorer.page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
    await explorer.page.getByText('Damaged tables, which are counted with their own filters: 000006.ldb.').waitFor();
  });

  test('databases in IndexedDB’s order are tried with every policy', async () => {
    const explorer = await open('#/database');
    const files = folderFiles(dataPath('web-storage/page.indexeddb.leveldb'));
    await explorer.dropFolders('.database-view', ...Array.from(files, ([name, bytes]) => ({ name: `idb/${name}`, bytes })));
    await explorer.page.getByText('Chromium’s IndexedDB', { exact: true }).waitFor();
    for (const title of ['LevelDB’s filter', 'LevelDB’s, fitted', 'One cache line per key']) {
      await explorer.choose(title);
      await explorer.page.locator('.trial button').first().click();
      await explorer.page.locator('[data-trial="14"] [data-cell=reads]').waitFor();
      await expect.poll(() => explorer.page.locator('.trial [role=alert]').count()).toBe(0);
      await expect.poll(() => readsOf(explorer, '14')).toBeLessThan((await readsOf(explorer, 'Without filters')) / 5);
    }
  });
});
