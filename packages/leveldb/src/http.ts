/** Folders behind HTTP: a copy of a database on a static server, on a CDN, or on S3 with a `fetch` that signs requests. */
import type { Signal } from '@bloom/bytes';
import { copiedOptions, isMarkup, mustBeArray, mustBeBoolean } from '@bloom/bytes/internal';
import type { FileIdentity } from '@bloom/sstable';
import { type Fetch, HttpError, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { asHostFetch, isRequestBound, needsPreflight, ReadGate, untilAborted } from '@bloom/sstable/internal';
import { MAX_CURRENT_LENGTH } from './format/current.js';
import { CURRENT, parseFileName } from './format/file-name.js';
import { isNamedByBytes } from './format/published-name.js';
import { type Folder, FolderError, type FolderFile, isPlainName } from './folder/folder.js';
import { SharedWork } from './folder/shared-work.js';
import { AbsentAnswer } from './http/absent-answer.js';

/** How to reach the files of a folder. Every option has a default. */
export interface HttpFolderOptions extends Omit<HttpSourceOptions, 'byteLength' | 'signal' | 'startBytes'> {
  /**
   * The names of the files, if they are known. Without them, the reader takes the tables from the MANIFEST, and looks for logs by their
   * numbers: one request for each possible number, usually 17.
   */
  readonly files?: readonly string[] | undefined;
  /**
   * Whether only CURRENT is ever replaced, as in the databases that `@bloom/bulk` publishes: the reader then does not look for logs, and
   * keeps tables open when CURRENT names another MANIFEST. Default: false.
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

/** The number of bytes of a log or a MANIFEST to request first: LevelDB's logs have this size, and MANIFESTs are smaller. */
const START_BYTES = 4 * 2 ** 20;

/**
 * The number of bytes at the end of a published table to request first: enough for the index of a table of 16 MiB without compression and with
 * keys of up to 40 bytes.
 */
const PUBLISHED_TAIL_BYTES = 256 * 2 ** 10;

/**
 * A folder behind a URL. Only the needed parts of files are read, with Range requests: CURRENT, the MANIFEST and each log with one request, a
 * table with one request when it is first needed, and one for each block.
 *
 * A file is absent if the server responds with 404, or with the page that it sends for missing files, as servers of single-page apps do. A file
 * with status 403 that is not among `files` is absent too, if the server responds with 403 for every unknown name.
 *
 * The folder should be a copy that nobody writes to. Changes while it is read are detected by the ETags of its files.
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
  /** Undefined unless the files are known. */
  readonly list?: () => readonly string[];
  readonly #urlOf: (name: string) => string;
  readonly #options: Omit<HttpFolderOptions, 'files' | 'isPublished'>;
  /** Lookups in many tables would otherwise open a connection for each table, more than servers or the system allow. */
  readonly #openings = new ReadGate();
  readonly #absent = new AbsentAnswer((name, signal) => this.#request(name, signal));
  /** Whether the server has sent a file of the folder, so that it can be reached. */
  #hasServed = false;
  /** The requests for CURRENT after a page, by number. */
  readonly #looks = new SharedWork<number>();
  #begunLooks = 0;
  /** The end of the last one. Never rejected. */
  #look: Promise<void> = Promise.resolve();

  /** @param url the URL of the folder, whose query is sent with each file, or a function that returns the URL of a file in it. */
  constructor(url: string | { readonly href: string } | ((name: string) => string), options: HttpFolderOptions = {}) {
    if (typeof url === 'function') {
      this.#urlOf = url;
      this.name = nameFrom(url);
    } else {
      const address: unknown = typeof url === 'string' ? url : (url as typeof url | null | undefined)?.href;
      if (typeof address !== 'string') throw new TypeError('url must be a string, a URL or a function');
      this.name = address;
      // May be relative, in a page.
      const [, path, query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(address)!;
      const base = path!.endsWith('/') ? path! : `${path!}/`;
      this.#urlOf = (name) => base + encodeURIComponent(name) + query;
    }
    const { files, isPublished = false, ...rest } = copiedOptions('HttpFolder', options, HTTP_FOLDER_OPTIONS);
    mustBeBoolean('isPublished', isPublished);
    this.isPublished = isPublished;
    this.#options = rest;
    if (files !== undefined) {
      mustBeArray('files', files, 'names');
      this.list = () => files;
    }
  }

  async open(name: string, signal?: Signal): Promise<FolderFile | undefined> {
    if (!isPlainName(name)) return undefined;
    let source: HttpSource;
    try {
      source = await this.#request(name, signal);
    } catch (error) {
      if (error instanceof HttpError && (await this.#isAbsent(name, error, signal))) return undefined;
      throw error;
    }
    if (name === CURRENT) mustBeNoPage(source);
    else if (await this.#absent.isStandIn(name, source, signal)) {
      await source.close();
      await this.#mustBeThere(signal);
      return undefined;
    }
    this.#hasServed = true;
    const openAgain = (): Promise<HttpSource> => this.#openWithoutRequest(name, source.byteLength);
    return new HttpFile(source, name, this.isPublished, this.isPublished && isNamedByItsBytes(name) ? openAgain : undefined);
  }

  #request(name: string, signal: Signal | undefined): Promise<HttpSource> {
    const isTable = parseFileName(name)?.type === 'table';
    const startBytes = isTable ? 0 : START_BYTES;
    const mayChange = this.isPublished ? name === CURRENT : !isTable;
    const fetch = mayChange ? withoutStaleAnswers(this.#options.fetch) : this.#options.fetch;
    const url = this.#urlOf(name);
    const tailBytes = this.#options.tailBytes ?? (this.isPublished && isTable && !needsPreflight(url) ? PUBLISHED_TAIL_BYTES : undefined);
    const open = (): Promise<HttpSource> => HttpSource.open(url, { ...this.#options, tailBytes, fetch, startBytes, signal });
    // On a host such as workerd, which stops the I/O of a request that has ended, such an opening would keep its place for ever. These hosts limit
    // connections themselves.
    if (!isTable || isRequestBound()) return open();
    const opened = this.#inTurn(open, signal);
    return signal === undefined ? opened : untilAborted(opened, signal);
  }

  #openWithoutRequest(name: string, byteLength: number): Promise<HttpSource> {
    return HttpSource.open(this.#urlOf(name), { ...this.#options, byteLength });
  }

  async #inTurn(open: () => Promise<HttpSource>, signal: Signal | undefined): Promise<HttpSource> {
    await this.#openings.entered(signal);
    try {
      return await open();
    } finally {
      this.#openings.leave();
    }
  }

  /** Whether an error means that the file does not exist. */
  async #isAbsent(name: string, { code, status }: HttpError, signal: Signal | undefined): Promise<boolean> {
    if (status === 404 || status === 410) return true;
    // Without CURRENT there is no database, and the error is more informative than that.
    if (name === CURRENT) return false;
    if (code === 'BLOOM_HTTP_PAGE') {
      await this.#mustBeThere(signal);
      // A page for this file alone, such as a firewall's, does not mean that the file is missing.
      return this.#absent.isPage(name, signal);
    }
    return status === 403 && this.list?.().includes(name) !== true && this.#absent.isForbidden(name, signal);
  }

  /**
   * Checks that the server sent a page because the file is missing, and does not send one for all files, for example because a login has
   * expired: a log would then be considered missing, and the reader would not see its writes.
   *
   * @throws HttpError `BLOOM_HTTP_PAGE` when the server now sends a page for CURRENT.
   */
  async #mustBeThere(signal: Signal | undefined): Promise<void> {
    if (!this.#hasServed) return;
    // A request that began before the page arrived does not count. Many calls share the next one.
    const lookNext = async (ownSignal: Signal): Promise<void> => {
      await this.#look;
      this.#begunLooks++;
      const look = this.#lookAtCurrent(ownSignal);
      this.#look = look.catch(() => undefined);
      await look;
    };
    await this.#looks.run(this.#begunLooks, lookNext, signal);
  }

  async #lookAtCurrent(signal: Signal): Promise<void> {
    try {
      const source = await this.#request(CURRENT, signal);
      mustBeNoPage(source);
      await source.close();
    } catch (error) {
      if (!(error instanceof HttpError && (error.status === 404 || error.status === 410))) throw error;
    }
  }
}

declare const location: unknown;
declare const fetch: (url: string, init: CachedInit) => ReturnType<Fetch>;
type CachedInit = Parameters<Fetch>[1] & { readonly cache: 'no-cache' };

/**
 * A `fetch` that asks the server whether a file in the cache of a page is still the same. If the server does not say how long the file may
 * be cached, as by default, browsers take it from the cache for a tenth of its age. Other hosts have no such cache, and some refuse the mode.
 */
function withoutStaleAnswers(own: Fetch | undefined): Fetch | undefined {
  if (typeof location === 'undefined') return own;
  const asking: Fetch = (url, init) => {
    const asked: CachedInit = { ...init, cache: 'no-cache' };
    return own === undefined ? fetch(url, asked) : own(url, asked);
  };
  return own === undefined ? asHostFetch(asking) : asking;
}

/** The URL of the folder, or of CURRENT where the function makes only those of files. */
function nameFrom(url: (name: string) => string): string {
  try {
    return url('');
  } catch {
    return url(CURRENT);
  }
}

/** @throws HttpError `BLOOM_HTTP_PAGE` when CURRENT is a page, whatever its content type. */
function mustBeNoPage(current: HttpSource): void {
  const bytes = current.heldBytes(0, Math.min(current.byteLength, MAX_CURRENT_LENGTH));
  if (bytes === undefined || !isMarkup(bytes)) return;
  throw new HttpError('BLOOM_HTTP_PAGE', current.name, 'the server answers with an HTML page, not with the file', { status: 200 });
}

/** Whether a file of a published database has a name that is made from its bytes. */
function isNamedByItsBytes(name: string): boolean {
  const parsed = parseFileName(name);
  return (parsed?.type === 'table' || parsed?.type === 'manifest') && isNamedByBytes(parsed.number);
}

/** A file that reports when it was replaced by another. */
class HttpFile implements FolderFile {
  readonly isRemote = true;
  readonly name: string;
  readonly byteLength: number;
  #source: HttpSource;
  readonly #file: string;
  readonly #isPublished: boolean;
  readonly #openAgain: (() => Promise<HttpSource>) | undefined;

  /** @param openAgain opens another version of the file, which must have the same length; undefined unless each version has the same bytes. */
  constructor(source: HttpSource, file: string, isPublished: boolean, openAgain: (() => Promise<HttpSource>) | undefined) {
    this.#openAgain = openAgain;
    this.#isPublished = isPublished;
    this.#source = source;
    this.name = source.name;
    this.byteLength = source.byteLength;
    this.#file = file;
  }

  get identity(): FileIdentity | undefined {
    // The name of a published file identifies its bytes, which may have been uploaded again.
    return this.#isPublished ? undefined : this.#source.identity;
  }

  get heldTailBytes(): number {
    return this.#source.heldTailBytes;
  }

  async read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    try {
      return await this.#readVersion(offset, length, signal);
    } catch (error) {
      const isGone = error instanceof HttpError && (error.code === 'BLOOM_HTTP_CHANGED' || error.status === 404 || error.status === 410);
      if (!isGone) throw error;
      throw new FolderError('BLOOM_FOLDER_CHANGED', error.message, { file: this.#file, cause: error });
    }
  }

  /** A file with the same bytes can get another ETag and date: when it is uploaded again or touched, or from another server of a CDN. */
  async #readVersion(offset: number, length: number, signal: Signal | undefined): Promise<Uint8Array> {
    try {
      return await this.#source.read(offset, length, signal);
    } catch (error) {
      if (this.#openAgain === undefined || !(error instanceof HttpError) || error.code !== 'BLOOM_HTTP_CHANGED') throw error;
      const again = await this.#openAgain();
      const bytes = await again.read(offset, length, signal);
      this.#source = again;
      return bytes;
    }
  }
}
