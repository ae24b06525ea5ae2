// The stores with servers that others have written: moto (Python) for S3, and Cloudflare's R2 in Miniflare.
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import process from 'node:process';
import type { AddressInfo } from 'node:net';
import { type R2BucketLike, R2Store } from '@bloom/bulk/r2';
import { S3Store } from '@bloom/bulk/s3';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { object, storeLaws } from '../store-laws.js';

// BLOOM_PYTHON: a Python that has moto, where it is not python3.
const python = process.env.BLOOM_PYTHON ?? 'python3';
const hasMoto = spawnSync(python, ['-c', 'import moto.server, flask']).status === 0;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

if (!hasMoto) test.skip('moto, a server with the API of S3, is not installed (pip install "moto[server,s3]")', () => {});

describe.runIf(hasMoto)('moto', () => {
  let child: ReturnType<typeof spawn>;
  let origin = '';
  let buckets = 0;
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const storeOf = (bucket: string) => new S3Store(`${origin}/${bucket}/words/`, { credentials, retryDelayMs: 10 });

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    await vi.waitFor(() => fetch(origin), { timeout: 60_000, interval: 100 });
  });
  afterAll(() => {
    child.kill();
  });

  async function newStore(): Promise<S3Store> {
    const bucket = `bucket${++buckets}`;
    expect((await fetch(`${origin}/${bucket}`, { method: 'PUT' })).status).toBe(200);
    return storeOf(bucket);
  }

  storeLaws('a bucket of moto', newStore);

  test('takes objects in pieces', async () => {
    const store = await newStore();
    const pieces = new S3Store(store.name, { credentials, multipartBytes: 5 * 2 ** 20 });
    const bytes = new Uint8Array(12 * 2 ** 20).map((_, i) => (i * 31) >> 8);
    const large = object('123456.ldb', bytes);
    expect(await pieces.create(large)).toBe(true);
    expect(Buffer.compare((await store.get('123456.ldb'))!.bytes, bytes)).toBe(0);
    expect((await store.head('123456.ldb'))!.sha256).toBe(large.sha256);
  });
});

describe('Miniflare', () => {
  let miniflare: Miniflare;
  let bucket: R2BucketLike;
  let stores = 0;
  beforeAll(async () => {
    miniflare = new Miniflare({ modules: true, script: 'export default { fetch: () => new Response("") }', r2Buckets: ['BUCKET'] });
    bucket = (await miniflare.getR2Bucket('BUCKET')) as unknown as R2BucketLike;
  });
  afterAll(() => miniflare.dispose());

  storeLaws('a bucket of R2', async () => new R2Store(bucket, `database${++stores}/`));
});
