// Unusual and wrong responses, each from a real server.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Table } from '@bloom/sstable';
import { type Fetch, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameBytes, sameEntries } from './entries.js';
import { StaticServer } from './static-server.js';

const entries = numberedEntries(3000, 80);
const file = buildTable(entries, { compression: 'none' });
const packed = gzipSync(file);

let server: StaticServer;
beforeEach(async () => {
  server = await StaticServer.start(file);
});
afterEach(() => server.stop());

const fast: HttpSourceOptions = { retryDelayMs: 1 };

/** Lets `answer` respond to each GET. The response to HEAD is correct. */
function getting(answer: (response: ServerResponse, offset: number, length: number) => unknown): void {
  server.misbehave = ({ method }, response) => {
    if (method !== 'GET') return false;
    answer(response, ...server.ranges.at(-1)!);
    return true;
  };
}

/** The error of a read of 4,000 bytes from a source that was opened while the server was fine. */
async function readError(options: HttpSourceOptions = fast): Promise<unknown> {
  const { misbehave } = server;
  server.misbehave = () => false;
  const source = await HttpSource.open(server.url, options);
  server.misbehave = misbehave;
  server.requests.length = 0;
  return rejection(source.read(5000, 4000));
}

describe('an empty file', () => {
  type Respond = (response: ServerResponse) => unknown;
  const servers: [string, Respond, Respond][] = [
    ['416 with its length, as nginx sends', (head) => head.writeHead(200, { 'content-length': 0 }).end(), (get) => get.writeHead(416, { 'content-range': 'bytes */0' }).end()],
    ['416 without its length, as http-server sends', (head) => head.writeHead(200, { 'content-length': 0 }).end(), (get) => get.writeHead(416).end()],
    ['416 with its length, where HEAD is refused', (head) => head.writeHead(403).end(), (get) => get.writeHead(416, { 'content-range': 'bytes */0' }).end('<Code>InvalidRange</Code>')],
    ['206 with the first of 0 bytes, which never comes, as s3rver sends', (head) => head.writeHead(200, { 'content-length': 0 }).end(), (get) => get.writeHead(206, { 'content-range': 'bytes 0-0/0', 'content-length': 1 }).flushHeaders()],
    ['200 and nothing, as Python sends', (head) => head.writeHead(200, { 'content-length': 0 }).end(), (get) => get.writeHead(200, { 'content-length': 0 }).end()],
    ['200 and nothing, without a length', (head) => head.writeHead(200).end(), (get) => get.writeHead(200, { 'transfer-encoding': 'chunked' }).end()],
  ];

  const firsts = [
    ['HEAD', { tailBytes: 0 }],
    ['its end', {}],
    ['its start', { startBytes: 4096 }],
  ] as const;
  test.each(servers.flatMap(([name, ...answers]) => firsts.map((first) => [`${name}, and ${first[0]} is asked for first`, ...answers, ...first] as const)))('is %s', async (_, toHead, toGet, first, options) => {
    server.misbehave = ({ method }, response) => {
      (method === 'HEAD' ? toHead : toGet)(response);
      return true;
    };
    const source = await HttpSource.open(server.url, { ...fast, ...options });
    expect(source.byteLength).toBe(0);
    expect(await source.read(0, 0)).toEqual(new Uint8Array(0));
    await expect(source.read(0, 1)).rejects.toThrow(RangeError);
    const methods = server.requests.map(({ method }) => method);
    if (first === 'HEAD') expect(methods).toEqual(['HEAD', 'GET']);
    else expect([['GET'], ['GET', 'HEAD', 'GET']]).toContainEqual(methods);
  });

  test.each([
    ['HEAD has no length', (head: ServerResponse) => head.writeHead(200).end()],
    ['HEAD is refused', (head: ServerResponse) => head.writeHead(405).end()],
  ])('is not concluded from a 416 without a length if %s', async (_, toHead) => {
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') toHead(response);
      else response.writeHead(416).end();
      return true;
    };
    expect(await rejection(HttpSource.open(server.url, fast))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 416 });
  });

  test('is not concluded from a 416 with another length if HEAD has a length of 0', async () => {
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') response.writeHead(200, { 'content-length': 0 }).end();
      else response.writeHead(416, { 'content-range': 'bytes */500' }).end();
      return true;
    };
    expect(await rejection(HttpSource.open(server.url, fast))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 416 });
  });
});

describe('a HEAD', () => {
  const refusals: [string, (response: ServerResponse) => void][] = [
    ...[400, 401, 403, 404, 405, 410, 429, 500, 501, 502, 503].map(
      (status): [string, (response: ServerResponse) => void] => [`that is answered by ${status}`, (response) => response.writeHead(status).end()],
    ),
    ['that is reset', (response) => response.destroy()],
    ['that gets a length of 0', (response) => response.writeHead(200, { 'content-length': 0 }).end()],
    ['that gets a length that is not a number', (response) => response.writeHead(200, { 'content-length': '12x' } as never).end()],
    ['that is redirected in a circle', (response) => response.writeHead(302, { location: server.url }).end()],
  ];

  test.each(refusals)('%s does not fail the opening, even without retries', async (_, refuse) => {
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') refuse(response);
      return method === 'HEAD';
    };
    const source = await HttpSource.open(server.url, { retries: 0, tailBytes: 0 });
    expect(source.byteLength).toBe(file.length);
    expect(server.ranges).toEqual([[0, 1]]);
    expect(sameEntries(await collect(await Table.open(source)), entries)).toBe(true);
  });

  test('that is refused like the GET after it causes the error of the GET', async () => {
    server.misbehave = ({ method }, response) => Boolean(response.writeHead(method === 'HEAD' ? 405 : 403).end());
    expect(await rejection(HttpSource.open(server.url, { ...fast, tailBytes: 0 }))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 403 });
    expect(server.requests).toHaveLength(2);
  });
});

describe('a file that is compressed in transit', () => {
  const sendPacked = (status: number, headers: object) => (response: ServerResponse) =>
    response.writeHead(status, { ...server.headers(), 'content-encoding': 'gzip', ...headers }).end(packed);

  test.each([
    ['whole, with its length', 200, { 'content-length': packed.length }],
    ['whole, without its length', 200, {}],
    ['as if it were the range', 206, {}],
  ])('%s is reported with its own code', async (_, status, headers) => {
    getting(sendPacked(status, headers));
    const error = await readError();
    expect(error).toMatchObject({ name: 'HttpError', code: 'BLOOM_HTTP_ENCODED', url: server.url });
    expect((error as Error).message).toMatch(/compresses the file in transit .*gzip.*: turn compression off for this file/);
    expect(server.requests).toHaveLength(1);
  });

  test('is reported by the opening if every response is compressed', async () => {
    server.misbehave = (_, response) => Boolean(sendPacked(200, { 'content-length': packed.length })(response));
    expect(await rejection(HttpSource.open(server.url, fast))).toMatchObject({ code: 'BLOOM_HTTP_ENCODED' });
  });

  test('is detected by its length if a page cannot see the encoding', async () => {
    const hiding: Fetch = async (url, init) => {
      const { status, headers, body } = await fetch(url, init);
      const shown = { get: (name: string) => (name === 'content-encoding' ? null : headers.get(name)) };
      return { status, headers: shown, body, arrayBuffer: never };
    };
    getting(sendPacked(200, { 'content-length': packed.length }));
    expect(await readError({ ...fast, fetch: hiding })).toMatchObject({ code: 'BLOOM_HTTP_ENCODED' });
  });

  test.each(['identity', 'aws-chunked', 'none'])('with the encoding %s, which fetch ignores, is read', async (encoding) => {
    const { misbehave } = server;
    getting((response, offset, length) => {
      const part = file.subarray(offset, offset + length);
      const range = `bytes ${offset}-${offset + length - 1}/${file.length}`;
      response.writeHead(206, { ...server.headers(), 'content-encoding': encoding, 'content-range': range }).end(part);
    });
    expect(misbehave).not.toBe(server.misbehave);
    const table = await Table.open(await HttpSource.open(server.url, fast));
    expect(await table.get(entries[77]![0])).toEqual(entries[77]![1]);
  });
});

const never = (): Promise<never> => new Promise(() => {});

describe('a whole file instead of a range', () => {
  /** Sends `bytes` in chunks, without a length. */
  const sendWhole = (bytes: Uint8Array) => (response: ServerResponse) => {
    response.writeHead(200, server.headers());
    response.write(bytes.subarray(0, 1000));
    response.end(bytes.subarray(1000));
  };

  test.each([
    ['', false],
    [' and refuses HEAD', true],
  ])('from a server that does not send its length%s is fetched once', async (_, refusesHead) => {
    server.misbehave = ({ method }, response) => {
      if (method === 'HEAD') return refusesHead && Boolean(response.writeHead(405).end());
      sendWhole(file)(response);
      return true;
    };
    const source = await HttpSource.open(server.url, { ...fast, tailBytes: 0 });
    expect(source.byteLength).toBe(file.length);
    expect(sameEntries(await collect(await Table.open(source)), entries)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  test('of unknown length and larger than the limit is refused, and the rest is not received', async () => {
    getting(sendWhole(file));
    const error = await readError({ ...fast, maxWholeBytes: 100_000 });
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_NO_RANGES', status: 200 });
    expect((error as Error).message).toMatch(/does not support ranges: it sends the whole file of \d+ bytes, but the limit is 100000 bytes/);
    expect(server.requests).toHaveLength(1);
  });

  test('with a length other than in the response to HEAD is a changed file', async () => {
    getting(sendWhole(file.subarray(0, file.length - 1)));
    expect(await readError()).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });

  test('with another ETag is a changed file', async () => {
    getting((response) => response.writeHead(200, { etag: '"two"', 'content-length': file.length }).end(file));
    expect(await readError()).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });

  test('that breaks off is requested again', async () => {
    let times = 0;
    getting((response) => {
      response.writeHead(200, { ...server.headers(), 'content-length': file.length });
      if (times++ > 0) response.end(file);
      else response.write(file.subarray(0, 100), () => response.destroy());
    });
    const source = await HttpSource.open(server.url, fast);
    expect(sameBytes(await source.read(5000, 4000), file.subarray(5000, 9000))).toBe(true);
    expect(times).toBe(2);
  });

  test('gives each of many simultaneous reads its own bytes', async () => {
    getting(sendWhole(file));
    const source = await HttpSource.open(server.url, fast);
    const parts = await Promise.all(Array.from({ length: 10 }, (_, i) => source.read(i * 1000, 500)));
    expect(parts.every((part, i) => sameBytes(part, file.subarray(i * 1000, i * 1000 + 500)))).toBe(true);
  });
});

describe('a part of a range', () => {
  /** Sends at most `most` bytes per response, which RFC 9110, section 14.2, permits. */
  function sendAtMost(most: number): void {
    getting((response, offset, length) => {
      const part = file.subarray(offset, offset + Math.min(length, most));
      const range = `bytes ${offset}-${offset + part.length - 1}/${file.length}`;
      response.writeHead(206, { ...server.headers(), 'content-range': range }).end(part);
    });
  }

  test('is continued where it ends', async () => {
    sendAtMost(1500);
    const source = await HttpSource.open(server.url, { ...fast, tailBytes: 0 });
    expect(sameBytes(await source.read(5000, 4000), file.subarray(5000, 9000))).toBe(true);
    expect(server.ranges).toEqual([
      [5000, 4000],
      [6500, 2500],
      [8000, 1000],
    ]);
    const table = await Table.open(source);
    expect(sameEntries(await collect(table), entries)).toBe(true);
  });

  test('of one byte at a time is not continued forever', async () => {
    let requests = 0;
    const byBytes: Fetch = async (_, { headers }) => {
      requests++;
      const first = Number.parseInt(headers.range!.slice('bytes='.length));
      return new Response(file.slice(first, first + 1), { status: 206, headers: { 'content-range': `bytes ${first}-${first}/${file.length}` } });
    };
    const source = await HttpSource.open('https://example.org/a', { ...fast, fetch: byBytes, byteLength: file.length });
    expect(await rejection(source.read(5000, 4000))).toMatchObject({ code: 'BLOOM_HTTP_FAILED' });
    expect(requests).toBe(1024);
  });
});

test('a large read is split into ranges of at most 64 MiB', async () => {
  const mib = 2 ** 20;
  const ranges: string[] = [];
  const sparse: Fetch = async (_, { headers }) => {
    ranges.push(headers.range!);
    const [first, last] = headers.range!.slice('bytes='.length).split('-').map(Number);
    return new Response(new Uint8Array(last! - first! + 1).fill(ranges.length), { status: 206 });
  };
  const source = await HttpSource.open('https://example.org/a', { fetch: sparse, byteLength: 5e9 });
  const bytes = await source.read(4e9, 66 * mib);
  expect(ranges).toEqual([`bytes=4000000000-${4e9 + 64 * mib - 1}`, `bytes=${4e9 + 64 * mib}-${4e9 + 66 * mib - 1}`]);
  expect([bytes.length, bytes[0], bytes[64 * mib - 1], bytes[64 * mib], bytes.at(-1)]).toEqual([66 * mib, 1, 1, 2, 2]);
  ranges.length = 0;
  const vast = await HttpSource.open('https://example.org/a', { fetch: sparse, byteLength: 2 ** 50 });
  const error = await rejection(vast.read(0, 2 ** 45));
  expect(error).toBeInstanceOf(RangeError);
  expect((error as Error).message).toContain('length must be');
  expect(ranges).toHaveLength(1);
});

describe('a 206', () => {
  const right = `bytes 5000-8999/${file.length}`;

  test.each([
    ['of several parts', 'asked for one range, it sends multipart/byteranges', { 'content-type': 'multipart/byteranges; boundary=x' }],
    ['of the bytes before', 'it sends bytes 4999-8998', { 'content-range': `bytes 4999-8998/${file.length}` }],
    ['of more bytes', 'it sends bytes 5000-9000', { 'content-range': `bytes 5000-9000/${file.length}` }],
    ['of no bytes', 'it sends bytes */', { 'content-range': `bytes */${file.length}` }],
    ['of a range that ends before it starts', 'it sends bytes 5000-4999', { 'content-range': `bytes 5000-4999/${file.length}` }],
    ['in other units', 'it sends lines 5000-8999', { 'content-range': 'lines 5000-8999/*' }],
    ['of a range that cannot be parsed', 'it sends 5000-8999', { 'content-range': '5000-8999' }],
  ])('%s is refused with an error that names what the server sent', async (_, problem, headers) => {
    getting((response) => response.writeHead(206, { ...server.headers(), 'content-range': right, ...headers }).end(file.subarray(5000, 9000)));
    const error = await readError();
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_FAILED' });
    expect((error as Error).message).toContain(problem);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['in capitals', { 'content-range': `BYTES 5000-8999/${file.length}` }],
    ['without the length of the file', { 'content-range': 'bytes 5000-8999/*' }],
    ['with a hidden Content-Range', {}],
  ])('%s is accepted', async (_, headers) => {
    getting((response) => response.writeHead(206, { ...server.headers(), ...headers }).end(file.subarray(5000, 9000)));
    expect(await readError()).toBeUndefined();
  });

  test('with a different length of the file means a changed file', async () => {
    getting((response) => response.writeHead(206, { ...server.headers(), 'content-range': 'bytes 5000-8999/999999' }).end(file.subarray(5000, 9000)));
    expect(await readError()).toMatchObject({ code: 'BLOOM_HTTP_CHANGED' });
  });
});

describe('a 416', () => {
  test.each([
    ['with a smaller length', 'BLOOM_HTTP_CHANGED', { 'content-range': 'bytes */4000' }],
    ['without a length', 'BLOOM_HTTP_CHANGED', {}],
    ['for a range inside the file', 'BLOOM_HTTP_STATUS', { 'content-range': `bytes */${file.length}` }],
  ])('%s is %s', async (_, code, headers) => {
    getting((response) => response.writeHead(416, headers).end());
    expect(await readError()).toMatchObject({ code });
    expect(server.requests).toHaveLength(1);
  });

  test('during the opening, without a length, causes the error for its status', async () => {
    server.misbehave = ({ method }, response) => Boolean(response.writeHead(method === 'HEAD' ? 405 : 416).end());
    expect(await rejection(HttpSource.open(server.url))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 416 });
  });
});

test.each([
  ['smaller', file.length - 10],
  ['larger', file.length + 10],
])('an option byteLength that is %s than the file is named in the error', async (_, byteLength) => {
  const source = await HttpSource.open(server.url, { ...fast, byteLength });
  const error = { code: 'BLOOM_HTTP_CHANGED', message: `${server.url}: the file changed, or the option byteLength is wrong: its length, from ${byteLength} to ${file.length}` };
  expect(await rejection(source.read(byteLength - 20, 20))).toMatchObject(error);
  // With a range outside of the file.
  expect(await rejection(source.read(byteLength - 1, 1))).toMatchObject(error);
});

describe('a weak ETag', () => {
  const date = 'Thu, 22 Oct 2015 07:28:00 GMT';
  test.each([
    ['that stays the same together with the date', undefined, 'W/"one"', undefined],
    ['that stays the same while the date changes', 'BLOOM_HTTP_CHANGED', 'W/"one"', date],
    ['that changes', 'BLOOM_HTTP_CHANGED', 'W/"two"', undefined],
    ['that becomes strong', 'BLOOM_HTTP_CHANGED', '"one"', undefined],
  ])('%s gives %s', async (_, code, etag, modified) => {
    server.etag = 'W/"one"';
    const source = await HttpSource.open(server.url, fast);
    server.etag = etag;
    if (modified !== undefined) server.lastModified = modified;
    expect(await rejection(source.read(5000, 4000))).toEqual(code === undefined ? undefined : expect.objectContaining({ code }));
  });

  test('makes the date count, while the date may change if the ETag is strong', async () => {
    const source = await HttpSource.open(server.url, fast);
    server.lastModified = date;
    expect(sameBytes(await source.read(5000, 4000), file.subarray(5000, 9000))).toBe(true);
  });
});

test('the error for a hidden length names a remedy', async () => {
  server.misbehave = ({ method }, response) =>
    Boolean(method === 'HEAD' ? response.writeHead(405).end() : response.writeHead(206, { 'content-range': 'bytes 0-0/*' }).end('a'));
  const error = await rejection(HttpSource.open(server.url));
  expect(error).toMatchObject({ code: 'BLOOM_HTTP_NO_LENGTH' });
  expect((error as Error).message).toMatch(/expose Content-Range.*option byteLength/);
});

describe('an invalid argument is rejected at once, by name', () => {
  test.each([
    ['no address', undefined, {}],
    ['a number', 5, {}],
    ['null', null, {}],
    ['an object that is not a URL', {}, {}],
    ['an invalid address', 'http://', {}],
    ['a relative address without a base', '/table.ldb', {}],
    ['an address with a password', 'http://user:password@127.0.0.1/', {}],
    ['a header with a line break', 'http://127.0.0.1/', { headers: { 'x-key': 'a\nb' } }],
    ['a header with a space in its name', 'http://127.0.0.1/', { headers: { 'x key': 'a' } }],
  ])('%s', async (_, url, options) => {
    const error = await rejection(HttpSource.open(url as string, { ...options, retryDelayMs: 60_000 }));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(/^url /);
  });
});

describe('an HTML page in place of a table', () => {
  const PAGE = new TextEncoder().encode(`\n<!DOCTYPE html>\n<html><body>${'Log in. '.repeat(9)}</body></html>\n`);
  const html = { 'content-type': 'text/html; charset=utf-8' };

  /** Labels all answers as pages. */
  function label(headers: Record<string, string>): void {
    server.misbehave = (_, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return false;
    };
  }

  test.each([
    ['its end', {}],
    ['its start', { startBytes: 4096 }],
    ['its length', { tailBytes: 0 }],
  ])('is said to be one when %s is requested first', async (_, options) => {
    server.bytes = PAGE;
    label(html);
    expect(await rejection(HttpSource.open(server.url, { ...fast, ...options }))).toMatchObject({ code: 'BLOOM_HTTP_PAGE', status: 200 });
  });

  test('is said to be one when the first read comes without an opening', async () => {
    server.bytes = PAGE;
    label(html);
    const source = await HttpSource.open(server.url, { ...fast, byteLength: PAGE.length });
    expect(await rejection(source.read(20, 30))).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
  });

  test('is said to be one in any size, with any length and in gzip', async () => {
    for (const answer of [
      (response: ServerResponse) => response.writeHead(200, html).end(Buffer.from(PAGE.toString()).fill('<p>'.repeat(40))),
      (response: ServerResponse) => response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(gzipSync(PAGE)),
      (response: ServerResponse) => response.writeHead(206, { ...html, 'content-encoding': 'gzip', 'content-range': `bytes 0-${PAGE.length - 1}/${PAGE.length}` }).end(gzipSync(PAGE)),
    ]) {
      server.misbehave = ({ method }, response) => {
        if (method === 'GET') answer(response);
        else response.writeHead(200, html).end();
        return true;
      };
      expect(await rejection(HttpSource.open(server.url, fast))).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
    }
  });

  test('is said to be one when it comes for a table that is open', async () => {
    getting((response) => response.writeHead(200, html).end(PAGE));
    expect(await readError()).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
  });

  test('is said to be one by the table when it is labelled as something else', async () => {
    server.bytes = PAGE;
    const error = await rejection(Table.open(await HttpSource.open(server.url, fast)));
    expect(error).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', message: expect.stringContaining('HTML page') as unknown });
  });

  test.each([PAGE, new TextEncoder().encode(`${PAGE.toString()}<p>`.repeat(3000))])('is not believed in answer to a range at the end, as http-server with a proxy sends it', async (page) => {
    server.misbehave = ({ range }, response) => {
      if (range?.startsWith('bytes=-') !== true) return false;
      const part = page.subarray(-65_536);
      response.writeHead(206, { ...html, 'content-range': `bytes ${page.length - part.length}-${page.length - 1}/${page.length}` }).end(part);
      return true;
    };
    sameEntries(await collect((await Table.open(await HttpSource.open(server.url, fast))).entries()), entries);
  });

  test('is not assumed of a table that is labelled as one, which takes a request more if its start has not come', async () => {
    label(html);
    const source = await HttpSource.open(server.url, fast);
    expect(server.requests).toHaveLength(2);
    sameEntries(await collect((await Table.open(source)).entries()), entries);
  });

  test('is not assumed of a compressed table that is labelled as one', async () => {
    label(html);
    const source = await HttpSource.open(server.url, fast);
    getting((response) => response.writeHead(200, { ...html, etag: '"one"', 'content-encoding': 'gzip' }).end(packed));
    expect(await rejection(source.read(0, 10))).toMatchObject({ code: 'BLOOM_HTTP_ENCODED' });
  });
});

test('bytes that have come are held, and bytes that have not are not', async () => {
  const source = await HttpSource.open(server.url, { ...fast, tailBytes: 1000 });
  const { byteLength } = source;
  expect(sameBytes(source.heldBytes(byteLength - 1000, 1000), file.subarray(-1000))).toBe(true);
  expect(source.heldBytes(byteLength - 1001, 10)).toBeUndefined();
  expect(source.heldBytes(0, 1)).toBeUndefined();
  expect(() => source.heldBytes(byteLength, 1)).toThrow(RangeError);
  expect(server.requests).toHaveLength(1);
});
