import { discard, type HttpResponse } from './answer.js';

/** Where requests go. */
export interface Route {
  readonly address: string;
  /** Whether that is at the origin that was opened: the caller's headers go to no other. */
  readonly isTrusted: boolean;
}

/** An answer that is no redirect, and where it came from. */
export interface RoutedResponse {
  readonly response: HttpResponse;
  readonly route: Route;
}

/** Sends one request. */
export type Send = (address: string, headers: Readonly<Record<string, string>>, redirect: 'follow' | 'manual') => Promise<HttpResponse>;

/** As many as `fetch` follows. */
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
 * Follows the redirects of one URL, and gives the caller's headers to that URL's origin alone.
 *
 * On the way to another origin `fetch` takes away only Authorization and Cookie. So where the caller gives headers, it is
 * told not to follow. In most hosts it then says where the redirect leads, and the next request goes there, with the
 * headers or without. A page is not told: the answer is opaque, with status 0. There `fetch` follows without the headers,
 * and where that is refused at the same origin in the end, that address is asked again with them.
 */
export class Redirects {
  readonly start: Route;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #hasHeaders: boolean;
  /** A fetch of the caller's may add secrets of its own: it gets no address of another origin. */
  readonly #isOwnFetch: boolean;
  readonly #origin: string | undefined;

  /** @throws TypeError for an address or headers that the host's `fetch` would refuse. */
  constructor(url: string, headers: Readonly<Record<string, string>>, isOwnFetch: boolean) {
    let absolute = url;
    try {
      // fetch would refuse them only later, as it does when the network is down. In a page, `url` may be relative.
      absolute = new Request(url, { headers }).url;
    } catch (cause) {
      if (isOwnFetch) throw new TypeError(`url or headers: ${(cause as Error).message}`, { cause });
    }
    this.start = { address: isOwnFetch ? absolute : url, isTrusted: true };
    this.#headers = headers;
    this.#hasHeaders = Object.keys(headers).length > 0;
    this.#isOwnFetch = isOwnFetch;
    this.#origin = parsed(absolute)?.origin;
  }

  /** Whether requests to `route` have all of the caller's headers. */
  isTold({ isTrusted }: Route): boolean {
    return isTrusted || !this.#hasHeaders;
  }

  /** Sends a request to `route` and to wherever that leads; undefined when it leads on without end. */
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
        const isMissingHeaders = response.status >= 400 && this.#hasHeaders && end.isTrusted && end.address !== route.address;
        if (!isMissingHeaders) return { response, route: end };
        discard(response);
        route = end;
      }
    }
    return undefined;
  }

  /** Where an answer leads that `fetch` was not to follow; undefined when it is no redirect. */
  #next({ address }: Route, { status, url, headers }: HttpResponse): Route | undefined {
    if (status === 0) return { address, isTrusted: false };
    const location = STATUSES.includes(status) ? headers.get('location') : null;
    if (location === null) return undefined;
    const target = parsed(location, url === undefined || url === '' ? address : url);
    if (target === undefined) return { address, isTrusted: false };
    const isTrusted = target.origin === this.#origin;
    return { address: isTrusted || this.#isOwnFetch ? target.href : address, isTrusted };
  }

  /** Where an answer came from that `fetch` followed redirects to. */
  #end(route: Route, { url }: HttpResponse): Route {
    if (!this.#isOwnFetch || url === undefined || url === '') return route;
    return url === route.address ? route : { address: url, isTrusted: parsed(url)?.origin === this.#origin };
  }
}

/** A URL of HTTP: a server must not lead to a file of this machine, which some hosts' `fetch` would read. */
function parsed(url: string, base?: string): Url | undefined {
  try {
    const target = new URL(url, base);
    return /^https?:$/.test(target.protocol) ? target : undefined;
  } catch {
    return undefined;
  }
}
