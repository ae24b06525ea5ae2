// How long an HttpSource waits for servers that stall or send slowly, and what ends the wait: its limit, a signal, or close.
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import process from 'node:process';
import { Table } from '@bloom/sstable';
import { type Fetch, HttpSource } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from './caught.js';
import { numberedEntries, sameBytes } from './entries.js';
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
  await new Promise((resolve) => setTimeout(resolve, 5));
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

/** Sends `bytes` in parts of `partBytes`, one every `ms`, until the client disconnects. */
function drip(response: ServerResponse, bytes: Uint8Array, partBytes: number, ms: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, (sent += partBytes)));
    if (sent >= bytes.length) response.end();
    if (sent >= bytes.length || response.destroyed) clearInterval(timer);
  }, ms);
  response.on('close', () => clearInterval(timer));
}

describe('a server that stalls', () => {
  const stalls: [string, (response: ServerResponse) => unknown][] = [
    ['before its answer', () => undefined],
    [
      'after its headers',
      (response) => {
        begin(response);
        response.flushHeaders();
      },
    ],
    ['in the middle of its answer', (response) => response.write(begin(response).subarray(0, 100))],
    [
      'by a byte now and then',
      (response) => {
        drip(response, begin(response), 1, 15);
      },
    ],
  ];

  test.each(stalls)('fails after the limit: %s', async (_, stall) => {
    const source = await HttpSource.open(server.url, { stallMs: 300, retries: 1, retryDelayMs: 1 });
    server.requests.length = 0;
    server.misbehave = (__, response) => {
      stall(response);
      return true;
    };
    const start = performance.now();
    expect(await rejection(source.read(0, 4000))).toMatchObject({ name: 'HttpError', code: 'BLOOM_HTTP_STALLED', url: server.url });
    expect(performance.now() - start).toBeLessThan(3000);
    expect(server.requests).toHaveLength(2);
  });

  test.each(stalls)('is retried if it stalls once: %s', async (_, stall) => {
    const source = await HttpSource.open(server.url, { stallMs: 150, retryDelayMs: 1 });
    let isFirst = true;
    server.misbehave = (__, response) => {
      if (!isFirst) return false;
      isFirst = false;
      stall(response);
      return true;
    };
    expect(sameBytes(await source.read(500, 4000), file.subarray(500, 4500))).toBe(true);
  });

  test('for HEAD gets a request for a range', async () => {
    server.misbehave = ({ method }) => method === 'HEAD';
    expect((await HttpSource.open(server.url, { stallMs: 150 })).byteLength).toBe(file.length);
  });

  test('for every request does not block the opening forever', async () => {
    server.misbehave = () => true;
    const error = await rejection(HttpSource.open(server.url, { stallMs: 40, retries: 1, retryDelayMs: 1 }));
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
    expect(server.requests.map(({ method }) => method)).toEqual(['HEAD', 'GET', 'GET']);
  });

  test('fails even if fetch ignores its signal', async () => {
    const source = await HttpSource.open(url, { byteLength: 100, fetch: never, stallMs: 30, retries: 0 });
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
  });

  test('fails even if the body ignores the signal as well', async () => {
    const body = { cancel: never, getReader: () => ({ read: never, cancel: never }) };
    const headers = { get: () => null };
    const hanging: Fetch = async () => ({ status: 206, headers, body, arrayBuffer: never });
    const source = await HttpSource.open(url, { byteLength: 100, fetch: hanging, stallMs: 30, retries: 0 });
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
  });

  test('but sends empty chunks fails too', async () => {
    const read = (): Promise<{ done: boolean; value: Uint8Array }> =>
      new Promise((resolve) => setTimeout(() => resolve({ done: false, value: new Uint8Array(0) }), 5));
    const body = { cancel: async () => undefined, getReader: () => ({ read, cancel: async () => undefined }) };
    const hanging: Fetch = async () => ({ status: 206, headers: { get: () => null }, body, arrayBuffer: never });
    const source = await HttpSource.open(url, { byteLength: 100, fetch: hanging, stallMs: 30, retries: 0 });
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
  });

  test('is not the same as a slow server that sends 5 kB per second for longer than the limit', async () => {
    const source = await HttpSource.open(server.url, { stallMs: 500, retries: 0 });
    server.misbehave = (_, response) => {
      drip(response, begin(response), 100, 20);
      return true;
    };
    const start = performance.now();
    expect(sameBytes(await source.read(0, 4000), file.subarray(0, 4000))).toBe(true);
    expect(performance.now() - start).toBeGreaterThan(700);
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
    source.close();
    for (const error of await Promise.all(readings)) expect(error).toEqual(new TypeError('the source is closed'));
    await vi.waitFor(() => expect(left).toBe(4));
    expect(server.requests).toHaveLength(5);
  });

  test('makes later reads fail, even of a file that was sent whole, and can be called twice', async () => {
    server.misbehave = (_, response) => Boolean(response.writeHead(200, { 'content-length': file.length }).end(file));
    const source = await HttpSource.open(server.url);
    await source.read(0, 10);
    source.close();
    source.close();
    for (const length of [10, 0]) expect(await rejection(source.read(0, length))).toEqual(new TypeError('the source is closed'));
  });
});

describe('the signal of a caller', () => {
  test('ends a read at once, before the limit, with its reason', async () => {
    server.misbehave = () => true;
    const source = await HttpSource.open(server.url, { byteLength: file.length });
    for (const ms of [0, 30]) {
      const controller = new AbortController();
      const reason = { some: 'reason' };
      const reading = rejection(source.read(0, 100, controller.signal));
      setTimeout(() => controller.abort(reason), ms);
      expect(await reading).toBe(reason);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  test('of one read does not end other reads', async () => {
    const source = await HttpSource.open(server.url);
    const controller = new AbortController();
    server.misbehave = (_, response) => {
      setTimeout(() => response.end(begin(response)), 40);
      return true;
    };
    const ended = rejection(source.read(0, 10, controller.signal));
    server.misbehave = () => false;
    const others = [source.read(100, 10), source.read(200, 10, new AbortController().signal)];
    controller.abort();
    expect((await ended) as Error).toMatchObject({ name: 'AbortError' });
    expect(await Promise.all(others)).toEqual([file.slice(100, 110), file.slice(200, 210)]);
  });

  test('has no listeners left after reads that succeed, stall, fail or are redirected', async () => {
    const { signal } = new AbortController();
    const source = await HttpSource.open(server.url, { signal, stallMs: 300, retries: 1, retryDelayMs: 1 });
    const table = await Table.open(source, { signal });
    expect(table.byteLength).toBe(file.length);
    const answers: ((response: ServerResponse) => boolean)[] = [
      () => false,
      () => true,
      (response) => Boolean(response.destroy()),
      (response) => Boolean(response.writeHead(404).end()),
      (response) => Boolean(response.writeHead(503).end()),
      (response) => Boolean(response.writeHead(302, { location: '/other' }).end()),
    ];
    for (const answer of answers) {
      server.misbehave = ({ path }, response) => (path === '/other' ? false : answer(response));
      await rejection(source.read(0, 100, signal));
    }
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
