import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeOptions } from '@bloom/bytes/internal';
import { type FileIdentity, mustLieInside, type Source } from '../read/source.js';
import { HTTP_SOURCE_OPTIONS, type HttpSourceOptions } from './options.js';
import { RemoteFile } from './remote-file.js';

/**
 * A table behind a URL, read by Range requests.
 *
 * All bytes must come from the same version of the file as the first ones, so that a file that is replaced while it is
 * read causes an error and never a mixture. The ETag and the length are compared and, if the ETag is weak or absent,
 * Last-Modified. For a page of another origin, the server must expose `ETag` and `Content-Range`.
 *
 * After a redirect, later requests go directly to its target, until that fails.
 *
 * @example
 * ```ts
 * const source = await HttpSource.open('https://example.org/words.ldb');
 * const table = await Table.open(source);
 * await table.get('hello'); // one request, or, for most absent keys, none
 * await source.close();
 * ```
 */
export class HttpSource implements Source {
  readonly isRemote = true;
  readonly name: string;
  readonly byteLength: number;
  readonly #file: RemoteFile;

  private constructor(file: RemoteFile, byteLength: number) {
    this.name = file.transport.url;
    this.byteLength = byteLength;
    this.#file = file;
  }

  /**
   * Requests the end of the file, or its start; the response says how long it is. If the server does not respond with what was
   * requested, the length is requested with HEAD or, if that fails for any reason, with a range of one byte.
   *
   * @throws TypeError or RangeError for an invalid address or option; HttpError with a code of {@link HttpErrorCode}.
   */
  static async open(url: string | { readonly href: string }, options: HttpSourceOptions = {}): Promise<HttpSource> {
    const address: unknown = typeof url === 'string' ? url : (url as typeof url | null | undefined)?.href;
    if (typeof address !== 'string') throw new TypeError('url must be a string or a URL');
    mustBeOptions('HttpSource.open', options, HTTP_SOURCE_OPTIONS);
    const file = new RemoteFile(address, options);
    return new HttpSource(file, await file.findLength(options.signal));
  }

  /** The version of the file, from its ETag and Last-Modified; undefined where the server sends neither. */
  get identity(): FileIdentity | undefined {
    return this.#file.identity;
  }

  /** The number of bytes at the end of the file that are held: they arrived with its length. A read that covers all of them releases them. */
  get heldTailBytes(): number {
    return this.#file.heldTailBytes;
  }

  /** The bytes of a range, if they are held from an earlier response; undefined otherwise. They stay held. */
  heldBytes(offset: number, length: number): Bytes | undefined {
    mustLieInside(offset, length, this);
    return this.#file.heldBytes(offset, length);
  }

  /**
   * @throws RangeError when the range is not inside the file; TypeError when the source is closed; HttpError with a
   *   code of {@link HttpErrorCode}; the signal's reason, at once.
   */
  async read(offset: number, length: number, signal?: Signal): Promise<Bytes> {
    mustLieInside(offset, length, this);
    return this.#file.read(offset, length, signal);
  }

  /** Rejects all reads under way, and later ones, with a TypeError. */
  close(): Promise<void> {
    this.#file.transport.close();
    return Promise.resolve();
  }

  /** Closes the source, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
