import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseReader } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { NodeFolder } from '@bloom/leveldb/node';
import { encodeKey, LocalStorageReader } from '@bloom/web-storage';
import { findChromium } from '../../src/chromium.js';
import { BrowserOnDisk, bundled, Origin } from '../../src/origin.js';
import type { Stored } from '../../src/described-storage.js';
import { byKey, readDeletedSessionItems, readItems, readRecords, readSessionItems } from '../../src/read-storage.js';

/** Every type that structured clone takes and IndexedDB keeps, as descriptions name it. */
const TYPES = [
  'undefined', 'null', 'true', 'NaN', '-0', 'Infinity', '0n', 'Date ', 'RegExp ', 'Map {', 'Set {', 'Array(', 'Object {', 'Object true', 'Object "', 'ArrayBuffer ', 'ArrayBuffer of at most',
  'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'DataView',
  'Error "', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', ' cause ', 'Blob ', 'File ', 'FileList ', 'ImageData ', 'DOMException ',
  'DOMPoint ', 'DOMPointReadOnly', 'DOMRect ', 'DOMRectReadOnly', 'DOMQuad', 'DOMMatrix ', 'DOMMatrixReadOnly', 'FileSystemFileHandle ein Käse.txt', 'FileSystemDirectoryHandle', 'CryptoKey secret', 'CryptoKey public', 'CryptoKey private',
];

const seeds = Number(process.env.BLOOM_STORED_SEEDS ?? 1);

if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no page stores data', () => {});
describe.runIf(findChromium() !== undefined)('web-storage, compared with the page that stored the data', () => {
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
    expect(stored.misread).toBe(0);
    const { indexedDb, local, session } = folders();
    const sessionItems = [...stored.session].sort(byKey);
    // It is written within five seconds.
    await expect.poll(() => readSessionItems(session, origin.url), { interval: 500 }).toEqual(sessionItems);
    await browser.close();
    expect(await readRecords(indexedDb)).toEqual(stored.records);
    const texts = JSON.stringify(stored.records);
    if (seed === 10) expect(TYPES.filter((type) => !texts.includes(JSON.stringify(type).slice(1, -1)))).toEqual([]);

    await using localStorage = await LocalStorageReader.open(new NodeFolder(local));
    expect((await localStorage.origins()).map(({ storageKey }) => `${storageKey}/`)).toEqual([origin.url]);
    expect(await readItems(local, origin.url.slice(0, -1))).toEqual([...stored.local].sort(byKey));
    // The headless shell deletes them when it ends. Their values are there until the next compaction.
    expect(await readDeletedSessionItems(session)).toEqual(sessionItems);
  });

  test('reads them while the browser has the folder open, and after it was killed', async () => {
    const stored = await storeIn(2);
    const { indexedDb, session } = folders();
    const sessionItems = [...stored.session].sort(byKey);
    expect(await readRecords(indexedDb)).toEqual(stored.records);
    await expect.poll(() => readSessionItems(session, origin.url), { interval: 500 }).toEqual(sessionItems);
    await browser.kill();
    expect(await readRecords(indexedDb)).toEqual(stored.records);
    expect(await readSessionItems(session, origin.url)).toEqual(sessionItems);
  });

  test('reads none of the changes of a transaction that is not committed, neither while it runs nor after the browser was killed', async () => {
    const stored = await storeIn(3);
    const { indexedDb } = folders();
    const page = await browser.newPage(origin.url);
    // Reading its own changes makes the browser write them to the folder. Without further requests it would be committed.
    await page.evaluate(`new Promise((resolve, reject) => {
      const opening = indexedDB.open('values');
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const store = opening.result.transaction('clones', 'readwrite').objectStore('clones');
        store.put('added', 'uncommitted');
        store.put('overwritten', 'compressed');
        store.delete('in a file of its own');
        const read = () => {
          store.get('uncommitted').onsuccess = () => { resolve(); read(); };
        };
        read();
      };
    })`);
    const isInFolder = async (): Promise<boolean> => {
      await using reader = await DatabaseReader.open(new NodeFolder(indexedDb), { comparators: [idbComparator] });
      return (await reader.get(Uint8Array.of(0, 1, 1, 1, ...encodeKey('uncommitted')))) !== undefined;
    };
    expect(await isInFolder()).toBe(true);
    expect(await readRecords(indexedDb)).toEqual(stored.records);
    await browser.kill();
    expect(await isInFolder()).toBe(true);
    expect(await readRecords(indexedDb)).toEqual(stored.records);
  });
});
