import type { SyncFolder, SyncFolderFile } from '../src/folder/folder.js';
import { MemoryFolder } from '../src/folder/memory-folder.js';

/** Reads files into memory of the caller's, as those of a disk. */
export class CopyingFolder implements SyncFolder {
  readonly #folder: MemoryFolder;

  constructor(files: ReadonlyMap<string, Uint8Array>) {
    this.#folder = new MemoryFolder(files);
  }

  list(): string[] {
    return this.#folder.list();
  }

  open(name: string): SyncFolderFile | undefined {
    const file = this.#folder.open(name);
    if (file === undefined) return undefined;
    const { byteLength } = file;
    return {
      name,
      byteLength,
      read: (offset, length) => file.read(offset, length).slice(),
      readInto: (offset, bytes) => {
        bytes.set(file.read(offset, bytes.length));
        return bytes.length;
      },
    };
  }
}
