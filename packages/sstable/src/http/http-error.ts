/**
 * What can go wrong with a server. The codes are stable.
 *
 * - `BLOOM_HTTP_STATUS`: the server responds with an error status, or a redirect without an address.
 * - `BLOOM_HTTP_NO_RANGES`: the server sends the whole file instead of a range, and it is larger than `maxWholeBytes`.
 * - `BLOOM_HTTP_ENCODED`: the server compresses the file in transit, so its ranges are not ranges of the file.
 * - `BLOOM_HTTP_PAGE`: the server responds with an HTML page, as servers of single-page apps do for missing files, and networks
 *   that require a login.
 * - `BLOOM_HTTP_CHANGED`: the file is no longer the one that was opened, or the option `byteLength` is wrong.
 * - `BLOOM_HTTP_NO_LENGTH`: the server does not say how long the file is.
 * - `BLOOM_HTTP_STALLED`: in every attempt, nothing arrived for `stallMs`, or data arrived too slowly.
 * - `BLOOM_HTTP_FAILED`: in every attempt, the request failed or the response was cut off, with the reason in `cause`; or the
 *   response is not the requested range.
 */
export type HttpErrorCode =
  | 'BLOOM_HTTP_STATUS'
  | 'BLOOM_HTTP_NO_RANGES'
  | 'BLOOM_HTTP_ENCODED'
  | 'BLOOM_HTTP_PAGE'
  | 'BLOOM_HTTP_CHANGED'
  | 'BLOOM_HTTP_NO_LENGTH'
  | 'BLOOM_HTTP_STALLED'
  | 'BLOOM_HTTP_FAILED';

/** A server does not deliver the file. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  /** The address that was opened, never the one it redirects to. */
  readonly url: string;
  /** The status of the response, if there is one. */
  readonly status: number | undefined;

  constructor(code: HttpErrorCode, url: string, problem: string, options: { readonly cause?: unknown; readonly status?: number } = {}) {
    super(`${url}: ${problem}`, options);
    this.code = code;
    this.url = url;
    this.status = options.status;
  }
}

/** A failure that may be temporary: the request is retried, or `error` is thrown. */
export class Retriable extends Error {
  readonly error: HttpError;
  /** How long the server asks us to wait. */
  readonly waitMs: number;

  constructor(error: HttpError, waitMs = 0) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}
