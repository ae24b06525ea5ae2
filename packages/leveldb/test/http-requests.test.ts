// How many requests a database over HTTP takes.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, MemoryFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { HttpFolder, type HttpFolderOptions } from '@bloom/leveldb/http';
import type { Fetch } from '@bloom/sstable/http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { Gate } from './gated-folder.js';

const ENTRIES = 10_000;
/** A key that is not there, and lies behind key `i`. */
const absentAt = (i: number): Uint8Array => Uint8Array.of(...keyAt(i), 0x78);
const keyAt = (i: number): Uint8Array => new TextEncoder().encode(`key${String(i).padStart(9, '0')}`);

/** Six tables in one level. Keys of even numbers are there. */
let files: Map<string, Uint8Array>;
let tables: string[];
let server: Server;
let origin = '';
let requests: string[] = [];
/** The tables that were opened: their end is requested only then. */
let opened: string[] = [];
/** Answers a request itself, if it returns true. */
let misbehave: (name: string, range: string | undefined, response: ServerResponse) => boolean;

beforeAll(async () => {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, { compression: 'none', writeBufferSize: 2 ** 20 });
  const random = seeded(4);
  for (let i = 0; i < ENTRIES; i++) await database.put(keyAt(2 * i), random.bytes(480));
  await database.compactRange();
  await database.put(keyAt(2 * ENTRIES), new Uint8Array(3));
  await database.close();
  files = new Map();
  for (const name of folder.list()) {
    const file = folder.open(name)!;
    files.set(name, file.byteLength === 0 ? new Uint8Array(0) : file.read(0, file.byteLength).slice());
  }
  tables = [...files.keys()].filter((name) => name.endsWith('.ldb')).sort();
  server = createServer((request, response) => {
    const name = request.url!.slice(1);
    const { range } = request.headers;
    requests.push(`${request.method} ${name}`);
    if (range?.startsWith('bytes=-') === true) opened.push(name);
    if (misbehave(name, range, response)) return;
    const bytes = files.get(name);
    if (bytes === undefined) return response.writeHead(404).end();
    if (request.method === 'HEAD') return response.writeHead(200, { etag: '"one"', 'content-length': bytes.length }).end();
    const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(range ?? '')!;
    const first = start === '' ? Math.max(0, bytes.length - Number(end)) : Number(start);
    const part = bytes.subarray(first, start === '' ? bytes.length : Number(end) + 1);
    if (part.length === 0) return response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    return response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}` }).end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  opened = [];
  misbehave = () => false;
});

const listed = (options: HttpFolderOptions = {}): HttpFolder => new HttpFolder(origin, { files: [...files.keys()], retryDelayMs: 1, ...options });

test.each([
  ['with a query', (url: string) => `${url}?token=1`, '?token=1'],
  ['without a slash at the end, with a query', (url: string) => `${url.slice(0, -1)}?token=/1`, '?token=/1'],
  ['as a URL with a query and a fragment', (url: string) => new URL(`${url}?token=1#top`), '?token=1'],
  ['with a fragment', (url: string) => `${url}#top/`, ''],
])('the URL of a folder %s leads to its files, each with the query', async (_, urlOf, query) => {
  misbehave = (name, range, response) => {
    const [file = '', given] = name.split('?');
    const bytes = files.get(file.slice('folder/'.length));
    const isGood = file.startsWith('folder/') && (given === undefined ? '' : `?${given}`) === query && bytes !== undefined;
    response.writeHead(isGood ? 200 : 404).end(isGood ? bytes : undefined);
    return true;
  };
  const reader = await DatabaseReader.open(new HttpFolder(urlOf(`${origin}folder/`)));
  expect(await reader.has(keyAt(2))).toBe(true);
  await reader.close();
  const paths = requests.filter((request) => request.includes('CURRENT'));
  expect(new Set(paths)).toEqual(new Set([`GET folder/CURRENT${query}`]));
});

test.each([[null], [undefined], [5], [{}]])('%j as the URL of a folder is refused', (url) => {
  expect(() => new HttpFolder(url as never)).toThrow(new TypeError('url must be a string, a URL or a function'));
});

describe('the cache of a page', () => {
  /** The cache modes with which the files are requested, by their types. */
  async function modesOf(options: HttpFolderOptions): Promise<Record<string, unknown>> {
    const modes: Record<string, unknown> = {};
    const host = globalThis.fetch;
    const watching = (url: string, init: Parameters<Fetch>[1]) => {
      modes[/CURRENT|MANIFEST|log|ldb/.exec(url)![0]] = (init as { readonly cache?: unknown }).cache;
      return host(url, init);
    };
    if ('fetch' in options) options = { ...options, fetch: watching };
    else vi.stubGlobal('fetch', watching);
    const reader = await DatabaseReader.open(listed(options));
    await reader.get(keyAt(2));
    await reader.close();
    return modes;
  }
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test.each([
    ['the host’s fetch', {}],
    ['a fetch of the caller', { fetch: undefined }],
  ])('is not believed by %s about files that may change', async (_, options) => {
    vi.stubGlobal('location', { origin: new URL(origin).origin });
    expect(await modesOf(options)).toEqual({ CURRENT: 'no-cache', MANIFEST: 'no-cache', log: 'no-cache', ldb: undefined });
    expect(await modesOf({ ...options, isPublished: true })).toEqual({ CURRENT: 'no-cache', MANIFEST: undefined, ldb: undefined });
  });

  test('is not mentioned on hosts without one, some of which refuse the mode', async () => {
    expect(await modesOf({})).toEqual({ CURRENT: undefined, MANIFEST: undefined, log: undefined, ldb: undefined });
  });
});

describe('a published table', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test.each([
    ['in a page of another origin, with HEAD: the browser would ask the server for permission before a range at the end', 'https://other.example', {}, ['HEAD', 'GET']],
    ['in a page of its own origin, with a range at the end', undefined, {}, ['GET']],
    ['in a page of another origin, with a range at the end if the caller says how long it is', 'https://other.example', { tailBytes: 2 ** 16 }, ['GET']],
  ])('is opened %s', async (_, pageOrigin, options, methods) => {
    vi.stubGlobal('location', { origin: pageOrigin ?? new URL(origin).origin });
    const file = await new HttpFolder(origin, { isPublished: true, ...options }).open(tables[0]!);
    const tail = 2 ** 16;
    await file!.read(file!.byteLength - tail, tail);
    expect(requests).toEqual(methods.map((method) => `${method} ${tables[0]}`));
  });

  describe('that gets another ETag and date', () => {
    const NAMED = '1262190158462219392.ldb';
    const headers = { isPublished: true, retries: 0, tailBytes: 10 };
    let version = 0;
    let bytes: Uint8Array;

    beforeEach(() => {
      version = 0;
      bytes = files.get(tables[0]!)!;
      misbehave = (name, range, response) => {
        if (name !== NAMED && name !== tables[0]) return false;
        const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(range!)!;
        const first = start === '' ? bytes.length - Number(end) : Number(start);
        const part = bytes.subarray(first, start === '' ? bytes.length : Number(end) + 1);
        const range206 = { etag: `"${version}"`, 'last-modified': new Date(version * 1000).toUTCString(), 'content-range': `bytes ${first}-${first + part.length - 1}/${bytes.length}` };
        response.writeHead(206, range206).end(part);
        return true;
      };
    });

    test('can still be read if its name is made from its bytes, and later reads take one request each', async () => {
      const file = (await new HttpFolder(origin, headers).open(NAMED))!;
      for (version = 1; version < 4; version++) {
        const read = await Promise.all([0, 100, 200].map(async (offset) => file.read(offset, 50)));
        expect(read).toEqual([0, 100, 200].map((offset) => bytes.slice(offset, offset + 50)));
        requests = [];
        await file.read(300, 50);
        expect(requests).toEqual([`GET ${NAMED}`]);
      }
    });

    test.each([
      ['its name was counted', { isPublished: true }, () => tables[0]!, 0],
      ['the folder is not published', { isPublished: false }, () => NAMED, 0],
      ['its length is another one', { isPublished: true }, () => NAMED, 1],
    ])('has changed if %s', async (_, options, name, more) => {
      const file = (await new HttpFolder(origin, { ...headers, ...options }).open(name()))!;
      version = 1;
      bytes = bytes.subarray(more);
      expect(await rejection((async () => file.read(0, 50))())).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED', file: name() });
    });
  });
});

describe('many tables that are opened at the same time', () => {
  const names = Array.from({ length: 100 }, (_, i) => `${String(i).padStart(6, '0')}.ldb`);
  let running = 0;
  let most = 0;
  const hold: (() => void)[] = [];
  /** Answers once it is let go, so that all requests which may run at the same time do. */
  const held: Fetch = async (url) => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => hold.push(resolve));
    running--;
    // The folder also requests a file with a random number, to learn how the server responds for missing files. That request succeeds.
    if (/\/0000\d1\.ldb$/.test(url)) throw new TypeError('fetch failed');
    return new Response(Uint8Array.of(1), { status: 206, headers: { 'content-range': 'bytes 0-0/1', 'content-length': '1' } });
  };
  beforeEach(() => {
    running = 0;
    most = 0;
    hold.length = 0;
  });
  /** Lets requests go until the work has ended, each time once no further ones start. */
  async function letGoUntil(work: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    void work.then(() => (hasEnded = true));
    const isOver = (): boolean => hasEnded;
    while (!isOver()) {
      for (let held = -1; held < hold.length; ) {
        held = hold.length;
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      }
      for (const go of hold.splice(0)) go();
    }
  }

  test('take at most 16 requests at a time, also after some have failed', async () => {
    const folder = new HttpFolder('http://bloom.test/', { fetch: held, retries: 0 });
    const opened = Promise.allSettled(names.map((name) => folder.open(name)));
    await letGoUntil(opened);
    const results = await opened;
    expect(most).toBe(16);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(90);
  });

  test('can be aborted while they wait, and leave the others room', async () => {
    const folder = new HttpFolder('http://bloom.test/', { fetch: held, retries: 0 });
    const stop = new AbortController();
    const kept = Promise.allSettled(names.slice(0, 20).map((name) => folder.open(name)));
    const aborted = names.slice(20, 60).map((name) => rejection(folder.open(name, stop.signal)));
    await new Promise(setImmediate);
    stop.abort(new Error('enough'));
    for (const error of await Promise.all(aborted)) expect(error).toEqual(new Error('enough'));
    const later = Promise.allSettled(names.slice(60).map((name) => folder.open(name)));
    await letGoUntil(Promise.all([kept, later]));
    expect((await kept).filter(({ status }) => status === 'fulfilled')).toHaveLength(18);
    expect((await later).filter(({ status }) => status === 'fulfilled')).toHaveLength(36);
    expect(most).toBe(16);
  });
});

/** A key in the middle of each table. */
async function oneInEach(): Promise<Uint8Array[]> {
  const local = await DatabaseReader.open(new MemoryFolder(files));
  const found = local.describe().levels.flat().map(({ smallest, largest }) => {
    const number = (key: Uint8Array): number => Number(new TextDecoder().decode(key).slice(3));
    return keyAt(2 * Math.floor((number(smallest.userKey) + number(largest.userKey)) / 4));
  });
  await local.close();
  return found;
}

describe('a database of six tables over HTTP', () => {
  test('takes 3 requests to open if its files are listed: for CURRENT, the MANIFEST and the log', async () => {
    expect(tables).toHaveLength(6);
    const reader = await DatabaseReader.open(listed());
    expect(requests.map((request) => request.replace(/[0-9]{6}/, 'N')).sort()).toEqual(['GET CURRENT', 'GET MANIFEST-N', 'GET N.log']);
    expect(reader.filterStatus).toEqual({ state: 'unopened' });
    expect(reader.describe().levels.flat().map(({ filterStatus }) => filterStatus)).toEqual(new Array(6).fill({ state: 'unopened' }));
    await reader.close();
  });

  test('takes 4 requests to open if its log is empty', async () => {
    const [log] = [...files].filter(([name]) => name.endsWith('.log')) as [[string, Uint8Array]];
    files.set(log[0], new Uint8Array(0));
    const reader = await DatabaseReader.open(listed());
    files.set(...log);
    expect(requests.length).toBeLessThanOrEqual(4);
    await reader.close();
  });

  test('takes one request more for each number that a log might have if its files are not listed, and reads nothing twice', async () => {
    const reader = await DatabaseReader.open(new HttpFolder(origin));
    expect(new Set(requests).size).toBe(requests.length);
    expect(requests.filter((request) => request.endsWith('.log')).length).toBeLessThanOrEqual(18);
    expect(requests.length).toBeLessThanOrEqual(20);
    expect(await reader.get(keyAt(2 * ENTRIES))).toHaveLength(3);
    await reader.close();
  });

  test('takes 2 requests for the first lookup in each table, and then 1', async () => {
    const reader = await DatabaseReader.open(listed(), { cache: null });
    const keys = await oneInEach();
    for (const [i, key] of keys.entries()) {
      requests = [];
      expect(await reader.get(key)).toHaveLength(480);
      expect(requests, `table ${i}`).toHaveLength(2);
    }
    requests = [];
    for (const key of keys) expect(await reader.get(key)).toHaveLength(480);
    expect(requests).toHaveLength(keys.length);
    expect(reader.filterStatus.state).toBe('used');
    await reader.close();
  });

  test('opens each table once for any number of lookups, walks and cursors at the same time', async () => {
    const reader = await DatabaseReader.open(listed());
    const keys = await oneInEach();
    const count = async (): Promise<number> => {
      let entries = 0;
      for await (const _ of reader.keys()) entries++;
      return entries;
    };
    const [counts] = await Promise.all([Promise.all([count(), count()]), reader.getMany(keys), ...keys.map((key) => reader.has(key)), reader.cursor().seekToLast()]);
    expect(counts).toEqual([ENTRIES + 1, ENTRIES + 1]);
    expect(opened.sort()).toEqual(tables);
    expect(reader.describe().levels.flat().map(({ filterStatus }) => filterStatus.state)).toEqual(new Array(6).fill('used'));
    await reader.close();
  });

  test('takes few requests for getMany of neighbouring keys, in any order, and gives what a reader in memory gives (seed 6)', async () => {
    const random = seeded(6);
    const local = await DatabaseReader.open(new MemoryFolder(files));
    for (const [isListed, step] of [
      [true, 8],
      [false, 40],
    ] as const) {
      const reader = await DatabaseReader.open(isListed ? listed() : new HttpFolder(origin));
      requests = [];
      const keys = random.shuffle(Array.from({ length: 2000 }, (_, i) => keyAt((i * step) % (2 * ENTRIES)))).concat([keyAt(1), keyAt(2 * ENTRIES)]);
      const values = await reader.getMany(keys);
      const expected = await local.getMany(keys);
      // Compared as bytes: `toEqual` takes seconds.
      expect(values.filter((value, i) => Buffer.compare(value ?? Buffer.of(), expected[i] ?? Buffer.of()) !== 0)).toEqual([]);
      // Six to open the tables, and about one for each megabyte.
      expect(requests.length).toBeLessThan(30);
      await reader.close();
    }
    await local.close();
  });

  test('takes few requests for absent keys', async () => {
    const reader = await DatabaseReader.open(listed());
    requests = [];
    for (let i = 0; i < 300; i++) expect(await reader.get(absentAt(2 * i * 33))).toBeUndefined();
    expect(requests.length).toBeLessThanOrEqual(6 + 0.05 * 300);
    expect(reader.stats.filterNegatives).toBeGreaterThan(280);
    await reader.close();
  });

  test('reads filters that do not come with the end of a table when they pay, and never if they are not wanted', async () => {
    for (const filters of ['when-needed', 'never', 'at-opening'] as const) {
      const reader = await DatabaseReader.open(listed({ tailBytes: 48 }), { filters });
      expect(await reader.get(keyAt(2))).toHaveLength(480);
      expect(reader.filterStatus.state).toBe(filters === 'at-opening' ? 'used' : 'unread');
      for (let i = 0; i < 100; i++) expect(await reader.get(absentAt(2 * i * 100))).toBeUndefined();
      expect(reader.filterStatus.state).toBe(filters === 'never' ? 'unread' : 'used');
      const { filtersUnread, filterNegatives } = reader.stats;
      if (filters === 'when-needed') expect([filtersUnread < 10, filterNegatives > 80]).toEqual([true, true]);
      if (filters === 'never') expect([filtersUnread, filterNegatives]).toEqual([101, 0]);
      expect(await reader.getMany(await oneInEach())).not.toContain(undefined);
      await reader.close();
    }
  });

  test('opens all its tables with the database if the option says so', async () => {
    const reader = await DatabaseReader.open(listed(), { openTables: 'at-opening' });
    expect(requests.filter((request) => request.endsWith('.ldb'))).toHaveLength(6);
    requests = [];
    expect(await reader.getMany(await oneInEach())).not.toContain(undefined);
    expect(requests).toHaveLength(6);
    await reader.close();
  });
});

test('a folder on disk or in memory opens its tables with the database, unless the option says otherwise', async () => {
  const eager = await DatabaseReader.open(new MemoryFolder(files));
  expect(eager.filterStatus.state).toBe('used');
  const lazy = await DatabaseReader.open(new MemoryFolder(files), { openTables: 'when-needed' });
  expect(lazy.filterStatus).toEqual({ state: 'unopened' });
  expect(await lazy.get(keyAt(2))).toEqual(await eager.get(keyAt(2)));
  expect(lazy.filterStatus.state).toBe('used');
  await eager.close();
  await lazy.close();
});

describe('a table that is opened when it is needed', () => {
  test('and is gone by then is an error that says so, of the calls that need it alone', async () => {
    const reader = await DatabaseReader.open(listed());
    const keys = await oneInEach();
    const [name, bytes] = [tables[2]!, files.get(tables[2]!)!];
    files.delete(name);
    const results = await Promise.allSettled(keys.map((key) => reader.get(key)));
    files.set(name, bytes);
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatchObject({ name: 'FolderError', code: 'BLOOM_FOLDER_CHANGED', file: name });
    expect(await reader.getMany(keys)).not.toContain(undefined);
    await reader.close();
  });

  test('and stalls does not hold up close, and its request is ended', async () => {
    const reader = await DatabaseReader.open(listed());
    const [arrived, ended] = [new Gate(), new Gate()];
    misbehave = (name, _, response) => {
      if (!name.endsWith('.ldb')) return false;
      response.on('close', () => ended.open());
      arrived.open();
      return true;
    };
    const pending = [rejection(reader.get(keyAt(2))), rejection(reader.getMany([keyAt(2), keyAt(4000)])), rejection(reader.cursor().seekToFirst())];
    await arrived.pass();
    await reader.close();
    for (const error of await Promise.all(pending)) expect(error).toBeInstanceOf(TypeError);
    await ended.pass();
  });

  test('is opened on for another call when one call is aborted', async () => {
    const reader = await DatabaseReader.open(listed());
    let release = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      misbehave = (name, range, response) => {
        if (!name.endsWith('.ldb') || range?.startsWith('bytes=-') !== true) return false;
        misbehave = () => false;
        release = () => {
          const bytes = files.get(name)!;
          const start = Math.max(0, bytes.length - 65_536);
          response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }).end(bytes.subarray(start));
        };
        resolve();
        return true;
      };
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const aborted = rejection(reader.get(keyAt(2), { signal: controller.signal }));
    const waiting = reader.get(keyAt(2));
    await arrived;
    controller.abort(reason);
    expect(await aborted).toBe(reason);
    release();
    expect(await waiting).toHaveLength(480);
    await reader.close();
  });

  test.each(['later', 1, null])('openTables: %j is refused by name', async (openTables) => {
    const error = await rejection(DatabaseReader.open(listed(), { openTables: openTables as never }));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as Error).message).toMatch(/^openTables must be/);
  });
});
