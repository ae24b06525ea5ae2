import type { BlobFolder } from './indexed-db/external-objects.js';
import { WebStorageError } from './web-storage-error.js';

/** Names of the browser's errors for a missing file, for a folder in its place, and for a file in place of a folder of its path. */
const NO_FILE = ['NotFoundError', 'TypeMismatchError'];
/** Names of its errors for a file that cannot be read. */
const NOT_READABLE = ['NotReadableError', 'NotAllowedError', 'UnknownError'];

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

  /**
   * Reads a file; undefined if there is none.
   *
   * @throws WebStorageError BLOOM_MISSING_BLOB for a file that cannot be read; otherwise the browser's error.
   */
  async read(path: string): Promise<Uint8Array | undefined> {
    const names = path.split('/');
    const name = names.pop()!;
    try {
      let directory = this.#directory;
      for (const part of names) directory = await directory.getDirectoryHandle(part);
      const file = await (await directory.getFileHandle(name)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      const { name: kind = '' } = error as { name?: string };
      if (NO_FILE.includes(kind)) return undefined;
      if (NOT_READABLE.includes(kind)) throw new WebStorageError('BLOOM_MISSING_BLOB', 'blob', 0, `the file ${path} cannot be read: ${kind}`, { cause: error });
      throw error;
    }
  }
}
