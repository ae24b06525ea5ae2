import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { BulkError, MemoryStore, publish, assemble, readPublication } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { S3Store, s3StoreOf } from '@bloom/bulk/s3';
import { DatabaseReader } from '@bloom/leveldb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { S3Fault } from '@bloom/fixtures';
import { FakeS3 } from '../fake-s3.js';
import { collected, deliver, entriesOf, keyAt, partsOf, range } from '../model.js';
import { object, storeLaws } from '../store-laws.js';

let folder = '';
let s3: FakeS3;
let folders = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-stores-'));
  s3 = await FakeS3.start();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  s3.close();
});

function emptyS3(): FakeS3 {
  s3.objects.clear();
  s3.requests = [];
  s3.fault = () => undefined;
  s3.hold = () => undefined;
  s3.pageSize = 1000;
  return s3;
}

const newFolder = (): string => join(folder, String(++folders));

test('a replacement in a folder that is aborted while it waits rejects with the reason of its signal', async () => {
  const controller = new AbortController();
  const reason = new Error('no longer needed');
  class Aborted extends FolderStore {
    override get(...call: Parameters<FolderStore['get']>): ReturnType<FolderStore['get']> {
      controller.abort(reason);
      return super.get(...call);
    }
  }
  await expect(new Aborted(newFolder()).replace(object('CURRENT', 'start'), undefined, controller.signal)).rejects.toBe(reason);
});

storeLaws('memory', async () => new MemoryStore());
storeLaws('a folder', async () => new FolderStore(newFolder()));
storeLaws("a bucket behind S3's API", async () => emptyS3().store());

async function failureOf(work: Promise<unknown>): Promise<BulkError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BulkError);
  return error as BulkError;
}

describe('a folder as a store', () => {
  test('leaves no other files than the objects and LOCK', async () => {
    const path = newFolder();
    const store = new FolderStore(path);
    await deliver(store, entriesOf(range(0, 500)), 1n);
    await deliver(store, entriesOf(range(0, 10)), 2n);
    expect(readdirSync(path).filter((name) => !/^(?:CURRENT|LOCK|MANIFEST-[0-9]+(?:\.replaced)?|[0-9]+\.ldb)$/.test(name))).toEqual([]);
  });

  test('stays the same folder when the working directory changes', async () => {
    const path = newFolder();
    const before = process.cwd();
    const store = new FolderStore(relative(before, path));
    await deliver(store, entriesOf([1]), 1n);
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(tmpdir());
    try {
      const reader = await DatabaseReader.open(store.folder());
      expect(await reader.get(keyAt(1))).toBeDefined();
      await reader.close();
    } finally {
      cwd.mockRestore();
    }
  });

  test('lets one of several processes replace CURRENT', async () => {
    const path = newFolder();
    const store = new FolderStore(path);
    await store.replace(object('CURRENT', 'start'), undefined);
    const program = `
      import { FolderStore } from '@bloom/bulk/node';
      const store = new FolderStore(${JSON.stringify(path)});
      const { etag } = await store.get('CURRENT');
      process.stdout.write('ready\\n');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      process.stdin.pause();
      const bytes = new TextEncoder().encode(process.argv[1]);
      process.stdout.write(await store.replace({ name: 'CURRENT', bytes, sha256: '' }, etag));
    `;
    const children = ['one', 'two', 'three'].map((text) =>
      spawn(process.execPath, ['--conditions=bloom-source', '--import', 'tsx', '--input-type=module', '-e', program, text], { cwd: join(import.meta.dirname, '../..'), stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const outputs = children.map(() => '');
    await Promise.all(
      children.map(
        (child, i) =>
          new Promise<void>((resolve, reject) => {
            child.once('exit', () => reject(new Error('the process ended early')));
            child.stdout.on('data', (data: Buffer) => {
              outputs[i] = outputs[i]! + String(data);
              if (outputs[i].includes('ready')) resolve();
            });
          }),
      ),
    );
    const ends = children.map((child) => new Promise<void>((resolve) => child.stdout.once('end', resolve)));
    for (const child of children) child.stdin.end('go\n');
    await Promise.all(ends);
    const answers = outputs.map((output) => output.split('\n')[1]);
    expect(answers.slice().sort()).toEqual(['refused', 'refused', 'replaced']);
    expect(readFileSync(join(path, 'CURRENT'), 'utf8')).toBe(['one', 'two', 'three'][answers.indexOf('replaced')]);
  });

  test('gives a file that is written again the time of now', async () => {
    const path = newFolder();
    const store = new FolderStore(path);
    await store.create(object('123456.ldb', 'some bytes'));
    utimesSync(join(path, '123456.ldb'), 1, 1);
    expect((await store.head('123456.ldb'))!.modifiedMs).toBe(1000);
    await store.put(object('123456.ldb', 'some bytes'));
    expect((await store.head('123456.ldb'))!.modifiedMs).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe("a store with S3's API", () => {
  const faults: S3Fault[] = [
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503, headers: { 'retry-after': '0' } },
    { kind: 'status', status: 409 },
    { kind: 'status', status: 429 },
    { kind: 'done, status', status: 500 },
    { kind: 'done, cut' },
    { kind: 'half' },
    { kind: 'silence' },
  ];

  test.each(faults)('does everything right when each second request ends with $kind $status', async (fault) => {
    const fake = emptyS3();
    const store = fake.store({ timeoutMs: fault.kind === 'silence' ? 300 : 30_000 });
    fake.fault = (_, number) => (number % 2 === 1 ? fault : undefined);
    await store.put(object('MANIFEST-000001.replaced', ''));
    expect(await store.create(object('123456.ldb', 'some bytes'))).toBe(true);
    expect(await store.create(object('123456.ldb', 'others'))).toBe(false);
    expect((await store.head('123456.ldb'))!.byteLength).toBe(10);
    expect(['replaced', 'unknown']).toContain(await store.replace(object('CURRENT', 'one'), undefined));
    const { bytes, etag } = (await store.get('CURRENT'))!;
    expect(new TextDecoder().decode(bytes)).toBe('one');
    expect(['replaced', 'unknown']).toContain(await store.replace(object('CURRENT', 'two'), etag));
    expect(fake.bytes('CURRENT')!.toString()).toBe('two');
    expect((await collected(store.list())).map(({ name }) => name).sort()).toEqual(['123456.ldb', 'CURRENT', 'MANIFEST-000001.replaced']);
    await store.delete('123456.ldb');
    expect(fake.bytes('123456.ldb')).toBeUndefined();
  });

  test('gives up after its retries, and reports the server’s answer', async () => {
    const fake = emptyS3();
    fake.fault = () => ({ kind: 'status', status: 503 });
    const error = await failureOf(fake.store({ retries: 2 }).get('CURRENT'));
    expect(fake.requests).toHaveLength(3);
    expect(error).toMatchObject({ code: 'BLOOM_STORE_FAILED', status: 503, file: 'CURRENT' });
    expect(error.message).toContain('503 Fault on demand');
  });

  test('does not try again what is refused for good', async () => {
    const fake = emptyS3();
    fake.fault = () => ({ kind: 'status', status: 403 });
    expect(await failureOf(fake.store().create(object('123456.ldb', 'x')))).toMatchObject({ status: 403 });
    expect(fake.requests).toHaveLength(1);
  });

  test('ends when its signal is aborted while it waits', async () => {
    const fake = emptyS3();
    fake.fault = () => ({ kind: 'status', status: 503 });
    const controller = new AbortController();
    const reading = fake.store({ retryDelayMs: 1e6 }).get('CURRENT', controller.signal);
    await expect.poll(() => fake.requests.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  test('says which server refuses a body that arrives changed', async () => {
    const error = await failureOf(emptyS3().store().put({ ...object('123456.ldb', 'x'), sha256: object('', 'y').sha256 }));
    expect(error.message).toContain('XAmzContentSHA256Mismatch');
  });

  test('uploads large objects in pieces, frees them when that fails, and keeps conditions', async () => {
    const fake = emptyS3();
    const store = fake.store({ multipartBytes: 5 * 2 ** 20, retries: 0 });
    const bytes = new Uint8Array(11 * 2 ** 20).map((_, i) => (i * 31) >> 8);
    const large = object('123456.ldb', bytes);
    expect(await store.create(large)).toBe(true);
    expect(Buffer.compare(fake.bytes('123456.ldb')!, bytes)).toBe(0);
    expect(fake.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(3);
    expect((await store.head('123456.ldb'))!.sha256).toBe(large.sha256);
    expect(await store.create(large)).toBe(false);
    expect(fake.openUploads).toBe(0);
    fake.fault = (request, number) => (request.startsWith('PUT') && number % 2 === 0 ? { kind: 'status', status: 400 } : undefined);
    await failureOf(store.put({ ...large, name: '7.ldb' }));
    expect(fake.openUploads).toBe(0);
    expect(fake.bytes('7.ldb')).toBeUndefined();
  });

  test('lists in pages', async () => {
    const fake = emptyS3();
    fake.pageSize = 3;
    const store = fake.store();
    for (let i = 0; i < 10; i++) await store.create(object(`${100000 + i}.ldb`, 'x'));
    expect((await collected(store.list())).map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, i) => `${100000 + i}.ldb`));
    expect(fake.requests.filter((request) => request === 'GET ?list')).toHaveLength(4);
  });

  test('lets caches keep everything but CURRENT', async () => {
    const fake = emptyS3();
    await deliver(fake.store(), entriesOf(range(0, 100)), 1n);
    for (const [key, { headers }] of fake.objects) expect(headers['cache-control'], key).toBe(key.endsWith('CURRENT') ? 'no-cache' : 'public, max-age=31536000, immutable');
  });

  test('is made of an address and the environment, and never shows a secret', () => {
    const environment = { AWS_ACCESS_KEY_ID: 'the-id', AWS_SECRET_ACCESS_KEY: 'the-secret', AWS_SESSION_TOKEN: 'the-token', AWS_REGION: 'eu-north-1' };
    expect(s3StoreOf('s3://bucket/words', environment).name).toBe('https://bucket.s3.eu-north-1.amazonaws.com/words/');
    expect(s3StoreOf('s3://bucket', { ...environment, AWS_ENDPOINT_URL: 'http://127.0.0.1:9000/' }).name).toBe('http://127.0.0.1:9000/bucket/');
    expect(() => s3StoreOf('s3://bucket', { ...environment, AWS_SECRET_ACCESS_KEY: '' })).toThrow('AWS_SECRET_ACCESS_KEY is not set');
    expect(() => s3StoreOf('https://bucket', environment)).toThrow('s3://BUCKET/PREFIX');
    expect(() => new S3Store('http://127.0.0.1:9000/', { credentials: environment as never })).toThrow('credentials');
    const shown = JSON.stringify(s3StoreOf('s3://bucket', environment));
    for (const secret of ['the-id', 'the-secret', 'the-token']) expect(shown).not.toContain(secret);
  });
});

describe('publishing to a server that fails', () => {
  /** Publishes a delivery above a base, whose parts are there. */
  async function begun(fake: FakeS3): Promise<() => Promise<unknown>> {
    const store = fake.store();
    await deliver(store, entriesOf(range(0, 300)), 1n);
    const previous = await readPublication(store);
    const assembly = await assemble(store, await partsOf(store, entriesOf(range(0, 10), 'new'), 2n), { previous });
    fake.requests = [];
    return () => publish(fake.store({ retries: 0 }), assembly);
  }

  test('is either whole or as it was, at whichever request the publisher is killed, and can be done again', async () => {
    await (await begun(emptyS3()))();
    const { length } = s3.requests;
    expect(s3.requests.slice(-2)).toEqual([expect.stringMatching(/^DELETE \.CURRENT\.[0-9a-f]+\.tmp$/), 'PUT CURRENT']);
    for (const kind of ['status', 'done, cut'] as const) {
      for (let killed = 1; killed <= length; killed++) {
        const fake = emptyS3();
        const again = await begun(fake);
        const before = fake.bytes('CURRENT')!.toString();
        fake.fault = (_, number) => (number >= killed ? (kind === 'status' ? { kind, status: 500 } : { kind }) : undefined);
        await failureOf(again());
        const isReplaced = fake.bytes('CURRENT')!.toString() !== before;
        // The last but one deletes the object with which conditions were tried, and may fail.
        expect(isReplaced, `${kind} from request ${killed} of ${length} on`).toBe(kind === 'done, cut' && killed >= length - 1);
        fake.fault = () => undefined;
        await using reader = await DatabaseReader.open(fake.store().folder());
        expect(await collected(reader.entries())).toHaveLength(300);
        await again();
        await reader.refresh();
        expect(new TextDecoder().decode((await collected(reader.entries()))[5]![1])).toContain('new 5');
      }
    }
  });

  test('learns that it won when the answer was lost, even if another publication followed', async () => {
    for (const isFollowed of [false, true]) {
      const fake = emptyS3();
      const store = fake.store();
      await deliver(store, entriesOf(range(0, 300)), 1n);
      const assembly = await assemble(store, await partsOf(store, entriesOf(range(0, 10), 'new'), 2n), { previous: await readPublication(store) });
      let isLost = false;
      fake.fault = (request) => {
        if (isLost || request !== 'PUT CURRENT') return undefined;
        isLost = true;
        return { kind: 'done, status', status: 500 };
      };
      let isHeld = false;
      fake.hold = (request) => {
        // Another publication comes before the second try.
        if (!isLost || !isFollowed || isHeld || request !== 'PUT CURRENT') return undefined;
        isHeld = true;
        return deliver(store, entriesOf(range(0, 5), 'newest'), 3n).then(() => undefined);
      };
      expect(await publish(store, assembly), String(isFollowed)).toMatchObject({ isNew: true });
      expect((await readPublication(store))!.lastSequence).toBe(isFollowed ? 3n : 2n);
    }
  });
});
