import { type BlobFolder, WebStorageError } from '@bloom/web-storage';

/** The files of a dropped or picked blob folder. */
export class FileListBlobs implements BlobFolder {
  readonly #files: ReadonlyMap<string, File>;

  constructor(files: Iterable<readonly [path: string, file: File]>) {
    this.#files = new Map(files);
  }

  /** Reads a file; undefined if there is none. @throws WebStorageError BLOOM_MISSING_BLOB for a file that cannot be read. */
  async read(path: string): Promise<Uint8Array | undefined> {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    try {
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      // The file was deleted or locked after it was picked, or it is too large.
      if (error instanceof DOMException) throw new WebStorageError('BLOOM_MISSING_BLOB', 'blob', 0, `the file ${path} cannot be read: ${error.name}`, { cause: error });
      throw error;
    }
  }
}
