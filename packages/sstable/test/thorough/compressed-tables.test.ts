import process from 'node:process';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { entriesSha256, realTables, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, CorruptionError, MemorySource, snappyCodec, SyncTable, Table } from '@bloom/sstable';
import { verifyTable } from '@bloom/sstable/inspect';
import {
  type DatabaseEntry,
  DatabaseTable,
  internalKeyComparator,
  internalKeyPolicy,
  SyncDatabaseTable,
  typeOfKind,
} from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { decodeStoredBlock } from '../../src/format/stored-block.js';
import { buildTable } from '../build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { putTogether, sealed, snappyBomb, takeApart } from '../damage.js';
import { collect, numberedEntries, sameBytes, sameEntries } from '../entries.js';
import { zlibCodecs } from '../zlib-codecs.js';

const real = realTables();

test('the fixtures have 26 real tables', () => {
  expect(real).toHaveLength(26);
});

describe.each(real)('$file of $repo, with codecs for it', (table) => {
  const options = { codecs: zlibCodecs };

  test('returns its entries, with and without promises', async () => {
    const source = new MemorySource(table.bytes());
    expect(entriesSha256(SyncTable.open(source, options).entries())).toBe(table.entriesSha256);
    expect(entriesSha256(await collect(await Table.open(source, options)))).toBe(table.entriesSha256);
  });

  test('finds each of its keys', async () => {
    const source = new MemorySource(table.bytes());
    const keys =
      table.keyKind === 'raw'
        ? { comparator: bytewiseComparator, filterPolicies: [new BloomFilterPolicy()] }
        : { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(new BloomFilterPolicy())] };
    // Without its comparator, a table in another order can be scanned but not searched.
    if (table.adjacentBytewiseInversions > 0) return;
    const entries = [...SyncTable.open(source, { ...options, ...keys }).entries()].slice(0, 10_000);
    const values = await (await Table.open(source, { ...options, ...keys })).getMany(entries.map(([key]) => key));
    expect(entries.filter(([, value], i) => !sameBytes(values[i], value))).toHaveLength(0);
  });
});

/** The stored form of an entry of a DatabaseTable. */
function* storedAgain(entries: Iterable<DatabaseEntry>): Generator<[Uint8Array, Uint8Array]> {
  for (const { key, sequence, kind, value } of entries) {
    const stored = new Uint8Array(key.length + 8);
    stored.set(key);
    new DataView(stored.buffer).setBigUint64(key.length, sequence * 256n + BigInt(typeOfKind(kind)), true);
    yield [stored, value];
  }
}

describe.each(real.filter(({ keyKind }) => keyKind === 'internal'))('$file of $repo, as a table of a database', (table) => {
  const source = new MemorySource(table.bytes());

  test('returns the user keys, sequences and types of its entries, in both directions', async () => {
    const opened = SyncDatabaseTable.open(source, { codecs: zlibCodecs });
    const entries = [...opened.entries()];
    expect(entries).toHaveLength(table.entries);
    expect(entriesSha256(storedAgain(entries))).toBe(table.entriesSha256);
    expect(entriesSha256(storedAgain([...opened.entries({ reverse: true })].reverse()))).toBe(table.entriesSha256);
    const later = await DatabaseTable.open(source, { codecs: zlibCodecs });
    const some = await collect(later.entries({ limit: 2000 }));
    expect(entriesSha256(storedAgain(some))).toBe(entriesSha256(storedAgain(entries.slice(0, 2000))));
    // LevelDB writes only the types 0 and 1. The test data of RocksDB and Pebble have types up to 22.
    expect(entries.filter(({ kind, sequence }) => !(typeOfKind(kind) <= 24 && sequence < 2n ** 40n))).toEqual([]);
  });
});

/** How much memory outside the heap `run` allocated, and what it threw. */
function growth(run: () => unknown): { readonly error: unknown; readonly bytes: number } {
  const before = process.memoryUsage().arrayBuffers;
  const error = caught(run);
  return { error, bytes: process.memoryUsage().arrayBuffers - before };
}

describe('a block that would expand past maxBlockBytes', () => {
  const zeros = new Uint8Array(2 ** 26);
  const bombs: [string, number, Uint8Array][] = [
    ['zlib, 64 MiB', 2, new Uint8Array(deflateSync(zeros, { level: 9 }))],
    ['raw deflate, 64 MiB', 4, new Uint8Array(deflateRawSync(zeros, { level: 9 }))],
    ['snappy, 2 MiB', 1, snappyBomb(2 ** 21)],
  ];

  test.each(bombs)('is refused in little memory: %s', (_, type, payload) => {
    const block = sealed(payload, type);
    const codecs = new Map([snappyCodec, ...zlibCodecs].map((codec) => [codec.type, codec]));
    const place = { structure: 'data block', offset: 5, file: 'bomb.ldb' } as const;
    const { error, bytes } = growth(() => decodeStoredBlock(block, place, { codecs, maxBlockBytes: 2 ** 20 }));
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', ...place });
    expect(bytes).toBeLessThan(16 * 2 ** 20);
  });

  test.each(bombs)('is refused in a table by every way of reading it: %s', async (_, type, payload) => {
    const { parts } = takeApart(buildTable(numberedEntries(300), { compression: 'none', filterPolicy: null }));
    const data = parts.findIndex(({ kind }) => kind === 'data');
    const bytes = putTogether(parts.map((part, i) => (i === data ? { ...part, payload, type } : part)));
    const options = { codecs: zlibCodecs, maxBlockBytes: 2 ** 20 };
    const table = await Table.open(new MemorySource(bytes), options);
    const expected = { code: 'BLOOM_TOO_LARGE', structure: 'data block', offset: 0 };
    const [key] = numberedEntries(1)[0]!;
    expect(await rejection(table.get(key))).toMatchObject(expected);
    expect(await rejection(collect(table))).toMatchObject(expected);
    expect((await verifyTable(new MemorySource(bytes), options)).findings).toEqual([expect.objectContaining(expected)]);
    const [last, value] = numberedEntries(300).at(-1)!;
    expect(await table.get(last)).toEqual(value);
  });

  test('is refused as the index, and costs only the filters as the filter block or the metaindex', () => {
    const { parts } = takeApart(buildTable(numberedEntries(300), { compression: 'none' }));
    const payload = new Uint8Array(deflateSync(zeros, { level: 9 }));
    const bytes = putTogether(parts.map((part) => (part.kind === 'meta' ? { ...part, payload, type: 2 } : part)));
    const table = SyncTable.open(new MemorySource(bytes), { codecs: zlibCodecs, maxBlockBytes: 2 ** 20 });
    expect(table.filterStatus).toMatchObject({ state: 'corrupt', error: { code: 'BLOOM_TOO_LARGE', structure: 'filter block' } });
    expect(sameEntries(table.entries(), numberedEntries(300))).toBe(true);
  });
});

test('a Snappy stream that claims more than it can expand to is refused before anything is allocated', () => {
  const { error, bytes } = growth(() => snappyCodec.decompress(snappyBomb(64, 2 ** 31), 2 ** 32));
  expect(error).toBeInstanceOf(Error);
  expect(bytes).toBeLessThan(2 ** 20);
});

test('random bytes with correct checksums cause only coded errors (seed 9)', () => {
  const random = seeded(9);
  const codecs = new Map([snappyCodec, ...zlibCodecs].map((codec) => [codec.type, codec]));
  const starts: number[][] = [[], [0x78, 0x9c]];
  const wrong: string[] = [];
  for (let i = 0; i < 4000; i++) {
    const payload = Uint8Array.of(...random.pick(starts), ...random.bytes(random.below(80)));
    const type = random.pick([1, 2, 4]);
    const decoding = { codecs, maxBlockBytes: 4096 };
    const error = caught(() => decodeStoredBlock(sealed(payload, type), { structure: 'data block', offset: 0 }, decoding));
    const code = error instanceof CorruptionError ? error.code : 'none';
    if (error !== undefined && code !== 'BLOOM_BAD_COMPRESSION' && code !== 'BLOOM_TOO_LARGE') wrong.push(`${i}: ${code}`);
  }
  expect(wrong).toEqual([]);
});

