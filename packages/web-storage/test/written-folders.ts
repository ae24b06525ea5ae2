// Folders with the entries of a test.
import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';

/** A key and a value as they are stored. */
export type Entry = readonly [Uint8Array, Uint8Array];

/** A database with the entries. */
export async function folderOf(entries: readonly Entry[], options: DatabaseOptions = {}): Promise<WritableMemoryFolder> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, options);
  for (const [key, value] of entries) await database.put(key, value);
  await database.close();
  return folder;
}

/** The same in the order of IndexedDB. */
export function indexedDbOf(entries: readonly Entry[]): Promise<WritableMemoryFolder> {
  return folderOf(entries, { comparator: idbComparator, filterPolicy: idbFilterPolicy });
}

/** All that an iteration yields. */
export async function collected<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}
