import { sessionPlace, storedItems, storedRecords, type StoredRecordVersion, storedSessionItems } from '@bloom/web-storage';
import { breather } from '../worker/serve-calls.js';
import { failedSource, itemEntry, localPlace, originsOfMaps, storePlace } from './entry-sources.js';
import type { EntryPlace, EntrySource, StoredEntry } from './stored-entry.js';
import type { VersionState } from './version-state.js';
import type { StoragePlace } from './storage-place.js';
import type { StoredFolder } from './stored-folder.js';
import { lineOf } from './value-text.js';

/** The most keys whose newest version is determined. The state of further versions is unknown. */
const MAX_KEYS = 1_000_000;
/** The number of characters that distinguish a key from others. */
const KEY_LENGTH = 400;

interface Version {
  readonly kind: 'value' | 'deletion';
  readonly sequence: bigint;
  readonly file: string;
}

/** A stored version, and the name of its record, which is the same for all versions. */
interface NamedVersion<Stored extends Version> {
  readonly stored: Stored;
  readonly name: string;
}

/** All stored versions at a place, file by file. The newest version of each record is determined first. */
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
    async function* (signal) {
      // Damaged metadata does not hide records: stores then have numbers instead of names.
      for (const database of await folder.databases().catch(() => [])) {
        for (const store of database.stores) places.set(`${database.id} ${store.id}`, storePlace(folder, database, store));
      }
      for await (const stored of storedRecords(folder.files, { blobs: folder.blobs, signal })) {
        if (place.database !== undefined && place.database !== stored.database) continue;
        if (place.store !== undefined && place.store !== stored.store) continue;
        yield { stored, name: nameOf(stored, stored.primaryKey, `${stored.database} ${stored.store}`) };
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
    async function* (signal) {
      for await (const stored of storedItems(folder.files, { signal })) {
        if (place.items === undefined || place.items === stored.storageKey) yield { stored, name: nameOf(stored, stored.key, `${stored.storageKey}`) };
      }
    },
    (stored) => itemEntry(folder, stored, localPlace(stored)),
  );
}

async function sessionVersions(folder: StoredFolder, place: StoragePlace): Promise<EntrySource> {
  const origins = await originsOfMaps(folder).catch(() => new Map<string, string>());
  return versionSource(
    async function* (signal) {
      for await (const stored of storedSessionItems(folder.files, { signal })) {
        if (place.items === undefined || place.items === stored.map) yield { stored, name: nameOf(stored, stored.key, `${stored.map}`) };
      }
    },
    (stored) => itemEntry(folder, stored, sessionPlace(stored.map, origins)),
  );
}

/** The common name of all versions of a record or an item. A version with an unreadable key has its own name. */
function nameOf({ sequence }: Version, key: unknown, place: string): string {
  return key === undefined ? `${sequence}` : `${place} ${lineOf(key, KEY_LENGTH)}`;
}

function versionSource<Stored extends Version>(walk: (signal: AbortSignal) => AsyncGenerator<NamedVersion<Stored>, void, undefined>, entryOf: (stored: Stored) => Omit<StoredEntry, 'version'>): EntrySource {
  let newest: Promise<ReadonlyMap<string, Version>> | undefined;
  return {
    async *walk(signal) {
      newest ??= newestOf(walk(signal), signal);
      const versions = await newest.catch((error: unknown) => {
        newest = undefined;
        throw error;
      });
      for await (const { stored, name } of walk(signal)) {
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
