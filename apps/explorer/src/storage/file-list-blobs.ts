import type { BlobFolder } from '@bloom/web-storage';

/** The files of a dropped or picked blob folder. */
export class FileListBlobs implements BlobFolder {
  readonly #files: ReadonlyMap<string, File>;

  constructor(files: Iterable<readonly [path: string, file: File]>) {
    this.#files = new Map(files);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const file = this.#files.get(path);
    return file && new Uint8Array(await file.arrayBuffer());
  }
}
