import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseReader, SyncDatabaseReader, WriteBatch } from '@bloom/leveldb';
import { NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BlockCache } from '@bloom/sstable';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'bloom-fill-cache-'));
const path = join(root, 'database');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keys = Array.from({ length: 2000 }, (_, i) => utf8(`key${String(i).padStart(5, '0')}`));

beforeAll(async () => {
  const database = await Database.open(new WritableNodeFolder(path, { thread: false }));
  // Two levels, so that walks merge.
  for (const parity of [0, 1]) {
    const batch = new WriteBatch();
    for (const [i, key] of keys.entries()) if (i % 2 === parity) batch.put(key, new Uint8Array(100).fill(i));
    await database.write(batch);
    await (parity === 0 ? database.compactRange() : database.flush());
  }
  await database.close();
});

const readers: Record<string, (cache: BlockCache) => Promise<DatabaseReader | SyncDatabaseReader | Database>> = {
  DatabaseReader: (cache) => DatabaseReader.open(new NodeFolder(path), { cache }),
  'DatabaseReader by threads': (cache) => DatabaseReader.open(new NodeFolder(path, { readsAtOnce: false }), { cache }),
  SyncDatabaseReader: (cache) => Promise.resolve(SyncDatabaseReader.open(new SyncNodeFolder(path), { cache })),
  Database: (cache) => Database.open(new WritableNodeFolder(path, { thread: false }), { cache }),
};

test.each(Object.entries(readers))('walks and cursors of a %s do not change the cache with fillCache: false', async (_, open) => {
  const cache = new BlockCache(2 ** 24);
  const database = await open(cache);
  await database.get(keys[1000]!);
  const { byteLength } = cache;
  expect(byteLength).toBeGreaterThan(0);
  const walks = async (fillCache: boolean): Promise<void> => {
    for (const reverse of [false, true]) {
      const expected = reverse ? [...keys].reverse() : keys;
      const found: Uint8Array[] = [];
      for await (const [key] of database.entries({ reverse, fillCache })) found.push(key);
      expect(found).toEqual(expected);
    }
    if (database instanceof Database) {
      expect([...database.keysSync({ fillCache })]).toEqual(keys);
      using cursor = database.cursorSync({ fillCache });
      expect(cursor.seek(keys[700]!)).toBe(true);
      expect(cursor.key).toEqual(keys[700]);
    }
    using cursor = database.cursor({ fillCache });
    let i = 0;
    for (let valid = await cursor.seekToFirst(); valid; valid = await cursor.next()) expect(cursor.keyLength).toBe(keys[i++]!.length);
    expect(i).toBe(keys.length);
  };
  await walks(false);
  expect(cache.byteLength).toBe(byteLength);
  await walks(true);
  expect(cache.byteLength).toBeGreaterThan(10 * byteLength);
  expect(() => database.cursor({ fillCache: 1 as unknown as boolean })).toThrow('fillCache must be a boolean');
  await database.close();
});
