/**
 * Tables behind HTTP: a static server, a CDN, S3 through a `fetch` that signs.
 *
 * Only absolute ranges are asked for (RFC 9110, section 14), which every server that has ranges understands.
 */
import { mustBeWhole } from '@bloom/bytes';
import { mustLieInside, type Source } from './read/source.js';
import { untilAborted } from './read/until-aborted.js';

/**
 * What can be wrong with a server. The codes are stable.
 *
 * - `BLOOM_HTTP_STATUS`: the server answers with a status that is no success.
 * - `BLOOM_HTTP_NO_RANGES`: the server sends the whole file instead of a range, and it is larger than the limit.
 * - `BLOOM_HTTP_CHANGED`: the file is no longer the one that was opened.
 * - `BLOOM_HTTP_NO_LENGTH`: the server does not say how long the file is.
 * - `BLOOM_HTTP_FAILED`: the request failed, or its answer broke off, as often as it was tried; `cause` says how.
 */
export type HttpErrorCode =
  | 'BLOOM_HTTP_STATUS'
  | 'BLOOM_HTTP_NO_RANGES'
  | 'BLOOM_HTTP_CHANGED'
  | 'BLOOM_HTTP_NO_LENGTH'
  | 'BLOOM_HTTP_FAILED';

/** A server does not give what is asked of it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly url: string;
  /** The status of the answer, where there is one. */
  readonly status: number | undefined;

  constructor(code: HttpErrorCode, url: string, problem: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(`${url}: ${problem}`, options);
    this.code = code;
    this.url = url;
    this.status = options.status;
  }
}

/** What is needed of an answer to a request. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    cancel(): Promise<void>;
    getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** What is needed of `fetch`. */
export type Fetch = (
  url: string,
  init: { readonly method: string; readonly headers: Record<string, string>; readonly signal?: AbortSignal },
) => Promise<HttpResponse>;

/** How to reach a table. All of it has a default. */
export interface HttpSourceOptions {
  /** Sends the requests; one that signs them reads private files. Default: the host's own `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes of the file, where they are known: saves the request that asks for them. */
  readonly byteLength?: number | undefined;
  /** How often a request is tried again after a network error, a 429 or a 5xx. Default: 3. */
  readonly retries?: number | undefined;
  /** How long to wait before the first new try; before each further one, twice as long. Default: 200. */
  readonly retryDelayMs?: number | undefined;
  /** The most bytes of a whole file to take from a server that has no ranges. Default: 8 MiB. */
  readonly maxWholeBytes?: number | undefined;
  /** Ends the opening early. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A table behind a URL, read by Range requests.
 *
 * The ETag of the first answer is demanded of every later one, so that a file that is replaced while it is read gives
 * an error and not a mixture; without an ETag, the date and the length. A page that reads from another origin needs
 * `ETag` and `Content-Range` exposed to it by that server.
 *
 * @example
 * ```ts
 * const source = await HttpSource.open('https://example.org/words.ldb');
 * const table = await Table.open(source);
 * await table.get(utf8('hello')); // one request, or, for most absent keys, none
 * ```
 */
export class HttpSource implements Source {
  readonly name: string;
  readonly byteLength: number;
  readonly #client: Client;
  /** The whole file, from a server that has no ranges. */
  #whole: Uint8Array | undefined;

  private constructor(client: Client, byteLength: number, whole?: Uint8Array) {
    this.name = client.url;
    this.byteLength = byteLength;
    this.#client = client;
    this.#whole = whole;
  }

  /**
   * Asks how long the file is: by HEAD, or where the server does not say it so, by a range of one byte.
   *
   * @throws HttpError with a code of {@link HttpErrorCode}.
   */
  static async open(url: string | { readonly href: string }, options: HttpSourceOptions = {}): Promise<HttpSource> {
    const client = new Client(typeof url === 'string' ? url : url.href, options);
    const byteLength = options.byteLength ?? (await client.askLength(options.signal));
    if (byteLength !== undefined) return new HttpSource(client, byteLength);
    const first = await client.getRange(0, 1, options.signal);
    if (first.fileLength === undefined) {
      throw new HttpError('BLOOM_HTTP_NO_LENGTH', client.url, 'the server does not say how long the file is');
    }
    return new HttpSource(client, first.fileLength, first.isWhole ? first.bytes : undefined);
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    mustLieInside(offset, length, this);
    signal?.throwIfAborted();
    const reading = this.#read(offset, length, signal);
    return signal === undefined ? reading : untilAborted(reading, signal);
  }

  async #read(offset: number, length: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array(0);
    if (this.#whole === undefined) {
      const { bytes, isWhole } = await this.#client.getRange(offset, length, signal);
      if (!isWhole) return bytes;
      this.#whole = bytes;
    }
    return this.#whole.subarray(offset, offset + length);
  }
}

/** The bytes of a range, or the whole file. */
interface Answer {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
  /** Bytes of the file, where the server says it. */
  readonly fileLength: number | undefined;
}

const DEFAULT_RETRIES = 3;
const DEFAULT_RETRY_DELAY_MS = 200;
const DEFAULT_MAX_WHOLE_BYTES = 8 * 2 ** 20;

declare const fetch: Fetch;

/** Sends requests for one file, and sees to it that all answers are of the same version of it. */
class Client {
  readonly url: string;
  readonly #fetch: Fetch;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retries: number;
  readonly #retryDelayMs: number;
  readonly #maxWholeBytes: number;
  /** What the first answer said of the file's version. */
  #version: { readonly etag: string | null; readonly modified: string | null } | undefined;
  #fileLength: number | undefined;

  constructor(url: string, options: HttpSourceOptions) {
    this.url = url;
    // Looked up at each request and called without `this`: browsers demand it, and tests replace it.
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#headers = options.headers ?? {};
    this.#retries = mustBeWhole('retries', options.retries ?? DEFAULT_RETRIES, 0);
    this.#retryDelayMs = mustBeWhole('retryDelayMs', options.retryDelayMs ?? DEFAULT_RETRY_DELAY_MS, 0);
    this.#maxWholeBytes = mustBeWhole('maxWholeBytes', options.maxWholeBytes ?? DEFAULT_MAX_WHOLE_BYTES, 0);
    if (options.byteLength !== undefined) this.#fileLength = mustBeWhole('byteLength', options.byteLength, 0);
  }

  /** The length that a HEAD gives, if it does. */
  async askLength(signal: AbortSignal | undefined): Promise<number | undefined> {
    return this.#trying(signal, async () => {
      const response = await this.#send('HEAD', {}, signal);
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) throw new Retriable(this.#statusError(response));
      if (response.status === 404 || response.status === 410) throw this.#statusError(response);
      // What is compressed on the way is not as long as the file; a link may be signed for GET alone.
      const encoding = response.headers.get('content-encoding') ?? 'identity';
      const length = wholeNumber(response.headers.get('content-length'));
      if (response.status !== 200 || encoding !== 'identity' || length === undefined) return undefined;
      this.#checkVersion(response, length);
      return length;
    });
  }

  async getRange(offset: number, length: number, signal: AbortSignal | undefined): Promise<Answer> {
    return this.#trying(signal, async () => {
      const response = await this.#send('GET', { range: `bytes=${offset}-${offset + length - 1}` }, signal);
      switch (response.status) {
        case 206:
          return this.#takeRange(response, offset, length);
        case 200:
          return this.#takeWhole(response);
        default:
          return this.#refused(response, offset);
      }
    });
  }

  async #takeRange(response: HttpResponse, offset: number, length: number): Promise<Answer> {
    // Hidden from a page of another origin unless the server exposes it.
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    const fileLength = wholeNumber(range?.[3] ?? null);
    await this.#checkOrCancel(response, fileLength);
    if (range !== null && Number(range[1]) !== offset) {
      await response.body?.cancel();
      throw this.#failed(`asked for byte ${offset}, it sends ${range[0]}`);
    }
    const bytes = await readBody(response, length);
    if (bytes?.length !== length) {
      throw new Retriable(this.#failed(`asked for ${length} bytes at ${offset}, it sends ${bytes?.length ?? 'more'}`));
    }
    return { bytes, isWhole: false, fileLength };
  }

  /** The server has no ranges. */
  async #takeWhole(response: HttpResponse): Promise<Answer> {
    const length = wholeNumber(response.headers.get('content-length')) ?? this.#fileLength;
    await this.#checkOrCancel(response, undefined);
    if (length === undefined || length > this.#maxWholeBytes) {
      await response.body?.cancel();
      const size = length === undefined ? 'of unknown length' : `of ${length} bytes`;
      const problem = `the server has no ranges: it sends the whole file ${size}, the limit is ${this.#maxWholeBytes}`;
      throw new HttpError('BLOOM_HTTP_NO_RANGES', this.url, problem, { status: 200 });
    }
    const bytes = await readBody(response, length);
    if (bytes === undefined || (this.#fileLength !== undefined && bytes.length !== this.#fileLength)) throw this.#changed('length');
    this.#fileLength = bytes.length;
    return { bytes, isWhole: true, fileLength: bytes.length };
  }

  async #refused(response: HttpResponse, offset: number): Promise<Answer> {
    await response.body?.cancel();
    const { status } = response;
    if (status === 416) {
      const fileLength = wholeNumber(/^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1] ?? null);
      // No byte of an empty file can be asked for.
      if (fileLength === 0 && offset === 0 && !this.#fileLength) return { bytes: new Uint8Array(0), isWhole: true, fileLength };
      throw this.#changed('length');
    }
    if (status === 412) throw this.#changed('version');
    if (status >= 500 || status === 429 || status === 408) throw new Retriable(this.#statusError(response));
    throw this.#statusError(response);
  }

  async #send(method: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<HttpResponse> {
    try {
      return await this.#fetch(this.url, { method, headers: { ...this.#headers, ...headers }, ...(signal && { signal }) });
    } catch (cause) {
      if (signal?.aborted === true) throw cause;
      throw new Retriable(this.#failed('the request failed', cause));
    }
  }

  /** Tries again after what may pass, waiting twice as long each time. */
  async #trying<T>(signal: AbortSignal | undefined, request: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      signal?.throwIfAborted();
      let error: unknown;
      try {
        return await request();
      } catch (thrown) {
        if (signal?.aborted === true || thrown instanceof HttpError) throw thrown;
        // What is neither ours nor an abort is an answer that broke off.
        error = thrown instanceof Retriable ? thrown.error : this.#failed('the answer broke off', thrown);
      }
      if (tries >= this.#retries) throw error;
      await sleep(this.#retryDelayMs * 2 ** tries, signal);
    }
  }

  async #checkOrCancel(response: HttpResponse, fileLength: number | undefined): Promise<void> {
    try {
      this.#checkVersion(response, fileLength);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
  }

  /** @throws HttpError `BLOOM_HTTP_CHANGED` when the answer is of another version of the file than the first one. */
  #checkVersion(response: HttpResponse, fileLength: number | undefined): void {
    const etag = response.headers.get('etag');
    const modified = response.headers.get('last-modified');
    this.#version ??= { etag, modified };
    if (this.#version.etag !== null) {
      if (etag !== this.#version.etag) throw this.#changed(`ETag, from ${this.#version.etag} to ${etag ?? 'none'}`);
    } else if (modified !== this.#version.modified) {
      throw this.#changed(`date, from ${this.#version.modified ?? 'none'} to ${modified ?? 'none'}`);
    }
    if (fileLength === undefined) return;
    this.#fileLength ??= fileLength;
    if (fileLength !== this.#fileLength) throw this.#changed(`length, from ${this.#fileLength} to ${fileLength}`);
  }

  #changed(what: string): HttpError {
    return new HttpError('BLOOM_HTTP_CHANGED', this.url, `the file changed while it was read: its ${what}`);
  }

  #failed(problem: string, cause?: unknown): HttpError {
    return new HttpError('BLOOM_HTTP_FAILED', this.url, problem, { cause });
  }

  #statusError({ status }: HttpResponse): HttpError {
    return new HttpError('BLOOM_HTTP_STATUS', this.url, `the server answers ${status}`, { status });
  }
}

/** What may pass. */
class Retriable extends Error {
  readonly error: HttpError;

  constructor(error: HttpError) {
    super(error.message);
    this.error = error;
  }
}

/** The body of an answer, or undefined when it has more than `maxBytes`: then the rest of it is not listened to. */
async function readBody(response: HttpResponse, maxBytes: number): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(await response.arrayBuffer());
  const parts: Uint8Array[] = [];
  let byteLength = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value === undefined) continue;
    byteLength += value.length;
    if (byteLength > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(byteLength);
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return bytes;
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
