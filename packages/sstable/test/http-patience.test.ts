// How long an HttpSource waits for servers that stall or send slowly, and what ends the wait: its limit, a signal, or close.
import '@bloom/fixtures/fakeable-timers';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import process from 'node:process';
import { turns } from '@bloom/fixtures/event-loop';
import { Table } from '@bloom/sstable';
import { type Fetch, HttpSource } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries, sameBytes } from './entries.js';
import { gate } from './sources.js';
import { StaticServer } from './static-server.js';

const entries = numberedEntries(3000, 80);
const file = buildTable(entries, { compression: 'none' });

let server: StaticServer;
const unhandled: unknown[] = [];
const note = (rejected: unknown): void => void unhandled.push(rejected);
beforeEach(async () => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
  server = await StaticServer.start(file);
});
afterEach(async () => {
  await server.stop();
  await turns();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const url = 'https://example.org/table.ldb';
const never = (): Promise<never> => new Promise(() => {});

/** Begins a correct response to a request for a range. @returns the bytes to send. */
function begin(response: ServerResponse): Uint8Array {
  const [offset, length] = server.ranges.at(-1)!;
  const last = offset + length - 1;
  response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${offset}-${last}/${file.length}`, 'content-length': length });
  return file.subarray(offset, last + 1);
}

type Init = Parameters<Fetch>[1];
type Body = ConstructorParameters<typeof Response>[0];

/** A correct response to a request for a range. @param body made of the bytes of the range; by default these bytes. */
function answer({ headers, signal }: Init, body: (bytes: Uint8Array, signal: Init['signal']) => Body = (bytes) => bytes.slice()): Response {
  const [first, last] = headers.range!.slice('bytes='.length).split('-').map(Number) as [number, number];
  const contentRange = `bytes ${first}-${last}/${file.length}`;
  return new Response(body(file.subarray(first, last + 1), signal), { status: 206, headers: { 'content-range': contentRange } });
}

/** A body that gives `bytes` in parts of `partBytes`, one every `ms`, until the request is aborted. */
function drip(bytes: Uint8Array, partBytes: number, ms: number, signal: Init['signal']): ReadableStream {
  let sent = 0;
  return new ReadableStream({
    start(controller) {
      const timer = setInterval(() => {
        controller.enqueue(bytes.slice(sent, (sent += partBytes)));
        if (sent < bytes.length) return;
        clearInterval(timer);
        controller.close();
      }, ms);
      signal.addEventListener('abort', () => {
        clearInterval(timer);
        controller.error(signal.reason);
      });
    },
  });
}

/** A body of `bytes` that does not end. */
function unending(bytes: Uint8Array): ReadableStream {
  return new ReadableStream({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes.slice());
    },
  });
}

describe('a server that stalls', () => {
  const now = Date.UTC(2026, 0, 1);
  const requests: Init[] = [];
  beforeEach(() => {
    requests.length = 0;
    vi.useFakeTimers({ now });
  });
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  /** Notes the requests, and answers those that `stall` does not. */
  const fetching = (stall: (init: Init) => Promise<Response> | Response | undefined): Fetch => async (_, init) => {
    requests.push(init);
    return (await stall(init)) ?? answer(init);
  };

  /** What a promise is rejected with, and after how many milliseconds. */
  async function failure(promise: Promise<unknown>): Promise<{ error: unknown; ms: number }> {
    const failed = rejection(promise).then((error) => ({ error, ms: Date.now() - now }));
    await vi.advanceTimersByTimeAsync(10_000);
    return failed;
  }

  // The limit is 300 ms; a part that arrives every 15 ms is too slow at 315.
  const stalls: [string, (init: Init) => Promise<Response> | Response, number][] = [
    ['before its answer', never, 300],
    ['after its headers', (init) => answer(init, () => unending(new Uint8Array(0))), 300],
    ['in the middle of its answer', (init) => answer(init, (bytes) => unending(bytes.subarray(0, 100))), 300],
    ['by a byte now and then', (init) => answer(init, (bytes, signal) => drip(bytes, 1, 15, signal)), 315],
  ];

  test.each(stalls)('fails after the limit, and its request is ended: %s', async (_, stall, limit) => {
    const source = await HttpSource.open(url, { byteLength: file.length, fetch: fetching(stall), stallMs: 300, retries: 1, retryDelayMs: 1 });
    const { error, ms } = await failure(source.read(0, 4000));
    expect(error).toMatchObject({ name: 'HttpError', code: 'BLOOM_HTTP_STALLED', url });
    expect(ms).toBe(limit + 1 + limit);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  test.each(stalls)('is retried if it stalls once: %s', async (_, stall) => {
    const fetch = fetching((init) => (requests.length === 1 ? stall(init) : undefined));
    const source = await HttpSource.open(url, { byteLength: file.length, fetch, stallMs: 300, retryDelayMs: 1 });
    const reading = source.read(500, 4000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sameBytes(await reading, file.subarray(500, 4500))).toBe(true);
    expect(requests).toHaveLength(2);
  });

  test('for HEAD gets a request for a range', async () => {
    const fetch = fetching(({ method }) => (method === 'HEAD' ? never() : undefined));
    const opening = HttpSource.open(url, { fetch, stallMs: 300, tailBytes: 0 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await opening).byteLength).toBe(file.length);
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
  });

  test('for every request does not block the opening forever', async () => {
    const { error, ms } = await failure(HttpSource.open(url, { fetch: fetching(never), stallMs: 300, retries: 1, retryDelayMs: 1 }));
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'HEAD', 'GET', 'GET']);
    // Three waits are between them, of a millisecond each: no timer is shorter.
    expect(ms).toBe(4 * 300 + 3);
  });

  test('fails even if the body ignores the signal as well', async () => {
    const body = { cancel: never, getReader: () => ({ read: never, cancel: never }) };
    const headers = { get: () => null };
    const hanging: Fetch = async () => ({ status: 206, headers, body, arrayBuffer: never });
    const source = await HttpSource.open(url, { byteLength: 100, fetch: hanging, stallMs: 300, retries: 0 });
    expect(await failure(source.read(0, 10))).toMatchObject({ error: { code: 'BLOOM_HTTP_STALLED' }, ms: 300 });
  });

  test('but sends empty chunks fails too', async () => {
    const read = (): Promise<{ done: boolean; value: Uint8Array }> =>
      new Promise((resolve) => setTimeout(() => resolve({ done: false, value: new Uint8Array(0) }), 5));
    let isAborted = (): boolean => false;
    const body = {
      cancel: async () => undefined,
      // Like the body of a fetch, it fails once the request is aborted.
      getReader: () => ({ read: () => (isAborted() ? Promise.reject(new Error('aborted')) : read()), cancel: async () => undefined }),
    };
    const hanging: Fetch = async (_, { signal }) => {
      isAborted = () => signal.aborted;
      return { status: 206, headers: { get: () => null }, body, arrayBuffer: never };
    };
    const source = await HttpSource.open(url, { byteLength: 100, fetch: hanging, stallMs: 300, retries: 0 });
    expect(await failure(source.read(0, 10))).toMatchObject({ error: { code: 'BLOOM_HTTP_STALLED' }, ms: 300 });
  });

  test('is not the same as a slow server that sends 5 kB per second for longer than the limit', async () => {
    const fetch = fetching((init) => answer(init, (bytes, signal) => drip(bytes, 100, 20, signal)));
    const source = await HttpSource.open(url, { byteLength: file.length, fetch, stallMs: 500, retries: 0 });
    let ms = 0;
    const reading = source.read(0, 4000).finally(() => (ms = Date.now() - now));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sameBytes(await reading, file.subarray(0, 4000))).toBe(true);
    expect(ms).toBe(800);
  });
});

describe('close', () => {
  test('ends pending reads and their connections', async () => {
    const source = await HttpSource.open(server.url);
    let left = 0;
    const arrived = new Promise<void>((resolve) => {
      server.misbehave = (_, response) => {
        response.on('close', () => left++);
        if (server.requests.length % 2 === 0) response.write(begin(response).subarray(0, 10));
        if (server.requests.length === 5) resolve();
        return true;
      };
    });
    const readings = [0, 100, 200, 300].map((offset) => rejection(source.read(offset, 50)));
    await arrived;
    void source.close();
    for (const error of await Promise.all(readings)) expect(error).toEqual(new TypeError('the source is closed'));
    await vi.waitFor(() => expect(left).toBe(4), { timeout: 120_000 });
    expect(server.requests).toHaveLength(5);
  });

  test('makes later reads fail, even of a file that was sent whole, and can be called twice', async () => {
    server.misbehave = (_, response) => Boolean(response.writeHead(200, { 'content-length': file.length }).end(file));
    const source = await HttpSource.open(server.url);
    await source.read(0, 10);
    void source.close();
    void source.close();
    for (const length of [10, 0]) expect(await rejection(source.read(0, length))).toEqual(new TypeError('the source is closed'));
  });
});

describe('the signal of a caller', () => {
  test('ends a read at once, before the limit, with its reason', async () => {
    const source = await HttpSource.open(server.url, { byteLength: file.length });
    for (const when of ['at once', 'when the request has arrived']) {
      const { opened: arrived, open: arrive } = gate();
      server.misbehave = () => {
        arrive();
        return true;
      };
      const controller = new AbortController();
      const reason = { some: 'reason' };
      const reading = rejection(source.read(0, 100, controller.signal));
      if (when !== 'at once') await arrived;
      controller.abort(reason);
      expect(await reading).toBe(reason);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  test('of one read does not end other reads', async () => {
    const source = await HttpSource.open(server.url, { byteLength: file.length });
    const controller = new AbortController();
    const { opened: arrived, open: arrive } = gate();
    const responses: (() => void)[] = [];
    server.misbehave = (_, response) => {
      const bytes = begin(response);
      responses.push(() => response.end(bytes));
      if (responses.length === 3) arrive();
      return true;
    };
    const ended = rejection(source.read(0, 10, controller.signal));
    const others = [source.read(100, 10), source.read(200, 10, new AbortController().signal)];
    await arrived;
    controller.abort();
    expect((await ended) as Error).toMatchObject({ name: 'AbortError' });
    for (const respond of responses) respond();
    expect(await Promise.all(others)).toEqual([file.slice(100, 110), file.slice(200, 210)]);
  });

  test('has no listeners left after reads that succeed, stall, fail or are redirected', async () => {
    const { signal } = new AbortController();
    const source = await HttpSource.open(server.url, { signal, retries: 1, retryDelayMs: 1 });
    const table = await Table.open(source, { signal });
    expect(table.byteLength).toBe(file.length);
    const answers: ((response: ServerResponse) => boolean)[] = [
      () => false,
      (response) => Boolean(response.destroy()),
      (response) => Boolean(response.writeHead(404).end()),
      (response) => Boolean(response.writeHead(503).end()),
      (response) => Boolean(response.writeHead(302, { location: '/other' }).end()),
    ];
    for (const answer of answers) {
      server.misbehave = ({ path }, response) => (path === '/other' ? false : answer(response));
      await rejection(source.read(0, 100, signal));
    }
    const impatient = await HttpSource.open(url, { byteLength: 100, fetch: never, stallMs: 1, retries: 1, retryDelayMs: 1 });
    expect(await rejection(impatient.read(0, 10, signal))).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

test.each([
  ['stallMs', { stallMs: 0 }],
  ['stallMs', { stallMs: Infinity }],
  ['stallMs', { stallMs: 1.5 }],
])('rejects a wrong %s by name: %o', async (name, options) => {
  const error = await rejection(HttpSource.open(url, options));
  expect(error).toBeInstanceOf(RangeError);
  expect((error as Error).message).toContain(name);
});
