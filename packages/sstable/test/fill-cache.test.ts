import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlockCache, MemorySource, type Source, SyncTable, Table } from '@bloom/sstable';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { afterAll, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { collect, numberedEntries, sameEntries } from './entries.js';

const root = mkdtempSync(join(tmpdir(), 'bloom-fill-cache-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const entries = numberedEntries(3000, 60);
const middle = entries[1500]![0];

const sources: Record<string, (bytes: Uint8Array, path: string) => Source | Promise<Source>> = {
  'a file read at once': (_, path) => FileSource.open(path),
  'a file read by threads': (_, path) => FileSource.open(path, { readsAtOnce: false }),
  'a file without promises': (_, path) => SyncFileSource.open(path),
  memory: (bytes) => new MemorySource(bytes),
};

for (const compression of ['none', 'snappy'] as const) {
  const bytes = buildTable(entries, { compression });
  const path = join(root, compression);
  writeFileSync(path, bytes);

  test.each(Object.entries(sources))(`scans and cursors use the cache without changing it, on ${compression} blocks of %s`, async (_, open) => {
    const cache = new BlockCache(2 ** 24);
    const source = await open(bytes, path);
    const table = source instanceof SyncFileSource ? SyncTable.open(source, { cache }) : await Table.open(source, { cache });
    await table.get(middle);
    const { byteLength } = cache;
    expect(byteLength).toBeGreaterThan(0);
    const scans = async (fillCache: boolean): Promise<void> => {
      for (const reverse of [false, true]) {
        const expected = reverse ? [...entries].reverse() : entries;
        const found = table.entries({ reverse, fillCache });
        expect(sameEntries(Symbol.iterator in found ? [...found] : await collect(found), expected)).toBe(true);
      }
      let batched = 0;
      for await (const batch of table.batches({ fillCache })) batched += batch.length;
      expect(batched).toBe(entries.length);
      const cursor = table.cursor({ fillCache });
      const walked: [Uint8Array, Uint8Array][] = [];
      for (let valid = await cursor.seekToFirst(); valid; valid = await cursor.next()) walked.push([cursor.key.slice(), cursor.value.slice()]);
      for (let valid = await cursor.seekToLast(); valid; valid = await cursor.prev()) walked.push([cursor.key.slice(), cursor.value.slice()]);
      expect(sameEntries(walked, entries.concat([...entries].reverse()))).toBe(true);
    };
    await scans(false);
    expect(cache.byteLength).toBe(byteLength);
    expect(table.stats.cacheHits).toBeGreaterThanOrEqual(5);
    await scans(true);
    expect(cache.byteLength).toBeGreaterThan(bytes.length * 0.9);
    await table.close();
  });
}

test('fillCache must be a boolean, and a cursor has no other option', () => {
  const table = SyncTable.open(new MemorySource(buildTable(entries)));
  const messageOf = (run: () => unknown): string => (caught(run) as TypeError).message;
  expect(messageOf(() => table.entries({ fillCache: 1 as unknown as boolean }))).toMatch(/fillCache must be a boolean/);
  expect(messageOf(() => table.cursor({ fillCache: 'no' as unknown as boolean }))).toMatch(/fillCache must be a boolean/);
  expect(messageOf(() => table.cursor({ limit: 3 } as object))).toMatch(/SyncTable\.cursor.*limit/);
});
