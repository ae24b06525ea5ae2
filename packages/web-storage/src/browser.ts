import type { BlobFolder } from './indexed-db/external-objects.js';

/** The part of a `FileSystemDirectoryHandle` that is needed. */
export interface BlobDirectoryLike {
  getDirectoryHandle(name: string): Promise<BlobDirectoryLike>;
  getFileHandle(name: string): Promise<{ getFile(): Promise<{ arrayBuffer(): Promise<ArrayBuffer> }> }>;
}

/** A folder with the blobs of a folder of IndexedDB that the user has picked. */
export class DirectoryBlobFolder implements BlobFolder {
  readonly #directory: BlobDirectoryLike;

  constructor(directory: BlobDirectoryLike) {
    this.#directory = directory;
  }

  /** Reads a file. */
  async read(path: string): Promise<Uint8Array | undefined> {
    const names = path.split('/');
    const name = names.pop()!;
    try {
      let directory = this.#directory;
      for (const part of names) directory = await directory.getDirectoryHandle(part);
      const file = await (await directory.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      if ((error as { name?: unknown }).name === 'NotFoundError') return undefined;
      throw error;
    }
  }
}
