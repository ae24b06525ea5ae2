import type { Signal } from '@bloom/bytes';
import type { HttpResponse } from './answer.js';

/** The part of `fetch` that is needed. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly signal: Signal;
    /** `manual` when the caller's headers are sent: a redirect must not carry them to another origin. */
    readonly redirect: 'follow' | 'manual';
  },
) => Promise<HttpResponse>;

const forwarding = new WeakSet<Fetch>();

/** Marks a function that only passes requests on to the host's `fetch`, for example to count them: it adds no secrets of its own. */
export function asHostFetch(fetch: Fetch): Fetch {
  forwarding.add(fetch);
  return fetch;
}

/** Whether requests are sent by the host's `fetch`, without secrets that the caller's function adds. */
export function isHostFetch(fetch: Fetch | undefined): boolean {
  return fetch === undefined || forwarding.has(fetch);
}
