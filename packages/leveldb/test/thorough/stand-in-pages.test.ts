// Servers that answer 200 for files that they do not have.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { CorruptionError, DatabaseReader } from '@bloom/leveldb';
import { HttpFolder, type HttpFolderOptions } from '@bloom/leveldb/http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { assembleDatabase } from '../assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from '../collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

const PAGE = `<!doctype html>\n<html lang="en"><head><title>An app</title></head><body>${'<p>It has paragraphs.</p>'.repeat(40)}</body></html>\n`;
const COMPRESSED_PAGE = gzipSync(PAGE);

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Answers with bytes, and with ranges of them. */
function sends(bytes: Uint8Array, headers: Record<string, string>, hasRanges = true): Answer {
  return ({ method, headers: { range } }, response) => {
    const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec((hasRanges ? range : undefined) ?? '') ?? [];
    if (end === undefined) return response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(method === 'HEAD' ? undefined : bytes);
    const first = start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
    const part = bytes.subarray(first, start === '' ? bytes.length : Number(end) + 1);
    if (part.length === 0) return response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    const contentRange = `bytes ${first}-${first + part.length - 1}/${bytes.length}`;
    return response.writeHead(206, { ...headers, 'content-length': part.length, 'content-range': contentRange }).end(part);
  };
}

const page = (headers: Record<string, string>, hasRanges?: boolean): Answer => sends(utf8(PAGE), headers, hasRanges);
const namesPath =
  (headers: Record<string, string>): Answer =>
  (request, response) =>
    sends(utf8(PAGE.replace('An app', `${request.url} is not here`)), headers)(request, response);
const gzipped =
  (headers: Record<string, string>): Answer =>
  ({ method }, response) =>
    response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(method === 'HEAD' ? undefined : COMPRESSED_PAGE);

const fallbacks: Record<string, Answer> = {
  'serve -s, which sends the page whole': page({ 'content-type': 'text/html; charset=utf-8' }, false),
  'the preview of Vite, which sends a range of the page': page({ 'content-type': 'text/html', etag: 'W/"1234"' }),
  'try_files of nginx': page({ 'content-type': 'text/html', etag: '"64f-5a"', 'last-modified': 'Mon, 02 Mar 2026 10:00:00 GMT' }),
  'XHTML with an upper-case label': page({ 'content-type': 'APPLICATION/XHTML+XML' }),
  'a page that names the path': namesPath({ 'content-type': 'text/html' }),
  'a page in gzip': gzipped({ 'content-type': 'text/html' }),
  'a page in gzip without ranges, whose HEAD has a length': ({ method }, response) => {
    if (method === 'HEAD') return response.writeHead(200, { 'content-type': 'text/html', 'content-length': 99, 'content-encoding': 'gzip' }).end();
    return response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(COMPRESSED_PAGE);
  },
  'a page labelled as bytes': page({ 'content-type': 'application/octet-stream' }),
  'a page labelled as bytes, whole': page({ 'content-type': 'application/octet-stream' }, false),
  'a page without a label': page({}),
  'a page labelled as bytes that names the path': namesPath({ 'content-type': 'application/octet-stream' }),
  'a page of 300 kB, labelled as bytes': sends(utf8(PAGE.repeat(200)), { 'content-type': 'application/octet-stream' }),
  'a byte order mark and a page': sends(utf8(`\ufeff\r\n${PAGE}`), { 'content-type': 'text/html' }),
  'a line of text labelled as a page': sends(utf8('File not found.\n'), { 'content-type': 'text/html' }),
  'three letters': sends(utf8('404'), { 'content-type': 'text/plain' }),
  'an error in JSON': sends(utf8('{"error":"not found"}'), { 'content-type': 'application/json' }),
  'a picture': sends(Uint8Array.from({ length: 3000 }, (_, i) => (i * 197) % 256), { 'content-type': 'image/png' }),
};

/** Servers whose answers are tried with all four kinds of damage; the others only with a wrong checksum and wrong contents. */
const WHOLLY_DAMAGED = /^(serve -s|try_files|a page labelled as bytes$|a page without)/;

let files: Map<string, Uint8Array>;
let fallback: Answer;
let labels: Record<string, string>;
let requests: string[];
/** Answers a request itself, if it returns true. */
let misbehave: (name: string, request: IncomingMessage, response: ServerResponse) => boolean;
let server: Server;
let origin = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    const name = request.url!.slice('/database/'.length);
    requests.push(name);
    if (misbehave(name, request, response)) return;
    const bytes = files.get(name);
    if (bytes === undefined) fallback(request, response);
    else sends(bytes, { etag: `"${name}"`, ...labels })(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/database/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  files = assembleDatabase({
    tables: [{ level: 0, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('1') }] }],
    logs: [{ number: 9, batches: [{ sequence: 2, operations: [[utf8('b'), utf8('2')]] }] }],
  });
  // As LevelDB before 1.14 names them: the name with ldb is tried first.
  files.set('000005.sst', files.get('000005.ldb')!);
  files.delete('000005.ldb');
  labels = { 'content-type': 'application/octet-stream' };
  requests = [];
  misbehave = () => false;
});

const folder = (options: HttpFolderOptions = {}): HttpFolder => new HttpFolder(origin, { retries: 0, ...options });

async function contents(options?: HttpFolderOptions): Promise<unknown> {
  const reader = await DatabaseReader.open(folder(options));
  const keys = (await collect(reader.keys())).map(text);
  const logs = reader.describe().logs.map(({ number }) => Number(number));
  await reader.close();
  return { keys, logs };
}
const RIGHT = { keys: ['a', 'b'], logs: [9] };
const manifest = (): string => [...files.keys()].find((name) => name.startsWith('MANIFEST'))!;

describe.each(Object.entries(fallbacks))('on a server that answers with %s', (kind, answer) => {
  beforeEach(() => {
    fallback = answer;
  });

  test('a database has its own logs and tables alone', async () => {
    expect(await contents()).toEqual(RIGHT);
    expect(await contents({ files: [...files.keys()] })).toEqual(RIGHT);
  });

  test('a database has its own logs and tables alone if scripts label all files as pages', async () => {
    labels = { 'content-type': 'text/html' };
    expect(await contents()).toEqual(RIGHT);
  });

  test('missing files are absent', async () => {
    for (const name of ['000006.ldb', '000006.sst', '000006.log', 'MANIFEST-000099']) expect(await folder().open(name), name).toBeUndefined();
  });

  test('a log and a MANIFEST that are damaged in their first record are damaged', async () => {
    for (const [name, code] of [
      ['000009.log', 'BLOOM_BAD_LOG'],
      [manifest(), 'BLOOM_BAD_LOG'],
    ] as const) {
      const sound = files.get(name)!;
      for (const at of WHOLLY_DAMAGED.test(kind) ? [0, 4, 6, 8] : [0, 8]) {
        files.set(name, sound.map((byte, i) => (i === at ? byte ^ 0x55 : byte)));
        // With a longer length, it looks like a log whose writer has stopped.
        if (at !== 4) expect(await rejection(DatabaseReader.open(folder())), `${name} at ${at}`).toMatchObject({ code });
        expect(await folder().open(name), `${name} at ${at}`).toBeDefined();
      }
      files.set(name, sound);
    }
  });

  test('a table that is damaged at its end is damaged', async () => {
    files.set('000005.ldb', files.get('000005.sst')!.map((byte, i, { length }) => (i > length - 3 ? 0 : byte)));
    const error = await rejection(contents());
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_NOT_A_TABLE' });
  });

  test('a missing MANIFEST is reported as missing', async () => {
    files.delete(manifest());
    expect(await rejection(contents())).toMatchObject({ code: 'BLOOM_BAD_CURRENT', message: expect.stringContaining('which is missing') as unknown });
  });

  test.runIf(/page|nginx|XHTML/.test(kind) && !kind.startsWith('a line'))('a missing CURRENT is reported as a page', async () => {
    files.delete('CURRENT');
    expect(await rejection(contents())).toMatchObject({ name: 'HttpError', code: 'BLOOM_HTTP_PAGE', message: expect.stringContaining('HTML page') as unknown });
  });

  test('a published database is read', async () => {
    files.delete('000009.log');
    expect(await contents({ isPublished: true })).toEqual({ keys: ['a'], logs: [] });
  });
});

test('a table is found whose length is requested with HEAD', async () => {
  fallback = fallbacks['try_files of nginx']!;
  expect(await contents({ tailBytes: 0 })).toEqual(RIGHT);
});

test('a server that answers 404 gets no requests for files that cannot exist', async () => {
  fallback = (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end(PAGE);
  expect(await contents()).toEqual(RIGHT);
  expect(requests.filter((name) => name.length > 'MANIFEST-000000'.length)).toEqual([]);
});

test('a log that holds a page is damaged where the server answers 404 for others', async () => {
  fallback = (_, response) => response.writeHead(404).end();
  // LevelDB takes a shorter one for the start of a record whose writer has stopped.
  files.set('000009.log', utf8(PAGE.repeat(50)));
  expect(await rejection(contents())).toMatchObject({ code: 'BLOOM_BAD_LOG' });
});

test.each(['404', 'a page labelled as bytes'])('a page that comes for one log alone is an error where the server answers others with %s', async (kind) => {
  fallback = fallbacks[kind] ?? ((_, response) => response.writeHead(404).end());
  misbehave = (name, request, response) => name === '000009.log' && (page({ 'content-type': 'text/html' })(request, response), true);
  expect(await rejection(contents())).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
});

test('probes the server once, and CURRENT twice, for all missing logs', async () => {
  fallback = fallbacks['a page labelled as bytes']!;
  await contents();
  expect(requests.filter((name) => name.length > 'MANIFEST-000000'.length).map((name) => name.slice(-4))).toEqual(['.log', '.ldb']);
  expect(requests.filter((name) => name === 'CURRENT').length).toBeLessThanOrEqual(4);
});

describe('a login that expires', () => {
  /** Sends pages for all requests after that for `last`. */
  function expireAfter(last: string, label: string): void {
    let isExpired = false;
    misbehave = (name, request, response) => {
      if (isExpired) page({ 'content-type': label })(request, response);
      const isAnswered = isExpired;
      if (name.startsWith(last)) isExpired = true;
      return isAnswered;
    };
  }

  test.each(['text/html', 'application/octet-stream'])('is an error and loses no log, with pages labelled %s', async (label) => {
    fallback = (_, response) => response.writeHead(404).end();
    for (const options of [{}, { files: [...files.keys()] }]) {
      expireAfter('MANIFEST', label);
      const error = await rejection(contents(options));
      expect(error).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
    }
  });

  test('is said to send a page when an open table is read', async () => {
    const reader = await DatabaseReader.open(folder({ tailBytes: 48 }), { openTables: 'at-opening', cache: null });
    misbehave = (_, request, response) => (page({ 'content-type': 'text/html' })(request, response), true);
    expect(await rejection(reader.get(utf8('a')))).toMatchObject({ code: 'BLOOM_HTTP_PAGE' });
    await reader.close();
  });
});

describe('a server that answers 403', () => {
  const forbids: Answer = (_, response) => response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>');

  test('for all missing files has the logs and tables that can be read', async () => {
    fallback = forbids;
    expect(await contents()).toEqual(RIGHT);
  });

  test('for a log that is listed is an error', async () => {
    fallback = forbids;
    const listed = [...files.keys()];
    files.delete('000009.log');
    expect(await rejection(contents({ files: listed }))).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 403 });
  });

  test('for logs and tables alone is an error, for it may have them', async () => {
    fallback = (_, response) => response.writeHead(404).end();
    for (const end of ['.log', '.sst']) {
      misbehave = (name, request, response) => name.endsWith(end) && (forbids(request, response), true);
      expect(await rejection(contents()), end).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 403 });
    }
  });
});
