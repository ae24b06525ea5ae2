/** Folders behind HTTP: a copy of a database on a static server, a CDN, S3 through a `fetch` that signs. */
import { mustBeBoolean, mustBeOptions, type Signal } from '@bloom/bytes';
import type { FileIdentity } from '@bloom/sstable';
import { HttpError, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { parseFileName } from './format/file-name.js';
import { type Folder, FolderError, type FolderFile, isPlainName } from './folder/folder.js';

/** How to reach the files of a folder. All of it has a default. */
export interface HttpFolderOptions extends Omit<HttpSourceOptions, 'byteLength' | 'signal' | 'startBytes'> {
  /**
   * The names of the files, where they are known. Without them, tables are those that the MANIFEST lists, and logs are
   * looked for by their numbers: a request for each number that may be one, usually 17 of them.
   */
  readonly files?: readonly string[] | undefined;
  /**
   * Whether only CURRENT is ever replaced, as in the databases that `@bloom/bulk` publishes: then no logs are looked for, and
   * tables stay open when CURRENT names another MANIFEST. Default: false.
   */
  readonly isPublished?: boolean | undefined;
}

const HTTP_FOLDER_OPTIONS: Record<keyof HttpFolderOptions, true> = {
  files: true,
  isPublished: true,
  fetch: true,
  headers: true,
  stallMs: true,
  retries: true,
  retryDelayMs: true,
  tailBytes: true,
  maxWholeBytes: true,
};

/** How much of a file that is no table is read with its length: LevelDB's logs have this size, and MANIFESTs are smaller. */
const START_BYTES = 4 * 2 ** 20;

/** How much of the end of a published table is read first, so that it has the index of one of 16 MiB. */
const PUBLISHED_TAIL_BYTES = 256 * 2 ** 10;

/**
 * A folder behind a URL. Files are read by Range requests, as far as they are needed: CURRENT, MANIFEST and logs with one request
 * each, a table with one request when it is first needed, and one for each block.
 *
 * The folder should be a copy that nobody writes to. One that changes while it is read is noticed by the ETags of its files.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new HttpFolder('https://example.org/database/'));
 * ```
 */
export class HttpFolder implements Folder {
  readonly isRemote = true;
  readonly isPublished: boolean;
  readonly name: string;
  /** Only where the files are known. */
  readonly list?: () => readonly string[];
  readonly #urlOf: (name: string) => string;
  readonly #options: Omit<HttpFolderOptions, 'files' | 'isPublished'>;

  /** @param url of the folder, or what gives the URL of a file of it. */
  constructor(url: string | { readonly href: string } | ((name: string) => string), options: HttpFolderOptions = {}) {
    if (typeof url === 'function') {
      this.#urlOf = url;
      this.name = url('');
    } else {
      this.name = typeof url === 'string' ? url : url.href;
      const base = this.name.endsWith('/') ? this.name : `${this.name}/`;
      this.#urlOf = (name) => base + encodeURIComponent(name);
    }
    mustBeOptions('HttpFolder', options, HTTP_FOLDER_OPTIONS);
    const { files, isPublished = false, ...rest } = options;
    mustBeBoolean('isPublished', isPublished);
    this.isPublished = isPublished;
    this.#options = isPublished ? { tailBytes: PUBLISHED_TAIL_BYTES, ...rest } : rest;
    if (files !== undefined) this.list = () => files;
  }

  async open(name: string, signal?: Signal): Promise<FolderFile | undefined> {
    if (!isPlainName(name)) return undefined;
    const startBytes = parseFileName(name)?.type === 'table' ? 0 : START_BYTES;
    try {
      const source = await HttpSource.open(this.#urlOf(name), { ...this.#options, startBytes, signal });
      return new HttpFile(source, name, this.isPublished);
    } catch (error) {
      if (error instanceof HttpError && (error.status === 404 || error.status === 410)) return undefined;
      throw error;
    }
  }
}

/** A file that says so when it was replaced by another. */
class HttpFile implements FolderFile {
  readonly isRemote = true;
  readonly name: string;
  readonly byteLength: number;
  readonly #source: HttpSource;
  readonly #file: string;
  readonly #isPublished: boolean;

  constructor(source: HttpSource, file: string, isPublished: boolean) {
    this.#isPublished = isPublished;
    this.#source = source;
    this.name = source.name;
    this.byteLength = source.byteLength;
    this.#file = file;
  }

  get identity(): FileIdentity | undefined {
    // The name of a published file stands for its bytes, which may have been written again under it.
    return this.#isPublished ? undefined : this.#source.identity;
  }

  get heldTailBytes(): number {
    return this.#source.heldTailBytes;
  }

  async read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    try {
      return await this.#source.read(offset, length, signal);
    } catch (error) {
      const isGone = error instanceof HttpError && (error.code === 'BLOOM_HTTP_CHANGED' || error.status === 404 || error.status === 410);
      if (!isGone) throw error;
      throw new FolderError('BLOOM_FOLDER_CHANGED', error.message, { file: this.#file, cause: error });
    }
  }
}
