import { DatabaseReader, type Folder } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { type DatabaseInformation, IndexedDbReader, kindOfFolder, LocalStorageReader, recognizeStorage, SessionStorageReader, type StorageKind } from '@bloom/web-storage';
import { folderWithGaps } from '../database/folder-with-gaps.js';
import { pickedFolder } from '../database/picked-folder.js';
import { FileListBlobs } from './file-list-blobs.js';
import type { ProfileFolder } from './profile-origin.js';

/** How damaged and missing tables are handled: `strict` ends a walk there, `skip` continues after them. */
export type DamageMode = 'strict' | 'skip';

/** A folder of the profile. Its readers are opened on demand. */
export class StoredFolder {
  readonly path: string;
  readonly title: string;
  /** The number of its storage bucket. Such a folder can have the same origin and names as another one. */
  readonly bucket: number | undefined;
  readonly byteLength: number;
  readonly files: Folder;
  readonly blobs: FileListBlobs;
  readonly #fullPath: string;
  readonly #lacksOrigin: boolean;
  readonly #kind: Promise<StorageKind | undefined>;
  readonly #indexedDb: Partial<Record<DamageMode, Promise<IndexedDbReader>>> = {};
  readonly #local: Partial<Record<DamageMode, Promise<LocalStorageReader>>> = {};
  readonly #session: Partial<Record<DamageMode, Promise<SessionStorageReader>>> = {};
  #entries: Promise<DatabaseReader> | undefined;
  #problem: unknown;
  #databases: Promise<readonly DatabaseInformation[]> | undefined;

  /** @param name the name of the profile, which determines the kind of the folder if the folder is the profile itself. */
  constructor({ path, files, blobs }: ProfileFolder, name: string) {
    // The name of the profile can be a part of the path that shows the kind, such as Local Storage.
    this.#fullPath = path === '' ? name : `${name}/${path}`;
    const { storage, title, lacksOrigin = false, bucket } = kindOfFolder(this.#fullPath);
    this.path = path;
    this.title = title === this.#fullPath ? path || name : title;
    this.bucket = bucket;
    this.#lacksOrigin = lacksOrigin;
    this.byteLength = files.reduce((sum, { size }) => sum + size, 0);
    this.files = pickedFolder(files);
    this.blobs = new FileListBlobs(blobs);
    // A folder that cannot be opened reports the reason when the user opens it.
    this.#kind = storage === undefined ? recognizeStorage(this.files).catch(() => undefined) : Promise.resolve(storage);
  }

  /** The kind of storage, by the path or otherwise by the contents. */
  get kind(): Promise<StorageKind | undefined> {
    return this.#kind;
  }

  /** The title, with the origin that only the databases of a storage bucket name. */
  async fullTitle(): Promise<string> {
    if (!this.#lacksOrigin) return this.title;
    const databases = await this.databases().catch(() => []);
    return kindOfFolder(this.#fullPath, databases.find(({ origin }) => origin !== undefined)?.origin).title;
  }

  /** The damage that `databases()` skipped; undefined if there was none. */
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

  /** The entries of the folder, whatever they mean. Damage is skipped. */
  entries(): Promise<DatabaseReader> {
    return (this.#entries ??= this.#openEntries());
  }

  async #openEntries(): Promise<DatabaseReader> {
    const files = await this.#filesFor('skip');
    return DatabaseReader.open(files, { damage: 'skip', ...((await this.kind) === 'indexeddb' && { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] }) });
  }

  async #filesFor(damage: DamageMode): Promise<Folder> {
    // The reader reports the problem of an unreadable MANIFEST.
    return damage === 'strict' ? this.files : folderWithGaps(this.files).catch(() => this.files);
  }

  /** The databases of IndexedDB, including the readable ones of a damaged folder. */
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
