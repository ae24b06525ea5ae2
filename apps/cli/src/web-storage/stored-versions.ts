/** All versions of records and items, even of a folder without its MANIFEST or some of its tables. */
import type { Dropped, Folder } from '@bloom/leveldb';
import type { StoredEntriesOptions } from '@bloom/leveldb/inspect';
import {
  type BlobFolder,
  type DatabaseInformation,
  IndexedDbReader,
  type SessionNamespace,
  sessionPlace,
  SessionStorageReader,
  type StorageKind,
  storedItems,
  storedRecords,
  storedSessionItems,
} from '@bloom/web-storage';
import type { ReadEntry } from './read-entry.js';

interface VersionsOptions extends StoredEntriesOptions {
  readonly blobs: BlobFolder | undefined;
  readonly onDropped: (dropped: Dropped) => void;
}

/** Reads file by file. If the folder cannot be opened as a database, databases, stores and origins have ids instead of names. @throws as `storedEntries`. */
export function storedVersions(folder: Folder, kind: StorageKind, options: VersionsOptions): AsyncGenerator<ReadEntry, void, undefined> {
  if (kind === 'indexeddb') return recordVersions(folder, options);
  return kind === 'local-storage' ? itemVersions(folder, options) : sessionVersions(folder, options);
}

/** In the order of `VERSION_FACTS`. */
function factsOf({ sequence, kind, file }: { readonly sequence: bigint; readonly kind: 'value' | 'deletion'; readonly file: string }): readonly string[] {
  return [String(sequence), kind, file];
}

async function* recordVersions(folder: Folder, options: VersionsOptions): AsyncGenerator<ReadEntry, void, undefined> {
  const databases = await unlessDamaged<readonly DatabaseInformation[]>([], async () => {
    await using reader = await IndexedDbReader.open(folder, { codecs: options.codecs, damage: 'skip' });
    return await reader.databases();
  });
  for await (const version of storedRecords(folder, options)) {
    const database = databases.find(({ id }) => id === version.database);
    const store = database?.stores.find(({ id }) => id === version.store);
    const { primaryKey: key, value, isComplete, error } = version;
    yield { place: { database: database?.name ?? version.database, store: store?.name ?? version.store }, key, value, isComplete, error, facts: factsOf(version) };
  }
}

async function* itemVersions(folder: Folder, options: VersionsOptions): AsyncGenerator<ReadEntry, void, undefined> {
  for await (const version of storedItems(folder, options)) {
    const { storageKey, key, value, error } = version;
    yield { place: { ...(storageKey !== undefined && { origin: storageKey }) }, key, value, isComplete: error === undefined, error, facts: factsOf(version) };
  }
}

async function* sessionVersions(folder: Folder, options: VersionsOptions): AsyncGenerator<ReadEntry, void, undefined> {
  const namespaces = await unlessDamaged<readonly SessionNamespace[]>([], async () => {
    await using reader = await SessionStorageReader.open(folder, { codecs: options.codecs, damage: 'skip' });
    return await reader.namespaces();
  });
  const origins = new Map(namespaces.map(({ map, storageKey }) => [map, storageKey]));
  for await (const version of storedSessionItems(folder, options)) {
    const { map, key, value, error } = version;
    yield { place: sessionPlace(map, origins), key, value, isComplete: error === undefined, error, facts: factsOf(version) };
  }
}

/** The result of `work`; `otherwise` if the folder is damaged. */
async function unlessDamaged<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('BLOOM_')) return otherwise;
    throw error;
  }
}
