import { isPromise } from '@bloom/bytes/internal';
import type { FileIdentity } from '@bloom/sstable';
import { closeRead } from '../folder/closing-files.js';
import type { FolderFile, SyncFolderFile } from '../folder/folder.js';
import type { PinnedFolder, WritableFile, WritableFolder } from '../folder/writable-folder.js';
import type { TableThread, TableThreadSettings } from '../folder/table-thread.js';
import { type FolderPin, mustBePinned, OpenFolder, pinFolder } from './folder-pin.js';
import { NodeWritableFile } from './node-writable-file.js';

/** A folder of the file system as it is now: each operation checks that no other folder has taken its place. */
export class PinnedNodeFolder implements PinnedFolder {
  readonly name: string | undefined;
  readonly #folder: WritableFolder;
  /** The same folder, whatever takes its place. */
  readonly #open: OpenFolder;
  readonly #sync: () => void | Promise<void>;
  readonly #pin: FolderPin;
  readonly #mustBePinned = (): void => {
    mustBePinned(this.#pin);
  };

  /** @param sync is how a subclass of the folder's class syncs it. */
  constructor(folder: WritableFolder, path: string, sync?: () => void | Promise<void>) {
    this.name = folder.name;
    this.#folder = folder;
    this.#pin = pinFolder(path);
    // Last, because nothing would close the folder if a later step failed.
    this.#open = new OpenFolder(path);
    this.#sync = sync ?? (() => this.#open.sync());
  }

  unpin(): void {
    this.#open.close();
  }

  async list(): Promise<readonly string[]> {
    const names = await this.#tried((folder) => folder.list());
    mustBePinned(this.#pin);
    return names;
  }

  async open(name: string): Promise<FolderFile | undefined> {
    const file = await this.#tried((folder) => folder.open(name));
    try {
      mustBePinned(this.#pin);
    } catch (error) {
      await closeRead(file);
      throw error;
    }
    return file;
  }

  /** Does not check the pin, which would take twice as long as the call itself: the next call that opens or writes something checks it. */
  identityOf(name: string): FileIdentity | undefined | Promise<FileIdentity | undefined> {
    return this.#folder.identityOf!(name);
  }

  openSync(name: string): SyncFolderFile | undefined {
    return this.#checked().openSync!(name);
  }

  createFolder(): void | Promise<void> {
    return this.#run((folder) => folder.createFolder());
  }

  removeFolder(): void | Promise<void> {
    return this.#run((folder) => folder.removeFolder());
  }

  create(name: string): WritableFile | Promise<WritableFile> {
    const file = this.#run((folder) => folder.create(name));
    return isPromise(file) ? file.then((later) => this.#watched(later)) : this.#watched(file);
  }

  openForAppend(name: string): WritableFile | undefined | Promise<WritableFile | undefined> {
    const file = this.#run((folder) => folder.openForAppend(name));
    return isPromise(file) ? file.then((later) => this.#watched(later)) : this.#watched(file);
  }

  rename(from: string, to: string): void | Promise<void> {
    return this.#run((folder) => folder.rename(from, to));
  }

  delete(name: string): void | Promise<void> {
    return this.#run((folder) => folder.delete(name));
  }

  syncFolder(): void | Promise<void> {
    return this.#run(this.#sync);
  }

  lostFolder(): WritableFolder {
    return this.#checked().lostFolder();
  }

  moveToLost(name: string, as: string): void | Promise<void> {
    return this.#run((folder) => folder.moveToLost(name, as));
  }

  startTableThread(settings: TableThreadSettings, byteLength?: number): TableThread | undefined {
    return this.#checked().startTableThread?.(settings, byteLength);
  }

  /** Makes the regular check of a file check the folder too. */
  #watched<File extends WritableFile | undefined>(file: File): File {
    if (file instanceof NodeWritableFile) file.onLook = this.#mustBePinned;
    return file;
  }

  /** Returns a promise only if the operation does. Most changes are synchronous. */
  #run<T>(operation: (folder: WritableFolder) => T | Promise<T>): T | Promise<T> {
    mustBePinned(this.#pin);
    return this.#tried(operation);
  }

  /** Without a check before the operation: reading changes nothing, so a check after it is enough. */
  #tried<T>(operation: (folder: WritableFolder) => T | Promise<T>): T | Promise<T> {
    let result: T | Promise<T>;
    try {
      result = operation(this.#folder);
    } catch (error) {
      throw this.#causeOf(error);
    }
    if (!isPromise(result)) return result;
    return result.catch((error: unknown) => {
      throw this.#causeOf(error);
    });
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when the folder has been replaced since, which may be why an operation failed. */
  #causeOf(error: unknown): unknown {
    mustBePinned(this.#pin);
    return error;
  }

  /** @throws FolderError `BLOOM_FOLDER_CHANGED` when the folder is another one now. */
  #checked(): WritableFolder {
    mustBePinned(this.#pin);
    return this.#folder;
  }
}
