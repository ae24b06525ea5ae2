// A table and a database that a Cloudflare worker keeps from one request to the next, in workerd, which binds what a request
// begins to that request.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderFiles } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { writeTable } from '@bloom/sstable/node';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FileServer } from '../file-server.js';

const ENTRIES = 5_000;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (i: number): string => String(i).padStart(8, '0');
const allKeys = Array.from({ length: ENTRIES }, (_, i) => keyOf(i));
const values = (keys: readonly number[]): string[] => keys.map((i) => `value ${i}`);

/** What came of a request to the worker. */
type Outcome = { readonly value: unknown } | { readonly error: string; readonly code?: string } | { readonly left: number };

const folder = mkdtempSync(join(tmpdir(), 'bloom-workers-'));
const server = new FileServer();
let script: string;
let miniflare: Miniflare;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../../src/kept-tables-worker.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    // Those of wrangler.
    conditions: ['workerd', 'worker', 'browser'],
  });
  script = outputFiles[0]!.text;

  const path = join(folder, 'table.ldb');
  await writeTable(path, allKeys.map((key, i) => [utf8(key), utf8(`value ${i}`)] as const));
  server.files.set('/table.ldb', readFileSync(path));
  const database = await Database.open(new WritableNodeFolder(join(folder, 'database')), { lock: 'none' });
  for (const [i, key] of allKeys.entries()) await database.put(utf8(key), utf8(`value ${i}`));
  await database.compactRange();
  await database.close();
  for (const [name, bytes] of folderFiles(join(folder, 'database'))) server.files.set(`/database/${name}`, bytes);
  await server.start();
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(address: string): Promise<Outcome> {
  const response = await miniflare.dispatchFetch(`http://worker${address}`);
  return (await response.json()) as Outcome;
}

const value = async (address: string): Promise<unknown> => {
  const outcome = await ask(address);
  if (!('value' in outcome)) throw new Error(JSON.stringify(outcome));
  return outcome.value;
};

describe.each(['2023-06-01', '2026-04-01'])('a worker of %s', (compatibilityDate) => {
  beforeAll(async () => {
    miniflare = new Miniflare({ modules: true, script, compatibilityDate, r2Buckets: ['BUCKET'], bindings: { FILES: server.url } });
    expect(await value('/put?from=r2')).toBe('put');
  });

  afterAll(() => miniflare.dispose());

  beforeEach(() => {
    server.delayMs = 0;
  });

  describe.each(['fetch', 'r2', 'database'])('that keeps what it has opened over %s', (from) => {
    const get = (i: number, more = ''): string => `/get?from=${from}&key=${keyOf(i)}${more}`;
    const many = (keys: readonly number[]): string => `/many?from=${from}${keys.map((i) => `&key=${keyOf(i)}`).join('')}`;

    test('answers lookups, several at once and scans of one request after another', async () => {
      for (const i of [1, 1, 4_000]) expect(await value(get(i))).toBe(`value ${i}`);
      expect(await value(get(ENTRIES))).toBeNull();
      const keys = [0, 1, 70, 900, 901, 4_999];
      for (let round = 0; round < 3; round++) {
        expect(await value(many(keys))).toEqual(values(keys));
        expect(await value(`/scan?from=${from}`)).toEqual(allKeys);
      }
    });

    test('answers many requests at once, for the same block and for others', async () => {
      server.delayMs = 30;
      const keys = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? 7 : i * 400));
      const scan = value(`/scan?from=${from}`);
      expect(await Promise.all(keys.map((i) => value(get(i))))).toEqual(values(keys));
      expect(await Promise.all(keys.map((i) => value(many([i, i + 1]))))).toEqual(keys.map((i) => values([i, i + 1])));
      expect(await scan).toEqual(allKeys);
    });

    test('answers a lookup of a block that another request is aborted in', async () => {
      await value(get(3));
      server.delayMs = 300;
      const aborted = ask(get(3, '&abort=30'));
      const [first, second] = await Promise.all([value(get(3)), value(get(3))]);
      expect([first, second]).toEqual(values([3, 3]));
      // R2 has no delay, so the lookup may be over before.
      if (from !== 'r2') expect(await aborted).toMatchObject({ error: expect.stringMatching(/^TimeoutError/) as string });
      expect(await value(get(3))).toBe('value 3');
    });

    test('answers a lookup of a block that a request which has gone was reading', async () => {
      await value(get(5));
      server.delayMs = 1_000;
      expect(await ask(get(5, '&leave'))).toMatchObject({ left: expect.any(Number) as number });
      expect(await value(get(5))).toBe('value 5');
      expect(await ask(`/scan?from=${from}&leave`)).toMatchObject({ left: expect.any(Number) as number });
      server.delayMs = 0;
      expect(await value(`/scan?from=${from}`)).toEqual(allKeys);
    });

    test('is closed by one request while others read, and opened again', async () => {
      await value(get(5));
      server.delayMs = 500;
      const reading = ask(get(5));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await value(`/close?from=${from}`)).toBe('closed');
      const outcome = await reading;
      // R2 has no delay, so the lookup may be over before.
      if (from === 'r2' && 'value' in outcome) expect(outcome.value).toBe('value 5');
      else expect(outcome).toMatchObject({ error: expect.stringMatching(/^TypeError: .*closed/) as string });
      server.delayMs = 0;
      expect(await value(get(5))).toBe('value 5');
    });
  });

  test('lookups of one turn share the read of their block', async () => {
    // Lookups at the same time make it pay to read the filter, once.
    await value('/together?from=fetch&key=00000007&key=00000008&key=00000009');
    const before = server.requests;
    expect(await value('/together?from=fetch&key=00000001&key=00000002&key=00000003')).toEqual(values([1, 2, 3]));
    expect(server.requests - before).toBe(1);
  });

  test('a database is refreshed while the refresh of a request that has gone never ends', async () => {
    await value('/get?from=database&key=00000007');
    server.delayMs = 1_000;
    expect(await ask('/refresh?from=database&leave')).toMatchObject({ left: expect.any(Number) as number });
    server.delayMs = 0;
    expect(await value('/refresh?from=database')).toBe(false);
    expect(await Promise.all([value('/refresh?from=database'), value('/refresh?from=database')])).toEqual([false, false]);
    expect(await value('/get?from=database&key=00000007')).toBe('value 7');
    expect(await value('/close?from=database')).toBe('closed');
  });
});
