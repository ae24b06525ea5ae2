import { discard, type HttpResponse } from './answer.js';

/** Where requests go. */
export interface Route {
  readonly address: string;
  /** Whether it has the origin that was opened. The caller's headers are never sent to another one. */
  readonly isTrusted: boolean;
}

/** The response at the end of all redirects, and where it came from. */
export interface RoutedResponse {
  readonly response: HttpResponse;
  readonly route: Route;
}

/** Sends one request. */
export type Send = (address: string, headers: Readonly<Record<string, string>>, redirect: 'follow' | 'manual') => Promise<HttpResponse>;

/** The limit of `fetch`. */
const MAX_REDIRECTS = 20;
const STATUSES: readonly number[] = [301, 302, 303, 307, 308];

interface Url {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
}
declare const URL: new (url: string, base?: string) => Url;
declare const Request: new (url: string, init: { readonly headers: Readonly<Record<string, string>> }) => { readonly url: string };

/**
 * Follows the redirects of one URL without sending the caller's headers to another origin.
 *
 * When `fetch` follows a redirect to another origin, it drops Authorization and Cookie and passes all other headers on,
 * API keys included. So requests with the caller's headers use `redirect: 'manual'`. Outside browsers the response then has
 * a Location, and the next request goes there, without the headers if the origin is another one. In a browser the response
 * is opaque, with status 0: there the request is repeated without the headers and `fetch` follows the redirect. If that
 * ends at the same origin with an error status, the final address is requested once more with the headers.
 */
export class Redirects {
  readonly start: Route;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #hasHeaders: boolean;
  /** A fetch given by the caller may add secrets of its own, so it is never called with another origin. */
  readonly #isHostFetch: boolean;
  readonly #origin: string | undefined;

  /** @throws TypeError for an address or headers that the host's `fetch` rejects. */
  constructor(url: string, headers: Readonly<Record<string, string>>, isHostFetch: boolean) {
    let absolute = url;
    try {
      // fetch would reject them later, with the same TypeError as a network failure. In a page, `url` may be relative.
      absolute = new Request(url, { headers }).url;
    } catch (cause) {
      if (isHostFetch) throw new TypeError(`url or headers: ${(cause as Error).message}`, { cause });
    }
    this.start = { address: isHostFetch ? absolute : url, isTrusted: true };
    this.#headers = headers;
    this.#hasHeaders = Object.keys(headers).length > 0;
    this.#isHostFetch = isHostFetch;
    this.#origin = parsed(absolute)?.origin;
  }

  /** Whether requests to `route` carry the caller's headers, if there are any. */
  sendsHeaders({ isTrusted }: Route): boolean {
    return isTrusted || !this.#hasHeaders;
  }

  /** Sends a request to `route` and follows redirects from there; undefined when there are too many. */
  async follow(route: Route, send: Send): Promise<RoutedResponse | undefined> {
    for (let sent = 0; sent <= MAX_REDIRECTS; sent++) {
      if (this.#hasHeaders && route.isTrusted) {
        const response = await send(route.address, this.#headers, 'manual');
        const next = this.#next(route, response);
        if (next === undefined) return { response, route };
        discard(response);
        route = next;
      } else {
        const response = await send(route.address, {}, 'follow');
        const end = this.#end(route, response);
        if (response.status < 400 || !this.#hasHeaders || !end.isTrusted) return { response, route: end };
        discard(response);
        route = end;
      }
    }
    return undefined;
  }

  /** Where a response to a `manual` request redirects to; undefined when it is not a redirect. */
  #next({ address }: Route, { status, url, headers }: HttpResponse): Route | undefined {
    if (status === 0) return { address, isTrusted: false };
    const location = STATUSES.includes(status) ? headers.get('location') : null;
    if (location === null) return undefined;
    const target = parsed(location, url === undefined || url === '' ? address : url);
    if (target === undefined) return { address, isTrusted: false };
    const isTrusted = target.origin === this.#origin;
    return { address: isTrusted || this.#isHostFetch ? target.href : address, isTrusted };
  }

  /** Where a response to a `follow` request came from. */
  #end(route: Route, { url }: HttpResponse): Route {
    if (!this.#isHostFetch || url === undefined || url === '') return route;
    return url === route.address ? route : { address: url, isTrusted: parsed(url)?.origin === this.#origin };
  }
}

/** Only HTTP: some hosts' `fetch` reads local files, and a server must not redirect to one. */
function parsed(url: string, base?: string): Url | undefined {
  try {
    const target = new URL(url, base);
    return /^https?:$/.test(target.protocol) ? target : undefined;
  } catch {
    return undefined;
  }
}
