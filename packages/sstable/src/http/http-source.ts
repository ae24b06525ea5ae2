import { mustBeOptions, mustBeWhole, type Signal } from '@bloom/bytes';
import { allocate, mustLieInside, PIECE_BYTES, type Source } from '../read/source.js';
import type { Answer } from './answer.js';
import { parseContentRange, wholeNumber } from './content-range.js';
import { HttpError, Retriable } from './http-error.js';
import { Transport, type TransportOptions } from './transport.js';

/** How to reach a table. Every option has a default. */
export interface HttpSourceOptions extends TransportOptions {
  /** Length of the file in bytes, if known: saves the request for it. */
  readonly byteLength?: number | undefined;
  /** The largest file, in bytes, to accept as a whole from a server that does not support ranges. Default: 8 MiB. */
  readonly maxWholeBytes?: number | undefined;
  /** Aborts the opening. */
  readonly signal?: Signal | undefined;
}

const HTTP_SOURCE_OPTIONS: Record<keyof HttpSourceOptions, true> = {
  fetch: true,
  headers: true,
  stallMs: true,
  retries: true,
  retryDelayMs: true,
  byteLength: true,
  maxWholeBytes: true,
  signal: true,
};

/**
 * A table behind a URL, read by Range requests.
 *
 * Every answer must be about the same version of the file as the first one, so that a file that is replaced while it is
 * read causes an error and never a mixture. The ETag and the length are compared and, if the ETag is weak or absent,
 * Last-Modified. For a page of another origin, the server must expose `ETag` and `Content-Range`.
 *
 * After a redirect, later requests go directly to its target, until that fails.
 *
 * @example
 * ```ts
 * const source = await HttpSource.open('https://example.org/words.ldb');
 * const table = await Table.open(source);
 * await table.get(utf8('hello')); // one request, or, for most absent keys, none
 * source.close();
 * ```
 */
export class HttpSource implements Source {
  readonly name: string;
  readonly byteLength: number;
  readonly #file: RemoteFile;

  private constructor(file: RemoteFile, byteLength: number) {
    this.name = file.transport.url;
    this.byteLength = byteLength;
    this.#file = file;
  }

  /**
   * Requests the length of the file with HEAD or, if that fails for any reason, with a range of one byte.
   *
   * @throws TypeError or RangeError for a wrong address or option; HttpError with a code of {@link HttpErrorCode}.
   */
  static async open(url: string | { readonly href: string }, options: HttpSourceOptions = {}): Promise<HttpSource> {
    const address: unknown = typeof url === 'string' ? url : (url as typeof url | null | undefined)?.href;
    if (typeof address !== 'string') throw new TypeError('url must be a string or a URL');
    mustBeOptions('HttpSource.open', options, HTTP_SOURCE_OPTIONS);
    const file = new RemoteFile(address, options);
    return new HttpSource(file, await file.findLength(options.signal));
  }

  /**
   * @throws RangeError when the range is not inside the file; TypeError when the source is closed; HttpError with a
   *   code of {@link HttpErrorCode}; the signal's reason, at once.
   */
  async read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    mustLieInside(offset, length, this);
    return this.#file.read(offset, length, signal);
  }

  /** Rejects all reads under way, and later ones, with a TypeError. */
  close(): void {
    this.#file.transport.close();
  }
}

const DEFAULT_MAX_WHOLE_BYTES = 8 * 2 ** 20;
/** A server may answer with only a part of a range, but not with so little that it takes more requests than this. */
const MAX_PARTS = 1024;

/** What an answer says about the version of the file. */
interface Version {
  readonly etag: string | null;
  readonly modified: string | null;
}

/** The requested range or its start, or the whole file. */
interface Part {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/** A file on a server. All answers must be about one version of it. */
class RemoteFile {
  readonly transport: Transport;
  readonly #maxWholeBytes: number;
  /** The version in the first answer. */
  #version: Version | undefined;
  #fileLength: number | undefined;
  /** The whole file, from a server without ranges. */
  #whole: Uint8Array | undefined;

  constructor(url: string, options: HttpSourceOptions) {
    this.transport = new Transport(url, options);
    this.#maxWholeBytes = mustBeWhole('maxWholeBytes', options.maxWholeBytes ?? DEFAULT_MAX_WHOLE_BYTES, 0);
    if (options.byteLength !== undefined) this.#fileLength = mustBeWhole('byteLength', options.byteLength, 0);
  }

  async findLength(signal: Signal | undefined): Promise<number> {
    if (this.#fileLength === undefined) await this.#askLength(signal);
    if (this.#fileLength === undefined) {
      const { bytes, isWhole } = await this.#getPart(0, 1, signal);
      if (isWhole) this.#whole = bytes;
    }
    if (this.#fileLength !== undefined) return this.#fileLength;
    const problem = 'the server does not say how long the file is, or hides it from this page: make it expose Content-Range';
    throw this.transport.error('BLOOM_HTTP_NO_LENGTH', `${problem}, or pass the option byteLength`);
  }

  async read(offset: number, length: number, signal: Signal | undefined): Promise<Uint8Array> {
    this.transport.mustGoOn(signal);
    let bytes = new Uint8Array(0);
    let filled = 0;
    for (let parts = 0; filled < length && this.#whole === undefined; parts++) {
      if (parts === MAX_PARTS) throw this.#failed(`it sends less than ${length} bytes in ${MAX_PARTS} parts`);
      const part = await this.#getPart(offset + filled, Math.min(PIECE_BYTES, length - filled), signal);
      if (part.isWhole) {
        this.#whole = part.bytes;
      } else {
        if (part.bytes.length === length) return part.bytes;
        if (parts === 0) bytes = allocate(length);
        bytes.set(part.bytes, filled);
        filled += part.bytes.length;
      }
    }
    return this.#whole?.subarray(offset, offset + length) ?? bytes;
  }

  /** Sends HEAD. Whatever goes wrong, a GET may still work: some servers refuse HEAD, and some links are signed for GET. */
  async #askLength(signal: Signal | undefined): Promise<void> {
    try {
      const answer = await this.transport.once({ method: 'HEAD', headers: {} }, signal, (head) => Promise.resolve(head));
      const length = wholeNumber(answer.header('content-length'));
      if (answer.status !== 200) throw this.transport.refusal(answer);
      // The length of compressed contents is not that of the file. A length of 0 may be that of the answer to HEAD.
      if (length !== undefined && length > 0 && !isEncoded(answer)) this.#check(answer, length);
    } catch (error) {
      if (error instanceof Retriable) await this.transport.pause(error, 0, signal);
      // Otherwise the signal was aborted or the source closed.
      else if (!(error instanceof HttpError)) throw error;
    }
  }

  #getPart(offset: number, length: number, signal: Signal | undefined): Promise<Part> {
    const range = `bytes=${offset}-${offset + length - 1}`;
    return this.transport.request({ method: 'GET', headers: { range } }, signal, async (answer) => {
      if (answer.status === 206) return this.#takeRange(answer, offset, length);
      if (answer.status === 200) return this.#takeWhole(answer);
      return this.#refused(answer, offset);
    });
  }

  async #takeRange(answer: Answer, offset: number, length: number): Promise<Part> {
    // Null as well when it is hidden from a page of another origin.
    const header = answer.header('content-range');
    const range = header === null ? undefined : parseContentRange(header);
    this.#check(answer, range?.fileLength);
    this.#mustBePlain(answer);
    const type = answer.header('content-type') ?? '';
    if (type.startsWith('multipart/')) throw this.#failed(`asked for one range, it sends ${type}`);
    const { first = offset, last = offset + length - 1 } = range ?? {};
    if ((header !== null && range?.first === undefined) || first !== offset || last < first || last >= offset + length) {
      throw this.#failed(`asked for bytes ${offset}-${offset + length - 1}, it sends ${header}`);
    }
    // A server may send only the start of the range.
    const expected = last - first + 1;
    const bytes = await answer.body(expected);
    if (bytes?.length === expected) return { bytes, isWhole: false };
    throw new Retriable(this.#failed(`asked for ${expected} bytes at ${offset}, it sends ${bytes?.length ?? 'more'}`));
  }

  /** Takes the whole file from a server that does not support ranges. */
  async #takeWhole(answer: Answer): Promise<Part> {
    this.#check(answer, undefined);
    this.#mustBePlain(answer);
    const length = wholeNumber(answer.header('content-length'));
    const known = length ?? this.#fileLength;
    const bytes = known !== undefined && known > this.#maxWholeBytes ? undefined : await answer.body(this.#maxWholeBytes);
    if (bytes === undefined) {
      const size = known === undefined ? '' : ` of ${known} bytes`;
      const problem = `the server has no ranges: it sends the whole file${size}, and the limit is ${this.#maxWholeBytes} bytes`;
      throw this.transport.error('BLOOM_HTTP_NO_RANGES', problem, { status: 200 });
    }
    // fetch itself rejects an answer that is cut short, so it was decompressed, and Content-Encoding hidden from the page.
    if (length !== undefined && length !== bytes.length) throw this.#encoded(`its ${length} bytes became ${bytes.length}`);
    this.#checkLength(bytes.length);
    return { bytes, isWhole: true };
  }

  #refused(answer: Answer, offset: number): Part {
    if (answer.status === 412) throw this.#changed('version');
    if (answer.status !== 416) throw this.transport.refusal(answer);
    const fileLength = parseContentRange(answer.header('content-range') ?? '')?.fileLength;
    if (fileLength !== undefined) this.#checkLength(fileLength);
    else if (this.#fileLength !== undefined) throw this.#changed(`length: there is no byte ${offset} any more`);
    // Every range of an empty file is refused.
    if (fileLength === 0 && offset === 0) return { bytes: new Uint8Array(0), isWhole: true };
    throw this.transport.refusal(answer);
  }

  /** @throws HttpError `BLOOM_HTTP_CHANGED` when the answer is of another version of the file than the first one. */
  #check(answer: Answer, fileLength: number | undefined): void {
    const etag = answer.header('etag');
    const modified = answer.header('last-modified');
    this.#version ??= { etag, modified };
    const { etag: first } = this.#version;
    if (etag !== first) throw this.#changed(`ETag, from ${first ?? 'none'} to ${etag ?? 'none'}`);
    // A weak ETag may stay the same when bytes change (RFC 9110, section 8.8.1).
    if ((first === null || first.startsWith('W/')) && modified !== this.#version.modified) {
      throw this.#changed(`date, from ${this.#version.modified ?? 'none'} to ${modified ?? 'none'}`);
    }
    if (fileLength !== undefined) this.#checkLength(fileLength);
  }

  #checkLength(fileLength: number): void {
    this.#fileLength ??= fileLength;
    if (fileLength !== this.#fileLength) throw this.#changed(`length, from ${this.#fileLength} to ${fileLength}`);
  }

  #mustBePlain(answer: Answer): void {
    if (isEncoded(answer)) throw this.#encoded(`Content-Encoding is ${answer.header('content-encoding')}`);
  }

  #encoded(how: string): HttpError {
    const problem = `the server compresses the file in transit (${how}), so its ranges are not ranges of the file`;
    return this.transport.error('BLOOM_HTTP_ENCODED', `${problem}: turn compression off for this file`);
  }

  #changed(what: string): HttpError {
    return this.transport.error('BLOOM_HTTP_CHANGED', `the file changed while it was read: its ${what}`);
  }

  #failed(problem: string): HttpError {
    return this.transport.error('BLOOM_HTTP_FAILED', problem);
  }
}

/** Whether `fetch` decompresses the answer. It ignores encodings that it does not know. */
function isEncoded(answer: Answer): boolean {
  return /\b(gzip|deflate|compress|br|zstd|dcb|dcz)\b/i.test(answer.header('content-encoding') ?? '');
}
