import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobFolder } from './indexed-db/external-objects.js';

const LEVELDB_SUFFIX = /\.leveldb[/\\]?$/u;

/** The folder with the blobs of a folder of IndexedDB: `….indexeddb.blob` next to `….indexeddb.leveldb`. */
export class NodeBlobFolder implements BlobFolder {
  readonly path: string;

  /** @param path of the blob folder. */
  constructor(path: string) {
    this.path = path;
  }

  /** The blob folder next to a folder of IndexedDB; undefined if the folder's name does not end in `.leveldb`. */
  static beside(path: string): NodeBlobFolder | undefined {
    return LEVELDB_SUFFIX.test(path) ? new NodeBlobFolder(path.replace(LEVELDB_SUFFIX, '.blob')) : undefined;
  }

  /** Reads a file. */
  async read(path: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(join(this.path, path));
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as { code?: string }).code ?? '')) return undefined;
      throw error;
    }
  }
}
