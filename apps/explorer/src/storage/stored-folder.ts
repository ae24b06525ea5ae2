import type { Folder } from '@bloom/leveldb';
import { type FileLike, FileListFolder } from '@bloom/leveldb/browser';
import { type DatabaseInformation, IndexedDbReader, kindOfFolder, LocalStorageReader, recognizeStorage, SessionStorageReader, type StorageKind } from '@bloom/web-storage';
import { folderWithGaps } from '../database/folder-with-gaps.js';
import { FileListBlobs } from './file-list-blobs.js';
import type { ProfileFolder } from './profile-origin.js';

/** How damaged and missing tables are read: `strict` ends a walk there, `skip` passes over them. */
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
  #problem: unknown;
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

  /** Why `databases()` had to pass over damage; undefined where it had not. */
  get problem(): unknown {
    return this.#problem;
  }

  indexedDb(damage: DamageMode): Promise<IndexedDbReader> {
    return (this.#indexedDb[damage] ??= this.#filesFor(damage).then((files) => IndexedDbReader.open(files, { blobs: this.blobs, damage })));
  }

  local(damage: DamageMode): Promise<LocalStorageReader> {
    return (this.#local[damage] ??= this.#filesFor(damage).then((files) => LocalStorageReader.open(files, { damage })));
  }

  session(damage: DamageMode): Promise<SessionStorageReader> {
    return (this.#session[damage] ??= this.#filesFor(damage).then((files) => SessionStorageReader.open(files, { damage })));
  }

  async #filesFor(damage: DamageMode): Promise<Folder> {
    // What is wrong with a MANIFEST that cannot be read is told by the reader.
    return damage === 'strict' ? this.files : folderWithGaps(this.files).catch(() => this.files);
  }

  /** The databases of IndexedDB: also those of a damaged folder, as far as they can be read. */
  databases(): Promise<readonly DatabaseInformation[]> {
    this.#databases ??= this.indexedDb('strict')
      .then((reader) => reader.databases())
      .catch(async (error: unknown) => {
        this.#problem = error;
        return (await this.indexedDb('skip')).databases();
      });
    return this.#databases;
  }
}

/** The page has chosen the folder: paths say nothing more. */
function withoutPath(file: File): FileLike {
  return { name: file.name, size: file.size, slice: (start, end) => file.slice(start, end) };
}
