import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dataPath } from '@bloom/fixtures';
import { describeClone, objectsIn, storedHosts } from '@bloom/fixtures/random-clone';
import { type Folder, MemoryFolder } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { type IndexedDbKey, IndexedDbReader, indexedDbKey, LocalStorageReader, recognizeStorage, SessionStorageReader, StoredBlob, storedItems, storedRecords } from '../src/index.js';
import { NodeBlobFolder } from '../src/node.js';
import { folderOf } from './written-folders.js';

interface Described {
  readonly key: string;
  readonly value: string;
}

const stored = JSON.parse(readFileSync(dataPath('web-storage/stored.json'), 'utf8')) as {
  readonly storageKey: string;
  readonly records: Readonly<Record<string, readonly Described[]>>;
  readonly local: readonly Described[];
  readonly session: readonly Described[];
};
const path = dataPath('web-storage/page.indexeddb.leveldb');
const blobs = NodeBlobFolder.beside(path);
const open = (options = { blobs }) => IndexedDbReader.open(new NodeFolder(path), options);
const keyText = (key: IndexedDbKey | undefined, primaryKey: IndexedDbKey | undefined): string => `${describeClone(key)} of ${describeClone(primaryKey)}`;
const byKey = (a: Described, b: Described): number => (a.key < b.key ? -1 : 1);

function blobsIn(value: unknown): StoredBlob[] {
  return [...objectsIn(value)].filter((object) => object instanceof StoredBlob);
}

async function collected<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}

describe('IndexedDbReader', () => {
  test('gives all records in the order of stores and indexes, as the page read them', async () => {
    await using reader = await open();
    const [database] = await reader.databases();
    const found: Record<string, Described[]> = {};
    for (const store of database!.stores) {
      for (const index of [undefined, ...store.indexes]) {
        const records = await collected(reader.records(database!, store, { index }));
        found[index === undefined ? store.name! : `${store.name}.${index.name}`] = records.map(({ key, primaryKey, value }) => ({ key: keyText(key, primaryKey), value: describeClone(value, storedHosts) }));
      }
    }
    expect(found).toEqual(stored.records);
  });

  test('reads ranges of a store and of an index, forward and backward', async () => {
    await using reader = await open();
    const [database] = await reader.databases();
    const notes = database!.stores.find(({ name }) => name === 'notes')!;
    for (const index of [undefined, ...notes.indexes]) {
      const all = (await collected(reader.records(database!, notes, { index }))).map(({ key, primaryKey }) => keyText(key, primaryKey));
      expect((await collected(reader.records(database!, notes, { index, reverse: true }))).map(({ key, primaryKey }) => keyText(key, primaryKey))).toEqual([...all].reverse());
      const keys = (await collected(reader.records(database!, notes, { index }))).map(({ key }) => key);
      const texts = keys.map((key) => describeClone(key));
      const [low, high] = [keys[3]!, keys.at(-3)!];
      const inRange = async (range: object) => (await collected(reader.records(database!, notes, { index, ...range }))).map(({ key, primaryKey }) => keyText(key, primaryKey));
      const from = texts.indexOf(describeClone(low));
      const afterLow = texts.lastIndexOf(describeClone(low)) + 1;
      const beforeHigh = texts.indexOf(describeClone(high));
      const to = texts.lastIndexOf(describeClone(high)) + 1;
      expect(await inRange({ gte: low, lte: high })).toEqual(all.slice(from, to));
      expect(await inRange({ gt: low, lt: high })).toEqual(all.slice(afterLow, beforeHigh));
      expect(await inRange({ gte: low, limit: 2 })).toEqual(all.slice(from, from + 2));
    }
  });

  test('looks records up by their keys, and reads their blobs', async () => {
    await using reader = await open();
    const [database] = await reader.databases();
    const clones = database!.stores.find(({ name }) => name === 'clones')!;
    let read = 0;
    for (const { primaryKey, value } of await collected(reader.records(database!, clones))) {
      expect(describeClone(await reader.get(database!, clones, primaryKey!), storedHosts)).toBe(describeClone(value, storedHosts));
      for (const blob of blobsIn(value)) {
        expect((await blob.bytes()).length).toBe(blob.size);
        read++;
      }
    }
    expect(read).toBeGreaterThan(0);
    expect(await reader.get(database!, clones, 'absent')).toBeUndefined();
  });

  test('reports a blob as missing if no blob folder is given, or its file does not exist', async () => {
    for (const [given, problem] of [[undefined, /no blob folder/u], [{ read: () => Promise.resolve(undefined) }, /there is no file 1\/00\//u]] as const) {
      await using reader = await open({ blobs: given } as never);
      const [database] = await reader.databases();
      const records = await collected(reader.records(database!, database!.stores.find(({ name }) => name === 'clones')!));
      const [blob] = records.flatMap(({ value }) => blobsIn(value));
      await expect(blob!.bytes()).rejects.toThrow(expect.objectContaining({ code: 'BLOOM_MISSING_BLOB', message: expect.stringMatching(problem) as string }) as Error);
    }
  });
});

test('storedRecords gives overwritten and deleted records too', async () => {
  const versions = await collected(storedRecords(new NodeFolder(path), { blobs }));
  const values = versions.filter(({ kind }) => kind === 'value');
  expect(versions.filter(({ kind }) => kind === 'deletion').length).toBeGreaterThan(0);
  const count = stored.records.clones!.length + stored.records.notes!.length;
  expect(values.length).toBeGreaterThan(count);
  const newest = new Map([...versions].sort((a, b) => (a.sequence < b.sequence ? -1 : 1)).map((version) => [`${version.store} ${describeClone(version.key)}`, version]));
  const live = [...newest.values()].filter(({ kind }) => kind === 'value').map(({ value, error }) => (error === undefined ? describeClone(value, storedHosts) : ''));
  const clones = stored.records.clones!.map(({ value }) => value);
  expect(live.filter((text) => clones.includes(text)).length).toBeGreaterThanOrEqual(clones.length);
});

test('LocalStorageReader gives the items and the origin that the page had', async () => {
  const folder = new NodeFolder(dataPath('web-storage/local-storage'));
  await using reader = await LocalStorageReader.open(folder);
  const origins = await reader.origins();
  expect(origins.map(({ storageKey }) => storageKey)).toEqual([stored.storageKey]);
  expect(origins[0]!.lastModified!.getFullYear()).toBeGreaterThanOrEqual(2026);
  expect(origins[0]!.bytes).toBeGreaterThan(1000);
  const described = (items: readonly { key: string | undefined; value: string | undefined }[]) => items.map(({ key, value }) => ({ key: JSON.stringify(key), value: JSON.stringify(value) })).sort(byKey);
  expect(described(await collected(reader.items()))).toEqual([...stored.local].sort(byKey));
  expect(described(await collected(reader.items(stored.storageKey)))).toEqual([...stored.local].sort(byKey));
  expect(await collected(reader.items('https://other.example'))).toEqual([]);
  expect((await collected(storedItems(folder))).some(({ kind }) => kind === 'deletion')).toBe(true);
});

test('SessionStorageReader gives the items of a tab', async () => {
  await using reader = await SessionStorageReader.open(new NodeFolder(dataPath('web-storage/session-storage')));
  const namespace = (await reader.namespaces()).find(({ storageKey }) => storageKey === `${stored.storageKey}/`)!;
  expect(namespace.namespace).toMatch(/^[0-9a-f_]{36}$/u);
  const items = await collected(reader.items(namespace.map));
  expect(items.map(({ key, value }) => ({ key: JSON.stringify(key), value: JSON.stringify(value) })).sort(byKey)).toEqual([...stored.session].sort(byKey));
});

test('a folder of another kind is an error with a code', async () => {
  const empty: Folder = new MemoryFolder(new Map());
  await expect(IndexedDbReader.open(empty)).rejects.toMatchObject({ code: 'BLOOM_NOT_A_DATABASE' });
});

test('indexedDbKey puts every key of the folder into words', async () => {
  const words: string[] = [];
  const { DatabaseReader } = await import('@bloom/leveldb');
  const { idbComparator } = await import('@bloom/leveldb/idb-comparator');
  await using reader = await DatabaseReader.open(new NodeFolder(path), { comparators: [idbComparator] });
  for await (const key of reader.keys()) words.push(indexedDbKey(key) ?? '');
  expect(words).not.toContain('');
  expect(words).toContain('database 1, store 1, record "upgraded"');
});

test('recognizeStorage distinguishes the three kinds from another database', async () => {
  const kinds = ['page.indexeddb.leveldb', 'local-storage', 'session-storage'].map((name) => recognizeStorage(new NodeFolder(dataPath(`web-storage/${name}`))));
  expect(await Promise.all(kinds)).toEqual(['indexeddb', 'local-storage', 'session-storage']);
  expect(await recognizeStorage(new NodeFolder(dataPath('golden-db/plain')))).toBeUndefined();
});

test('recognizeStorage knows a storage without items by its version alone', async () => {
  const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
  const kindOf = async (...keys: string[]) => recognizeStorage(await folderOf(keys.map((key) => [ascii(key), ascii('1')])));
  expect(await kindOf('VERSION')).toBe('local-storage');
  expect(await kindOf('VERSION', 'METAACCESS:https://a.example')).toBe('local-storage');
  expect(await kindOf('version')).toBe('session-storage');
  for (const others of [['VERSION', 'other'], ['version', 'other'], ['VERSION', 'version'], ['other']]) expect(await kindOf(...others)).toBeUndefined();
  expect(await recognizeStorage(await folderOf([[ascii('VERSION'), ascii('one')]]))).toBeUndefined();
});
