import type { StorageKind } from './recognized-storage.js';

/** The storage to which a LevelDB folder of a profile belongs, according to its path. */
export interface FolderKind {
  /** Undefined for a database of another kind, or if only the contents can show it. */
  readonly storage: StorageKind | undefined;
  /** For example `IndexedDB of https://example.com`, or the path. */
  readonly title: string;
  /** True if the path does not contain the origin, because the folder is of a storage bucket or of a frame within another site: only its databases name it. */
  readonly lacksOrigin?: true;
  /** The number of its storage bucket, if the path has one. Such a folder can have the same origin and names as another one. */
  readonly bucket?: number;
}

const INDEXED_DB = '.indexeddb.leveldb';
const BLOBS = '.indexeddb.blob';

/** Folders of Chromium without data of pages, by the ends of their paths. */
const OTHERS: readonly (readonly [end: string, title: string])[] = [
  ['Service Worker/Database', 'Service workers'],
  ['Sync Data/LevelDB', 'Sync'],
  ['Extension State', 'State of extensions'],
  ['Extension Rules', 'Rules of extensions'],
  ['Extension Scripts', 'Scripts of extensions'],
  ['Site Characteristics Database', 'Site characteristics'],
  ['shared_proto_db', 'Shared protocol buffers'],
  ['shared_proto_db/metadata', 'Shared protocol buffers, metadata'],
  ['Platform Notifications', 'Notifications'],
  ['GCM Store', 'Push messages'],
  ['GCM Store/Encryption', 'Push messages, keys'],
  ['File System/Origins', 'File systems of origins'],
  ['BudgetDatabase', 'Budgets of push messages'],
  ['AutofillStrikeDatabase', 'Autofill'],
  ['Segmentation Platform/SegmentInfoDB', 'Segmentation'],
];

/**
 * The storage to which a folder belongs, according to its path in the profile.
 *
 * @param origin of its databases, as `DatabaseInformation` has it: for the title of a folder with `lacksOrigin`.
 * Source: Chromium, the paths in content/browser, components/services/storage and chrome/common/chrome_constants.cc.
 */
export function kindOfFolder(path: string, origin?: string): FolderKind {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.endsWith(INDEXED_DB)) return { storage: 'indexeddb', title: `IndexedDB of ${originText(name.slice(0, -INDEXED_DB.length))}` };
  const bucket = /(?:^|\/)(?:WebStorage\/(\d+)\/)?IndexedDB\/indexeddb\.leveldb$/u.exec(path);
  if (bucket !== null) {
    const [, number] = bucket;
    const title = `IndexedDB of ${origin === undefined ? '' : `${originText(origin)}, `}${number === undefined ? 'a storage bucket' : `storage bucket ${number}`}`;
    return { storage: 'indexeddb', title, lacksOrigin: true, ...(number !== undefined && { bucket: Number(number) }) };
  }
  if (endsIn(path, 'Local Storage/leveldb')) return { storage: 'local-storage', title: 'Local Storage' };
  if (endsIn(path, 'Session Storage')) return { storage: 'session-storage', title: 'Session Storage' };
  const extension = /(?:^|\/)(?:Local|Sync|Managed) Extension Settings\/([a-p]{32})$/u.exec(path);
  if (extension !== null) return { storage: undefined, title: `Settings of extension ${extension[1]!}` };
  const fileSystem = /(?:^|\/)File System\/(\d+)\/[a-z]\/Paths$/u.exec(path);
  if (fileSystem !== null) return { storage: undefined, title: `File system ${fileSystem[1]!}, paths` };
  return { storage: undefined, title: OTHERS.find(([end]) => endsIn(path, end))?.[1] ?? path };
}

/**
 * The origin in the name of an IndexedDB folder or in its metadata: scheme, host and port, where 0 is the default port.
 *
 * @example
 * ```ts
 * originText('https_example.com_0@1'); // https://example.com
 * ```
 */
export function originText(name: string): string {
  const parts = /^(.+?)_(.*)_(\d+)(?:@\d+)?$/u.exec(name);
  if (parts === null) return name;
  const [, scheme, host, port] = parts;
  return `${scheme}://${host}${port === '0' ? '' : `:${port}`}`;
}

/** The folder with the blobs of an IndexedDB folder; undefined if there is none. */
export function blobFolderOf(path: string): string | undefined {
  if (path.endsWith(INDEXED_DB)) return `${path.slice(0, -INDEXED_DB.length)}${BLOBS}`;
  return endsIn(path, 'IndexedDB/indexeddb.leveldb') ? path.replace(/indexeddb\.leveldb$/u, 'indexeddb.blob') : undefined;
}

/** Whether a path leads into a folder with blobs of IndexedDB. */
export function isInBlobFolder(path: string): boolean {
  return /(?:\.indexeddb\.blob|(?:^|\/)indexeddb\.blob)\//u.test(path);
}

function endsIn(path: string, end: string): boolean {
  return path === end || path.endsWith(`/${end}`);
}
