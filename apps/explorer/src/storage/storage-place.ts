/** A place in a profile: everything, a folder, a store, an index, or the items of an origin or a tab. */
export interface StoragePlace {
  /** The path of a LevelDB folder; undefined for all of them. */
  readonly folder?: string | undefined;
  /** Ids of IndexedDB. */
  readonly database?: number | undefined;
  readonly store?: number | undefined;
  readonly index?: number | undefined;
  /** The storage key of Local Storage, or the number of a map of Session Storage. */
  readonly items?: string | undefined;
}

/** The state of the view, as in the URL. */
export interface StorageSearch extends StoragePlace {
  /** Text that keys or values must contain; empty for all. */
  readonly find: string;
  /** Whether deleted and overwritten versions are shown. */
  readonly hasVersions: boolean;
}

export const WHOLE_PROFILE: StorageSearch = { find: '', hasVersions: false };

const IDS = ['database', 'store', 'index'] as const;

export function storageFromParams(params: URLSearchParams): StorageSearch {
  const ids = Object.fromEntries(IDS.flatMap((name) => (/^\d{1,15}$/u.test(params.get(name) ?? '') ? [[name, Number(params.get(name))]] : [])));
  return {
    ...ids,
    ...(params.has('in') && { folder: params.get('in')! }),
    ...(params.has('items') && { items: params.get('items')! }),
    find: params.get('find') ?? '',
    hasVersions: params.get('versions') === '1',
  };
}

export function paramsOfStorage(params: URLSearchParams, search: StorageSearch): void {
  if (search.folder !== undefined) params.set('in', search.folder);
  for (const name of IDS) if (search[name] !== undefined) params.set(name, String(search[name]));
  if (search.items !== undefined) params.set('items', search.items);
  if (search.find !== '') params.set('find', search.find);
  if (search.hasVersions) params.set('versions', '1');
}

export function isSamePlace(a: StoragePlace, b: StoragePlace): boolean {
  return a.folder === b.folder && a.database === b.database && a.store === b.store && a.index === b.index && a.items === b.items;
}
