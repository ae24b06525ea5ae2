import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KeyValue, seeded } from '@bloom/fixtures';
import { FilterBlockBuilder } from '@bloom/filter-block';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { decodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '../src/format/internal-key.js';
import { decodeMetaindex } from '../src/format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../src/format/stored-block.js';
import { hex, sameBytes, sameEntries, utf8 } from './entries.js';
import { storedDataBlocks } from './stored-data-blocks.js';

// Reads the tables of a database that classic-level, which is LevelDB itself, wrote.

let folder: string;
/** The entries of the database. */
const stored = new Map<string, Uint8Array>();
let files: { readonly name: string; readonly bytes: Uint8Array }[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bloom-classic-level-'));
  const random = seeded(2024);
  const db = new ClassicLevel<Uint8Array, Uint8Array>(folder, {
    keyEncoding: 'view',
    valueEncoding: 'view',
    // A small buffer, so that there are several tables.
    writeBufferSize: 64 * 1024,
    maxFileSize: 1024 * 1024,
  });
  await db.open();
  for (let round = 0; round < 3; round++) {
    const batch = db.batch();
    for (let i = 0; i < 4000; i++) {
      const key = utf8(`${random.pick(['user', 'item', 'größe'])}:${random.below(4000)}`);
      if (random.below(5) === 0) {
        stored.delete(hex(key));
        batch.del(key);
      } else {
        const value = random.bytes(random.below(120));
        stored.set(hex(key), value);
        batch.put(key, value);
      }
    }
    await batch.write();
    // The last round stays in tables that were not compacted.
    if (round < 2) await db.compactRange(Uint8Array.of(0), Uint8Array.of(0xff));
  }
  await db.close();
  // Reopening the database turns its log into a table.
  const again = new ClassicLevel(folder);
  await again.open();
  await again.close();
  files = [];
  for (const name of (await readdir(folder)).filter((other) => other.endsWith('.ldb')).sort()) {
    files.push({ name, bytes: new Uint8Array(await readFile(join(folder, name))) });
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const options = {
  comparator: internalKeyComparator(),
  filterPolicies: [internalKeyPolicy(new BloomFilterPolicy())],
};

function open(bytes: Uint8Array): SyncTable {
  return SyncTable.open(new MemorySource(bytes), options);
}

describe('the tables of a LevelDB database', () => {
  test('there are several, with thousands of entries', async () => {
    expect(files.length).toBeGreaterThanOrEqual(2);
    const profiles = await Promise.all(files.map(({ bytes }) => profileTable(new MemorySource(bytes), options)));
    const entries = profiles.map((profile) => profile.entries);
    expect(entries.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(4000);
  });

  test('the newest versions in them are the entries of the database', () => {
    const newest = new Map<string, { readonly sequence: bigint; readonly type: number; readonly value: Uint8Array }>();
    for (const { bytes } of files) {
      for (const [key, value] of open(bytes).entries()) {
        const { userKey, sequence, type } = decodeInternalKey(key)!;
        const other = newest.get(hex(userKey));
        if (other === undefined || sequence > other.sequence) newest.set(hex(userKey), { sequence, type, value });
      }
    }
    const live = (map: Map<string, Uint8Array>): KeyValue[] =>
      [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [Buffer.from(key, 'hex'), value]);
    const values = [...newest].filter(([, { type }]) => type === VALUE);
    expect(values.length).toBe(stored.size);
    expect(sameEntries(live(new Map(values.map(([key, { value }]) => [key, value]))), live(stored))).toBe(true);
    // The tables also have deletions.
    expect(newest.size).toBeGreaterThan(values.length);
  });

  test('their filters are used, and match every key', () => {
    for (const { name, bytes } of files) {
      const table = open(bytes);
      expect(table.filterStatus, name).toEqual({ state: 'used', policyName: 'leveldb.BuiltinBloomFilter2' });
      const entries = [...table.entries()];
      const found = table.getMany(entries.map(([key]) => key));
      const missing = entries.filter(([, value], i) => !sameBytes(found[i], value));
      expect(missing.map(([key]) => hex(key)), name).toEqual([]);
      expect(table.stats.filterTruePositives, name).toBe(entries.length);
    }
  });

  test('their filters end lookups of about 99 of 100 absent keys', () => {
    let asked = 0;
    let passed = 0;
    for (const { bytes } of files) {
      const table = open(bytes);
      for (let i = 0; i < 2000; i++) {
        const key = Uint8Array.of(...utf8(`item:${i}.absent`), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
        asked++;
        if (table.mayContain(key)) passed++;
        else if (table.get(key) !== undefined) throw new Error(`${i} is there`);
      }
    }
    expect(passed / asked).toBeLessThan(0.03);
  });

  test('their filter blocks equal, byte for byte, those built from the same keys at the same offsets', () => {
    for (const { name, bytes } of files) {
      const builder = new FilterBlockBuilder(new BloomFilterPolicy(10));
      builder.startBlock(0);
      for (const { end, entries } of storedDataBlocks(new MemorySource(bytes), options)) {
        for (const [key] of entries) builder.addKey(decodeInternalKey(key)!.userKey);
        builder.startBlock(end);
      }
      expect(hex(builder.finish()), name).toBe(hex(filterBlock(bytes)));
    }
  });
});

/** The contents of the filter block, which the footer and the metaindex lead to. */
function filterBlock(bytes: Uint8Array): Uint8Array {
  const read = (offset: number, size: number): Uint8Array =>
    decodeStoredBlock(
      bytes.subarray(offset, offset + size + BLOCK_TRAILER_LENGTH),
      { structure: 'filter block', offset },
      { codecs: new Map(), maxBlockBytes: 2 ** 24 },
    );
  const offset = bytes.length - FOOTER_LENGTH;
  const { metaindex } = decodeFooter(bytes.subarray(offset), { structure: 'footer', offset });
  const contents = read(metaindex.offset, metaindex.size);
  const [entry] = decodeMetaindex(contents, { structure: 'metaindex block', offset: metaindex.offset });
  return read(entry!.handle!.offset, entry!.handle!.size);
}
