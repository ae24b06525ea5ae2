// The first request is for the end of the file, by a suffix range, which not every server answers as RFC 9110 says.
import type { ServerResponse } from 'node:http';
import { seeded } from '@bloom/fixtures';
import { Table } from '@bloom/sstable';
import { type Fetch, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameBytes, sameEntries } from './entries.js';
import { StaticServer } from './static-server.js';

const entries = numberedEntries(3000, 80);
const file = buildTable(entries, { compression: 'none' });
const { length } = file;
const TAIL = 65_536;

let server: StaticServer;
beforeEach(async () => {
  server = await StaticServer.start(file);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await server.stop();
});

const fast: HttpSourceOptions = { retryDelayMs: 1 };

/** Lets `answer` respond to requests for the end of the file. All others are answered correctly. */
function answeringSuffix(answer: (response: ServerResponse) => unknown): void {
  server.misbehave = ({ range }, response) => {
    if (range?.startsWith('bytes=-') !== true) return false;
    answer(response);
    return true;
  };
}

function methods(): string[] {
  return server.requests.map(({ method }) => method);
}

async function mustBeRight(source: HttpSource): Promise<void> {
  expect(source.byteLength).toBe(length);
  expect(sameEntries(await collect(await Table.open(source)), entries)).toBe(true);
}

const wrong: [string, (response: ServerResponse) => unknown][] = [
  ['the first bytes, as s3rver does', (response) => response.writeHead(206, { ...server.headers(), 'content-range': `bytes 0-${TAIL}/${length}` }).end(file.subarray(0, TAIL + 1))],
  ['other bytes than its Content-Range says it should', (response) => response.writeHead(206, { 'content-range': `bytes 5-${TAIL + 4}/${length}` }).end(file.subarray(5, TAIL + 5))],
  ['more bytes than it was asked for', (response) => response.writeHead(206, { 'content-range': `bytes 0-${length - 1}/${length}` }).end(file)],
  ['bytes past the end', (response) => response.writeHead(206, { 'content-range': `bytes ${length - 10}-${length + 9}/${length}` }).end(file.subarray(0, 20))],
  ['no length', (response) => response.writeHead(206, { 'content-range': `bytes ${length - TAIL}-${length - 1}/*` }).end(file.subarray(length - TAIL))],
  ['no Content-Range, or one that the page cannot see', (response) => response.writeHead(206, server.headers()).end(file.subarray(length - TAIL))],
  ['an invalid Content-Range', (response) => response.writeHead(206, { 'content-range': 'bytes -65536' }).end(file.subarray(length - TAIL))],
  ['several parts', (response) => response.writeHead(206, { 'content-type': 'multipart/byteranges; boundary=x', 'content-range': `bytes ${length - TAIL}-${length - 1}/${length}` }).end('--x')],
  ['gzip', (response) => response.writeHead(206, { 'content-encoding': 'gzip', 'content-range': `bytes ${length - TAIL}-${length - 1}/${length}` }).end(file.subarray(length - TAIL))],
  ['204', (response) => response.writeHead(204).end()],
  ...[400, 405, 416, 422, 500, 501, 502, 503].map((status): [string, (response: ServerResponse) => unknown] => [`${status}`, (response) => response.writeHead(status).end()]),
  ['416 with the length', (response) => response.writeHead(416, { 'content-range': `bytes */${length}` }).end()],
  ['a connection that is reset', (response) => response.destroy()],
  ['an answer that breaks off', (response) => {
    response.writeHead(206, { ...server.headers(), 'content-length': TAIL, 'content-range': `bytes ${length - TAIL}-${length - 1}/${length}` });
    response.write(file.subarray(0, 100), () => response.destroy());
  }],
];

describe('a server that answers a request for the end of the file with', () => {
  test.each(wrong)('%s gets a HEAD request, and every entry is right', async (_, answer) => {
    answeringSuffix(answer);
    const source = await HttpSource.open(server.url, { retries: 0 });
    expect(methods()).toEqual(['GET', 'HEAD']);
    await mustBeRight(source);
  });

  test.each(wrong)('%s, and refuses HEAD, gets a request for the first byte', async (_, answer) => {
    answeringSuffix(answer);
    const { misbehave } = server;
    server.misbehave = (request, response, number) =>
      request.method === 'HEAD' ? Boolean(response.writeHead(405).end()) : misbehave(request, response, number);
    const source = await HttpSource.open(server.url, { retries: 0 });
    expect(server.requests.map(({ method, range }) => `${method} ${range}`)).toEqual([`GET bytes=-${TAIL}`, 'HEAD undefined', 'GET bytes=0-0']);
    await mustBeRight(source);
  });

  test.each([401, 403, 404, 410])('%d is not retried', async (status) => {
    server.misbehave = (_, response) => Boolean(response.writeHead(status).end());
    expect(await rejection(HttpSource.open(server.url, fast))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status });
    expect(methods()).toEqual(['GET']);
  });

  test('a large file whole is not believed to have no ranges, and the file is not received', async () => {
    let written = 0;
    answeringSuffix((response) => {
      response.writeHead(200, { ...server.headers(), 'content-length': length });
      response.write(file.subarray(0, 1000));
      written += 1000;
    });
    await mustBeRight(await HttpSource.open(server.url, { ...fast, maxWholeBytes: length - 1 }));
    expect(written).toBe(1000);
  });

  test('a large file whole, without its length, is left after as many bytes as are allowed', async () => {
    let sent = 0;
    answeringSuffix((response) => {
      response.writeHead(200, server.headers());
      const more = (): void => {
        while (!response.destroyed && sent < 64 * 2 ** 20) {
          sent += 2 ** 16;
          if (!response.write(Buffer.alloc(2 ** 16))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    await mustBeRight(await HttpSource.open(server.url, { ...fast, maxWholeBytes: 100_000 }));
    expect(sent).toBeLessThan(24 * 2 ** 20);
  });

  test('the bytes of a file that claims to be of a petabyte allocates nothing for it', async () => {
    const claimed = 2 ** 50;
    server.misbehave = (_, response) =>
      Boolean(response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${claimed - TAIL}-${claimed - 1}/${claimed}` }).end(file.subarray(length - TAIL)));
    const source = await HttpSource.open(server.url, { retries: 0 });
    expect([source.byteLength, source.heldTailBytes]).toEqual([claimed, TAIL]);
    // Its handles point into the front of the file, which the server does not send.
    expect(await rejection(source.read(0, 100))).toMatchObject({ code: 'BLOOM_HTTP_FAILED' });
  });
});

describe('what came with the first request', () => {
  test.each([
    ['at the end', { tailBytes: 1000 }],
    ['at the end, the whole file', { tailBytes: 2 ** 20 }],
    ['at the start', { startBytes: 1000 }],
    ['at the start, the whole file', { startBytes: 2 ** 20 }],
  ])('%s is not requested again, and every range is right (seed 7)', async (_, options) => {
    const random = seeded(7);
    for (let round = 0; round < 60; round++) {
      const source = await HttpSource.open(server.url, options);
      server.requests.length = 0;
      const held = Math.min(1000, length);
      // Ranges near the border of what is held, or anywhere.
      const border = 'tailBytes' in options ? length - held : held;
      let requested = 0;
      for (let read = 0; read < 3; read++) {
        const offset = random.below(2) === 0 ? random.below(length) : Math.max(0, border - random.below(300));
        const size = random.below(Math.min(600, length - offset) + 1);
        expect(sameBytes(await source.read(offset, size), file.subarray(offset, offset + size))).toBe(true);
        requested += size;
      }
      expect(server.ranges.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(requested);
      void source.close();
    }
  });

  test('is dropped once it has been read, so that an open table does not keep it', async () => {
    const source = await HttpSource.open(server.url);
    expect(source.heldTailBytes).toBe(TAIL);
    await Table.open(source);
    expect(source.heldTailBytes).toBe(0);
    expect(methods()).toEqual(['GET']);
  });

  test('may be fewer bytes than were requested, if they are the last ones', async () => {
    answeringSuffix((response) => response.writeHead(206, { ...server.headers(), 'content-range': `bytes ${length - 100}-${length - 1}/${length}` }).end(file.subarray(length - 100)));
    const source = await HttpSource.open(server.url, fast);
    expect(source.heldTailBytes).toBe(100);
    await mustBeRight(source);
  });

  test('is of the version that later answers are compared with', async () => {
    const source = await HttpSource.open(server.url, fast);
    server.etag = '"two"';
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });

  test.each<[string, HttpSourceOptions, (response: ServerResponse) => unknown]>([
    ['that breaks off', {}, (response) => {
      response.writeHead(206, { etag: '"zero"', 'content-length': TAIL, 'content-range': `bytes ${length + 7 - TAIL}-${length + 6}/${length + 7}` });
      response.write(file.subarray(0, 100), () => response.destroy());
    }],
    ['that breaks off at the start', { startBytes: 1000 }, (response) => {
      response.writeHead(206, { etag: '"zero"', 'content-length': 1000, 'content-range': `bytes 0-999/${length + 7}` });
      response.write(file.subarray(0, 100), () => response.destroy());
    }],
    ['that is a page larger than maxWholeBytes', { maxWholeBytes: 0 }, (response) => {
      response.writeHead(200, { etag: '"page"', 'content-type': 'text/html' }).end('<!doctype html><p>wait');
    }],
    ['that is a whole file larger than maxWholeBytes', { maxWholeBytes: 10 }, (response) => response.writeHead(200, { etag: '"zero"' }).end(file)],
  ])('does not fix the version with an answer %s', async (_, options, answer) => {
    let left = 1;
    server.misbehave = (_request, response) => {
      if (left-- <= 0) return false;
      answer(response);
      return true;
    };
    const source = await HttpSource.open(server.url, { ...fast, ...options });
    await mustBeRight(source);
    server.etag = '"two"';
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });

  test('of an empty file is nothing, in one request', async () => {
    server.bytes = new Uint8Array(0);
    for (const options of [{}, { startBytes: 4096 }]) {
      server.requests.length = 0;
      expect((await HttpSource.open(server.url, options)).byteLength).toBe(0);
      expect(methods()).toEqual(['GET']);
    }
  });

  test('at the start is retried like any other request', async () => {
    let left = 2;
    server.misbehave = (_, response) => left-- > 0 && Boolean(response.writeHead(503).end());
    const source = await HttpSource.open(server.url, { ...fast, startBytes: 2 ** 20 });
    expect(sameBytes(await source.read(0, length), file)).toBe(true);
    expect(methods()).toEqual(['GET', 'GET', 'GET']);
  });
});

describe('in a page', () => {
  const asked = async (url: string): Promise<string[]> => {
    const calls: string[] = [];
    const counting: Fetch = (_, init) => {
      calls.push(`${init.method} ${init.headers.range ?? ''}`.trim());
      return fetch(server.url, init);
    };
    await HttpSource.open(url, { fetch: counting });
    return calls;
  };

  test('of another origin the length is requested with HEAD, because the browser would send a preflight request for a suffix range', async () => {
    vi.stubGlobal('location', { origin: 'https://example.org' });
    expect(await asked('https://files.example.org/table.ldb')).toEqual(['HEAD']);
    vi.stubGlobal('location', { origin: 'null' });
    expect(await asked('https://files.example.org/table.ldb')).toEqual(['HEAD']);
  });

  test('of the same origin the end of the file is requested, also by a relative address', async () => {
    vi.stubGlobal('location', { origin: 'https://example.org' });
    expect(await asked('https://example.org/table.ldb')).toEqual([`GET bytes=-${TAIL}`]);
    expect(await asked('/table.ldb')).toEqual([`GET bytes=-${TAIL}`]);
  });
});
