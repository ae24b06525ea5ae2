// An argument that a call does not take is an error that names the call, before anything is written or deleted.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arrayRun, assemble, collectGarbage, decodePart, ensureParts, levelRun, MemoryStore, partRun, PartWriter, publish, readManifest, type Store, tableRun, writeParts, type WritePartsOptions } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { R2Store, type R2BucketLike } from '@bloom/bulk/r2';
import { S3Store, s3StoreOf } from '@bloom/bulk/s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const key = new TextEncoder().encode('a');
const loose = (call: unknown): ((...given: unknown[]) => Promise<unknown>) => call as (...given: unknown[]) => Promise<unknown>;

let path: string;
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'bloom-bulk-arguments-'));
});
afterAll(() => rm(path, { recursive: true }));

describe('a call with an argument too many', () => {
  const store = new MemoryStore();

  test.each<readonly [name: string, call: () => Promise<unknown>, message: string]>([
    ['assemble', () => loose(assemble)(store, [], {}, []), 'assemble takes a store, parts and options, got 4 arguments'],
    ['assemble of two lists of parts', () => loose(assemble)(store, [], []), 'the options of assemble must be an object, got an Array'],
    ['publish', () => loose(publish)(store, {}, {}, {}), 'publish takes a store, an assembly and options, got 4 arguments'],
    ['ensureParts', () => loose(ensureParts)(store, {}, {}, {}), 'ensureParts takes a store, an assembly and options, got 4 arguments'],
    ['collectGarbage', () => loose(collectGarbage)(store, {}, { isDryRun: true }), 'collectGarbage takes a store and options, got 3 arguments'],
    ['collectGarbage of two stores', () => loose(collectGarbage)(store, new MemoryStore()), 'collectGarbage has no option "name": it has keep, graceMs, isDryRun, nowMs, signal'],
  ])('is refused: %s', async (_, call, message) => {
    await store.put({ name: 'CURRENT', bytes: key, sha256: '' });
    await expect(call()).rejects.toThrow(new TypeError(message));
    expect([...store.files().keys()]).toEqual(['CURRENT']);
  });

  test('is refused by writeParts, which also refuses unknown options', async () => {
    const parts = (...given: unknown[]): Promise<unknown> => (writeParts as (...values: unknown[]) => AsyncGenerator)(...given).next();
    await expect(parts(store, [], { sequence: 1n }, [])).rejects.toThrow('writeParts takes a store, entries and options, got 4 arguments');
    await expect(parts(store, [], { sequence: 1n, partByte: 5 })).rejects.toThrow('writeParts has no option "partByte": did you mean partBytes?');
  });

  test('is refused by a writer of parts, which then has no entry', () => {
    const writer = new PartWriter({ sequence: 1n });
    const { put, delete: remove } = writer as unknown as Record<string, (...given: unknown[]) => void>;
    expect(() => put!.call(writer, key, key, key)).toThrow('PartWriter.put takes a key and a value, got 3 arguments');
    expect(() => remove!.call(writer, key, key)).toThrow('PartWriter.delete takes a key, got 2 arguments');
    expect(writer.isEmpty).toBe(true);
  });
});

test('a filter policy that is none is refused by the name of its option', () => {
  expect(() => new PartWriter({ sequence: 1n, filterPolicy: 10 as never })).toThrow(new TypeError('filterPolicy must be a FilterPolicy, got number'));
});

test('inherited options of a writer of parts count', async () => {
  const lengthOf = async (options: WritePartsOptions): Promise<number> => {
    for await (const { byteLength } of writeParts(new MemoryStore(), [[[key, new Uint8Array(1000)]]], options)) return byteLength;
    return 0;
  };
  const inherited = Object.create({ compression: 'none' }) as { compression: 'none' };
  expect(await lengthOf({ sequence: 1n })).toBeLessThan(1000);
  expect(await lengthOf(Object.assign(inherited, { sequence: 1n }))).toBe(await lengthOf({ sequence: 1n, compression: 'none' }));
});

test('a run of a table is not one of a part, and the other way round', async () => {
  const table = { cursor: () => undefined };
  const loosely = (make: unknown): ((given: unknown) => unknown) => make as (given: unknown) => unknown;
  expect(() => loosely(tableRun)({ table })).toThrow(new TypeError('table must be a Table, got object without cursor()'));
  expect(() => loosely(partRun)(table)).toThrow(new TypeError('part.table must be a Table, got undefined'));
  for (const nothing of [undefined, null, 'a']) {
    expect(() => loosely(tableRun)(nothing)).toThrow(/^table must be a Table, got /);
    expect(() => loosely(partRun)(nothing)).toThrow(/^part\.table must be a Table, got /);
  }
  await expect(readManifest(undefined as never, 'MANIFEST-000001')).rejects.toThrow(/^store must be a store, got /);
});

test('a run is made of an array, and of a function that opens parts', () => {
  const runs = { arrayRun, levelRun } as unknown as Record<string, (...given: unknown[]) => unknown>;
  expect(() => runs.arrayRun!(undefined)).toThrow(new TypeError('entries must be an array of entries, got undefined'));
  expect(() => runs.levelRun!(undefined, () => undefined)).toThrow(new TypeError('parts must be an array of parts, got undefined'));
  expect(() => runs.levelRun!([], new MemoryStore())).toThrow(new TypeError('open must be a function, got a MemoryStore'));
});

describe('deleting an object', () => {
  const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };
  const requests: string[] = [];
  const bucket = new Proxy({}, { get: (_, name) => () => void requests.push(String(name)) }) as R2BucketLike;
  const fetch = (): never => {
    requests.push('fetch');
    throw new TypeError('no request is expected');
  };
  const stores: readonly (readonly [name: string, make: () => Store])[] = [
    ['MemoryStore', () => new MemoryStore()],
    ['FolderStore', () => new FolderStore(path)],
    ['R2Store', () => new R2Store(bucket)],
    ['S3Store', () => new S3Store('https://bucket.s3.eu-central-1.amazonaws.com/', { credentials, fetch })],
  ];

  test.each(stores)('of a %s takes one name, which is not empty', async (name, make) => {
    const remove = loose(make().delete.bind(make()));
    await expect(remove('')).rejects.toThrow(`name of ${name}.delete must be the name of an object, got ''`);
    await expect(remove()).rejects.toThrow(`name of ${name}.delete must be the name of an object, got undefined`);
    await expect(remove('a', undefined, undefined, 'b')).rejects.toThrow(`${name}.delete takes a name, an object and a signal, got 4 arguments`);
    expect(requests).toEqual([]);
    expect(await readdir(path)).toEqual([]);
  });
});

test('s3StoreOf refuses the options that the address and the environment give', () => {
  const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
  expect(() => s3StoreOf('s3://bucket/a', environment, { prefix: 'b' } as never)).toThrow('s3StoreOf has no option "prefix"');
});

test('s3StoreOf takes inherited options', async () => {
  const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
  const urls: unknown[] = [];
  const fetch = (url: unknown): Promise<Response> => Promise.resolve((void urls.push(url), new Response('x', { headers: { etag: '"1"' } })));
  await s3StoreOf('s3://bucket/a', environment, Object.create({ fetch }) as { fetch: typeof fetch }).get('CURRENT');
  expect(urls).toEqual(['https://bucket.s3.us-east-1.amazonaws.com/a/CURRENT']);
});

describe('a promise that was not awaited, or another wrong object,', () => {
  const wrong: readonly unknown[] = [undefined, null, 'text', {}, Promise.resolve({}), { manifest: 'MANIFEST-1', levels: [] }];

  test('is refused as an assembly, by an empty store too, to which nothing is written', async () => {
    const store = new MemoryStore();
    for (const assembly of wrong) await expect(loose(publish)(store, assembly)).rejects.toThrow(/^assembly must be the result of assemble, got /);
    await expect(loose(publish)(store, assemble(store, []))).rejects.toThrow(new TypeError('assembly must be the result of assemble, got a Promise'));
    await expect(loose(publish)(store, await assemble(store, []), { ifMatch: 5 })).rejects.toThrow(new TypeError('ifMatch must be an etag or null, got number'));
    expect(store.files().size).toBe(0);
  });

  test('is refused as a publication and as a part', async () => {
    const store = new MemoryStore();
    await expect(loose(assemble)(store, [], { previous: Promise.resolve() })).rejects.toThrow(new TypeError('previous must be a publication, got a Promise'));
    await expect(loose(assemble)(store, [], { previous: null })).rejects.toThrow(new TypeError('previous must be a publication, got null'));
    await expect(loose(ensureParts)(store, Promise.resolve())).rejects.toThrow(new TypeError('assembly must be a publication, got a Promise'));
    for (const part of wrong) await expect(loose(assemble)(store, [part])).rejects.toThrow(/^parts\[0\] must be a part, as yielded by writeParts or returned by decodePart, got /);
    expect(() => decodePart(undefined as never)).toThrow(new TypeError('line must be a string, got undefined'));
  });
});

test('a FolderStore refuses the names of files outside of it', async () => {
  const store = new FolderStore(path);
  for (const name of ['', '.', '..', '../file', 'folder/file', 'folder\\file']) {
    const expected = new RangeError(`name must be the name of a file within the folder, got ${JSON.stringify(name)}`);
    await expect(store.get(name)).rejects.toThrow(expected);
    await expect(store.head(name)).rejects.toThrow(expected);
    for (const write of ['create', 'put', 'replace'] as const) await expect(store[write]({ name, bytes: key, sha256: '' }, undefined)).rejects.toThrow(expected);
    if (name !== '') await expect(store.delete(name)).rejects.toThrow(expected);
  }
});

test('a FolderStore refuses an empty path, because it would be the current folder', () => {
  expect(() => new FolderStore('')).toThrow(new TypeError("path must be a path that is not empty, got ''"));
  expect(() => new FolderStore(undefined as never)).toThrow(new TypeError('path must be a path that is not empty, got undefined'));
});

test('a FolderStore whose folder cannot be made fails with the code of a store', async () => {
  const file = join(path, 'file');
  await writeFile(file, '');
  const store = new FolderStore(join(file, 'folder'));
  await expect(store.replace({ name: 'CURRENT', bytes: key, sha256: '' }, undefined)).rejects.toMatchObject({ name: 'BulkError', code: 'BLOOM_STORE_FAILED' });
});

// Node's own recursive mkdir does not end there.
test.skipIf(process.platform !== 'linux')('a FolderStore in a folder that no folder can be made in fails', async () => {
  const store = new FolderStore('/proc/bloom/store');
  await expect(store.replace({ name: 'CURRENT', bytes: key, sha256: '' }, undefined)).rejects.toMatchObject({ name: 'BulkError', code: 'BLOOM_STORE_FAILED' });
  await expect(store.put({ name: 'CURRENT', bytes: key, sha256: '' })).rejects.toThrow();
});
