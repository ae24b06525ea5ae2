import { CorruptionError } from '@bloom/bytes';
import { type DatabaseInformation, type DecodedEntry, type IndexDescription, originText, sessionPlace, type StorageItem, type StoreDescription, type StoredRecord } from '@bloom/web-storage';
import { storageKeyText } from './folder-outline.js';
import type { EntryPlace, EntrySource, StoredEntry } from './stored-entry.js';
import type { StoragePlace } from './storage-place.js';
import type { DamageMode, StoredFolder } from './stored-folder.js';

/** Everything at a place that counts, in the order of the keys. Folders are opened as they are reached. */
export async function* entrySources(folders: readonly StoredFolder[], place: StoragePlace): AsyncGenerator<EntrySource, void, undefined> {
  for (const folder of folders) {
    if (place.folder !== undefined && place.folder !== folder.path) continue;
    try {
      switch (await folder.kind) {
        case 'indexeddb':
          yield* recordSources(folder, place);
          break;
        case 'local-storage':
          yield itemSource<StorageItem>(folder, place, async (damage) => (await folder.local(damage)).items(place.items), localPlace);
          break;
        case 'session-storage':
          yield await sessionSource(folder, place);
          break;
        case undefined:
      }
    } catch (error) {
      yield failedSource(folder, error);
    }
  }
}

/** An entry that says why a folder cannot be read. */
export function failedSource(folder: StoredFolder, error: unknown): EntrySource {
  return {
    // eslint-disable-next-line @typescript-eslint/require-await
    async *walk() {
      yield damageEntry(folderPlace(folder), error);
    },
  };
}

/** The place of what is wrong with a folder as a whole, or with some of its items. */
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

/** A store; its names are numbers where they cannot be read. */
export function storePlace({ path, title }: StoredFolder, database: Pick<DatabaseInformation, 'id' | 'origin' | 'name'>, store: Pick<StoreDescription, 'id' | 'name'>): EntryPlace {
  const origin = database.origin === undefined ? title.replace(/^IndexedDB of /u, '') : originText(database.origin);
  return {
    folder: path,
    database: database.id,
    store: store.id,
    labels: [origin, database.name ?? `database ${database.id}`, store.name ?? `store ${store.id}`],
    names: { origin, database: database.name ?? database.id, store: store.name ?? store.id },
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

/** Where an item is: the members that an exported line has for it. Empty where it does not say. */
export type ItemPlace = DecodedEntry['place'];

export function itemEntry(folder: StoredFolder, { key, value, error }: Pick<StorageItem, 'key' | 'value' | 'error'>, place: ItemPlace): StoredEntry {
  const { origin, map } = place;
  const label = origin !== undefined ? storageKeyText(String(origin)) : map === undefined ? 'unknown place' : `map ${map}`;
  const where = { folder: folder.path, items: String(origin ?? map ?? ''), labels: [folder.title, label], names: { folder: folder.title, ...place } };
  return { key, primaryKey: undefined, value, isComplete: true, error, where, version: undefined };
}

/** Where an item of Local Storage is. */
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
 * Walks to the first damage, gives an entry about it, and continues with a reader that skips damage. Both give the same entries
 * before it, which are the ones that the second walk leaves out.
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
    // What is wrong with the whole folder has a row of its own.
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
