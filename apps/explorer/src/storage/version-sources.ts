import type { DatabaseReader } from '@bloom/leveldb';
import { sessionPlace, storedItems, storedRecords, type StoredRecordVersion, storedSessionItems } from '@bloom/web-storage';
import { failedSource, itemEntry, localPlace, originsOfMaps, sourcesAt, storePlace } from './entry-sources.js';
import type { EntryPlace, EntrySource, StoredEntry } from './stored-entry.js';
import type { VersionState } from './version-state.js';
import type { StoragePlace } from './storage-place.js';
import type { StoredFolder } from './stored-folder.js';

/** The part of a stored version that its state depends on. */
interface Version {
  readonly kind: 'value' | 'deletion';
  readonly entryKey: Uint8Array;
  readonly sequence: bigint;
  readonly file: string;
}

/** All stored versions at a place, file by file. */
export function versionSources(folders: readonly StoredFolder[], place: StoragePlace): AsyncGenerator<EntrySource, void, undefined> {
  return sourcesAt(folders, place, {
    indexeddb: (folder) => [recordVersions(folder, place)],
    'local-storage': (folder) => [localVersions(folder, place)],
    'session-storage': async (folder) => [await sessionVersions(folder, place)],
  });
}

function recordVersions(folder: StoredFolder, place: StoragePlace): EntrySource {
  const places = new Map<string, EntryPlace>();
  return versionSource<StoredRecordVersion>(
    folder,
    async function* (signal) {
      // Damaged metadata does not hide records: stores then have numbers instead of names.
      for (const database of await folder.databases().catch(() => [])) {
        for (const store of database.stores) places.set(`${database.id} ${store.id}`, storePlace(folder, database, store));
      }
      for await (const stored of storedRecords(folder.files, { blobs: folder.blobs, signal })) {
        if (place.database !== undefined && place.database !== stored.database) continue;
        if (place.store !== undefined && place.store !== stored.store) continue;
        yield stored;
      }
    },
    ({ key, primaryKey, value, isComplete, error, database, store }) => ({
      key,
      primaryKey,
      value,
      isComplete,
      error,
      where: places.get(`${database} ${store}`) ?? storePlace(folder, { id: database, origin: undefined, name: undefined }, { id: store, name: undefined }),
    }),
  );
}

function localVersions(folder: StoredFolder, place: StoragePlace): EntrySource {
  return versionSource(
    folder,
    async function* (signal) {
      for await (const stored of storedItems(folder.files, { signal })) {
        if (place.items === undefined || place.items === stored.storageKey) yield stored;
      }
    },
    (stored) => itemEntry(folder, stored, localPlace(stored)),
  );
}

async function sessionVersions(folder: StoredFolder, place: StoragePlace): Promise<EntrySource> {
  const origins = await originsOfMaps(folder).catch(() => new Map<string, string>());
  return versionSource(
    folder,
    async function* (signal) {
      for await (const stored of storedSessionItems(folder.files, { signal })) {
        if (place.items === undefined || place.items === stored.map) yield stored;
      }
    },
    (stored) => itemEntry(folder, stored, sessionPlace(stored.map, origins)),
  );
}

function versionSource<Stored extends Version>(folder: StoredFolder, walk: (signal: AbortSignal) => AsyncGenerator<Stored, void, undefined>, entryOf: (stored: Stored) => Omit<StoredEntry, 'version'>): EntrySource {
  return {
    async *walk(signal) {
      // Versions can be listed even if the database cannot be opened.
      const reader = await folder.entries().catch(() => undefined);
      try {
        for await (const stored of walk(signal)) {
          const { sequence, file } = stored;
          yield { ...entryOf(stored), version: { state: await stateOf(stored, reader), sequence, file } };
        }
      } catch (error) {
        if (signal.aborted) throw error;
        yield* failedSource(folder, error).walk(signal);
      }
    },
  };
}

/** The state of a version by what the database itself returns for its key: old tables can still hold versions that the database has forgotten. */
async function stateOf({ kind, entryKey, sequence }: Version, reader: DatabaseReader | undefined): Promise<VersionState> {
  if (kind === 'deletion') return 'deletion';
  try {
    const versions = await reader?.versions(entryKey);
    if (versions === undefined) return 'unknown';
    const [newest] = versions;
    if (newest === undefined || newest.kind === 'deletion') return 'deleted';
    return newest.sequence === sequence ? 'current' : 'overwritten';
  } catch {
    return 'unknown';
  }
}
