// Session Storage as Chromium stored it before version 1: without a version, and with the number of tabs of each map under `map-N-`.
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { EntryDecoder, recognizeStorage, SessionStorageReader, storedSessionItems } from '../src/index.js';
import { collected } from './written-folders.js';

const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le'));
const TAB = 'b8bdc59a_75ea_44bb_a100_afb0f52558cf';

async function folderOf(write: (database: Database) => Promise<void>): Promise<WritableMemoryFolder> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  await write(database);
  await database.close();
  return folder;
}

/** Without items: the layout of Chromium, content/browser/dom_storage/session_storage_database.cc, of 2018. */
async function writeOld(database: Database): Promise<void> {
  await database.put('namespace-', '');
  await database.put(`namespace-${TAB}-`, '');
  await database.put(`namespace-${TAB}-https://example.com/`, '0');
  await database.put('next-map-id', '2');
  await database.put('map-0-', '1');
  await database.put('map-0-a', utf16('b'));
  await database.put('map-1-', '12');
  await database.put('map-1-x', utf16('y'));
}

const items = (found: readonly { readonly map: string | undefined; readonly key: string | undefined; readonly value: string | undefined }[]): unknown[] => found.map(({ map, key, value }) => [map, key, value]);

test('a folder without a version is recognized, and its counts of tabs are no items', async () => {
  const folder = await folderOf(writeOld);
  expect(await recognizeStorage(folder)).toBe('session-storage');
  const expected = [['0', 'a', 'b'], ['1', 'x', 'y']];
  await using reader = await SessionStorageReader.open(folder);
  expect(await reader.namespaces()).toEqual([{ namespace: TAB, storageKey: 'https://example.com/', map: '0' }]);
  expect(items(await collected(reader.items()))).toEqual(expected);
  expect(items(await collected(reader.items('1')))).toEqual(expected.slice(1));
  expect(items(await collected(storedSessionItems(folder)))).toEqual(expected);
  await using decoder = (await EntryDecoder.open(folder))!;
  expect(await decoder.decode(new TextEncoder().encode('map-0-'), new TextEncoder().encode('1'))).toBeUndefined();
  expect(await decoder.decode(new TextEncoder().encode('map-0-a'), utf16('b'))).toMatchObject({ place: { origin: 'https://example.com/', map: 0 }, key: 'a', value: 'b' });
});

test('in version 1, an item can have an empty key, and what was stored before it has counts', async () => {
  const folder = await folderOf(async (database) => {
    await writeOld(database);
    for (const key of ['namespace-', `namespace-${TAB}-`, 'map-0-', 'map-1-']) await database.delete(key);
    await database.put('version', '1');
    await database.put('map-0-', utf16('of an empty key'));
  });
  expect(await recognizeStorage(folder)).toBe('session-storage');
  await using reader = await SessionStorageReader.open(folder);
  const expected = [['0', '', 'of an empty key'], ['0', 'a', 'b'], ['1', 'x', 'y']];
  expect(items(await collected(reader.items()))).toEqual(expected);
  expect(items(await collected(storedSessionItems(folder))).sort()).toEqual(expected);
  await using decoder = (await EntryDecoder.open(folder))!;
  expect(await decoder.decode(new TextEncoder().encode('map-0-'), utf16('c'))).toMatchObject({ key: '', value: 'c' });
});

test('a database with some of the keys is not taken for Session Storage', async () => {
  for (const [key, value] of [['namespace-a-b', '1'], ['next-map-id', '2'], ['map-0-a', 'b']] as const) {
    expect(await recognizeStorage(await folderOf((database) => database.put(key, value)))).toBeUndefined();
  }
  expect(
    await recognizeStorage(
      await folderOf(async (database) => {
        await database.put('namespace-a', 'b');
        await database.put('next-map-id', 'no number');
      }),
    ),
  ).toBeUndefined();
});
