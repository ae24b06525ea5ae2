import { mustBeWhole } from '@bloom/bytes';
import { untilAborted } from '../read/until-aborted.js';
import { Answer, discard, type HttpResponse } from './answer.js';
import { HttpError, type HttpErrorCode, Retriable } from './http-error.js';
import { Redirects, type Route, type RoutedResponse } from './redirects.js';

/** What is needed of `fetch`. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly signal: AbortSignal;
    /** `manual` where the caller's headers are sent, which a redirect must not carry to another origin. */
    readonly redirect: 'follow' | 'manual';
  },
) => Promise<HttpResponse>;

/** How requests are sent. All of it has a default. */
export interface TransportOptions {
  /**
   * Sends the requests; one that signs them reads private files. It is called with addresses of the origin that was
   * opened, and with no other. Default: the host's own `fetch`.
   */
  readonly fetch?: Fetch | undefined;
  /** Sent with every request to the origin that was opened, and never to another one that it redirects to. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The most milliseconds to wait for an answer to begin, and then for its next bytes. An answer that takes longer than
   * this in all must also come at 1,024 bytes a second. How long a read may take is up to its signal. Default: 30,000.
   */
  readonly stallMs?: number | undefined;
  /**
   * How often a request is tried again after a network error, a stall, an answer that breaks off, a 408, 425, 429 or 5xx.
   * Default: 3.
   */
  readonly retries?: number | undefined;
  /**
   * Milliseconds to wait before the first new try; before each further one, twice as long, up to a minute. A server that
   * asks for longer by Retry-After gets it, and one that asks for more than a minute is not tried again. Default: 200.
   */
  readonly retryDelayMs?: number | undefined;
}

/** What a request asks for, beside the address. */
export interface RequestParts {
  readonly method: 'HEAD' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_STALL_MS = 30_000;
const DEFAULT_RETRIES = 3;
const DEFAULT_RETRY_DELAY_MS = 200;
/** No new try is waited for longer than this: whoever reads would rather know. */
const MAX_RETRY_DELAY_MS = 60_000;
/** Any network is faster: a server that sends less drips. */
const MIN_BYTES_PER_SECOND = 1024;
/** setTimeout fires at once for more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What an address answers that was redirected to and has expired, as signed ones do. */
const EXPIRED: readonly number[] = [401, 403, 404, 410];
const MAY_PASS: readonly number[] = [408, 425, 429];

declare const fetch: Fetch;
declare const AbortController: new () => { readonly signal: AbortSignal; abort(reason: unknown): void };

/** Sends requests for one URL: gives up on a server that stalls, and tries again what may pass. */
export class Transport {
  readonly url: string;
  readonly #fetch: Fetch;
  readonly #redirects: Redirects;
  /** Where the last good answer came from: going there saves the redirect, and stays with one of several mirrors. */
  #route: Route;
  readonly #stallMs: number;
  readonly #retries: number;
  readonly #retryDelayMs: number;
  /** Each ends a piece of work that is under way. */
  readonly #ends = new Set<(reason: unknown) => void>();
  #isClosed = false;

  /** @throws TypeError for an address or headers that `fetch` would refuse; RangeError for a wrong option. */
  constructor(url: string, options: TransportOptions) {
    this.url = url;
    // Looked up at each request and called without `this`: browsers demand it, and tests replace it.
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#stallMs = Math.min(mustBeWhole('stallMs', options.stallMs ?? DEFAULT_STALL_MS, 1), MAX_TIMEOUT_MS);
    this.#retries = mustBeWhole('retries', options.retries ?? DEFAULT_RETRIES, 0);
    this.#retryDelayMs = mustBeWhole('retryDelayMs', options.retryDelayMs ?? DEFAULT_RETRY_DELAY_MS, 0);
    this.#redirects = new Redirects(url, options.headers ?? {}, options.fetch === undefined);
    this.#route = this.#redirects.start;
  }

  /**
   * Sends a request and gives its answer to `take`, which reads it. Both are done again when what may pass has failed.
   *
   * @throws HttpError, or the signal's reason.
   */
  async request<T>(parts: RequestParts, signal: AbortSignal | undefined, take: (answer: Answer) => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.once(parts, signal, take);
      } catch (error) {
        if (!(error instanceof Retriable)) throw error;
        if (tries >= this.#retries) throw error.error;
        await this.pause(error, this.#retryDelayMs * 2 ** tries, signal);
      }
    }
  }

  /** As {@link request}, without new tries. @throws Retriable when what may pass has failed. */
  async once<T>(parts: RequestParts, signal: AbortSignal | undefined, take: (answer: Answer) => Promise<T>): Promise<T> {
    try {
      return await this.#ending(signal, this.#stallMs, async (own, onProgress) => {
        const { response, route } = await this.#send(parts, own, onProgress);
        return take(new Answer(response, this.#redirects.isTold(route), this.#watch(onProgress)));
      });
    } catch (error) {
      if (error instanceof HttpError || signal?.aborted === true || this.#isClosed) throw error;
      // Perhaps only the mirror failed that was redirected to.
      this.#route = this.#redirects.start;
      // What is neither ours nor an abort came from reading the body.
      throw error instanceof Retriable ? error : new Retriable(this.error('BLOOM_HTTP_FAILED', 'the answer broke off', { cause: error }));
    }
  }

  /**
   * Waits before a new try for `delayMs`, or as long as the server asks.
   *
   * @throws the error itself when the server asks for too long.
   */
  async pause({ error, waitMs }: Retriable, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (waitMs > MAX_RETRY_DELAY_MS) throw error;
    const ms = Math.max(waitMs, Math.min(delayMs, MAX_RETRY_DELAY_MS));
    const waiting = (own: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        own.addEventListener('abort', () => clearTimeout(timer));
      });
    await this.#ending(signal, MAX_TIMEOUT_MS, waiting);
  }

  /** Ends all that is under way or yet to come. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end(closedError());
  }

  /** @throws the signal's reason, or TypeError when all was ended. */
  mustGoOn(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
  }

  error(code: HttpErrorCode, problem: string, options?: ErrorOptions & { readonly status?: number }): HttpError {
    return new HttpError(code, this.url, problem, options);
  }

  /** What to throw for an answer whose status is no success. */
  refusal(answer: Answer): HttpError | Retriable {
    const { status } = answer;
    const waitMs = retryAfterMs(answer.header('retry-after'));
    const untold = answer.hadHeaders ? '' : ', asked without the headers that were given, as it redirects';
    const wait = waitMs === 0 ? '' : `, and asks to be left alone for ${Math.ceil(waitMs / 1000)} s`;
    const error = this.error('BLOOM_HTTP_STATUS', `the server answers ${status}${untold}${wait}`, { status });
    return status < 500 && !MAY_PASS.includes(status) ? error : new Retriable(error, waitMs);
  }

  /** Does `work` under a signal that is aborted by the caller's, by closing, and by `stallMs` without progress. */
  async #ending<T>(
    signal: AbortSignal | undefined,
    stallMs: number,
    work: (signal: AbortSignal, onProgress: () => void) => Promise<T>,
  ): Promise<T> {
    this.mustGoOn(signal);
    const controller = new AbortController();
    const end = (reason: unknown): void => controller.abort(reason);
    const abort = (): void => end(signal?.reason);
    const stall = (): void => end(this.#stalled(`nothing came for ${stallMs} ms`));
    let timer = setTimeout(stall, stallMs);
    const onProgress = (): void => {
      clearTimeout(timer);
      timer = setTimeout(stall, stallMs);
    };
    signal?.addEventListener('abort', abort);
    this.#ends.add(end);
    try {
      return await untilAborted(work(controller.signal, onProgress), controller.signal);
    } catch (error) {
      // What is left of an answer that is no good need not come.
      end(error);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#ends.delete(end);
    }
  }

  async #send(parts: RequestParts, signal: AbortSignal, onProgress: () => void): Promise<RoutedResponse> {
    const from = async (route: Route): Promise<RoutedResponse> => {
      const found = await this.#redirects.follow(route, async (address, callers, redirect) => {
        const { method, headers } = parts;
        const response = await this.#fetched(address, { method, headers: { ...callers, ...headers }, signal, redirect });
        onProgress();
        return response;
      });
      if (found === undefined) throw this.error('BLOOM_HTTP_FAILED', 'the server redirects without end');
      return found;
    };
    const { start } = this.#redirects;
    const route = this.#route;
    let found = await from(route);
    if (EXPIRED.includes(found.response.status) && route.address !== start.address) {
      discard(found.response);
      found = await from(start);
    }
    if (found.response.status === 200 || found.response.status === 206) this.#route = found.route;
    return found;
  }

  async #fetched(address: string, init: Parameters<Fetch>[1]): Promise<HttpResponse> {
    const { signal } = init;
    let response;
    try {
      response = await this.#fetch(address, init);
    } catch (cause) {
      throw new Retriable(this.error('BLOOM_HTTP_FAILED', 'the request failed', { cause }));
    }
    // A fetch that does not listen to its signal answers after an abort too.
    if (signal.aborted) discard(response);
    signal.throwIfAborted();
    return response;
  }

  /** Ends the reading of a body that comes too slowly. */
  #watch(onProgress: () => void): (received: number) => void {
    const start = Date.now();
    return (received) => {
      const ms = Date.now() - start;
      if (ms > this.#stallMs && received * 1000 < ms * MIN_BYTES_PER_SECOND) throw this.#stalled(`only ${received} bytes came in ${ms} ms`);
      onProgress();
    };
  }

  #stalled(problem: string): Retriable {
    return new Retriable(this.error('BLOOM_HTTP_STALLED', `the server stalls: ${problem}`));
  }
}

function closedError(): TypeError {
  return new TypeError('the source is closed');
}

/** How long a Retry-After (RFC 9110, section 10.2.3) asks to wait: seconds, or until a date. */
function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  // Date.parse takes much that is no date of HTTP.
  return /^[A-Z][a-z]+, .* GMT$/.test(header) ? Math.max(0, Date.parse(header) - Date.now()) || 0 : 0;
}
