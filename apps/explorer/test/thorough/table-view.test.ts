import { folderFiles, goldenDatabases, goldenTables, realTables } from '@bloom/fixtures';
import { WriteBatchReader } from '@bloom/leveldb';
import { readLog } from '@bloom/log';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, VALUE } from '@bloom/sstable/database';
import { inspectBlock, outlineTable, profileTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { weatherTable } from '../../samples/weather-table.js';
import type { ExplorerPage, GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const grouped = (number: number): string => number.toLocaleString('en');

/** By default one file of each kind is tested; `npx pnpm@10 --filter @bloom/explorer every-file` tests all. */
const takesAll = process.env.EXPLORER_FILES === 'all';
const CHOSEN_GOLDENS = ['empty.ldb', 'words-nofilter.ldb', 'binary-block128-restart2-bits16.ldb', 'compressible-snappy-bits10.ldb'];
const CHOSEN_REALS = [/^bedrock-provider/, /^dfindexeddb\/[^/]*100k/, /^pebble/];

const goldens = goldenTables().filter(({ name }) => takesAll || CHOSEN_GOLDENS.includes(name));
const reals = realTables().filter((_, i, all) => takesAll || CHOSEN_REALS.some((pattern) => all.findIndex((other) => pattern.test(other.file)) === i));

function tableOf(entries: readonly (readonly [Uint8Array, Uint8Array])[], options: ConstructorParameters<typeof TableBuilder>[1] = {}): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy: new BloomFilterPolicy(10), compression: 'none', ...options });
  for (const [key, value] of entries) builder.add(key, value);
  builder.finish();
  return sink.toBytes();
}

const numbered = tableOf(
  Array.from({ length: 600 }, (_, i) => [utf8(`key ${String(i).padStart(6, '0')}`), utf8(`value ${i}`)]),
  { blockSize: 1024 },
);

/** A table that is too large to be checked without a request. */
const big = tableOf(
  Array.from({ length: 4000 }, (_, i) => [utf8(`key ${String(i).padStart(6, '0')}`), new Uint8Array(10_000).fill(i)]),
);

describeInChromium('the table view', ({ open, server }) => {
  async function opened(...files: readonly GivenFile[]): Promise<ExplorerPage> {
    const explorer = await open('#/table');
    await explorer.give(...files);
    await explorer.page.getByRole('heading', { level: 1, name: files[0]!.name }).waitFor();
    return explorer;
  }

  const expected = [
    ...goldens.map(({ name, entries, bytes }) => ({ name, entries, bytes })),
    ...reals.map(({ file, entries, bytes }) => ({ name: file.replaceAll('/', '-'), entries, bytes })),
  ];
  test.each(expected)('shows the number of entries of $name, and no findings', async ({ name, entries, bytes }) => {
    const explorer = await opened({ name, bytes: bytes() });
    await expect.poll(() => explorer.fact('entries')).toBe(grouped(entries));
    await expect.poll(() => explorer.region('Findings').textContent()).toContain('Nothing is wrong with this file.');
  });

  test('opens a table that is dropped onto the page', async () => {
    const explorer = await open('#/table');
    await explorer.page.getByRole('heading', { name: 'Look inside a table' }).waitFor();
    await explorer.drop('.table-view', { name: 'dropped.ldb', bytes: tableOf([[utf8('a'), utf8('b')]]) });
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped.ldb' }).waitFor();
    await expect.poll(() => explorer.fact('entries')).toBe('1');
    expect(explorer.page.url()).toContain('#/table?file=dropped.ldb');
  });

  test('opens the sample, moves between blocks and opens an entry, by keyboard alone', async () => {
    const { page } = await open('#/table');
    await page.getByRole('heading', { name: 'Look inside a table' }).waitFor();
    const focus = async (selector: string): Promise<void> => {
      for (let tabs = 0; tabs < 40; tabs++) {
        await page.keyboard.press('Tab');
        if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      }
      expect.fail(`${selector} cannot be reached by Tab`);
    };
    await focus('.drop button.is-primary');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'weather.ldb' }).waitFor();
    await focus('[role=slider]');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('heading', { name: /^Data block 2, / }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: /^Footer, 48 bytes/ }).waitFor();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: /^Data block 1, / }).waitFor();
    await page.keyboard.press('+');
    await page.getByRole('grid', { name: 'Entries of the data block' }).waitFor();
    await focus('[role=grid]');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Entry 2', exact: true }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Key', exact: true }).textContent()).toBe('weather/accra/2026-01-02');
  });

  test('shows the prefix that each key of a block shares with the key before it, and the restarts', async () => {
    const explorer = await opened({ name: 'numbered.ldb', bytes: numbered });
    const rows = explorer.page.getByRole('grid', { name: 'Entries of the data block' }).getByRole('row');
    await expect.poll(async () => (await rows.allTextContents())[1]).toContain('▸ 0key 000000value 0');
    await expect.poll(() => rows.nth(2).locator('.bytes-shared').textContent()).toBe('key 00000');
    await expect.poll(() => rows.nth(1).locator('.bytes-shared').count()).toBe(0);
    await expect.poll(() => rows.nth(17).textContent()).toContain('▸ 1key 000016');
  });

  test('zooms the map by button, key and wheel, and shows the whole file again', async () => {
    const explorer = await opened({ name: 'numbered.ldb', bytes: numbered });
    const { page } = explorer;
    const canvas = page.locator('.file-map canvas');
    const drawn = (): Promise<string> => canvas.evaluate((element: HTMLCanvasElement) => element.toDataURL());
    await page.mouse.move(0, 0);
    const isBlank = (element: HTMLCanvasElement): boolean => {
      const blank = document.createElement('canvas');
      [blank.width, blank.height] = [element.width, element.height];
      return blank.toDataURL() === element.toDataURL();
    };
    await expect.poll(() => canvas.evaluate(isBlank)).toBe(false);
    const whole = await drawn();
    for (const zoomIn of [
      () => explorer.button('Zoom in').click(),
      () => page.locator('[role=slider]').press('+'),
      async () => {
        await canvas.hover({ position: { x: 300, y: 40 } });
        await page.mouse.wheel(0, -400);
      },
    ]) {
      await zoomIn();
      await expect.poll(drawn).not.toBe(whole);
      await explorer.button('Whole file').click();
      await expect.poll(drawn).toBe(whole);
    }
  });

  test('opens a data block from its entry in the index', async () => {
    const source = new MemorySource(numbered);
    const { kinds, offsets } = await outlineTable(source);
    const explorer = await opened({ name: 'numbered.ldb', bytes: numbered });
    const at = offsets[kinds.indexOf(4)]!;
    await explorer.go(`#/table?file=numbered.ldb`);
    await explorer.page.locator('[role=slider]').focus();
    await explorer.page.keyboard.press('End');
    await explorer.page.keyboard.press('ArrowLeft');
    await explorer.page.getByRole('heading', { name: `at ${grouped(at)}` }).waitFor();
    await explorer.page.getByRole('grid', { name: 'Entries of the index block' }).getByRole('button').nth(1).click();
    await explorer.page.getByRole('heading', { name: `Data block 2, ` }).waitFor();
  });

  test('the row that keys move in a list is named, and can be seen', async () => {
    const { page } = await open('#/table?sample=1');
    const grid = page.getByRole('grid', { name: 'Entries of the data block' });
    await grid.getByRole('row').nth(1).waitFor();
    await page.locator('[role=slider]').focus();
    while (!(await grid.evaluate((element) => element === document.activeElement))) await page.keyboard.press('Tab');
    // The list renames its row while it moves, so the row is looked for anew each time.
    const active = (): Promise<{ row: string | null; outlines: string[] }> =>
      grid.evaluate((element) => {
        const row = document.getElementById(element.getAttribute('aria-activedescendant') ?? '');
        const outlines = row === null ? [] : [row, row.parentElement!.lastElementChild!].map((shown) => getComputedStyle(shown).outlineStyle);
        return { row: row?.getAttribute('aria-rowindex') ?? null, outlines };
      });
    for (const [key, row] of [
      ['ArrowDown', '3'],
      ['ArrowDown', '4'],
      ['ArrowUp', '3'],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(active).toEqual({ row, outlines: ['solid', 'none'] });
    }
    // Far away too.
    await page.keyboard.press('End');
    const last = await grid.getAttribute('aria-rowcount');
    await expect.poll(async () => (await active()).row).toBe(last);
  });

  test('what keys do not share stays in sight at 360 pixels', async () => {
    const { page } = await open('#/table?sample=1', { viewport: { width: 360, height: 740 } });
    const grid = page.getByRole('grid', { name: 'Entries of the data block' });
    await grid.locator('.bytes-own').first().waitFor();
    const [own, cell, box] = await grid.evaluate((element) => {
      const part = element.querySelector('.bytes-own')!;
      return [part, part.closest('[role=gridcell]')!, element].map((node) => node.getBoundingClientRect().right);
    });
    expect(own).toBeLessThanOrEqual(cell! + 0.5);
    expect(own).toBeLessThanOrEqual(box!);
    await expect.poll(() => grid.locator('.bytes-own').first().textContent()).toBe('2');
  });

  test('garbage is called garbage before anything else, and is not drawn as a table', async () => {
    const explorer = await opened({ name: 'holiday.ldb', bytes: Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) >>> 3) });
    const { page } = explorer;
    await expect.poll(() => page.getByRole('alert').first().textContent()).toMatch(/^This is not a table\./);
    const [alert, card] = await Promise.all([page.getByRole('alert').first().boundingBox(), page.locator('.card').first().boundingBox()]);
    expect(alert!.y).toBeLessThan(card!.y);
    await expect.poll(() => page.locator('[role=slider]').count()).toBe(0);
    await expect.poll(() => page.getByRole('heading', { name: /^Footer/ }).count()).toBe(0);
  });

  test('opens a log: its batches, their writes and fragments, by keyboard', async () => {
    const explorer = await open('#/table');
    const { page } = explorer;
    const { path } = goldenDatabases().find(({ name }) => name === 'log-blocks')!;
    const [name, bytes] = Array.from(folderFiles(path)).find(([file]) => file.endsWith('.log'))!;
    const { records } = readLog(bytes);
    await explorer.give({ name, bytes });
    await expect.poll(() => explorer.fact('records')).toBe(grouped(records.length));
    await expect.poll(async () => Number((await explorer.fact('fragments')).replaceAll(',', ''))).toBeGreaterThan(records.length);
    await expect.poll(() => page.locator('[role=slider]').count()).toBe(0);
    await page.getByRole('grid', { name: 'Records' }).focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: `Record ${records.length}`, exact: true }).waitFor();
    const batch = new WriteBatchReader(records.at(-1)!.bytes);
    let writes = 0;
    while (batch.next()) writes++;
    await expect.poll(() => page.getByRole('table', { name: 'Writes of the batch' }).getByRole('row').count()).toBe(writes + 1);
    await page.getByText('What each byte is').click();
    const record = page.getByRole('table', { name: 'Bytes of the record' });
    await record.getByRole('row').filter({ hasText: 'masked checksum' }).first().waitFor();
    // Every byte of the record is in one range.
    const sizes = await record.locator('tbody tr td:nth-child(2)').allTextContents();
    expect(sizes.reduce((sum, size) => sum + Number(size.replaceAll(',', '')), 0)).toBeGreaterThanOrEqual(records.at(-1)!.bytes.length + 7);
  });

  test('opens the MANIFEST and the log of a database from there', async () => {
    const explorer = await open('#/database?sample=1');
    const { page } = explorer;
    await explorer.button('MANIFEST-000002').click();
    await page.getByRole('heading', { level: 1, name: 'MANIFEST-000002' }).waitFor();
    await page.getByRole('grid', { name: 'Records' }).press('Enter');
    await page.getByRole('list', { name: 'Changes' }).getByText('comparator leveldb.BytewiseComparator').waitFor();
    await page.getByRole('list', { name: 'Changes' }).getByText(/\+ table 12 in level 0, .*weather\//).waitFor();
    await explorer.button('Back to its database').click();
    await page.getByRole('button', { name: '000013.log' }).click();
    await expect.poll(() => explorer.fact('operations')).toBe('36');
    // So short, each record is one fragment.
    await expect.poll(() => explorer.fact('fragments')).toBe('30');
    await expect.poll(() => page.getByRole('grid', { name: 'Records' }).getByRole('row').nth(1).getByRole('gridcell').nth(2).textContent()).toBe('1');
  });

  test('says of a log what is damaged and that its end is truncated', async () => {
    const explorer = await open('#/table');
    const { path } = goldenDatabases().find(({ name }) => name === 'log-torn')!;
    const [name, bytes] = Array.from(folderFiles(path)).find(([file]) => file.endsWith('.log'))!;
    await explorer.give({ name, bytes });
    await explorer.page.getByText('belong to a truncated record').waitFor();
    await explorer.drop('.page', { name: '000099.log', bytes: Uint8Array.from({ length: 4000 }, (_, i) => (i * 7919) >>> 3) });
    await expect.poll(() => explorer.page.getByRole('alert').first().textContent()).toContain('No record of this file can be read');
  });

  test('shows what bloom stat prints of a table: compression, filters, bits per key and probes', async () => {
    const bytes = weatherTable();
    const profile = await profileTable(new MemorySource(bytes));
    const explorer = await open('#/table?sample=1');
    await expect.poll(() => explorer.fact('compression')).toBe(`${(profile.rawDataBytes / profile.storedDataBytes).toFixed(2)} : 1`);
    await expect.poll(() => explorer.fact('filters')).toBe(grouped(profile.filters));
    await expect.poll(() => explorer.fact('bits-per-key')).toBe(((profile.filterBytes * 8) / profile.entries).toFixed(2));
    await expect.poll(() => explorer.region('Contents').textContent()).toContain('6 probes');
  });

  test('counts and labels empty filters', async () => {
    const bytes = weatherTable();
    const { kinds, offsets, sizes } = await outlineTable(new MemorySource(bytes));
    const number = kinds.indexOf(1);
    const block = await inspectBlock(new MemorySource(bytes), 'filter block', { offset: offsets[number]!, size: sizes[number]! });
    const view = new DataView(block.contents!.buffer, block.contents!.byteOffset, block.contents!.byteLength);
    const trailer = block.contents!.length - 5;
    const start = view.getUint32(trailer, true);
    let empty = 0;
    for (let at = start; at < trailer; at += 4) if (view.getUint32(at, true) === view.getUint32(at + 4, true)) empty++;
    expect(empty).toBeGreaterThan(0);
    const explorer = await open(`#/table?sample=1&at=${offsets[number]}`);
    await expect.poll(() => explorer.fact('empty-filters')).toBe(grouped(empty));
    const filters = explorer.page.getByRole('grid', { name: 'Filters' });
    await filters.focus();
    await explorer.page.keyboard.press('End');
    await filters.getByText('empty', { exact: true }).first().waitFor();
  });

  test('shows the bytes of the footer with their meanings', async () => {
    const explorer = await opened({ name: 'numbered.ldb', bytes: numbered });
    await explorer.page.locator('[role=slider]').focus();
    await explorer.page.keyboard.press('End');
    const bytes = explorer.page.getByLabel('Bytes of the footer').locator('span');
    await expect.poll(async () => (await bytes.allTextContents()).join('')).toBe(Buffer.from(numbered.subarray(-48)).toString('hex'));
    const said = await explorer.page.getByRole('row').allTextContents();
    expect(said.some((row) => row.includes('40–47magic number57 fb 80 8b 24 75 47 db'))).toBe(true);
    expect(said.filter((row) => /(metaindex|index) handleoffset \d+, size \d+/.test(row))).toHaveLength(2);
  });

  test('shows the finding at a damaged block, and still shows other blocks', async () => {
    const bytes = numbered.slice();
    const { offsets } = await outlineTable(new MemorySource(numbered));
    bytes[offsets[2]! + 40]! ^= 0x10;
    const explorer = await opened({ name: 'damaged.ldb', bytes });
    const findings = explorer.region('Findings');
    await findings.getByText('BLOOM_BAD_CHECKSUM').waitFor();
    await expect.poll(() => findings.textContent()).toContain(`data block at ${grouped(offsets[2]!)}: checksum mismatch: stored`);
    await expect.poll(() => findings.textContent()).toContain('bloom salvage FILE');
    await explorer.button('Show where').click();
    await explorer.page.getByRole('heading', { name: /^Data block 3, / }).waitFor();
    await explorer.page.getByText('do not trust them').waitFor();
    await explorer.button('Next part').click();
    await explorer.page.getByRole('heading', { name: /^Data block 4, / }).waitFor();
    await explorer.page.getByRole('grid', { name: 'Entries of the data block' }).getByText(/key 000/).first().waitFor();
    await expect.poll(() => explorer.page.getByText('1 finding', { exact: true }).count()).toBe(1);
  });

  test('says that a damaged filter loses no key', async () => {
    const bytes = numbered.slice();
    const { kinds, offsets } = await outlineTable(new MemorySource(numbered));
    bytes[offsets[kinds.indexOf(1)]! + 3]! ^= 0x10;
    const explorer = await opened({ name: 'filter.ldb', bytes });
    const findings = explorer.region('Findings');
    await findings.getByText(/^filter block at/).waitFor();
    await expect.poll(() => findings.textContent()).toContain('No key is lost: lookups do not use this filter');
    await expect.poll(() => explorer.fact('entries')).toBe('600');
  });

  test.each([
    ['an empty file', new Uint8Array(0), 'The file is empty.'],
    ['a text', utf8('this is a text and not a table, although it is longer than any footer'), 'not a LevelDB table'],
    ['a truncated table', numbered.slice(0, 5000), 'not a LevelDB table'],
  ])('says that %s is not a table', async (name, bytes, problem) => {
    const explorer = await opened({ name, bytes });
    await explorer.page.getByText(problem).first().waitFor();
    // What cannot be read is not said to be absent.
    expect(await explorer.fact('uncounted')).toMatch(/^What it contains is not known/);
    expect(await explorer.page.locator('[data-fact=entries]').count()).toBe(0);
  });

  test('checks a large table whose index cannot be read, on request', async () => {
    const bytes = big.slice();
    // The handle of the index in the footer.
    for (let at = 5; at < 10; at++) bytes[bytes.length - 48 + at]! ^= 0x7f;
    const explorer = await opened({ name: 'large.ldb', bytes });
    expect(await explorer.fact('uncounted')).toMatch(/^What it contains is not known/);
    expect(await explorer.region('Findings').textContent()).not.toContain('whole file');
    await explorer.button('Check the whole file').click();
    await expect.poll(() => explorer.button('Check the whole file').count()).toBe(0);
    await explorer.region('Not checked').waitFor();
    expect(await explorer.page.locator('[data-fact=entries]').count()).toBe(0);
  });

  test('detects tables of a database, and decodes their keys', async () => {
    const { bytes } = realTables().find(({ file }) => /^forensicsim.*000116/.test(file))!;
    const explorer = await opened({ name: 'idb.ldb', bytes: bytes() });
    await explorer.page.getByText('Chromium’s IndexedDB', { exact: true }).waitFor();
    await expect.poll(() => explorer.page.getByRole('columnheader').allTextContents()).toEqual(['#', 'Restart', 'User key', 'Sequence', 'Kind', 'Value']);
    const cell = explorer.page.getByRole('grid').getByRole('row').nth(1).getByRole('gridcell').nth(2);
    await expect.poll(() => cell.textContent()).toMatch(/schema version|database|data version|scope/);
    await explorer.choose('Hex');
    await expect.poll(() => cell.textContent()).toMatch(/^00 0\d/);
    await explorer.choose('Numbers');
    await expect.poll(() => cell.textContent()).toMatch(/^0, \d+, /);
    await explorer.choose('Text');
    await expect.poll(() => cell.textContent()).toMatch(/^\\x00\\x0\d/);
  });

  test('decodes the keys of a Minecraft world as chunks', async () => {
    const { bytes } = realTables().find(({ file }) => file.startsWith('bedrock-provider'))!;
    const explorer = await opened({ name: 'world.ldb', bytes: bytes() });
    await explorer.choose('Minecraft');
    await explorer.page.getByText(/chunk -?\d+, -?\d+ of the Overworld/).first().waitFor();
  });

  test('shows file names, keys and values as text, never as HTML', async () => {
    const attack = '<img src=x onerror=console.error("ran")><script>console.error("ran")</script>';
    const explorer = await opened({ name: '<b>bold.ldb', bytes: tableOf([[utf8(attack), utf8(attack)]]) });
    await explorer.page.getByRole('grid').getByText('<img src=x').first().waitFor();
    await expect.poll(() => explorer.page.locator('img, script:not([src]), h1 b').count()).toBe(0);
  });

  test('reads only the ranges of a table on a server that it shows', async () => {
    server().files.set('big.ldb', big);
    server().bytesSent = 0;
    const explorer = await open(`#/table?url=${encodeURIComponent(`${server().origin}/files/big.ldb`)}`);
    await explorer.page.getByRole('heading', { level: 1, name: 'big.ldb' }).waitFor();
    await explorer.page.getByRole('grid', { name: 'Entries of the data block' }).getByText('key 000000').first().waitFor();
    expect(server().bytesSent).toBeLessThan(big.length / 20);
    await explorer.button('Check the whole file').waitFor();
  });

  test('takes the keys of a table on a server for those of the database that lies next to it', async () => {
    const sameSequence = tableOf(
      Array.from({ length: 100 }, (_, i) => [encodeInternalKey({ userKey: utf8(`key ${String(i).padStart(6, '0')}`), sequence: 7n, type: VALUE }), utf8('value')]),
      { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: null },
    );
    server().files.set('published/000007.ldb', sameSequence);
    server().files.set('published/CURRENT', utf8('MANIFEST-000002\n'));
    const explorer = await open(`#/table?url=${encodeURIComponent(`${server().origin}/files/published/000007.ldb`)}`);
    await explorer.page.getByRole('heading', { level: 1, name: '000007.ldb' }).waitFor();
    await explorer.page.getByRole('grid', { name: 'Entries of the data block' }).getByRole('columnheader', { name: 'User key' }).waitFor({ timeout: 10_000 });
    await expect.poll(() => explorer.region('Findings').textContent()).toContain('Nothing is wrong with this file.');
  });

  test('stops reading when a check is cancelled, and can start it again', async () => {
    server().files.set('long.ldb', big);
    const explorer = await open(`#/table?url=${encodeURIComponent(`${server().origin}/files/long.ldb`)}`);
    const { page } = explorer;
    await explorer.button('Check the whole file').waitFor();
    server().givenUp.clear();
    const before = server().bytesSent;
    server().mostBytes = before + big.length / 2;
    await explorer.button('Check the whole file').click();
    await page.getByRole('progressbar', { name: /^Checking every byte/ }).waitFor();
    await expect.poll(() => server().held.has('long.ldb')).toBe(true);
    expect(server().bytesSent).toBeGreaterThan(before);
    await explorer.button('Cancel').click();
    await explorer.button('Check the whole file').waitFor();
    // The request that waits is given up, and no other follows.
    await expect.poll(() => server().givenUp.has('long.ldb')).toBe(true);
    const sent = server().bytesSent;
    server().mostBytes = Number.POSITIVE_INFINITY;
    await page.waitForTimeout(500);
    expect(server().bytesSent).toBe(sent);
    // The worker can do other work.
    await explorer.button('Next part').click();
    await page.getByRole('grid', { name: 'Entries of the data block' }).getByText('key 000001').first().waitFor();
    server().mostBytes = server().bytesSent + big.length / 2;
    await explorer.button('Check the whole file').click();
    await page.getByRole('progressbar', { name: /^Checking every byte/ }).waitFor();
    server().mostBytes = Number.POSITIVE_INFINITY;
  });

  test('can cancel the opening of a table', async () => {
    server().hanging.add('never.ldb');
    const explorer = await open(`#/table?url=${encodeURIComponent(`${server().origin}/files/never.ldb`)}`);
    await explorer.page.getByText('Opening never.ldb').waitFor();
    await explorer.button('Cancel').click();
    await explorer.button('Open the sample').waitFor();
    await expect.poll(() => server().givenUp.has('never.ldb')).toBe(true);
    await expect.poll(() => explorer.page.getByRole('alert').count()).toBe(0);
  });

  test('accepts IndexedDB keys in bytewise order, and says which order they have', async () => {
    const { bytes } = realTables().find(({ file }) => /^forensicsim.*000118/.test(file))!;
    const explorer = await opened({ name: 'rewritten.ldb', bytes: bytes() });
    await expect.poll(() => explorer.region('Findings').textContent()).toContain('Nothing is wrong with this file.');
    const contents = await explorer.region('Contents').textContent();
    expect(contents).toContain('leveldb.BytewiseComparator');
    expect(contents).toContain('sorted by their bytes instead of by idb_cmp1');
  });

  test('keeps every row of a list within its height', async () => {
    const explorer = await open('#/table?sample=1', { viewport: { width: 900, height: 900 } });
    const cells = explorer.page.getByRole('grid', { name: 'Entries of the data block' }).locator('.window-row .bytes-text');
    await cells.first().waitFor();
    const heights = await cells.evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().height));
    expect(Math.max(...heights)).toBeLessThan(34);
  });

  test('reports a file that the server does not have, and suggests how to go on', async () => {
    const explorer = await open(`#/table?url=${encodeURIComponent(`${server().origin}/files/none.ldb`)}`);
    await explorer.page.getByRole('alert').getByText('the server answers 404').waitFor();
    await expect.poll(() => explorer.page.getByText('Check the address.').count()).toBe(1);
    // Chromium reports the 404 in the console.
    (explorer.complaints as string[]).splice(0);
  });

  test('reports an address that is not a URL', async () => {
    for (const view of ['table', 'database']) {
      const { page } = await open(`#/${view}?url=${encodeURIComponent('https://[')}`);
      await page.getByRole('alert').getByText('Failed to parse URL from https://[').waitFor();
    }
  });
});
