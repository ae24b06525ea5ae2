import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mustBePath } from '@bloom/bytes/internal';
import type { BlobFolder } from './indexed-db/external-objects.js';
import { WebStorageError } from './web-storage-error.js';

/** The most bytes that `readFile` of Node.js reads. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** The system's codes for a missing file. */
const NO_FILE = ['ENOENT', 'ENOTDIR', 'EISDIR'];
/** Its codes for resources that this process lacks, which say nothing about the file. */
const EXHAUSTED = ['EMFILE', 'ENFILE', 'ENOMEM'];

const LEVELDB_SUFFIX = /\.leveldb[/\\]?$/u;

/** The folder with the blobs of a folder of IndexedDB: `….indexeddb.blob` next to `….indexeddb.leveldb`. */
export class NodeBlobFolder implements BlobFolder {
  readonly path: string;

  /**
   * @param path of the blob folder.
   * @throws TypeError for an empty path.
   */
  constructor(path: string) {
    mustBePath('path', path);
    this.path = path;
  }

  /** The blob folder next to a folder of IndexedDB; undefined if the folder's name does not end in `.leveldb`. */
  static beside(path: string): NodeBlobFolder | undefined {
    mustBePath('path', path);
    return LEVELDB_SUFFIX.test(path) ? new NodeBlobFolder(path.replace(LEVELDB_SUFFIX, '.blob')) : undefined;
  }

  /**
   * Reads a file; undefined if there is none.
   *
   * @throws WebStorageError BLOOM_TOO_LARGE for a file of 2 GiB or more, BLOOM_MISSING_BLOB for one that cannot be read; the system's
   *   error if this process has too little memory, or too many files open.
   */
  async read(path: string): Promise<Uint8Array | undefined> {
    const file = join(this.path, path);
    try {
      const facts = await stat(file);
      // Reading a pipe or a device might not end.
      if (!facts.isFile()) return undefined;
      if (facts.size > MAX_FILE_BYTES) throw new WebStorageError('BLOOM_TOO_LARGE', 'blob', 0, `the file ${path} has ${facts.size} bytes, more than can be read at once`);
      return await readFile(file);
    } catch (error) {
      const { code = '', syscall } = error as { code?: string; syscall?: string };
      if (NO_FILE.includes(code)) return undefined;
      if (syscall !== undefined && !EXHAUSTED.includes(code)) throw new WebStorageError('BLOOM_MISSING_BLOB', 'blob', 0, `the file ${path} cannot be read: ${code}`, { cause: error });
      throw error;
    }
  }
}
