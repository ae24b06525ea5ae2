/** Reads the stored data of a page with `@bloom/web-storage`, in the texts of the page's report. */
import { describeClone, objectsIn, storedHosts } from '@bloom/fixtures/random-clone';
import { NodeFolder } from '@bloom/leveldb/node';
import { IndexedDbReader, LocalStorageReader, type SessionItemVersion, SessionStorageReader, StoredBlob, storedSessionItems } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';
import type { DescribedItem, DescribedRecord, Stored } from './described-storage.js';

/** The records of the database `values` in all of its stores and indexes. @throws Error for one that cannot be read, or whose blobs differ. */
export async function readRecords(path: string): Promise<Record<string, DescribedRecord[]>> {
  await using reader = await IndexedDbReader.open(new NodeFolder(path), { blobs: NodeBlobFolder.beside(path) });
  const [database, ...others] = await reader.databases();
  if (database?.name !== 'values' || database.version !== 8 || database.errors.length + others.length > 0) throw new Error('the folder does not have the database of the page');
  const records: Record<string, DescribedRecord[]> = {};
  for (const store of database.stores) {
    for (const index of [undefined, ...store.indexes]) {
      const found: DescribedRecord[] = (records[index === undefined ? store.name! : `${store.name}.${index.name}`] = []);
      for await (const { key, primaryKey, value, isComplete, error } of reader.records(database, store, { index })) {
        if (error !== undefined) throw error;
        if (!isComplete) throw new Error(`the record ${describeClone(key)} is not complete`);
        found.push({ key: `${describeClone(key)} of ${describeClone(primaryKey)}`, value: describeClone(value, storedHosts) });
        await readBlobs(value);
      }
    }
  }
  return records;
}

async function readBlobs(value: unknown): Promise<void> {
  for (const object of objectsIn(value)) {
    if (!(object instanceof StoredBlob)) continue;
    const { length } = await object.bytes();
    if (object.size !== undefined && length !== object.size) throw new Error(`a blob does not have its ${object.size} bytes`);
  }
}

/** Descriptions without the size and the date of files, as Chromium before version 83 has them. */
export function withoutFileFacts(records: Stored['records']): Stored['records'] {
  return JSON.parse(JSON.stringify(records).replaceAll(/(File file \d+\.txt text\/plain) \d+ \d+/gu, '$1 undefined undefined')) as Stored['records'];
}

/** The order in which items are compared. */
export const byKey = (a: DescribedItem, b: DescribedItem): number => (a.key < b.key ? -1 : 1);

/** The items of an origin in Local Storage, by their keys. @throws Error for one that cannot be read. */
export async function readItems(path: string, storageKey: string): Promise<DescribedItem[]> {
  await using reader = await LocalStorageReader.open(new NodeFolder(path));
  return await describedItems(reader.items(storageKey));
}

/** The items of an origin in Session Storage, by their keys; undefined where no tab has any. @throws Error for one that cannot be read. */
export async function readSessionItems(path: string, storageKey: string): Promise<DescribedItem[] | undefined> {
  await using reader = await SessionStorageReader.open(new NodeFolder(path));
  const found = (await reader.namespaces()).find((namespace) => namespace.storageKey === storageKey);
  return found && (await describedItems(reader.items(found.map)));
}

/** The last values that the items of the only tab had before Chromium deleted them at its end. @throws Error for one that cannot be read. */
export async function readDeletedSessionItems(path: string): Promise<DescribedItem[]> {
  const last = new Map<string | undefined, SessionItemVersion>();
  for await (const version of storedSessionItems(new NodeFolder(path))) if (version.kind === 'value') last.set(version.key, version);
  // eslint-disable-next-line @typescript-eslint/require-await
  return await describedItems((async function* () {
    yield* last.values();
  })());
}

async function describedItems(walk: AsyncIterable<{ readonly key: string | undefined; readonly value: string | undefined; readonly error: Error | undefined }>): Promise<DescribedItem[]> {
  const items: DescribedItem[] = [];
  for await (const { key, value, error } of walk) {
    if (error !== undefined) throw error;
    items.push({ key: JSON.stringify(key), value: JSON.stringify(value) });
  }
  return items.sort(byKey);
}
