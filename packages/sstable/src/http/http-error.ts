/**
 * What can be wrong with a server. The codes are stable.
 *
 * - `BLOOM_HTTP_STATUS`: the server answers with a status that is no success.
 * - `BLOOM_HTTP_NO_RANGES`: the server sends the whole file instead of a range, and it is larger than the limit.
 * - `BLOOM_HTTP_ENCODED`: the server compresses the file on its way, so that its ranges are not ranges of the file.
 * - `BLOOM_HTTP_CHANGED`: the file is no longer the one that was opened.
 * - `BLOOM_HTTP_NO_LENGTH`: the server does not say how long the file is.
 * - `BLOOM_HTTP_STALLED`: nothing came for as long as the limit, or too little, as often as it was tried.
 * - `BLOOM_HTTP_FAILED`: the request failed, or its answer broke off or was not what was asked for, as often as it was
 *   tried; `cause` says how, where it is known.
 */
export type HttpErrorCode =
  | 'BLOOM_HTTP_STATUS'
  | 'BLOOM_HTTP_NO_RANGES'
  | 'BLOOM_HTTP_ENCODED'
  | 'BLOOM_HTTP_CHANGED'
  | 'BLOOM_HTTP_NO_LENGTH'
  | 'BLOOM_HTTP_STALLED'
  | 'BLOOM_HTTP_FAILED';

/** A server does not give what is asked of it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  /** The address that was opened, not one that it redirects to. */
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

/** A failure that may pass: the request is tried again, or `error` thrown. */
export class Retriable extends Error {
  readonly error: HttpError;
  /** How long the server asks to be left alone. */
  readonly waitMs: number;

  constructor(error: HttpError, waitMs = 0) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}
