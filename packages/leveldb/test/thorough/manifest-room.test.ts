import { Database, type DatabaseOptions, WritableMemoryFolder } from '@bloom/leveldb';
import { rejection } from '@bloom/fixtures/caught';
import { beforeEach, expect, test, vi } from 'vitest';
import { assembleDatabase } from '../assemble-database.js';
import { collect } from '../collect.js';

const { MAX } = vi.hoisted(() => ({ MAX: 20_000 }));
vi.mock('../../src/format/manifest.js', async (original) => ({ ...(await original<object>()), MAX_MANIFEST_RECORDS: MAX }));

const options: DatabaseOptions = { compression: 'none', writeBufferSize: 65_536 };
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The lengths of all MANIFESTs that were written. */
let lengths: number[] = [];
beforeEach(() => void (lengths = []));

class WatchedFolder extends WritableMemoryFolder {
  override rename(from: string, to: string): void {
    this.watch();
    super.rename(from, to);
  }

  watch(): void {
    for (const [name, bytes] of this.files()) if (name.startsWith('MANIFEST')) lengths.push(bytes.length);
  }
}

const manifestsOf = (folder: WritableMemoryFolder): string[] => folder.list().filter((name) => name.startsWith('MANIFEST'));

test('a MANIFEST that has no room for an edit is replaced by a new one with all tables, and the database stays whole', async () => {
  const folder = new WatchedFolder();
  const database = await Database.open(folder, options);
  const names = new Set<string>();
  for (let i = 0; i < 200; i++) {
    await database.put(`key ${i % 7} ${'k'.repeat(150)}`, `value ${i}`);
    await database.flush();
    await database.idle();
    for (const name of manifestsOf(folder)) names.add(name);
    expect(manifestsOf(folder)).toHaveLength(1);
  }
  const before = await collect(database.entries());
  await database.close();
  folder.watch();
  expect(names.size).toBeGreaterThan(3);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX + 100);
  expect(Math.max(...lengths)).toBeGreaterThan(MAX * 0.9);
  for (const reuseLogs of [true, false]) {
    const again = await Database.open(folder, { ...options, reuseLogs });
    expect(await collect(again.entries())).toEqual(before);
    await again.close();
  }
});

test('writes are refused before the keys of the tables fill a MANIFEST, nothing is lost, and after a clear there is room again', async () => {
  const folder = new WatchedFolder();
  const database = await Database.open(folder, options);
  const keyOf = (i: number): string => `${String(i).padStart(3, '0')}${'k'.repeat(1000)}`;
  let written = 0;
  let failure: unknown;
  while (failure === undefined) {
    failure = await database.put(keyOf(written), 'v').then(
      () => {
        written++;
      },
      (error: unknown) => error,
    );
    await database.flush();
    await database.idle();
    expect(written).toBeLessThan(50);
  }
  expect(failure).toMatchObject({ code: 'BLOOM_NO_ROOM', message: expect.stringMatching(/^the first and last keys of the tables take more than half of the limit of a MANIFEST, 20000 bytes: copy the entries/) as string });
  expect(written).toBeGreaterThan(3);
  await database.close();
  const again = await Database.open(folder, options);
  expect(await collect(again.keys())).toHaveLength(written);
  expect(await rejection(again.put('a', '1'))).toMatchObject({ code: 'BLOOM_NO_ROOM' });
  await again.clear();
  await again.put('a', '1');
  await again.close();
  folder.watch();
  expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX + 100);
});

test('a repair that would need too large a MANIFEST is refused, and leaves the folder as it was', async () => {
  const tables = Array.from({ length: 12 }, (_, i) => ({ level: 1, number: 10 + i, versions: [{ key: utf8(`${10 + i}${'k'.repeat(1000)}`), sequence: i + 1, value: utf8('v') }] }));
  const files = assembleDatabase({ tables });
  const folder = new WritableMemoryFolder(files);
  folder.delete('CURRENT');
  const before = folder.files();
  expect(await rejection(Database.repair(folder, options))).toMatchObject({ code: 'BLOOM_TOO_LARGE', message: expect.stringMatching(/pass a larger maxFileSize, so that there are fewer tables$/) as string });
  expect(folder.files()).toEqual(before);
});
