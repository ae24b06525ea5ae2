/** Folders of the origin private file system of browsers. */
import type { Signal } from '@bloom/bytes';
import { throwIfAborted } from '@bloom/bytes/internal';
import type { FileIdentity } from '@bloom/sstable';
import { DirectoryFolder } from './browser.js';
import type { Folder, FolderFile } from './folder/folder.js';
import { directoryAt, namesOfPath } from './opfs/opfs-path.js';

export { WritableOpfsFolder } from './opfs/writable-opfs-folder.js';

/**
 * Reads a folder of the origin private file system, in a page or in any worker, even while a worker writes to it.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new OpfsFolder('path/to/database'));
 * ```
 */
export class OpfsFolder implements Folder {
  /** The path, as it was given. */
  readonly name: string;
  readonly #names: readonly string[];

  /** @param path from the root of the origin private file system, with `/` between the names. @throws RangeError if it names no folder. */
  constructor(path: string) {
    this.#names = namesOfPath(path);
    this.name = path;
  }

  async list(): Promise<string[]> {
    return (await this.#find())?.list() ?? [];
  }

  async identityOf(name: string): Promise<FileIdentity | undefined> {
    return (await this.#find())?.identityOf(name);
  }

  async open(name: string, signal?: Signal): Promise<FolderFile | undefined> {
    throwIfAborted(signal);
    return (await this.#find())?.open(name);
  }

  /** The folder, which may be deleted and created again. */
  async #find(): Promise<DirectoryFolder | undefined> {
    const directory = await directoryAt(this.#names, false);
    return directory && new DirectoryFolder(directory);
  }
}
