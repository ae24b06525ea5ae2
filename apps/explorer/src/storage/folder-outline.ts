import { counted } from '@bloom/report';
import { type DatabaseInformation, type KeyPath, originText, type StoreDescription } from '@bloom/web-storage';
import type { OutlineNode } from './storage-facts.js';
import type { StoredFolder } from './stored-folder.js';

/** The contents of a folder: databases with their stores and indexes, origins, or tabs. */
export async function outlineOf(folder: StoredFolder): Promise<readonly OutlineNode[]> {
  switch (await folder.kind) {
    case 'indexeddb':
      return databaseNodes(folder);
    case 'local-storage':
      return (await (await folder.local('skip')).origins()).map(({ storageKey, lastModified, bytes }) => ({
        kind: 'origin',
        title: storageKeyText(storageKey),
        detail: [bytes !== undefined && counted(bytes, 'byte'), lastModified !== undefined && !Number.isNaN(lastModified.getTime()) && lastModified.toISOString().slice(0, 10)].filter(Boolean).join(', '),
        place: { folder: folder.path, items: storageKey },
        children: [],
      }));
    case 'session-storage':
      return sessionNodes(folder);
    case undefined:
      return [];
  }
}

async function databaseNodes(folder: StoredFolder): Promise<readonly OutlineNode[]> {
  const databases = await folder.databases();
  if (databases.length === 0 && folder.problem !== undefined) throw folder.problem as Error;
  return databases.map((database) => databaseNode(folder.path, database));
}

function databaseNode(folder: string, { id, origin, name, version, stores, errors }: DatabaseInformation): OutlineNode {
  return {
    kind: 'database',
    title: titleOf('database', id, name),
    detail: [origin !== undefined && originText(origin), `version ${version}`, errors.length > 0 && 'its description is damaged'].filter(Boolean).join(', '),
    place: { folder, database: id },
    children: stores.map((store) => storeNode(folder, id, store)),
  };
}

function storeNode(folder: string, database: number, { id, name, keyPath, autoIncrement, indexes }: StoreDescription): OutlineNode {
  return {
    kind: 'store',
    title: titleOf('store', id, name),
    detail: [keyPath !== undefined && `key ${keyPathText(keyPath)}`, autoIncrement && 'numbered'].filter(Boolean).join(', '),
    place: { folder, database, store: id },
    children: indexes.map((index) => ({
      kind: 'index',
      title: titleOf('index', index.id, index.name),
      detail: [`by ${keyPathText(index.keyPath)}`, index.unique && 'unique', index.multiEntry && 'each element'].filter(Boolean).join(', '),
      place: { folder, database, store: id, index: index.id },
      children: [],
    })),
  };
}

/** The name of a database, a store or an index, or its number if the name cannot be read. */
export function titleOf(kind: OutlineNode['kind'], id: number, name: string | undefined): string {
  return name === undefined ? `${kind} ${id}` : name === '' ? `unnamed ${kind}` : name;
}

function keyPathText(keyPath: KeyPath): string {
  return typeof keyPath === 'string' ? keyPath || 'the value' : (keyPath ?? []).join(' and ');
}

/** Tabs by their origins. Tabs with the same map have the same items. */
async function sessionNodes(folder: StoredFolder): Promise<readonly OutlineNode[]> {
  const byOrigin = new Map<string, Map<string, number>>();
  for (const { storageKey, map } of await (await folder.session('skip')).namespaces()) {
    const maps = byOrigin.get(storageKey) ?? new Map<string, number>();
    byOrigin.set(storageKey, maps);
    maps.set(map, (maps.get(map) ?? 0) + 1);
  }
  return [...byOrigin].map(([storageKey, maps]) => {
    const tabs = [...maps].map(([map, count], i): OutlineNode => ({
      kind: 'tab',
      title: `Tab ${i + 1}`,
      detail: count > 1 ? `shared by ${count} tabs` : '',
      place: { folder: folder.path, items: map },
      children: [],
    }));
    const [only] = tabs;
    const title = storageKeyText(storageKey);
    return tabs.length === 1 ? { ...only!, kind: 'origin', title } : { kind: 'origin', title, detail: counted(tabs.length, 'tab'), place: undefined, children: tabs };
  });
}

/** A storage key as text. The site that contains the frame follows `^0`. */
export function storageKeyText(storageKey: string): string {
  const [origin, site] = storageKey.split('^0', 2).map((part) => part.replace(/\/$/u, ''));
  return site === undefined ? origin! : `${origin} in ${site}`;
}
