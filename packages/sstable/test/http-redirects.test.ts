// Which server gets which requests and headers when one redirects to another.
import { Table } from '@bloom/sstable';
import { type Fetch, HttpError, type HttpResponse, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { asHostFetch } from '@bloom/sstable/internal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameEntries } from './entries.js';
import { StaticServer } from './static-server.js';

const entries = numberedEntries(3000, 80);
const file = buildTable(entries, { compression: 'none' });

/** The server that is opened, and a server of another origin that also has the file. */
let first: StaticServer;
let second: StaticServer;
beforeEach(async () => {
  first = await StaticServer.start(file);
  second = await StaticServer.start(file);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await first.stop();
  await second.stop();
});

const secrets = { 'x-api-key': 'secret', authorization: 'Bearer secret', cookie: 'session=secret' };

/** Lets `server` redirect every path except `/moved…` to `location`. */
function redirect(server: StaticServer, location: () => string, status = 302): void {
  server.misbehave = ({ path }, response) => {
    if (path.startsWith('/moved')) return false;
    response.writeHead(status, { location: location() }).end();
    return true;
  };
}

/** Opens the table, and reads all of it and some keys. The servers record the requests. */
async function readAll(options: HttpSourceOptions = {}): Promise<Table> {
  const table = await Table.open(await HttpSource.open(first.url, { retryDelayMs: 1, ...options }), { cache: null });
  expect(await table.get(entries[1500]![0])).toEqual(entries[1500]![1]);
  expect(sameEntries(await collect(table), entries)).toBe(true);
  return table;
}

/** The secrets that a server got in any request. */
function leaked(server: StaticServer): string[] {
  return server.requests.flatMap(({ headers }) => Object.values(headers).filter((value) => String(value).includes('secret'))) as string[];
}

describe('a redirect to another origin', () => {
  test.each([301, 302, 303, 307, 308])('with %d is followed once, and later requests go to its target', async (status) => {
    redirect(first, () => second.url, status);
    await readAll();
    expect(first.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(second.requests.length).toBeGreaterThan(3);
  });

  test.each([301, 302, 303, 307, 308])('with %d does not send the caller’s headers there', async (status) => {
    redirect(first, () => second.url, status);
    await readAll({ headers: secrets });
    expect(leaked(first)).toHaveLength(3);
    expect(leaked(second)).toEqual([]);
    expect(first.requests.map(({ method }) => method)).toEqual(['GET']);
    expect(second.requests.length).toBeGreaterThan(3);
  });

  test('with an address that is relative but names another host does not send the headers there', async () => {
    redirect(first, () => second.url.replace('http:', ''));
    await readAll({ headers: secrets });
    expect(leaked(second)).toEqual([]);
  });

  test('that leads back to the first origin sends the headers only there, if it requires them', async () => {
    const home = new URL('/moved.ldb', first.url).href;
    redirect(first, () => second.url);
    redirect(second, () => home);
    const { misbehave } = first;
    first.misbehave = (request, response, number) => {
      if (request.path.startsWith('/moved') && request.headers['x-api-key'] !== 'secret') return Boolean(response.writeHead(401).end());
      return misbehave(request, response, number);
    };
    await readAll({ headers: secrets });
    expect(leaked(second)).toEqual([]);
    // Later requests go directly to the target.
    expect(second.requests).toHaveLength(1);
    expect(first.requests.filter(({ path }) => path !== '/moved.ldb')).toHaveLength(1);
  });

  test('whose target expires, as signed addresses do, is followed again', async () => {
    let signature = 0;
    redirect(first, () => `${second.url}?signature=${++signature}`);
    second.misbehave = ({ path }, response) => !path.endsWith(`=${signature}`) && Boolean(response.writeHead(403).end());
    const table = await readAll({ headers: secrets });
    for (const [i, [key, value]] of entries.filter((_, j) => j % 500 === 250).entries()) {
      if (i % 2 === 0) signature += 100;
      expect(await table.get(key)).toEqual(value);
    }
    expect(leaked(second)).toEqual([]);
    expect(first.requests.length).toBeGreaterThan(1);
  });

  test('whose target refuses the request causes an error that names only the address that was opened', async () => {
    redirect(first, () => `${second.url}?signature=1`);
    const source = await HttpSource.open(first.url);
    second.misbehave = (_, response) => Boolean(response.writeHead(403).end());
    const error = await rejection(source.read(0, 10));
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 403, url: first.url });
    expect((error as Error).message).not.toContain('signature');
  });

  test('whose target fails is retried from the address that was opened', async () => {
    const third = await StaticServer.start(file);
    redirect(first, () => second.url);
    const table = await Table.open(await HttpSource.open(first.url, { retryDelayMs: 1 }), { cache: null });
    second.misbehave = (_, response) => Boolean(response.destroy());
    redirect(first, () => third.url);
    expect(await table.get(entries[700]![0])).toEqual(entries[700]![1]);
    expect(third.requests.length).toBeGreaterThan(0);
    await third.stop();
  });

  test('to another version of the file causes an error, not a mixture of both', async () => {
    redirect(first, () => second.url);
    const source = await HttpSource.open(first.url, { retryDelayMs: 1 });
    second.etag = '"two"';
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });
});

describe('a redirect within the origin', () => {
  test.each([301, 302, 303, 307, 308])('with %d keeps the headers, and later requests go to its target', async (status) => {
    redirect(first, () => '/moved.ldb', status);
    await readAll({ headers: secrets });
    expect(leaked(first)).toHaveLength(3 * first.requests.length);
    expect(first.requests.filter(({ path }) => path !== '/moved.ldb')).toHaveLength(1);
  });
});

describe('a redirect without a valid target', () => {
  test.each([
    ['a redirect loop', () => first.url],
    ['a file of this machine', () => 'file:///etc/hostname'],
    ['to data', () => 'data:text/plain,hello'],
    ['an address that cannot be parsed', () => 'http://['],
  ])('%s is an error, with headers and without', async (_, location) => {
    redirect(first, location);
    for (const headers of [{}, secrets]) {
      first.requests.length = 0;
      const error = await rejection(HttpSource.open(first.url, { headers, retries: 1, retryDelayMs: 1 }));
      expect(error).toMatchObject({ name: 'HttpError', code: 'BLOOM_HTTP_FAILED', url: first.url });
      expect(first.requests.length).toBeLessThan(90);
    }
  });

  test('because it has no address causes the error for its status', async () => {
    first.misbehave = (_, response) => Boolean(response.writeHead(302).end());
    for (const headers of [{}, secrets]) {
      expect(await rejection(HttpSource.open(first.url, { headers }))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 302 });
    }
  });
});

describe('a fetch that the caller passes', () => {
  const addresses: string[] = [];
  /** Adds its own secret to every request. */
  const signing: Fetch = (address, init) => {
    addresses.push(address);
    return fetch(address, { ...init, headers: { ...init.headers, authorization: 'Bearer secret' } });
  };
  beforeEach(() => {
    addresses.length = 0;
  });

  test.each([
    ['without headers', {}],
    ['with headers', { 'x-api-key': 'secret' }],
  ])('%s is never called with an address of another origin', async (_, headers) => {
    redirect(first, () => second.url);
    await readAll({ fetch: signing, headers });
    expect(new Set(addresses)).toEqual(new Set([first.url]));
    expect(leaked(first).length).toBeGreaterThan(3);
    expect(leaked(second)).toEqual([]);
  });

  test('follows within the origin', async () => {
    redirect(first, () => '/moved.ldb');
    await readAll({ fetch: signing, headers: { 'x-api-key': 'secret' } });
    expect(new Set(addresses)).toEqual(new Set([first.url, new URL('/moved.ldb', first.url).href]));
    expect(leaked(first)).toHaveLength(2 * first.requests.length);
  });
});

describe('a function that only passes requests on to the host’s fetch', () => {
  test('is called with the target of a redirect to another origin, without the headers', async () => {
    redirect(first, () => second.url);
    const addresses: string[] = [];
    const counting = asHostFetch((address, init) => {
      addresses.push(address);
      return fetch(address, init);
    });
    await readAll({ fetch: counting, headers: secrets });
    expect(new Set(addresses)).toEqual(new Set([first.url, second.url]));
    expect(first.requests).toHaveLength(1);
    expect(leaked(second)).toEqual([]);
  });
});

// A page cannot see the target, as tooling/browser-tests shows for Chromium.
describe('when the target of a redirect is hidden', () => {
  beforeEach(() => {
    const own = globalThis.fetch;
    vi.stubGlobal('fetch', async (url: string, init: RequestInit): Promise<HttpResponse> => {
      const response = await own(url, init);
      if (init.redirect !== 'manual' || response.status < 300 || response.status > 399) return response;
      await response.body?.cancel();
      return { status: 0, url, headers: { get: () => null }, body: null, arrayBuffer: async () => new ArrayBuffer(0) };
    });
  });

  test('another origin gets none of the headers', async () => {
    redirect(first, () => second.url);
    await readAll({ headers: secrets });
    expect(leaked(second)).toEqual([]);
    expect(second.requests.length).toBeGreaterThan(3);
    // Once with the headers, when the redirect is not followed, and once without.
    expect(first.requests).toHaveLength(2);
  });

  test('the headers are sent within the origin if it requires them', async () => {
    redirect(first, () => '/moved.ldb');
    const { misbehave } = first;
    first.misbehave = (request, response, number) => {
      if (request.path.startsWith('/moved') && request.headers['x-api-key'] !== 'secret') return Boolean(response.writeHead(401).end());
      return misbehave(request, response, number);
    };
    await readAll({ headers: secrets });
    expect(first.requests.filter(({ path }) => path !== '/moved.ldb')).toHaveLength(2);
  });

  test('the error for a target that requires the headers says why they were not sent', async () => {
    redirect(first, () => second.url);
    const { misbehave } = first;
    first.misbehave = (request, response, number) => {
      if (request.headers['x-api-key'] !== 'secret') return Boolean(response.writeHead(401).end());
      return misbehave(request, response, number);
    };
    const error = await rejection(HttpSource.open(first.url, { headers: secrets }));
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 401 });
    expect((error as Error).message).toContain('to a request without the given headers');
    expect(second.requests).toEqual([]);
  });
});
