import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type KeyValue, seeded } from '@bloom/fixtures';
import { CorruptionError, Table } from '@bloom/sstable';
import { verifyTable } from '@bloom/sstable/inspect';
import { type Fetch, HttpError, type HttpResponse, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { AwsClient } from 'aws4fetch';
import S3rver from 's3rver';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';
import { StaticServer } from './static-server.js';

/** About 600 KB in 123 blocks, which is more than the tail that is read at once. */
const entries = numberedEntries(6000, 80);
const file = buildTable(entries, { compression: 'none' });

let server: StaticServer;
beforeEach(async () => {
  server = await StaticServer.start(file);
});
afterEach(() => server.stop());

const fast: HttpSourceOptions = { retryDelayMs: 1 };

/** Opens the table and clears the record of requests. */
async function openTable(options: HttpSourceOptions = fast): Promise<Table> {
  const table = await Table.open(await HttpSource.open(server.url, options));
  server.requests.length = 0;
  return table;
}

/** Keys that are usually in different blocks. */
function absentKeys(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => utf8(`key ${String(i * 6).padStart(6, '0')}x`));
}

function isHttpError(code: string, status?: number): unknown {
  return expect.objectContaining({ code, name: 'HttpError', ...(status !== undefined && { status }) });
}

describe('a table on a static server', () => {
  test('takes one request to open, for the end of the file, which has footer, index and filters', async () => {
    const table = await Table.open(await HttpSource.open(server.url));
    expect(server.requests.map(({ method, range }) => `${method} ${range}`)).toEqual(['GET bytes=-65536']);
    expect(table.byteLength).toBe(file.length);
    expect(table.filterStatus.state).toBe('used');
  });

  test('takes two requests to open if it begins with HEAD', async () => {
    await Table.open(await HttpSource.open(server.url, { tailBytes: 0 }));
    expect(server.requests.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
    expect(server.ranges).toEqual([[file.length - 65536, 65536]]);
  });

  test('takes one request to open if its length is known', async () => {
    const source = await HttpSource.open(new URL(server.url), { byteLength: file.length });
    expect(source).toMatchObject({ byteLength: file.length, name: server.url });
    await Table.open(source);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('takes one request for a present key, of its block only, and none for the next key in the block', async () => {
    const table = await openTable();
    const [key, value] = entries[1000]!;
    expect(await table.get(key)).toEqual(value);
    expect(server.requests).toHaveLength(1);
    expect(server.ranges[0]![1]).toBeLessThan(4400);
    expect(await table.get(entries[1001]![0])).toEqual(entries[1001]![1]);
    expect(server.requests).toHaveLength(1);
  });

  test('takes no requests for 1000 absent keys, except for false positives', async () => {
    const table = await openTable();
    for (const key of absentKeys(1000)) expect(await table.get(key)).toBeUndefined();
    const { filterNegatives, filterFalsePositives } = table.stats;
    expect(filterNegatives + filterFalsePositives).toBe(1000);
    expect(server.requests.length).toBeLessThanOrEqual(filterFalsePositives);
    expect(server.requests.length).toBeLessThan(30);
  });

  test('takes one request for many keys in adjacent blocks', async () => {
    const table = await openTable();
    const some = entries.slice(2000, 2300);
    const values = await table.getMany(some.map(([key]) => key));
    expect(values.every((value, i) => sameBytes(value, some[i]![1]))).toBe(true);
    expect(table.stats.blockReads).toBeGreaterThan(5);
    expect(server.requests).toHaveLength(1);
  });

  test('takes far fewer requests than blocks for a scan, in both directions', async () => {
    for (const reverse of [false, true]) {
      const table = await openTable();
      const all = await collect(table.entries({ reverse }));
      expect(sameEntries(reverse ? all.reverse() : all, entries)).toBe(true);
      expect(table.blockCount).toBeGreaterThan(100);
      expect(server.requests.length).toBeLessThan(15);
      const bytes = server.ranges.reduce((sum, [, length]) => sum + length, 0);
      expect(bytes).toBeLessThan(file.length);
    }
  });

  test('gets requests for absolute ranges inside the file, except for the first one', async () => {
    const source = await HttpSource.open(server.url, fast);
    const table = await openTable();
    await collect(table);
    await table.getMany(absentKeys(500).concat(entries.filter((_, i) => i % 50 === 0).map(([key]) => key)));
    expect((await verifyTable(source)).findings).toEqual([]);
    const wrong = server.requests.filter(({ range }) => !/^bytes=\d+-\d+$/.test(range ?? ''));
    expect(wrong).toEqual([]);
    expect(server.ranges.filter(([offset, length]) => offset + length > file.length)).toEqual([]);
  });

  test.each([
    ['a Headers', new Headers({ 'x-api-key': 'secret' }), 'an object of names and values, got a Headers'],
    ['a Map', new Map([['x-api-key', 'secret']]), 'an object of names and values, got a Map'],
    ['an array', [['x-api-key', 'secret']], 'an object of names and values, got an Array'],
    ['text', 'x-api-key: secret', 'an object of names and values, got string'],
    ['a value that is undefined', { 'x-api-key': undefined }, 'strings as values, got undefined for x-api-key'],
  ])('%s as headers is refused, because none of them would be sent', async (_, headers, problem) => {
    for (const fetch of [undefined, () => Promise.reject(new Error('not sent'))]) {
      const error = await rejection(HttpSource.open(server.url, { headers: headers as never, fetch }));
      expect(error).toEqual(new TypeError(`headers must ${problem.startsWith('strings') ? 'have' : 'be'} ${problem}`));
    }
    expect(server.requests).toEqual([]);
  });

  test('gets the caller’s headers with each request', async () => {
    const table = await openTable({ headers: { authorization: 'Bearer token' } });
    await table.get(entries[0]![0]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token']);
  });

  test('that is empty is refused as not a table', async () => {
    server.bytes = new Uint8Array(0);
    const source = await HttpSource.open(server.url);
    expect(source.byteLength).toBe(0);
    expect(await rejection(Table.open(source))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', file: server.url });
  });

  test('is read with the current global fetch', async () => {
    const calls: string[] = [];
    const own = globalThis.fetch;
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      calls.push(init.method!);
      return own(url, init);
    });
    await openTable();
    vi.unstubAllGlobals();
    expect(calls).toEqual(['GET']);
  });
});

describe('a server that does not answer HEAD', () => {
  test.each([403, 405, 501 - 100, 400])('except with %d gets a request for the first byte', async (status) => {
    server.misbehave = ({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(status).end());
    const source = await HttpSource.open(server.url, { ...fast, tailBytes: 0 });
    expect(source.byteLength).toBe(file.length);
    expect(server.ranges).toEqual([[0, 1]]);
    expect(server.requests).toHaveLength(2);
  });

  test('with the length of the file, or with the length of its gzip, gets a request for the first byte', async () => {
    const compressed = gzipSync(file);
    for (const headers of [{}, { 'content-encoding': 'gzip', 'content-length': compressed.length, etag: '"one-gzip"' }]) {
      server.misbehave = ({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(200, headers).end());
      const source = await HttpSource.open(server.url, { tailBytes: 0 });
      expect(source.byteLength).toBe(file.length);
      const table = await Table.open(source);
      expect(await table.get(entries[5]![0])).toEqual(entries[5]![1]);
    }
  });

  test('and has an empty file can report that with a 416', async () => {
    server.bytes = new Uint8Array(0);
    server.misbehave = ({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(405).end());
    expect((await HttpSource.open(server.url, { tailBytes: 0 })).byteLength).toBe(0);
  });

  test('and sends no length in Content-Range causes an error', async () => {
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') response.writeHead(405).end();
      else response.writeHead(206, { 'content-range': 'bytes 0-0/*' }).end('a');
      return true;
    };
    expect(await rejection(HttpSource.open(server.url, { tailBytes: 0 }))).toEqual(isHttpError('BLOOM_HTTP_NO_LENGTH'));
  });
});

/** Sends `limit` bytes, or until the client disconnects. @returns how many were sent. */
function flood(response: ServerResponse, limit: number): () => number {
  const part = Buffer.alloc(2 ** 16);
  let sent = 0;
  const more = (): void => {
    while (sent < limit && !response.destroyed) {
      sent += part.length;
      if (!response.write(part)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
  return () => sent;
}

describe('a server without ranges', () => {
  test('sends a small file whole, and only once', async () => {
    server.misbehave = ({ method }, response) =>
      method === 'GET' && Boolean(response.writeHead(200, { ...server.headers(), 'content-length': file.length }).end(file));
    const table = await Table.open(await HttpSource.open(server.url));
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(await table.get(entries[9]![0])).toEqual(entries[9]![1]);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('sends a small file whole even without HEAD', async () => {
    server.misbehave = ({ method }, response) =>
      Boolean(method === 'HEAD' ? response.writeHead(405).end() : response.writeHead(200, { 'content-length': file.length }).end(file));
    const table = await Table.open(await HttpSource.open(server.url, { tailBytes: 0 }));
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  test('and with a large file is refused, and the file is not downloaded', async () => {
    let sent = (): number => 0;
    const byteLength = 2 ** 30;
    server.misbehave = ({ method }, response) => {
      response.writeHead(200, { ...server.headers(), 'content-length': byteLength });
      if (method === 'HEAD') response.end();
      else sent = flood(response, byteLength);
      return true;
    };
    const source = await HttpSource.open(server.url, fast);
    expect(source.byteLength).toBe(byteLength);
    expect(await rejection(Table.open(source))).toEqual(isHttpError('BLOOM_HTTP_NO_RANGES', 200));
    expect(sent()).toBeLessThan(16 * 2 ** 20);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'HEAD', 'GET']);
  });

  test('is refused if the file exceeds the caller’s limit', async () => {
    server.misbehave = ({ method }, response) =>
      method === 'GET' && Boolean(response.writeHead(200, { ...server.headers(), 'content-length': file.length }).end(file));
    const tight = { ...fast, maxWholeBytes: file.length - 1 };
    const error = await rejection(Table.open(await HttpSource.open(server.url, tight)));
    expect(error).toEqual(isHttpError('BLOOM_HTTP_NO_RANGES', 200));
    const wide = { ...fast, maxWholeBytes: file.length };
    expect((await Table.open(await HttpSource.open(server.url, wide))).byteLength).toBe(file.length);
  });

  test('that sends bytes without end and without a length is soon disconnected', async () => {
    let sent = (): number => 0;
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') return false;
      response.writeHead(200, server.headers());
      sent = flood(response, 64 * 2 ** 20);
      return true;
    };
    const error = await rejection(Table.open(await HttpSource.open(server.url, { retries: 0 })));
    expect(error).toBeInstanceOf(HttpError);
    expect(sent()).toBeLessThan(24 * 2 ** 20);
  });
});

describe('a server that sends more than requested', () => {
  test('without end is soon disconnected', async () => {
    let sent = (): number => 0;
    server.misbehave = ({ method, range }, response) => {
      if (method === 'HEAD') return false;
      response.writeHead(206, { ...server.headers(), 'content-range': range!.replace('=', ' ') + `/${file.length}` });
      sent = flood(response, 64 * 2 ** 20);
      return true;
    };
    const error = await rejection(Table.open(await HttpSource.open(server.url, { retries: 0 })));
    expect(error).toBeInstanceOf(HttpError);
    expect(sent()).toBeLessThan(24 * 2 ** 20);
  });
});

describe('a file that is replaced', () => {
  const other = buildTable(numberedEntries(5900, 80), { compression: 'none' });

  test.each([
    ['with another ETag', () => (server.etag = '"two"')],
    ['that loses its ETag', () => (server.etag = undefined)],
    ['with another length', () => (server.bytes = other)],
    [
      'with a 412',
      () =>
        (server.misbehave = (_, response) => Boolean(response.writeHead(412).end())),
    ],
    ['by one so short that the range is outside', () => (server.bytes = new Uint8Array(5))],
  ])('%s causes an error, not a mixture of both', async (_, replace) => {
    const table = await openTable();
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
    server.requests.length = 0;
    replace();
    expect(await rejection(table.get(entries[3000]![0]))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
    expect(await rejection(collect(table))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
    // There is no retry, because the file will not change back.
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });

  test('is detected by its date if it has no ETag', async () => {
    server.etag = undefined;
    const table = await openTable();
    server.lastModified = 'Thu, 22 Oct 2015 07:28:00 GMT';
    expect(await rejection(table.get(entries[0]![0]))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
  });

  test('is detected between HEAD and the first range by its length', async () => {
    server.misbehave = ({ method }) => {
      if (method === 'GET') server.bytes = other;
      return false;
    };
    expect(await rejection(Table.open(await HttpSource.open(server.url, { ...fast, tailBytes: 0 })))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
  });

  test('is detected after a HEAD with another ETag than the ranges', async () => {
    const source = await headOfOtherVersion();
    await source.read(0, 10);
    server.etag = '"two"';
    expect(await rejection(source.read(0, 10))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
  });

  test('is not assumed of a server whose HEAD has another ETag than the ranges', async () => {
    expect(sameEntries(await collect(await Table.open(await headOfOtherVersion())), entries)).toBe(true);
  });

  function headOfOtherVersion(): Promise<HttpSource> {
    const headers = { etag: '"head"', 'content-length': file.length };
    server.misbehave = ({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(200, headers).end());
    return HttpSource.open(server.url, { ...fast, tailBytes: 0 });
  }

  test('is not assumed where only a response that broke off was of another version', async () => {
    const source = await HttpSource.open(server.url, { ...fast, byteLength: file.length });
    let left = 1;
    server.misbehave = ({ range }, response) => {
      if (range === undefined || left-- <= 0) return false;
      response.writeHead(206, { etag: '"zero"', 'content-length': 10, 'content-range': `bytes 0-9/${file.length}` });
      response.write(file.subarray(0, 5), () => response.destroy());
      return true;
    };
    expect(await source.read(0, 10)).toEqual(new Uint8Array(file.subarray(0, 10)));
    server.etag = '"two"';
    expect(await rejection(source.read(10, 10))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
  });

  test('by the same bytes, with the same ETag, causes no error', async () => {
    const table = await openTable();
    server.bytes = file.slice();
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
  });
});

describe('a temporary failure is retried:', () => {
  /** Makes the first `times` GETs after the opening fail. */
  function failing(times: number, fail: (response: ServerResponse) => void): void {
    let left = times;
    server.misbehave = ({ method }, response) => {
      if (method !== 'GET' || left-- <= 0) return false;
      fail(response);
      return true;
    };
  }

  const passing: [string, (response: ServerResponse) => void][] = [
    ['a 500', (response) => response.writeHead(500).end('sorry')],
    ['a 503', (response) => response.writeHead(503).end()],
    ['a 429', (response) => response.writeHead(429).end()],
    ['a 408', (response) => response.writeHead(408).end()],
    ['a connection that is reset', (response) => response.destroy()],
    [
      'an answer that breaks off',
      (response) => {
        const [offset, length] = server.ranges.at(-1)!;
        const contentRange = `bytes ${offset}-${offset + length - 1}/${file.length}`;
        response.writeHead(206, { ...server.headers(), 'content-range': contentRange, 'content-length': length });
        response.write(file.subarray(offset, offset + 10), () => response.destroy());
      },
    ],
    [
      'an answer that is shorter than its Content-Range',
      (response) => {
        const [offset, length] = server.ranges.at(-1)!;
        response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${offset}-${offset + length - 1}/${file.length}` });
        response.end(file.subarray(offset, offset + 10));
      },
    ],
    [
      'an answer that is longer than its Content-Range',
      (response) => {
        const [offset, length] = server.ranges.at(-1)!;
        response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${offset}-${offset + length - 1}/${file.length}` });
        response.end(file.subarray(offset, offset + length + 1));
      },
    ],
  ];

  test.each(passing)('%s, three times', async (_, fail) => {
    const table = await openTable();
    failing(3, fail);
    expect(await table.get(entries[4000]![0])).toEqual(entries[4000]![1]);
    expect(server.requests).toHaveLength(4);
    expect(new Set(server.requests.map(({ range }) => range)).size).toBe(1);
  });

  test.each(passing)('%s, and no fourth time', async (_, fail) => {
    const table = await openTable();
    failing(99, fail);
    const error = await rejection(table.get(entries[4000]![0]));
    expect(error).toBeInstanceOf(HttpError);
    expect((error as HttpError).code).toMatch(/^BLOOM_HTTP_(STATUS|FAILED)$/);
    expect(server.requests).toHaveLength(4);
    failing(0, fail);
    expect(await table.get(entries[4000]![0])).toEqual(entries[4000]![1]);
  });

  test('a 500 for HEAD', async () => {
    let left = 2;
    server.misbehave = (_, response) => left-- > 0 && Boolean(response.writeHead(500).end());
    await openTable();
    expect(left).toBeLessThan(0);
  });

  test.each([404, 410, 403, 400, 401, 304])('except for a %d', async (status) => {
    const table = await openTable();
    failing(99, (response) => response.writeHead(status).end());
    expect(await rejection(table.get(entries[0]![0]))).toEqual(isHttpError('BLOOM_HTTP_STATUS', status));
    expect(server.requests).toHaveLength(1);
  });

  test('except for a missing file', async () => {
    server.misbehave = (_, response) => Boolean(response.writeHead(404).end());
    expect(await rejection(HttpSource.open(server.url, fast))).toEqual(isHttpError('BLOOM_HTTP_STATUS', 404));
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('and the error for an unreachable server then has its cause', async () => {
    const { url } = server;
    await server.stop();
    const error = await rejection(HttpSource.open(url, { retries: 1, retryDelayMs: 1 }));
    expect(error).toEqual(isHttpError('BLOOM_HTTP_FAILED'));
    expect((error as HttpError).cause).toBeInstanceOf(Error);
    server = await StaticServer.start(file);
  });

  test('unless retries is 0', async () => {
    let calls = 0;
    const failed: Fetch = async () => {
      calls++;
      throw new TypeError('no network');
    };
    const source = await HttpSource.open('https://example.org/a.ldb', { fetch: failed, retries: 0, byteLength: 1000 });
    await rejection(source.read(0, 10));
    expect(calls).toBe(1);
  });
});

describe('a response with a different range', () => {
  test.each([
    ['starts elsewhere', (offset: number, length: number) => `bytes ${offset + 1}-${offset + length}/${file.length}`],
    ['starts at the first byte', (_: number, length: number) => `bytes 0-${length - 1}/${file.length}`],
  ])('that %s is refused', async (_, contentRange) => {
    const table = await openTable();
    server.misbehave = (__, response) => {
      const [offset, length] = server.ranges.at(-1)!;
      response.writeHead(206, { ...server.headers(), 'content-range': contentRange(offset, length) });
      response.end(file.subarray(0, length));
      return true;
    };
    expect(await rejection(table.get(entries[4000]![0]))).toEqual(isHttpError('BLOOM_HTTP_FAILED'));
  });

  test('whose Content-Range is hidden from the page is accepted by its length', async () => {
    const hiding: Fetch = async (url, init) => {
      const response = await fetch(url, init);
      const headers = { get: (name: string) => (name === 'content-range' || name === 'etag' ? null : response.headers.get(name)) };
      return { status: response.status, headers, body: response.body, arrayBuffer: () => response.arrayBuffer() };
    };
    const table = await openTable({ fetch: hiding });
    expect(await table.get(entries[4000]![0])).toEqual(entries[4000]![1]);
  });
});

describe('an AbortSignal', () => {
  const reason = new Error('enough');

  function hang(): Promise<unknown> {
    const arrived = new Promise((resolve) => {
      server.misbehave = () => {
        resolve(undefined);
        return true;
      };
    });
    return arrived;
  }

  test('ends an opening that hangs, with its reason, and without a retry', async () => {
    const controller = new AbortController();
    const arrived = hang();
    const opening = rejection(HttpSource.open(server.url, { signal: controller.signal }));
    await arrived;
    controller.abort(reason);
    expect(await opening).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('ends the reading of the tail', async () => {
    const source = await HttpSource.open(server.url, { tailBytes: 0 });
    const controller = new AbortController();
    const arrived = hang();
    const opening = rejection(Table.open(source, { signal: controller.signal }));
    await arrived;
    controller.abort(reason);
    expect(await opening).toBe(reason);
  });

  test('ends a scan that hangs', async () => {
    const table = await openTable();
    const controller = new AbortController();
    const arrived = hang();
    const scan = rejection(collect(table.entries({ signal: controller.signal })));
    await arrived;
    controller.abort(reason);
    expect(await scan).toBe(reason);
    server.misbehave = () => false;
    expect(await table.get(entries[0]![0])).toEqual(entries[0]![1]);
  });

  test('ends a scan in the middle of a body', async () => {
    const table = await openTable();
    const controller = new AbortController();
    const arrived = new Promise<void>((resolve) => {
      server.misbehave = ({ range }, response) => {
        response.writeHead(206, { ...server.headers(), 'content-range': range!.replace('=', ' ') + `/${file.length}` });
        response.write(file.subarray(0, 100), () => resolve());
        return true;
      };
    });
    const scan = rejection(collect(table.entries({ signal: controller.signal })));
    await arrived;
    controller.abort(reason);
    expect(await scan).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('that outlives a read keeps no references to it', async () => {
    const { signal } = new AbortController();
    let requests = 0;
    // Every second request fails, so that there are waits before retries.
    const shaky: Fetch = async (_, { headers }) => {
      if (++requests % 2 === 1) throw new TypeError('no network');
      const [first, last] = headers.range!.slice('bytes='.length).split('-').map(Number);
      return new Response(file.slice(first, last! + 1), {
        status: 206,
        headers: { ...server.headers(), 'content-range': `bytes ${first}-${last}/${file.length}` },
      });
    };
    const source = await HttpSource.open(server.url, { fetch: shaky, byteLength: file.length, retryDelayMs: 1, signal });
    const table = await Table.open(source, { signal });
    expect(sameEntries(await collect(table.entries({ signal })), entries)).toBe(true);
    let count = 0;
    for await (const _ of table.entries({ signal, reverse: true })) if (++count === 300) break;
    expect(requests).toBeGreaterThan(10);
    // The reads ahead of the walk that was left end by themselves.
    await vi.waitFor(() => expect(getEventListeners(signal, 'abort')).toEqual([]), { timeout: 120_000 });
  });

  test('that is already aborted sends nothing', async () => {
    const error = await rejection(HttpSource.open(server.url, { signal: AbortSignal.abort(reason) }));
    expect(error).toBe(reason);
    expect(server.requests).toHaveLength(0);
  });
});

test.each([
  ['retries', { retries: -1 }],
  ['retryDelayMs', { retryDelayMs: 1.5 }],
  ['maxWholeBytes', { maxWholeBytes: NaN }],
  ['byteLength', { byteLength: -5 }],
])('rejects a wrong %s by name', async (name, options) => {
  const error = await rejection(HttpSource.open(server.url, options));
  expect(error).toBeInstanceOf(RangeError);
  expect((error as Error).message).toContain(name);
});

test('the error for a damaged file has its address', async () => {
  const damaged = file.slice();
  damaged[10]! ^= 1;
  server.bytes = damaged;
  const table = await openTable();
  const error = await rejection(table.get(entries[0]![0]));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block', offset: 0, file: server.url });
});

test('random lookups and ranges are right with a server that fails occasionally (seed 88)', async () => {
  const random = seeded(88);
  const table = await openTable({ retries: 8, retryDelayMs: 1 });
  const fate = seeded(89);
  server.misbehave = (_, response) => {
    switch (fate.below(6)) {
      case 0:
        response.writeHead(503).end();
        return true;
      case 1:
        response.destroy();
        return true;
      default:
        return false;
    }
  };
  const wrong: string[] = [];
  for (let i = 0; i < 15; i++) {
    const from = random.below(entries.length - 400);
    const some = entries.slice(from, from + 1 + random.below(400));
    const range = { gte: some[0]![0], lte: some.at(-1)![0] };
    const given: KeyValue[] = await collect(table.entries(range));
    if (!sameEntries(given, some)) wrong.push(`range ${i}`);
    const values = await table.getMany(random.shuffle([...some]).map(([key]) => key));
    if (values.includes(undefined)) wrong.push(`getMany ${i}`);
  }
  expect(wrong).toEqual([]);
});

// s3rver serves a folder with the S3 protocol. It checks access keys, but not signatures of version 4.
describe('a table in a private bucket of an S3 server', () => {
  const accessKeyId = 'S3RVER';
  let folder: string;
  let s3: S3rver;
  let url: string;
  const requests: { method: string; range: string | null; authorization: string; status: number }[] = [];
  let signed: Fetch;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bloom-s3-'));
    s3 = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: folder, configureBuckets: [{ name: 'tables', configs: [] }] });
    const { port } = await s3.run();
    url = `http://127.0.0.1:${port}/tables/words.ldb`;
    // The access keys that s3rver knows.
    const client = new AwsClient({ accessKeyId, secretAccessKey: accessKeyId, service: 's3', region: 'us-east-1', retries: 0 });
    signed = async (address, init): Promise<HttpResponse> => {
      const request = await client.sign(address, init);
      const response = await fetch(request);
      const { headers, method } = request;
      requests.push({ method, range: headers.get('range'), authorization: headers.get('authorization') ?? '', status: response.status });
      return response;
    };
    const put = await client.fetch(url, { method: 'PUT', body: file });
    expect(put.status).toBe(200);
  });

  beforeEach(() => {
    requests.length = 0;
  });

  afterAll(async () => {
    await s3.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('is opened with three signed requests, as s3rver takes the end of the file for its start, and read with one per block', async () => {
    const table = await Table.open(await HttpSource.open(url, { fetch: signed }));
    expect(requests.map(({ method, range }) => `${method} ${range}`)).toEqual([
      'GET bytes=-65536',
      'HEAD null',
      `GET bytes=${file.length - 65536}-${file.length - 1}`,
    ]);
    expect(await table.get(entries[777]![0])).toEqual(entries[777]![1]);
    expect(requests.map(({ status }) => status)).toEqual([206, 200, 206, 206]);
    expect(requests.filter(({ authorization }) => !authorization.startsWith('AWS4-HMAC-SHA256 Credential=S3RVER/'))).toEqual([]);
  });

  test('takes no requests for 1000 absent keys, except for false positives', async () => {
    const table = await Table.open(await HttpSource.open(url, { fetch: signed }));
    requests.length = 0;
    const values = await Promise.all(absentKeys(1000).map((key) => table.get(key)));
    expect(values.filter((value) => value !== undefined)).toEqual([]);
    expect(table.stats.filterNegatives).toBeGreaterThan(970);
    expect(requests.length).toBeLessThanOrEqual(table.stats.filterFalsePositives);
  });

  test('is scanned with few requests', async () => {
    const table = await Table.open(await HttpSource.open(url, { fetch: signed }));
    requests.length = 0;
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(requests.length).toBeLessThan(15);
  });

  test('has a length of 0 where the object is empty', async () => {
    const client = new AwsClient({ accessKeyId, secretAccessKey: accessKeyId, service: 's3', region: 'us-east-1', retries: 0 });
    const empty = new URL('empty.log', url).href;
    expect((await client.fetch(empty, { method: 'PUT', body: '' })).status).toBe(200);
    expect((await HttpSource.open(empty, { fetch: signed })).byteLength).toBe(0);
  });

  test('that is replaced while it is open causes an error', async () => {
    const table = await Table.open(await HttpSource.open(url, { fetch: signed }));
    const client = new AwsClient({ accessKeyId, secretAccessKey: accessKeyId, service: 's3', region: 'us-east-1', retries: 0 });
    await client.fetch(url, { method: 'PUT', body: buildTable(numberedEntries(6000, 81), { compression: 'none' }) });
    expect(await rejection(table.get(entries[3]![0]))).toEqual(isHttpError('BLOOM_HTTP_CHANGED'));
    await client.fetch(url, { method: 'PUT', body: file });
  });

  test('is not read with an unknown access key', async () => {
    const stranger = new AwsClient({ accessKeyId: 'STRANGER', secretAccessKey: 'x', service: 's3', region: 'us-east-1', retries: 0 });
    const error = await rejection(HttpSource.open(url, { fetch: (address, init) => stranger.fetch(address, init) }));
    expect(error).toEqual(isHttpError('BLOOM_HTTP_STATUS', 403));
  });
});

test('a fetch that is not a function is refused by name', async () => {
  expect(await rejection(HttpSource.open('https://example.org/a.ldb', { fetch: 5 as never }))).toEqual(new TypeError('fetch must be a function, got number'));
});
