/**
 * Stores the files of the page, so that it works offline. Files that the user opens by URL are never stored.
 *
 * The worker of a newer build waits until no page of the older one is open, because such a page still loads views and workers of its
 * own build, and shares the database in the browser with other tabs. A page that has not started yet asks it to take over, which it
 * does if no other page is open.
 */

/** The part of a service worker's scope that is used, because TypeScript has types for pages or for workers, not for both. */
interface Scope {
  readonly registration: { readonly scope: string };
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { readonly includeUncontrolled: boolean }): Promise<readonly Page[]>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'message', listener: (event: { readonly source: Page; waitUntil(done: Promise<unknown>): void }) => void): void;
  addEventListener(type: 'install' | 'activate', listener: (event: { waitUntil(done: Promise<unknown>): void }) => void): void;
  addEventListener(type: 'fetch', listener: (event: { readonly request: Request; respondWith(response: Promise<Response>): void }) => void): void;
}

interface Page {
  readonly url: string;
  postMessage(message: string): void;
}

/** The build puts the names of all files here, and a hash of them all. */
declare const __FILES__: readonly string[];
declare const __VERSION__: string;

const scope = globalThis as unknown as Scope;
/** Other copies of the page on the same origin have caches of their own. */
const PREFIX = `bloom-explorer ${scope.registration.scope} `;
const CACHE = `${PREFIX}${__VERSION__}`;
const URLS = __FILES__.map((file) => new URL(file, scope.registration.scope).href);

scope.addEventListener('install', (event) => event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(URLS))));

scope.addEventListener('message', (event) => event.waitUntil(takeOver(event.source)));

scope.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name))))
      .then(() => scope.clients.claim()),
  );
});

scope.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.url.startsWith(scope.registration.scope) && (request.method === 'GET' || request.method === 'HEAD')) event.respondWith(answer(request));
});

async function takeOver(from: Page): Promise<void> {
  const pages = await scope.clients.matchAll({ includeUncontrolled: true });
  if (pages.filter(({ url }) => url.startsWith(scope.registration.scope)).length > 1) from.postMessage('another page is open');
  else await scope.skipWaiting();
}

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const url = request.url.split(/[?#]/)[0]!;
  const kept = await cache.match(url);
  if (kept === undefined) {
    // A sample folder has only the stored files. Requests for other logs get a 404, online and offline.
    if (url.startsWith(new URL('samples/', scope.registration.scope).href) && !URLS.includes(url)) return new Response(null, { status: 404 });
    return fetch(request);
  }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '');
  if (range === null && request.method === 'GET') return kept;
  const bytes = await kept.arrayBuffer();
  if (request.method === 'HEAD') return new Response(null, { headers: { 'content-length': String(bytes.byteLength) } });
  const start = Number(range![1]);
  const part = bytes.slice(start, Number(range![2]) + 1);
  return new Response(part, {
    status: 206,
    headers: { 'content-length': String(part.byteLength), 'content-range': `bytes ${start}-${start + part.byteLength - 1}/${bytes.byteLength}` },
  });
}
