import type { Signal } from '@bloom/bytes';
import { kindOf, mustBeFunction, mustBeWhole, numberOf, throwIfAborted } from '@bloom/bytes/internal';
import { onAbort } from '../read/on-abort.js';
import { isRequestBound } from '../read/request-bound.js';
import { untilAborted } from '../read/until-aborted.js';
import { Answer, discard, type HttpResponse } from './answer.js';
import { type Fetch, isHostFetch } from './fetch.js';
import { HttpError, type HttpErrorCode, Retriable } from './http-error.js';
import { Redirects, type Route, type RoutedResponse } from './redirects.js';
import { retryAfterMs } from './retry-after.js';

// Taken at load: test suites replace the host's functions with fake ones.
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** How requests are sent. Every option has a default. */
export interface TransportOptions {
  /**
   * Sends the requests, for example signed ones for private files. It is never called with an address of another origin
   * than the one that was opened. Default: the host's `fetch`.
   */
  readonly fetch?: Fetch | undefined;
  /** Sent with every request to the origin that was opened, and never to another origin that it redirects to. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds to wait for the headers of a response, and then for each next chunk of its body, before giving up. A
   * response that takes longer than this in all must also arrive at 1,024 bytes per second or more. To limit the total time
   * of a read, pass a signal. Default: 30,000.
   */
  readonly stallMs?: number | undefined;
  /** How often a request is retried after a network error, a stall, a broken response, a 408, 425, 429 or 5xx. Default: 3. */
  readonly retries?: number | undefined;
  /**
   * Milliseconds to wait before the first retry. The wait doubles with each further one, up to a minute. If the server
   * asks for a longer wait with Retry-After, that wait is used; if it asks for more than a minute, there is no retry.
   * Default: 200.
   */
  readonly retryDelayMs?: number | undefined;
}

/** A request without its address. */
export interface RequestParts {
  readonly method: 'HEAD' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
}

const DEFAULT_STALL_MS = 30_000;
const DEFAULT_RETRIES = 3;
const DEFAULT_RETRY_DELAY_MS = 200;
/** The longest wait before a retry. After this time, an error is more useful to the caller. */
const MAX_RETRY_DELAY_MS = 60_000;
/** The least speed, which any usable network exceeds. Without it, a server that sends single bytes could delay a read for hours. */
const MIN_BYTES_PER_SECOND = 1024;
/** With a longer timeout, setTimeout fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The statuses of the target of a redirect that has expired, for example a signed address. */
const EXPIRED: readonly number[] = [401, 403, 404, 410];
/** Statuses below 500 after which a retry may succeed. */
const TEMPORARY: readonly number[] = [408, 425, 429];

declare const fetch: Fetch;
declare const AbortController: new () => { readonly signal: Signal; abort(reason: unknown): void };

/** Sends requests for one URL, with a limit for stalls and with retries. */
export class RetryingTransport {
  readonly url: string;
  readonly #fetch: Fetch;
  readonly #redirects: Redirects;
  /** The source of the last good response. Later requests go there directly, which saves the redirect and stays with one mirror. */
  #route: Route;
  readonly #stallMs: number;
  readonly #retries: number;
  readonly #retryDelayMs: number;
  /** One function for each operation under way, which ends it. */
  readonly #ends = new Set<(reason: unknown) => void>();
  #isClosed = false;

  /** @throws TypeError for an address or headers that `fetch` rejects, and for headers or a `fetch` of another type; RangeError for an invalid option. */
  constructor(url: string, options: TransportOptions) {
    this.url = url;
    if (options.fetch !== undefined) mustBeFunction('fetch', options.fetch);
    // Called without `this`, as browsers require, and looked up for each request, because tests replace it.
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#stallMs = Math.min(mustBeWhole('stallMs', options.stallMs ?? DEFAULT_STALL_MS, 1), MAX_TIMEOUT_MS);
    this.#retries = mustBeWhole('retries', options.retries ?? DEFAULT_RETRIES, 0);
    this.#retryDelayMs = mustBeWhole('retryDelayMs', options.retryDelayMs ?? DEFAULT_RETRY_DELAY_MS, 0);
    const { headers = {} } = options;
    mustBeHeaders(headers);
    this.#redirects = new Redirects(url, headers, isHostFetch(options.fetch));
    this.#route = this.#redirects.start;
  }

  /**
   * Sends a request and lets `take` read the response. After a failure that may be temporary, both are repeated.
   *
   * @throws HttpError, or the signal's reason.
   */
  async request<T>(parts: RequestParts, signal: Signal | undefined, take: (answer: Answer) => Promise<T>): Promise<T> {
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

  /** Like {@link request}, without retries. @throws Retriable after a failure that may be temporary. */
  async once<T>(parts: RequestParts, signal: Signal | undefined, take: (answer: Answer) => Promise<T>): Promise<T> {
    try {
      return await this.#ending(signal, this.#stallMs, async (own, onProgress) => {
        const { response, route } = await this.#send(parts, own, onProgress);
        return take(new Answer(response, this.#redirects.sendsHeaders(route), this.#watch(onProgress)));
      });
    } catch (error) {
      if (error instanceof HttpError || signal?.aborted === true || this.#isClosed) throw error;
      // Perhaps only the mirror failed to which the server had redirected.
      this.#route = this.#redirects.start;
      // Any other error came from reading the body.
      throw error instanceof Retriable ? error : new Retriable(this.error('BLOOM_HTTP_FAILED', 'the response was cut off', { cause: error }));
    }
  }

  /**
   * Waits before a retry: for `delayMs`, or longer if the server asks for that.
   *
   * @throws the error when the server asks for too long a wait.
   */
  async pause({ error, waitMs }: Retriable, delayMs: number, signal: Signal | undefined): Promise<void> {
    if (waitMs > MAX_RETRY_DELAY_MS) throw error;
    const ms = Math.max(waitMs, Math.min(delayMs, MAX_RETRY_DELAY_MS));
    const waiting = (own: Signal): Promise<void> =>
      new Promise((resolve) => {
        const timer = startTimer(resolve, ms);
        own.addEventListener('abort', () => stopTimer(timer));
      });
    await this.#ending(signal, MAX_TIMEOUT_MS, waiting);
  }

  /** Ends all requests under way, and refuses later ones. */
  close(): void {
    this.#isClosed = true;
    // On hosts whose objects are bound to the request that created them, those of other requests cannot be aborted here. They fail
    // when their responses arrive.
    if (isRequestBound()) return;
    for (const end of this.#ends) end(closedError());
  }

  /** @throws the signal's reason when it is aborted; TypeError after `close`. */
  mustGoOn(signal: Signal | undefined): void {
    throwIfAborted(signal);
    if (this.#isClosed) throw closedError();
  }

  error(code: HttpErrorCode, problem: string, options?: { readonly cause?: unknown; readonly status?: number }): HttpError {
    return new HttpError(code, this.url, problem, options);
  }

  /** The error for a response with an error status. */
  refusal(answer: Answer): HttpError | Retriable {
    const { status } = answer;
    const waitMs = retryAfterMs(answer.header('retry-after'));
    const without = answer.hadHeaders ? '' : ' to a request without the given headers, which are not sent to the target of a redirect';
    const wait = waitMs === 0 ? '' : `, and asks to wait ${Math.ceil(waitMs / 1000)} s`;
    const error = this.error('BLOOM_HTTP_STATUS', `the server answers ${status}${without}${wait}`, { status });
    return status < 500 && !TEMPORARY.includes(status) ? error : new Retriable(error, waitMs);
  }

  /** Runs `work` with a signal that is aborted by the caller's signal, by `close`, and after `stallMs` without progress. */
  async #ending<T>(
    signal: Signal | undefined,
    stallMs: number,
    work: (signal: Signal, onProgress: () => void) => Promise<T>,
  ): Promise<T> {
    this.mustGoOn(signal);
    const controller = new AbortController();
    const end = (reason: unknown): void => controller.abort(reason);
    const stall = (): void => end(this.#stalled(`nothing arrived for ${stallMs} ms`));
    let timer = startTimer(stall, stallMs);
    const onProgress = (): void => {
      stopTimer(timer);
      timer = startTimer(stall, stallMs);
    };
    const endWait = signal && onAbort(signal, () => end(signal.reason));
    this.#ends.add(end);
    try {
      const result = await untilAborted(work(controller.signal, onProgress), controller.signal);
      if (this.#isClosed) throw closedError();
      return result;
    } catch (error) {
      // Stops the transfer of a response that is no longer wanted.
      end(error);
      throw error;
    } finally {
      stopTimer(timer);
      endWait?.();
      this.#ends.delete(end);
    }
  }

  async #send(parts: RequestParts, signal: Signal, onProgress: () => void): Promise<RoutedResponse> {
    const from = async (route: Route): Promise<RoutedResponse> => {
      const found = await this.#redirects.follow(route, async (address, callers, redirect) => {
        const { method, headers } = parts;
        const response = await this.#fetched(address, { method, headers: { ...callers, ...headers }, signal, redirect });
        onProgress();
        return response;
      });
      if (found === undefined) throw this.error('BLOOM_HTTP_FAILED', 'too many redirects');
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
    // A fetch that ignores its signal may still respond after an abort.
    if (signal.aborted) discard(response);
    throwIfAborted(signal);
    return response;
  }

  /** Throws when a body arrives too slowly. */
  #watch(onProgress: () => void): (received: number) => void {
    const start = Date.now();
    return (received) => {
      const ms = Date.now() - start;
      if (ms > this.#stallMs && received * 1000 < ms * MIN_BYTES_PER_SECOND) throw this.#stalled(`only ${numberOf(received, 'byte')} arrived in ${ms} ms`);
      onProgress();
    };
  }

  #stalled(problem: string): Retriable {
    return new Retriable(this.error('BLOOM_HTTP_STALLED', `the server stalls: ${problem}`));
  }
}

/** The entries of a Headers or a Map are no properties, so none of them would be sent. */
function mustBeHeaders(headers: unknown): void {
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) throw new TypeError(`headers must be an object of names and values, got ${kindOf(headers)}`);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw new TypeError(`headers must have strings as values, got ${kindOf(value)} for ${name}`);
  }
}

function closedError(): TypeError {
  return new TypeError('the source is closed');
}

