import { storedItems, storedRecords, type StoredRecordVersion, storedSessionItems } from '@bloom/web-storage';
import { breather } from '../worker/serve-calls.js';
import { failedSource, itemEntry, labelsOf, originsOfMaps } from './entry-sources.js';
import type { EntryPlace, EntrySource, StoredEntry } from './stored-entry.js';
import type { VersionState } from './version-state.js';
import type { StoragePlace } from './storage-place.js';
import type { StoredFolder } from './stored-folder.js';
import { lineOf } from './value-text.js';

/** Keys whose newest version is looked up. Of further ones, it is not known whether a version counts. */
const MAX_KEYS = 1_000_000;
/** Enough of a key to tell it from others. */
const KEY_LENGTH = 400;

interface Version {
  readonly kind: 'value' | 'deletion';
  readonly sequence: bigint;
  readonly file: string;
}

/** A version that is stored, and the name of its record, which all of its versions have. */
interface NamedVersion<Stored extends Version> {
  readonly stored: Stored;
  readonly name: string;
}

/** Every version at a place that its folders still hold, file by file. The newest one of each record is looked up first. */
export async function* versionSources(folders: readonly StoredFolder[], place: StoragePlace): AsyncGenerator<EntrySource, void, undefined> {
  for (const folder of folders) {
    if (place.folder !== undefined && place.folder !== folder.path) continue;
    try {
      const kind = await folder.kind;
      if (kind === 'indexeddb') yield recordVersions(folder, place);
      else if (kind === 'local-storage') yield localVersions(folder, place);
      else if (kind === 'session-storage') yield await sessionVersions(folder, place);
    } catch (error) {
      yield failedSource(folder, error);
    }
  }
}

function recordVersions(folder: StoredFolder, place: StoragePlace): EntrySource {
  const places = new Map<string, EntryPlace>();
  return versionSource<StoredRecordVersion>(
    async function* () {
      // A damaged description hides no record: its stores have their numbers then.
      for (const database of await folder.databases().catch(() => [])) {
        for (const store of database.stores) places.set(`${database.id} ${store.id}`, { folder: folder.path, database: database.id, store: store.id, labels: labelsOf(database, store) });
      }
      for await (const stored of storedRecords(folder.files, { blobs: folder.blobs })) {
        if (place.database !== undefined && place.database !== stored.database) continue;
        if (place.store !== undefined && place.store !== stored.store) continue;
        yield { stored, name: `${stored.database} ${stored.store} ${lineOf(stored.primaryKey, KEY_LENGTH)}` };
      }
    },
    ({ key, primaryKey, value, isComplete, error, database, store }) => ({
      key,
      primaryKey,
      value,
      isComplete,
      error,
      where: places.get(`${database} ${store}`) ?? { folder: folder.path, database, store, labels: { origin: folder.title.replace(/^IndexedDB of /u, ''), database: `database ${database}`, store: `store ${store}` } },
    }),
  );
}

function localVersions(folder: StoredFolder, place: StoragePlace): EntrySource {
  return versionSource(
    async function* () {
      for await (const stored of storedItems(folder.files)) {
        if (place.items === undefined || place.items === stored.storageKey) yield { stored, name: `${stored.storageKey} ${stored.key}` };
      }
    },
    (stored) => itemEntry(folder, stored, stored.storageKey),
  );
}

async function sessionVersions(folder: StoredFolder, place: StoragePlace): Promise<EntrySource> {
  const origins = await originsOfMaps(folder).catch(() => new Map<string, string>());
  return versionSource(
    async function* () {
      for await (const stored of storedSessionItems(folder.files)) {
        if (place.items === undefined || place.items === stored.map) yield { stored, name: `${stored.map} ${stored.key}` };
      }
    },
    (stored) => itemEntry(folder, stored, origins.get(stored.map) ?? `map ${stored.map}`),
  );
}

function versionSource<Stored extends Version>(walk: () => AsyncGenerator<NamedVersion<Stored>, void, undefined>, entryOf: (stored: Stored) => Omit<StoredEntry, 'version'>): EntrySource {
  let newest: Promise<ReadonlyMap<string, Version>> | undefined;
  return {
    async *walk(signal) {
      newest ??= newestOf(walk(), signal);
      const versions = await newest.catch((error: unknown) => {
        newest = undefined;
        throw error;
      });
      for await (const { stored, name } of walk()) {
        const { sequence, file } = stored;
        yield { ...entryOf(stored), version: { state: stateOf(stored, versions.get(name)), sequence, file } };
      }
    },
  };
}

async function newestOf(walk: AsyncGenerator<NamedVersion<Version>, void, undefined>, signal: AbortSignal): Promise<ReadonlyMap<string, Version>> {
  const newest = new Map<string, Version>();
  const breathe = breather();
  for await (const { stored: { kind, sequence, file }, name } of walk) {
    signal.throwIfAborted();
    const known = newest.get(name);
    if (known === undefined ? newest.size < MAX_KEYS : known.sequence < sequence) newest.set(name, { kind, sequence, file });
    await breathe();
  }
  return newest;
}

function stateOf({ kind, sequence }: Version, newest: Version | undefined): VersionState {
  if (kind === 'deletion') return 'deletion';
  if (newest === undefined || newest.sequence === sequence) return 'current';
  return newest.kind === 'deletion' ? 'deleted' : 'overwritten';
}
