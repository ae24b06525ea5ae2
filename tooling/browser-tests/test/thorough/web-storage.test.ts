import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeClone, objectsIn, storedHosts } from '@bloom/fixtures/random-clone';
import { NodeFolder } from '@bloom/leveldb/node';
import { IndexedDbReader, LocalStorageReader, SessionStorageReader, StoredBlob } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';
import { findChromium } from '../../src/chromium.js';
import { BrowserOnDisk, bundled, Origin } from '../../src/origin.js';
import type { DescribedItem, DescribedRecord, Stored } from '../../src/described-storage.js';

const seeds = Number(process.env.BLOOM_STORED_SEEDS ?? 1);

async function readRecords(path: string): Promise<Record<string, DescribedRecord[]>> {
  await using reader = await IndexedDbReader.open(new NodeFolder(path), { blobs: NodeBlobFolder.beside(path) });
  const databases = await reader.databases();
  expect(databases.map(({ name, version }) => [name, version])).toEqual([['values', 8]]);
  const records: Record<string, DescribedRecord[]> = {};
  for (const store of databases[0]!.stores) {
    for (const index of [undefined, ...store.indexes]) {
      const found: DescribedRecord[] = (records[index === undefined ? store.name! : `${store.name}.${index.name}`] = []);
      for await (const record of reader.records(databases[0]!, store, { index })) {
        if (record.error !== undefined) throw record.error;
        expect(record.isComplete).toBe(true);
        found.push({ key: `${describeClone(record.key)} of ${describeClone(record.primaryKey)}`, value: describeClone(record.value, storedHosts) });
        await readBlobs(record.value);
      }
    }
  }
  return records;
}

/** Reads the blobs of a value, and compares their sizes. */
async function readBlobs(value: unknown): Promise<void> {
  for (const object of objectsIn(value)) if (object instanceof StoredBlob) expect((await object.bytes()).length).toBe(object.size);
}

const byKey = (a: DescribedItem, b: DescribedItem): number => (a.key < b.key ? -1 : 1);

describe.skipIf(findChromium() === undefined)('web-storage, compared with the page that stored the data', () => {
  let browser: BrowserOnDisk;
  let origin: Origin;
  beforeEach(async () => {
    browser = new BrowserOnDisk();
    origin = await Origin.start(await bundled('pages/storing-page'));
    await browser.start();
  });
  afterEach(async () => {
    await browser.stop();
    await origin.stop();
  });

  async function storeIn(seed: number): Promise<Stored> {
    const page = await browser.newPage(origin.url);
    await page.evaluate(`import('/storing-page.js').then(({ store }) => store(${seed}, 200))`);
    return page.evaluate<Stored>(`import('/storing-page.js').then(({ stored }) => stored())`);
  }

  function folders(): { readonly indexedDb: string; readonly local: string; readonly session: string } {
    const profile = join(browser.profile, 'Default');
    const name = readdirSync(join(profile, 'IndexedDB')).find((entry) => entry.endsWith('.leveldb'))!;
    return { indexedDb: join(profile, 'IndexedDB', name), local: join(profile, 'Local Storage', 'leveldb'), session: join(profile, 'Session Storage') };
  }

  test.each(Array.from({ length: seeds }, (_, i) => i + 10))('reads 200 random values, their indexes and all items as the page has them, after the browser is closed (seed %i)', async (seed) => {
    const stored = await storeIn(seed);
    await browser.close();
    const { indexedDb, local, session } = folders();
    expect(await readRecords(indexedDb)).toEqual(stored.records);

    await using localStorage = await LocalStorageReader.open(new NodeFolder(local));
    const items: DescribedItem[] = [];
    for await (const { storageKey, key, value } of localStorage.items()) {
      expect(`${storageKey}/`).toBe(origin.url);
      items.push({ key: JSON.stringify(key), value: JSON.stringify(value) });
    }
    expect(items.sort(byKey)).toEqual([...stored.local].sort(byKey));
    expect((await localStorage.origins()).map(({ storageKey }) => `${storageKey}/`)).toEqual([origin.url]);

    await using sessionStorage = await SessionStorageReader.open(new NodeFolder(session));
    const namespaces = await sessionStorage.namespaces();
    expect(namespaces.map(({ storageKey }) => storageKey)).toContain(origin.url);
    const sessionItems: DescribedItem[] = [];
    for await (const { key, value } of sessionStorage.items(namespaces.find(({ storageKey }) => storageKey === origin.url)!.map)) {
      sessionItems.push({ key: JSON.stringify(key), value: JSON.stringify(value) });
    }
    expect(sessionItems.sort(byKey)).toEqual([...stored.session].sort(byKey));
  });

  test('reads them while the browser has the folder open, and after it was killed', async () => {
    const stored = await storeIn(2);
    const { indexedDb } = folders();
    expect(await readRecords(indexedDb)).toEqual(stored.records);
    await browser.kill();
    expect(await readRecords(indexedDb)).toEqual(stored.records);
  });
});
