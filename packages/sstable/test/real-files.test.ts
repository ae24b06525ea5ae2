import { inflateRawSync } from 'node:zlib';
import { entriesSha256, type RealNonTable, type RealTable, realFiles, realTables } from '@bloom/fixtures';
import {
  type Codec,
  CorruptionError,
  type FilterStatus,
  MemorySource,
  SyncTable,
  Table,
  UnsupportedError,
} from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { SyncDatabaseTable } from '@bloom/sstable/database';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './entries.js';

// Every file in tooling/fixtures/data/real with a row in index.json gives tests here.

/** The codec of Minecraft's tables, for reading only. */
const rawDeflate: Codec = {
  type: 4,
  name: 'raw deflate',
  compress: () => {
    throw new Error('not written here');
  },
  decompress: (compressed, maxBytes) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength: maxBytes })),
};
const builtIn = new Set(['0', '1']);

function compressionTypes({ blockTypes }: RealTable): string[] {
  return [...new Set(Object.values(blockTypes).flatMap((types) => Object.keys(types)))];
}

/** The expected filterStatus, from the recorded metaindex. Tables of databases are opened as plain tables here, so their filters do not match. */
function expectedStatus({ metaKeys, keyKind }: RealTable): FilterStatus {
  const policyNames = metaKeys.filter((key) => key.startsWith('filter.')).map((key) => key.slice('filter.'.length));
  const [policyName] = policyNames.filter((name) => name === 'leveldb.BuiltinBloomFilter2');
  if (policyName !== undefined && keyKind !== 'raw') return { state: 'contradicted', policyName, filteredKeys: 'user-keys' };
  if (policyName !== undefined) return { state: 'used', policyName };
  return policyNames.length === 0 ? { state: 'absent' } : { state: 'unknown-policy', policyNames };
}

const tables = realTables();
const readable = tables.filter((table) => compressionTypes(table).every((type) => builtIn.has(type)));
const others = tables.filter((table) => !readable.includes(table));

test('the fixtures have tables to read', () => {
  expect(readable.length).toBeGreaterThanOrEqual(25);
  expect(others.length).toBeGreaterThanOrEqual(1);
});

describe.each(readable)('$file of $repo', (real) => {
  test('has the recorded entries without promises, from memory and from the file', () => {
    const fromMemory = SyncTable.open(new MemorySource(real.bytes()));
    expect(entriesSha256(fromMemory.entries())).toBe(real.entriesSha256);
    const source = SyncFileSource.open(real.path);
    const fromFile = SyncTable.open(source);
    expect(entriesSha256(fromFile.entries())).toBe(real.entriesSha256);
    source.close();
    expect([fromFile.byteLength, fromFile.blockCount]).toEqual([real.size, real.dataBlocks]);
  });

  test('has the recorded entries with promises, from memory and from the file', async () => {
    const fromMemory = await Table.open(new MemorySource(real.bytes()));
    expect(entriesSha256(await collect(fromMemory))).toBe(real.entriesSha256);
    const source = await FileSource.open(real.path);
    const fromFile = await Table.open(source);
    expect(entriesSha256(await collect(fromFile))).toBe(real.entriesSha256);
    await source.close();
    expect([fromFile.byteLength, fromFile.blockCount]).toEqual([real.size, real.dataBlocks]);
  });

  test('has the recorded entries backwards', () => {
    const table = SyncTable.open(new MemorySource(real.bytes()));
    expect(entriesSha256([...table.entries({ reverse: true })].reverse())).toBe(real.entriesSha256);
  });

  test('has the expected filterStatus', () => {
    const { filterStatus } = SyncTable.open(new MemorySource(real.bytes()));
    expect(filterStatus).toEqual(expectedStatus(real));
  });

  test('has the recorded numbers of blocks, filters and entries', async () => {
    const profile = await profileTable(new MemorySource(real.bytes()));
    const used = expectedStatus(real).state === 'used' ? real.filter : null;
    expect(profile).toMatchObject({
      entries: real.entries,
      dataBlocks: real.dataBlocks,
      filterBytes: used?.rawSize ?? 0,
      filters: used?.filterCount ?? 0,
    });
  });
});

test.each(tables.filter((real) => expectedStatus(real).state === 'contradicted'))('$file of $repo has filters of user keys, which its DatabaseTable uses', (real) => {
  const { table } = SyncDatabaseTable.open(new MemorySource(real.bytes()), { codecs: [rawDeflate] });
  expect(table.filterStatus).toEqual({ state: 'used', policyName: 'leveldb.BuiltinBloomFilter2' });
});

describe.each(readable.filter(({ keyKind }) => keyKind === 'raw'))('$file of $repo, a table of raw keys', (real) => {
  test('finds every key', () => {
    const table = SyncTable.open(new MemorySource(real.bytes()));
    const entries = [...table.entries()];
    const found = table.getMany(entries.map(([key]) => key));
    expect(entriesSha256(entries.map(([key], i) => [key, found[i] ?? new Uint8Array()]))).toBe(real.entriesSha256);
    expect(found).not.toContain(undefined);
  });
});

describe.each(others)('$file of $repo, which needs another codec', (real) => {
  test('is refused because of its compression, which the error names', () => {
    const error = caught(() => SyncTable.open(new MemorySource(real.bytes(), real.file)));
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'index block', file: real.file });
    const type = Object.keys(real.blockTypes.index ?? {})[0];
    expect((error as UnsupportedError).message).toContain(`compression type ${type}`);
  });

  test.runIf(compressionTypes(real).every((type) => builtIn.has(type) || type === '4'))(
    'has the recorded entries with a codec for it',
    () => {
      const table = SyncTable.open(new MemorySource(real.bytes()), { codecs: [rawDeflate] });
      expect(entriesSha256(table.entries())).toBe(real.entriesSha256);
      expect(table.filterStatus).toEqual(expectedStatus(real));
    },
  );

  test('is refused if its blocks exceed maxBlockBytes', () => {
    const error = caught(() => [
      ...SyncTable.open(new MemorySource(real.bytes()), { codecs: [rawDeflate], maxBlockBytes: 100 }).entries(),
    ]);
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  });
});

const foreign: Partial<Record<string, string>> = { rocksblk: 'RocksDB', pebble: 'Pebble' };
const nonTables = realFiles().filter((file): file is RealNonTable => !file.isTable);

test('the fixtures have RocksDB and Pebble tables to refuse', () => {
  expect(nonTables.map(({ magic }) => magic)).toEqual(expect.arrayContaining(Object.keys(foreign)));
});

test.each(nonTables)('$file of $repo is refused', async (real) => {
  const program = foreign[real.magic ?? ''];
  const source = new MemorySource(real.bytes(), real.file);
  const error = caught(() => SyncTable.open(source));
  if (program === undefined) {
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', structure: real.size < 48 ? 'file' : 'footer' });
  } else {
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT' });
    expect((error as UnsupportedError).message).toContain(program);
  }
  expect(error).toMatchObject({ file: real.file });
  expect((error as Error).message).toContain(real.file);
  expect(await rejection(Table.open(source))).toEqual(error);
});
