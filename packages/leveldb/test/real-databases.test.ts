import { inflateRawSync } from 'node:zlib';
import { dataPath, entriesSha256, folderFiles, goldenDatabases, type RealDatabase, realDatabases } from '@bloom/fixtures';
import { DatabaseReader, decodeVersionEdit, encodeVersionEdit, MemoryFolder, type ReaderOptions, SyncDatabaseReader, WriteBatch, WriteBatchReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { readLog } from '@bloom/log';
import type { Codec } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

// Every folder in tooling/fixtures/data/real with a CURRENT file and a row in golden-db/real.json gives tests here.

/** Minecraft's codec, with Node's zlib. @bloom/leveldb may not import @bloom/codecs. */
const rawDeflate: Codec = {
  type: 4,
  name: 'raw deflate',
  decompress: (compressed, maxBytes) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength: maxBytes })),
};
const codecs = [rawDeflate];

function optionsFor({ comparator }: RealDatabase): ReaderOptions {
  return comparator === idbComparator.name ? { codecs, comparators: [idbComparator], filterPolicies: [idbFilterPolicy] } : { codecs };
}

const all = realDatabases();

test('the fixtures have databases of several programs', () => {
  expect(all.filter(({ open }) => open === 'OK').length).toBeGreaterThanOrEqual(9);
});

describe.each(all.filter(({ open }) => open === 'OK'))('$name', (real) => {
  test('has the same levels, logs, last sequence and entries as in LevelDB', async () => {
    for (const folder of [new MemoryFolder(folderFiles(real.path)), new SyncNodeFolder(real.path)]) {
      const database = SyncDatabaseReader.open(folder, optionsFor(real));
      const { levels, logs, lastSequence } = database.describe();
      expect([levels.map((files) => files.length), logs.map(({ number }) => Number(number)), Number(lastSequence)]).toEqual([
        real.levels,
        real.logs,
        real.lastSequence,
      ]);
      const entries = [...database.entries()];
      expect([entries.length, entriesSha256(entries)]).toEqual([real.entries, real.entriesSha256]);
      expect(entriesSha256([...database.entries({ reverse: true })].reverse())).toBe(real.entriesSha256);
      const keys = entries.filter((_, i) => i % 97 === 0 || entries.length < 1000);
      for (const [key, value] of keys) expect(Buffer.compare(database.get(key)!, value)).toBe(0);
      database.close();
    }
    const database = await DatabaseReader.open(new NodeFolder(real.path), optionsFor(real));
    expect(entriesSha256(await collect(database.entries()))).toBe(real.entriesSha256);
    expect(entriesSha256((await collect(database.entries({ reverse: true }))).reverse())).toBe(real.entriesSha256);
    const entries = await collect(database.entries({ limit: 500 }));
    expect(await database.getMany(entries.map(([key]) => key))).toEqual(entries.map(([, value]) => value));
    await database.close();
  });
});

describe.each([
  ['Minecraft', 'real/bedrock-provider/mctestdb', { codecs }],
  ["Chromium's IndexedDB", 'web-storage/page.indexeddb.leveldb', { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] }],
] as const)('the filters of %s', (_, path, options) => {
  /** Looks up the stored keys with another last byte. @returns the number of lookups, and of those that a filter ended. */
  function absentLookups(filterPolicies: ReaderOptions['filterPolicies']): { absent: number; ended: number } {
    const database = SyncDatabaseReader.open(new SyncNodeFolder(dataPath(path)), { ...options, filterPolicies });
    let absent = 0;
    for (const [key] of database.entries()) {
      const other = key.slice();
      other[other.length - 1]! ^= 0x55;
      if (database.get(other) === undefined) absent++;
    }
    const { filterNegatives: ended } = database.stats;
    database.close();
    return { absent, ended };
  }

  test('end more than nine in ten lookups of absent keys', () => {
    const { absent, ended } = absentLookups('filterPolicies' in options ? options.filterPolicies : undefined);
    expect(absent).toBeGreaterThan(200);
    expect(ended).toBeGreaterThan(absent * 0.9);
  });

  if ('filterPolicies' in options) {
    test('are not used without idbFilterPolicy', () => {
      expect(absentLookups(undefined)).toMatchObject({ ended: 0 });
    });
  }
});

describe.each(all.filter(({ open }) => open !== 'OK'))('$name', (real) => {
  test('is refused because of its missing tables, even when skipping damage', async () => {
    for (const damage of ['strict', 'skip'] as const) {
      const error = caught(() => SyncDatabaseReader.open(new SyncNodeFolder(real.path), { ...optionsFor(real), damage }));
      expect(error).toMatchObject({ code: 'BLOOM_MISSING_FILE', structure: 'MANIFEST' });
      expect((error as Error).message).toContain('2 missing tables, such as 000114.ldb');
      const options = { ...optionsFor(real), damage };
      expect(await rejection(DatabaseReader.open(new NodeFolder(real.path), options))).toMatchObject({ code: 'BLOOM_MISSING_FILE' });
    }
  });
});

describe.each(all.filter(({ openBytewise }) => openBytewise !== undefined))('$name', (real) => {
  test('is refused without its comparator', () => {
    const error = caught(() => SyncDatabaseReader.open(new SyncNodeFolder(real.path), { codecs }));
    expect(error).toMatchObject({ code: 'BLOOM_UNKNOWN_COMPARATOR' });
    expect((error as Error).message).toContain('idb_cmp1');
  });
});

test('all edits and batches of the golden and real databases are encoded to the same bytes after decoding', () => {
  let edits = 0;
  let batches = 0;
  const different: string[] = [];
  for (const { path } of [...goldenDatabases(), ...realDatabases()]) {
    for (const [name, bytes] of folderFiles(path)) {
      for (const record of readLog(/^MANIFEST|\.log$/.test(name) ? bytes : new Uint8Array(0)).records) {
        if (name.startsWith('MANIFEST')) {
          const edit = encodeVersionEdit(decodeVersionEdit(record.bytes, { structure: 'version edit', offset: record.offset }));
          if (Buffer.compare(edit, record.bytes) !== 0) different.push(`${path}/${name} at ${record.offset}`);
          edits++;
          continue;
        }
        const reader = new WriteBatchReader(record.bytes);
        const batch = new WriteBatch();
        while (reader.next()) {
          if (reader.type === 1) batch.put(reader.key, reader.value);
          else batch.delete(reader.key);
        }
        if (reader.problem === undefined && Buffer.compare(batch.encode(reader.sequence), record.bytes) !== 0) different.push(`${path}/${name} at ${record.offset}`);
        batches++;
      }
    }
  }
  expect(different).toEqual([]);
  expect(edits).toBeGreaterThan(60);
  expect(batches).toBeGreaterThan(10_000);
});
