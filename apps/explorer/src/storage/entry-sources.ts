import { CorruptionError } from '@bloom/bytes';
import { type DatabaseInformation, type DecodedEntry, type IndexDescription, originText, sessionPlace, type StorageItem, type StorageKind, type StoreDescription, type StoredRecord } from '@bloom/web-storage';
import { storageKeyText, titleOf } from './folder-outline.js';
import type { EntryPlace, EntrySource, StoredEntry } from './stored-entry.js';
import type { StoragePlace } from './storage-place.js';
import type { DamageMode, StoredFolder } from './stored-folder.js';

/** The sources of a folder, by its kind of storage. */
type SourcesByKind = Readonly<Record<StorageKind, (folder: StoredFolder, place: StoragePlace) => AsyncIterable<EntrySource> | readonly EntrySource[] | Promise<readonly EntrySource[]>>>;

/** The sources of all folders at a place. Folders are opened when they are reached. */
export async function* sourcesAt(folders: readonly StoredFolder[], place: StoragePlace, byKind: SourcesByKind): AsyncGenerator<EntrySource, void, undefined> {
  for (const folder of folders) {
    if (place.folder !== undefined && place.folder !== folder.path) continue;
    try {
      const kind = await folder.kind;
      if (kind !== undefined) yield* await byKind[kind](folder, place);
    } catch (error) {
      yield failedSource(folder, error);
    }
  }
}

/** All current entries at a place, in the order of the keys. */
export function entrySources(folders: readonly StoredFolder[], place: StoragePlace): AsyncGenerator<EntrySource, void, undefined> {
  return sourcesAt(folders, place, {
    indexeddb: recordSources,
    'local-storage': (folder) => [itemSource<StorageItem>(folder, place, async (damage) => (await folder.local(damage)).items(place.items), localPlace)],
    'session-storage': async (folder) => [await sessionSource(folder, place)],
  });
}

/** An entry with the reason why a folder cannot be read. */
export function failedSource(folder: StoredFolder, error: unknown): EntrySource {
  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- a walk is asynchronous, although this one waits for nothing
    async *walk() {
      yield damageEntry(folderPlace(folder), error);
    },
  };
}

/** The place for problems of a whole folder, or of some of its items. */
function folderPlace({ path, title }: StoredFolder): EntryPlace {
  return { folder: path, labels: [title], names: { folder: title } };
}

async function* recordSources(folder: StoredFolder, place: StoragePlace): AsyncGenerator<EntrySource, void, undefined> {
  const databases = await folder.databases();
  if (folder.problem !== undefined) yield failedSource(folder, folder.problem);
  for (const database of databases) {
    if (place.database !== undefined && place.database !== database.id) continue;
    for (const error of database.errors) yield failedSource(folder, error);
    for (const store of database.stores) {
      if (place.store !== undefined && place.store !== store.id) continue;
      yield recordSource(folder, database, store, place.index === undefined ? undefined : store.indexes.find(({ id }) => id === place.index));
    }
  }
}

function recordSource(folder: StoredFolder, database: DatabaseInformation, store: StoreDescription, index: IndexDescription | undefined): EntrySource {
  const where = storePlace(folder, database, store);
  const entryOf = ({ key, primaryKey, value, isComplete, error }: StoredRecord): StoredEntry => ({ key, primaryKey, value, isComplete, error, where, version: undefined });
  return {
    walk: (signal) => pastDamage(where, folder, signal, async (damage) => mapped((await folder.indexedDb(damage)).records(database, store, { index }), entryOf)),
    async again({ primaryKey }) {
      if (index !== undefined || primaryKey === undefined) return undefined;
      for await (const record of (await folder.indexedDb('skip')).records(database, store, { gte: primaryKey, lte: primaryKey, limit: 1 })) return entryOf(record);
      return undefined;
    },
  };
}

/** The place of a store. Names that cannot be read are replaced by numbers, and empty ones are described in the labels. */
export function storePlace({ path, title, bucket }: Pick<StoredFolder, 'path' | 'title' | 'bucket'>, database: Pick<DatabaseInformation, 'id' | 'origin' | 'name'>, store: Pick<StoreDescription, 'id' | 'name'>): EntryPlace {
  const origin = database.origin === undefined ? title.replace(/^IndexedDB of /u, '') : originText(database.origin);
  return {
    folder: path,
    database: database.id,
    store: store.id,
    labels: [bucket === undefined || database.origin === undefined ? origin : `${origin}, storage bucket ${bucket}`, titleOf('database', database.id, database.name), titleOf('store', store.id, store.name)],
    names: { origin, ...(bucket !== undefined && { bucket }), database: database.name ?? database.id, store: store.name ?? store.id },
  };
}

function itemSource<Item extends Pick<StorageItem, 'key' | 'value' | 'error'>>(
  folder: StoredFolder,
  place: StoragePlace,
  items: (damage: DamageMode) => Promise<AsyncGenerator<Item, void, undefined>>,
  placeOf: (item: Item) => ItemPlace,
): EntrySource {
  const where: EntryPlace = { ...place, ...folderPlace(folder) };
  return {
    walk: (signal) => pastDamage(where, folder, signal, async (damage) => mapped(await items(damage), (item) => itemEntry(folder, item, placeOf(item)))),
  };
}

/** The place of an item: its members in an exported line. Empty if unknown. */
export type ItemPlace = DecodedEntry['place'];

export function itemEntry(folder: StoredFolder, { key, value, error }: Pick<StorageItem, 'key' | 'value' | 'error'>, place: ItemPlace): StoredEntry {
  const { origin, map } = place;
  const label = origin !== undefined ? storageKeyText(String(origin)) : map === undefined ? 'unknown place' : `map ${map}`;
  const where = { folder: folder.path, items: String(origin ?? map ?? ''), labels: [folder.title, label], names: { folder: folder.title, ...place } };
  return { key, primaryKey: undefined, value, isComplete: true, error, where, version: undefined };
}

/** The place of an item of Local Storage. */
export function localPlace({ storageKey }: Pick<StorageItem, 'storageKey'>): ItemPlace {
  return storageKey === undefined ? {} : { origin: storageKey };
}

async function sessionSource(folder: StoredFolder, place: StoragePlace): Promise<EntrySource> {
  const origins = await originsOfMaps(folder);
  return itemSource(folder, place, async (damage) => (await folder.session(damage)).items(place.items), ({ map }) => sessionPlace(map, origins));
}

/** The origin that each map of Session Storage belongs to. */
export async function originsOfMaps(folder: StoredFolder): Promise<ReadonlyMap<string, string>> {
  return new Map((await (await folder.session('skip')).namespaces()).map(({ map, storageKey }) => [map, storageKey]));
}

async function* mapped<From, To>(from: AsyncGenerator<From, void, undefined>, to: (value: From) => To): AsyncGenerator<To, void, undefined> {
  for await (const value of from) yield to(value);
}

/**
 * Walks to the first damage, yields an entry about it, and continues with a reader that skips damage. The second walk leaves out
 * the entries before the damage, because the first one has yielded them.
 */
async function* pastDamage(where: EntryPlace, { problem: known }: StoredFolder, signal: AbortSignal, open: (damage: DamageMode) => Promise<AsyncGenerator<StoredEntry, void, undefined>>): AsyncGenerator<StoredEntry, void, undefined> {
  let given = 0;
  let problem: string;
  try {
    for await (const entry of await open('strict')) {
      yield entry;
      given++;
    }
    return;
  } catch (error) {
    // A problem of the whole folder has its own row.
    if (error !== known) yield damageEntry(where, error);
    if (!(error instanceof CorruptionError)) return;
    problem = error.message;
  }
  let passed = 0;
  try {
    for await (const entry of await open('skip')) {
      signal.throwIfAborted();
      if (passed++ >= given) yield entry;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (!(error instanceof Error && error.message === problem)) yield damageEntry(where, error);
  }
}

function damageEntry(where: EntryPlace, error: unknown): StoredEntry {
  return { key: undefined, primaryKey: undefined, value: undefined, isComplete: false, error: error instanceof Error ? error : new Error(String(error)), where, version: undefined };
}
