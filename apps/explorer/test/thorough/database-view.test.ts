import { folderFiles, foreignFolders, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { encodeVersionEdit } from '@bloom/leveldb';
import { LogWriter } from '@bloom/log';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { outlineTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { weatherDatabase } from '../../samples/weather-database.js';
import type { ExplorerPage, GivenFile } from '../explorer-page.js';
import { describeInChromium } from '../in-chromium.js';

const grouped = (number: number): string => number.toLocaleString('en');

/** By default one file of each kind is tested; `npx pnpm@10 --filter @bloom/explorer every-file` tests all. */
const takesAll = process.env.EXPLORER_FILES === 'all';
const CHOSEN = ['levels', 'log-damaged', 'log-torn', 'table-damaged', 'snapshot-deletion'];
const readable = goldenDatabases().filter(({ name, open, comparator }) => open === 'OK' && comparator === undefined && (takesAll || CHOSEN.includes(name)));
const reals = realDatabases().filter(({ open }, i) => open === 'OK' && (takesAll || i < 1));

const filesOf = (path: string): GivenFile[] => Array.from(folderFiles(path), ([name, bytes]) => ({ name, bytes }));

describeInChromium('the database view', ({ open, server }) => {
  async function opened(files: readonly GivenFile[]): Promise<ExplorerPage> {
    const explorer = await open('#/database');
    await explorer.give(...files);
    return explorer;
  }

  test.each([...readable, ...reals])('shows the number of entries, the levels and the damage of $name', async (expected) => {
    const { path, levels = [], entries } = expected;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped folder' }).waitFor();
    const wanted = levels.flatMap((tables, level) => (tables === 0 ? [] : [`Level ${level} ${tables === 1 ? '1 table' : `${tables} tables`}`]));
    await expect.poll(() => explorer.page.locator('.level:not(.is-log) .level-name').allTextContents()).toEqual(wanted);
    // The page always verifies checksums, which LevelDB does on request.
    const verified = 'verified' in expected ? expected.verified : undefined;
    await expect.poll(() => explorer.fact('entries')).toBe(grouped(verified?.entries ?? entries!));
    const drops = 'drops' in expected ? expected.drops : [];
    const damage = (): Promise<string | null> => explorer.region('Damage').textContent();
    for (const { bytes, reason } of drops) await expect.poll(damage).toContain(`${reason} (${grouped(bytes)} bytes)`);
    if (drops.length === 0 && verified === undefined) await expect.poll(damage).toContain('Nothing has been skipped');
    else await expect.poll(damage).toContain('Skipped');
  });

  test.each(foreignFolders().filter(({ entries, name }) => entries === undefined && (takesAll || /6\.17-closed|2\.1-killed|minecraft/.test(name))))('names the engine of $name when it is dropped', async ({ name, path, engines }) => {
    const explorer = await open('#/database');
    await explorer.dropFolders('.page', ...filesOf(path).map(({ name: file, bytes }) => ({ name: `${name}/${file}`, bytes })));
    const words = engines[0] === "Minecraft's Marketplace" ? "encrypted by Minecraft's Marketplace" : `it is a ${engines[0]!} database`;
    await expect.poll(() => explorer.page.getByRole('alert').textContent()).toContain(words);
    expect(await explorer.page.getByRole('alert').textContent()).toContain('BLOOM_UNSUPPORTED_FORMAT');
  });

  test('shows a sequence above 2^53 with all its digits', async () => {
    const key = encodeInternalKey({ userKey: Uint8Array.of(0x61), sequence: MAX_SEQUENCE, type: VALUE });
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: internalKeyPolicy(new BloomFilterPolicy()) });
    builder.add(key, Uint8Array.of(0x62));
    builder.finish();
    const manifest = new MemorySink();
    const edit = { comparator: bytewiseComparator.name, logNumber: 0n, nextFileNumber: 10n, lastSequence: MAX_SEQUENCE };
    new LogWriter(manifest).addRecord(encodeVersionEdit({ ...edit, newFiles: [{ level: 6, file: { number: 5n, size: sink.toBytes().length, smallest: key, largest: key } }] }));
    const explorer = await opened([
      { name: 'CURRENT', bytes: new TextEncoder().encode('MANIFEST-000001\n') },
      { name: 'MANIFEST-000001', bytes: manifest.toBytes() },
      { name: '000005.ldb', bytes: sink.toBytes() },
    ]);
    await explorer.page.getByText('last sequence: 72,057,594,037,927,935').waitFor();
    await explorer.page.getByRole('region', { name: 'Entries' }).getByRole('row').nth(1).click();
    await explorer.page.getByRole('table', { name: 'Versions of the key' }).getByText('72,057,594,037,927,935').waitFor();
  });

  test('dashed bars, of tables without a usable filter, have a legend, and only they', async () => {
    const borderOf = (explorer: ExplorerPage, selector: string): Promise<string> => explorer.page.locator(selector).first().evaluate((element) => getComputedStyle(element).borderTopStyle);
    const sound = await open('#/database?sample=1');
    await sound.page.locator('.table-bar').first().waitFor();
    await expect.poll(() => borderOf(sound, '.table-bar')).toBe('solid');
    await expect.poll(() => sound.page.getByRole('list', { name: 'Bars' }).count()).toBe(0);

    const files = inFolder('half filtered').map(({ name, bytes }) => ({ name, bytes: bytes.slice() }));
    const table = files.find(({ name }) => name.endsWith('000006.ldb'))!;
    const { kinds, offsets } = await outlineTable(new MemorySource(table.bytes));
    table.bytes[offsets[kinds.indexOf(1)]! + 3]! ^= 1;
    const explorer = await open('#/database');
    await explorer.dropFolders('.database-view', ...files);
    await explorer.page.locator('.table-bar').first().waitFor();
    await expect.poll(() => explorer.page.locator('.table-bar.has-no-filter').allTextContents()).toEqual(['000006.ldb']);
    await expect.poll(() => borderOf(explorer, '.table-bar.has-no-filter')).toBe('dashed');
    await expect.poll(() => borderOf(explorer, '.filter-swatch.has-no-filter')).toBe('dashed');
    await explorer.page.getByRole('list', { name: 'Bars' }).getByText('dashed: has no usable filter, so every lookup in its range reads a block').waitFor();
  });

  test.each([
    ['entries and axis of a database', '#/database?sample=1', '.window-row .bytes-text', undefined],
    ['versions of a key', '#/database?sample=1', '.bytes-text', '.window-row'],
    ['a lookup', '#/lookup?sample=1&key=weather/oslo/2026-01-20', '.trace-step', undefined],
    ['a data block', '#/table?sample=1', '.window-row .bytes-text', undefined],
    ['an entry of a data block', '#/table?sample=1', '.entry-bytes .bytes-text', '.window-row'],
    ['the index', '#/table?sample=1&at=106500', '.window-row .bytes-text', undefined],
    ['a stored filter', '#/table?sample=1&at=102541', '.stored-filter', '.window-row'],
    ['the records of a log', '#/table?url=samples/database/000013.log', '.window-row', undefined],
  ])('“Show bytes as” acts on %s: keys and values are digits, and no text is left', async (what, hash, ready, click) => {
    const { page } = await open(hash);
    await page.locator('main h1').first().waitFor();
    if (click !== undefined) await page.locator(click).first().click();
    if (what === 'a stored filter') await page.getByLabel('Ask it about a key').fill('weather/oslo/2026-01-20');
    await page.locator(ready).first().waitFor();
    if (what === 'a lookup') {
      await page.getByRole('button', { name: 'Look them up' }).click();
      await page.locator('.read-bars').waitFor();
    }
    for (const summary of await page.locator('main details summary').all()) await summary.click();
    await page.locator('main .bytes-text').first().waitFor();
    const texts = (): Promise<string[]> => page.locator('main .bytes-text').allTextContents();
    await expect.poll(async () => (await texts()).some((text) => /weather|oslo|rain|sun|\d/.test(text))).toBe(true);
    await page.getByRole('group', { name: 'Show bytes as' }).getByRole('radio', { name: 'Hex', exact: true }).check();
    const isHex = (text: string): boolean => /^( ?[0-9a-f]{2})*( … [\d,]+ bytes)?$/.test(text.replace('\u00a0', ' '));
    await expect.poll(async () => (await texts()).map((text) => (isHex(text) ? 'digits' : text)).filter((text, i, all) => all.indexOf(text) === i)).toEqual(['digits']);
  });

  test('reports a missing table, and suggests how to go on', async () => {
    const { path } = goldenDatabases().find(({ name }) => name === 'missing-table')!;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('alert').getByText('missing').first().waitFor();
    await expect.poll(() => explorer.region('What you can do').count()).toBe(1);
    await explorer.button('Read what is there').click();
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    await explorer.region('Damage').getByText(/missing/).first().waitFor();
  });

  const HEADINGS: Readonly<Record<string, string>> = {
    '#/filter': '“Have I seen this before?”',
    '#/table': 'Inside a table',
    '#/table?sample=1': 'weather.ldb',
    '#/database?sample=1': 'weather database',
    '#/lookup': 'Follow a lookup',
    '#/lookup?sample=1': 'A lookup in weather database',
  };

  /** Goes from view to view in one page. */
  async function inEachView(hashes: readonly string[], drop: (explorer: ExplorerPage, number: number) => Promise<void>): Promise<void> {
    const explorer = await open(hashes[0]!);
    for (const [i, hash] of hashes.entries()) {
      await explorer.go(hash);
      // What was dropped before may have a heading in the same view.
      await explorer.page.getByRole('heading', { level: 1, name: HEADINGS[hash]!, exact: true }).waitFor();
      await drop(explorer, i);
    }
  }

  test.each([[['#/filter', '#/table?sample=1', '#/database?sample=1', '#/lookup?sample=1']], [['#/table']], [['#/lookup']]])('opens a folder that is dropped onto %s, by its own name', async (hashes) => {
    await inEachView(hashes, async (explorer, i) => {
      await explorer.dropFolders('.page', ...inFolder(`my weather ${i}`));
      await explorer.page.getByRole('heading', { level: 1, name: new RegExp(`my weather ${i}$`) }).waitFor();
    });
  });

  test.each([[['#/filter', '#/table?sample=1', '#/database?sample=1']], [['#/lookup']]])('opens a table that is dropped onto %s', async (hashes) => {
    await inEachView(hashes, async (explorer, i) => {
      await explorer.drop('.page', { name: `alone-${i}.ldb`, bytes: weatherDatabase()[0]!.bytes });
      await explorer.page.getByRole('heading', { level: 1, name: `alone-${i}.ldb` }).waitFor();
    });
  });

  test('finds the database in a folder that holds its folder', async () => {
    const explorer = await open('#/database');
    await explorer.page.locator('.drop').waitFor();
    await explorer.dropFolders('.page', { name: 'world/level.dat', bytes: new Uint8Array(9) }, ...inFolder('world/saved/db'));
    await explorer.page.getByRole('heading', { level: 1, name: 'db' }).waitFor();
    await expect.poll(() => explorer.fact('entries')).toBe('2,407');
  });

  test('lets one choose among several databases, by keyboard', async () => {
    const explorer = await open('#/database');
    await explorer.page.locator('.drop').waitFor();
    await explorer.dropFolders('.page', ...inFolder('worlds/deep/one/db'), ...inFolder('worlds/two'));
    const choices = explorer.region('Several databases').getByRole('button');
    await expect.poll(() => choices.allTextContents()).toEqual([expect.stringContaining('worlds/two'), expect.stringContaining('worlds/deep/one/db')]);
    await choices.nth(1).press('Enter');
    await explorer.page.getByRole('heading', { level: 1, name: 'worlds/deep/one/db' }).waitFor();
    await expect.poll(() => explorer.region('Several databases').count()).toBe(0);
  });

  test('a second folder is shown in its own form, whatever was chosen for the first', async () => {
    const explorer = await openSampleView();
    await explorer.page.getByRole('group', { name: 'Show bytes as' }).getByRole('radio', { name: 'Hex' }).check();
    await explorer.page.getByRole('grid').getByText('77 65 61').first().waitFor();
    await explorer.dropFolders('.page', ...inFolder('second'));
    await explorer.page.getByRole('heading', { level: 1, name: 'second' }).waitFor();
    await explorer.page.getByRole('grid').getByText('weather/accra/2026-01-01').first().waitFor();
  });

  const inFolder = (path: string): GivenFile[] => weatherDatabase().map(({ name, bytes }) => ({ name: `${path}/${name}`, bytes }));
  const openSampleView = async (): Promise<ExplorerPage> => {
    const explorer = await open('#/database?sample=1');
    await explorer.page.getByRole('grid', { name: 'Entries of the database' }).waitFor();
    return explorer;
  };

  test('reads a database with another comparator in bytewise order on request', async () => {
    const { path } = goldenDatabases().find(({ comparator }) => comparator !== undefined)!;
    const explorer = await opened(filesOf(path));
    await explorer.page.getByRole('alert').getByText('a comparator that this page does not have').first().waitFor();
    await expect.poll(() => explorer.page.getByRole('alert').textContent()).not.toContain('insistOnBytewise');
    await expect.poll(() => explorer.page.getByRole('alert').textContent()).toContain('test.ReverseBytewiseComparator');
    await explorer.button('Read it in bytewise order').click();
    await explorer.page.getByRole('heading', { level: 1, name: 'dropped folder' }).waitFor();
  });

  test('reports files that are not a database, and suggests how to go on', async () => {
    const explorer = await opened([{ name: 'notes.txt', bytes: new Uint8Array(5) }, { name: 'more.txt', bytes: new Uint8Array(5) }]);
    await explorer.page.getByRole('alert').waitFor();
    await explorer.region('What you can do').waitFor();
  });

  test('can cancel the opening of a database', async () => {
    server().hanging.add('never/CURRENT');
    const explorer = await open(`#/database?url=${encodeURIComponent(`${server().origin}/files/never`)}`);
    await explorer.page.getByText(/^Opening .*never/).waitFor();
    await explorer.button('Cancel').click();
    await explorer.button('Open the sample').waitFor();
    await expect.poll(() => server().givenUp.has('never/CURRENT')).toBe(true);
    await expect.poll(() => explorer.page.getByRole('alert').count()).toBe(0);
  });

  test('searches entries by prefix and by range', async () => {
    const { page, choose } = await openSample();
    const grid = page.getByRole('grid', { name: 'Entries of the database' });
    await page.getByLabel('Keys that begin with').fill('weather/oslo/2026-03-2');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('8');
    await expect.poll(async () => (await grid.getByRole('gridcell').first().textContent())!).toBe('weather/oslo/2026-03-20');
    await choose('Range');
    await page.getByLabel('From', { exact: true }).fill('weather/oslo/2026-01-30');
    await page.getByLabel('To (inclusive)').fill('weather/oslo/2026-02-02');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('5');
    await page.getByLabel('To (inclusive)').fill('weather/a');
    await page.getByText('No keys found.').waitFor();
    expect(page.url()).toContain('from=weather');
  });

  test('moves through pages of entries and back', async () => {
    const { button, page } = await openSample();
    const first = page.getByRole('grid', { name: 'Entries of the database' }).getByRole('gridcell').first();
    await expect.poll(() => first.textContent()).toBe('weather/accra/2026-01-01');
    await button('Later →').click();
    await page.getByText('501 to 1,000').waitFor();
    await expect.poll(() => first.textContent()).not.toBe('weather/accra/2026-01-01');
    await button('Later →').click();
    await page.getByText('1,001 to 1,500').waitFor();
    await button('← Earlier').click();
    await page.getByText('501 to 1,000').waitFor();
    await button('← Earlier').click();
    await expect.poll(() => first.textContent()).toBe('weather/accra/2026-01-01');
  });

  test('shows all versions of a key and their files, by keyboard alone', async () => {
    const { page } = await openSample('&prefix=weather/oslo/2026-03-2');
    const grid = page.getByRole('grid', { name: 'Entries of the database' });
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('8');
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const rows = page.getByRole('table', { name: 'Versions of the key' }).getByRole('row');
    await expect.poll(async () => (await rows.allTextContents())[1]).toContain('level 0, 000012.ldb');
    await page.getByLabel('Keys that begin with').fill('weather/berlin/2026-02-20');
    await grid.focus();
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('2');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await rows.allTextContents()).slice(1).map((row) => /level \d/.exec(row)?.[0])).toEqual(['level 1', 'level 2']);
  });

  test('opens a table of a level in the table view', async () => {
    const { page } = await openSample();
    await page.getByRole('button', { name: /^Table 000008\.ldb, level 1/ }).click();
    await page.getByRole('heading', { level: 1, name: '000008.ldb' }).waitFor();
    await page.getByText('keys with versions, as in a database').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'weather database' }).waitFor();
  });

  test('reads a database from a URL, file by file', async () => {
    for (const { name, bytes } of weatherDatabase()) server().files.set(`db/${name}`, bytes);
    const explorer = await open(`#/database?url=${encodeURIComponent(`${server().origin}/files/db`)}`);
    await expect.poll(() => explorer.fact('entries')).toBe('2,407');
    // Chromium reports the requests for logs that do not exist.
    (explorer.complaints as string[]).splice(0);
  });

  test('shows no logs that are not there, of the sample and of a URL, where the server sends its page for all other names', async () => {
    for (const { name, bytes } of weatherDatabase()) server().files.set(`db/${name}`, bytes);
    server().hasFallback = true;
    try {
      for (const hash of ['#/database?sample=1', `#/database?url=${encodeURIComponent(`${server().origin}/files/db`)}`]) {
        const explorer = await open(hash);
        await expect.poll(() => explorer.fact('entries')).toBe('2,407');
        expect(await explorer.page.locator('.level.is-log .level-name').allTextContents()).toHaveLength(1);
        expect(await explorer.region('Damage').textContent()).toContain('Nothing has been skipped');
      }
    } finally {
      server().hasFallback = false;
    }
  });

  async function openSample(more = ''): Promise<{ page: ExplorerPage['page']; button: ExplorerPage['button']; choose: ExplorerPage['choose'] }> {
    const explorer = await open(`#/database?sample=1${more}`);
    await explorer.page.getByRole('heading', { level: 1, name: 'weather database' }).waitFor();
    return { page: explorer.page, button: (name) => explorer.button(name), choose: (name) => explorer.choose(name) };
  }
});
