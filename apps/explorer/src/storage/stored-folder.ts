import { type Folder } from '@bloom/leveldb';
import { type FileLike, FileListFolder } from '@bloom/leveldb/browser';
import { type DatabaseInformation, IndexedDbReader, LocalStorageReader, recognizeStorage, SessionStorageReader, type StorageKind } from '@bloom/web-storage';
import { FileListBlobs } from './file-list-blobs.js';
import { kindOfFolder } from './folder-kind.js';
import type { ProfileFolder } from './profile-origin.js';

/** How damaged tables are read: `strict` ends a walk there, `skip` passes over it. */
export type DamageMode = 'strict' | 'skip';

/** A folder of the profile, whose readers are opened when they are needed. */
export class StoredFolder {
  readonly path: string;
  readonly title: string;
  readonly byteLength: number;
  readonly files: Folder;
  readonly blobs: FileListBlobs;
  readonly #kind: Promise<StorageKind | undefined>;
  readonly #indexedDb: Partial<Record<DamageMode, Promise<IndexedDbReader>>> = {};
  readonly #local: Partial<Record<DamageMode, Promise<LocalStorageReader>>> = {};
  readonly #session: Partial<Record<DamageMode, Promise<SessionStorageReader>>> = {};
  #databases: Promise<readonly DatabaseInformation[]> | undefined;

  /** @param name of the profile, which says what the folder is if it is the profile itself. */
  constructor({ path, files, blobs }: ProfileFolder, name: string) {
    const { storage, title } = kindOfFolder(path === '' ? name : path);
    this.path = path;
    this.title = title;
    this.byteLength = files.reduce((sum, { size }) => sum + size, 0);
    this.files = new FileListFolder(files.map(withoutPath));
    this.blobs = new FileListBlobs(blobs);
    // A folder that cannot be opened says why when it is looked into.
    this.#kind = storage === undefined ? recognizeStorage(this.files).catch(() => undefined) : Promise.resolve(storage);
  }

  /** Which storage it is, by its path or else by its contents. */
  get kind(): Promise<StorageKind | undefined> {
    return this.#kind;
  }

  indexedDb(damage: DamageMode): Promise<IndexedDbReader> {
    return (this.#indexedDb[damage] ??= IndexedDbReader.open(this.files, { blobs: this.blobs, damage }));
  }

  local(damage: DamageMode): Promise<LocalStorageReader> {
    return (this.#local[damage] ??= LocalStorageReader.open(this.files, { damage }));
  }

  session(damage: DamageMode): Promise<SessionStorageReader> {
    return (this.#session[damage] ??= SessionStorageReader.open(this.files, { damage }));
  }

  /** The databases of IndexedDB: also those of a damaged folder, as far as they can be read. */
  databases(): Promise<readonly DatabaseInformation[]> {
    this.#databases ??= this.indexedDb('strict')
      .then((reader) => reader.databases())
      .catch(async () => (await this.indexedDb('skip')).databases());
    return this.#databases;
  }
}

/** The page has chosen the folder: paths say nothing more. */
function withoutPath(file: File): FileLike {
  return { name: file.name, size: file.size, slice: (start, end) => file.slice(start, end) };
}
