// What Chromium of other years stored: each folder of the fixtures has what its page said of it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataPath } from '@bloom/fixtures';
import { describeClone, objectsIn, storedHosts } from '@bloom/fixtures/random-clone';
import { NodeFolder } from '@bloom/leveldb/node';
import { IndexedDbReader, LocalStorageReader, SessionStorageReader, StoredBlob, storedItems, storedRecords, type StoredRecord, storedSessionItems } from '../src/index.js';
import { NodeBlobFolder } from '../src/node.js';

interface Described {
  readonly key: string;
  readonly value: string;
}

interface Stored {
  readonly browser: string;
  readonly year: number;
  readonly storageKey: string;
  readonly deletedSession: boolean;
  readonly records: Readonly<Record<string, readonly Described[]>>;
  readonly local: readonly Described[];
  readonly session: readonly Described[];
}

const root = dataPath('web-storage-years');
const profiles = readdirSync(root).map((name): Stored & { readonly path: string } => {
  const path = join(root, name);
  return { ...(JSON.parse(readFileSync(join(path, 'stored.json'), 'utf8')) as Stored), path };
});
const described = ({ key, primaryKey, value }: StoredRecord): Described => ({ key: `${describeClone(key)} of ${describeClone(primaryKey)}`, value: describeClone(value, storedHosts) });
const byKey = (a: Described, b: Described): number => (a.key < b.key ? -1 : 1);

async function collected<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}

function describedItems(items: readonly { readonly key: string | undefined; readonly value: string | undefined; readonly error: Error | undefined }[]): Described[] {
  expect(items.filter(({ error }) => error !== undefined)).toEqual([]);
  return items.map(({ key, value }) => ({ key: JSON.stringify(key), value: JSON.stringify(value) })).sort(byKey);
}

test('there are profiles of the years from 2017 on', () => {
  expect([...new Set(profiles.map(({ year }) => year))].sort()).toEqual([2017, 2018, 2019, 2020, 2021, 2022, 2023, 2024, 2026]);
});

describe.each(profiles)('$browser ($year)', ({ path, records, local, session, storageKey, deletedSession }) => {
  const folder = new NodeFolder(join(path, 'page.indexeddb.leveldb'));
  const blobs = NodeBlobFolder.beside(join(path, 'page.indexeddb.leveldb'));

  test('has the records of its page, in the order of stores and indexes, with their blobs', async () => {
    await using reader = await IndexedDbReader.open(folder, { blobs });
    const [database] = await reader.databases();
    expect(database!.errors).toEqual([]);
    const found: Record<string, Described[]> = {};
    for (const store of database!.stores) {
      for (const index of [undefined, ...store.indexes]) {
        const read = await collected(reader.records(database!, store, { index }));
        expect(read.filter(({ error, isComplete }) => error !== undefined || !isComplete)).toEqual([]);
        found[index === undefined ? store.name! : `${store.name}.${index.name}`] = read.map(described);
        for (const object of read.flatMap(({ value }) => [...objectsIn(value)])) {
          if (!(object instanceof StoredBlob)) continue;
          const { length } = await object.bytes();
          if (object.size !== undefined) expect(length).toBe(object.size);
        }
      }
    }
    expect(found).toEqual(records);
  });

  test('has each of these records among the stored versions', async () => {
    await using reader = await IndexedDbReader.open(folder);
    const { stores } = (await reader.databases())[0]!;
    const { id } = stores.find(({ name }) => name === 'clones')!;
    const versions = (await collected(storedRecords(folder, { blobs }))).filter(({ database, store, kind }) => database === 1 && store === id && kind === 'value');
    const texts = new Set(versions.map((version) => JSON.stringify(described(version))));
    expect(records.clones!.filter((record) => !texts.has(JSON.stringify(record)))).toEqual([]);
  });

  test('has the items of its page', async () => {
    const localFolder = new NodeFolder(join(path, 'local-storage'));
    await using localStorage = await LocalStorageReader.open(localFolder);
    expect(describedItems(await collected(localStorage.items(storageKey)))).toEqual([...local].sort(byKey));
    expect((await localStorage.origins()).map((origin) => origin.storageKey)).toEqual([storageKey]);
    expect((await collected(storedItems(localFolder))).filter(({ error }) => error !== undefined)).toEqual([]);
    if (!existsSync(join(path, 'session-storage'))) return;
    const sessionFolder = new NodeFolder(join(path, 'session-storage'));
    if (deletedSession) {
      const last = new Map((await collected(storedSessionItems(sessionFolder))).filter(({ kind }) => kind === 'value').map((version) => [version.key, version]));
      expect(describedItems([...last.values()])).toEqual([...session].sort(byKey));
      return;
    }
    await using sessionStorage = await SessionStorageReader.open(sessionFolder);
    const namespaces = await sessionStorage.namespaces();
    const { map } = namespaces.find((namespace) => namespace.storageKey === `${storageKey}/`)!;
    expect(describedItems(await collected(sessionStorage.items(map)))).toEqual([...session].sort(byKey));
  });
});
