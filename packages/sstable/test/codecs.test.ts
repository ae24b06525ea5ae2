import process from 'node:process';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { init } from '@bokuweb/zstd-wasm';
import { entriesSha256, formatKv, realTables, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, CorruptionError, MemorySource, snappyCodec, SyncTable, Table } from '@bloom/sstable';
import { verifyTable } from '@bloom/sstable/inspect';
import {
  type DatabaseEntry,
  DatabaseTable,
  internalKeyComparator,
  internalKeyPolicy,
  SyncDatabaseTable,
} from '@bloom/sstable/database';
import { beforeAll, describe, expect, test } from 'vitest';
import { allCodecs, deflateCodec, zlibCodec, zstdCodec, zstdOrZlibCodec } from '../src/codecs.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../src/format/stored-block.js';
import { buildTable } from './build-table.js';
import { caught, rejection } from './caught.js';
import { putTogether, sealed, snappyBomb, type StoredPart, takeApart, zstdBomb } from './damage.js';
import { collect, numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';
import { zstdWriter } from './zstd-writer.js';

beforeAll(() => init());

const real = realTables();

test('there are 26 real tables', () => {
  expect(real).toHaveLength(26);
});

describe.each(real)('$file of $repo, with all codecs', (table) => {
  const options = { codecs: allCodecs };

  test('gives its entries, with and without promises', async () => {
    const source = new MemorySource(table.bytes());
    expect(entriesSha256(SyncTable.open(source, options).entries())).toBe(table.entriesSha256);
    expect(entriesSha256(await collect(await Table.open(source, options)))).toBe(table.entriesSha256);
  });

  test('gives each of its keys', async () => {
    const source = new MemorySource(table.bytes());
    const keys =
      table.keyKind === 'raw'
        ? { comparator: bytewiseComparator, filterPolicies: [new BloomFilterPolicy()] }
        : { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(new BloomFilterPolicy())] };
    // Another order than bytewise can be scanned, and not searched, without its comparator.
    if (table.adjacentBytewiseInversions > 0) return;
    const entries = [...SyncTable.open(source, { ...options, ...keys }).entries()].slice(0, 10_000);
    const values = await (await Table.open(source, { ...options, ...keys })).getMany(entries.map(([key]) => key));
    expect(entries.filter(([, value], i) => !sameBytes(values[i], value))).toHaveLength(0);
  });
});

/** The stored form of what a database table gives. */
function* storedAgain(entries: Iterable<DatabaseEntry>): Generator<[Uint8Array, Uint8Array]> {
  for (const { userKey, sequence, type, value } of entries) {
    const key = new Uint8Array(userKey.length + 8);
    key.set(userKey);
    new DataView(key.buffer).setBigUint64(userKey.length, sequence * 256n + BigInt(type), true);
    yield [key, value];
  }
}

describe.each(real.filter(({ keyKind }) => keyKind === 'internal'))('$file of $repo, as a table of a database', (table) => {
  const source = new MemorySource(table.bytes());

  test('gives user keys, sequences and types that make up its entries, both ways round', async () => {
    const opened = SyncDatabaseTable.open(source, { codecs: allCodecs });
    const entries = [...opened.entries()];
    expect(entries).toHaveLength(table.entries);
    expect(entriesSha256(storedAgain(entries))).toBe(table.entriesSha256);
    expect(entriesSha256(storedAgain([...opened.entries({ reverse: true })].reverse()))).toBe(table.entriesSha256);
    const later = await DatabaseTable.open(source, { codecs: allCodecs });
    const some = await collect(later.entries({ limit: 2000 }));
    expect(entriesSha256(storedAgain(some))).toBe(entriesSha256(storedAgain(entries.slice(0, 2000))));
    // A database writes the types 0 and 1. RocksDB's and Pebble's test data have up to 22.
    expect(entries.filter(({ type, sequence }) => !(type <= 24 && sequence < 2n ** 40n))).toEqual([]);
  });
});

/** The compression types of a table's data blocks. */
function typesOf(bytes: Uint8Array): Set<number> {
  return new Set(takeApart(bytes).parts.filter(({ kind }) => kind === 'data').map(({ type }) => type));
}

describe('a table written with', () => {
  const entries = numberedEntries(1500, 60);

  test.each([
    ['zlib', zlibCodec],
    ['raw deflate', deflateCodec],
    ['what reads zstd or zlib', zstdOrZlibCodec],
  ])('%s is read back', async (_, codec) => {
    const bytes = buildTable(entries, { compression: codec });
    expect(typesOf(bytes)).toEqual(new Set([codec.type]));
    const source = new MemorySource(bytes);
    expect(sameEntries(SyncTable.open(source, { codecs: allCodecs }).entries(), entries)).toBe(true);
    expect(sameEntries(await collect(await Table.open(source, { codecs: [codec] })), entries)).toBe(true);
    expect(bytes.length).toBeLessThan(buildTable(entries).length);
  });

  test('zstd, of the reference implementation, is read by content beside zlib under the same type', () => {
    const bytes = buildTable(entries, { compression: zstdWriter });
    expect(typesOf(bytes)).toEqual(new Set([2]));
    for (const codecs of [allCodecs, [zstdCodec]]) {
      expect(sameEntries(SyncTable.open(new MemorySource(bytes), { codecs }).entries(), entries)).toBe(true);
    }
  });

  test('a codec that only reads is refused', () => {
    expect(() => buildTable(entries, { compression: zstdCodec })).toThrow(RangeError);
  });

  test('all codecs in one file is read, index and metaindex of each compression', () => {
    const codecs = [undefined, snappyCodec, zlibCodec, zstdWriter, deflateCodec];
    const plain = takeApart(buildTable(entries, { compression: 'none' }));
    const parts = plain.parts.map((part, i): StoredPart => {
      const codec = part.kind === 'data' ? codecs[i % codecs.length] : undefined;
      return codec === undefined ? part : { ...part, payload: codec.compress!(part.payload), type: codec.type };
    });
    const mixed = putTogether(parts);
    expect(typesOf(mixed)).toEqual(new Set([0, 1, 2, 4]));
    const table = SyncTable.open(new MemorySource(mixed), { codecs: allCodecs });
    expect(table.filterStatus.state).toBe('used');
    expect(sameEntries(table.entries(), entries)).toBe(true);
    // The builder compresses index and metaindex with its codec where that saves an eighth.
    for (const codec of codecs.slice(1)) {
      const bytes = buildTable(entries, { compression: codec!, blockSize: 200 });
      const one = SyncTable.open(new MemorySource(bytes), { codecs: allCodecs });
      expect(sameBytes(one.get(entries[7]![0]), entries[7]![1])).toBe(true);
    }
  });

  test('no codec that is given is refused by its type', () => {
    const error = caught(() => [...SyncTable.open(new MemorySource(buildTable(entries, { compression: zlibCodec }))).entries()]);
    expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC' });
  });
});

/** zstd without the contents' size, as a stream is written: the header is changed, the blocks are the same. */
function withoutSize(frame: Uint8Array): Uint8Array {
  const descriptor = frame[4]!;
  const sizeLength = [1, 2, 4, 8][descriptor >> 6]!;
  // A window of 1 MiB.
  return Uint8Array.of(...frame.subarray(0, 4), descriptor & 0x04, 0x50, ...frame.subarray(5 + sizeLength));
}

describe('each codec', () => {
  const random = seeded(71);
  const contents = [
    utf8(''),
    utf8('a'),
    utf8('hello world '.repeat(400)),
    new Uint8Array(100_000),
    random.bytes(5000),
    new Uint8Array(Buffer.concat([random.bytes(70_000), new Uint8Array(70_000), random.bytes(300)])),
    formatKv(numberedEntries(4000)),
  ];

  test.each([
    ['snappy', snappyCodec, snappyCodec.compress!],
    ['zlib, by node:zlib', zlibCodec, (bytes: Uint8Array) => new Uint8Array(deflateSync(bytes))],
    ['zlib, its own', zlibCodec, zlibCodec.compress!],
    ['raw deflate, by node:zlib', deflateCodec, (bytes: Uint8Array) => new Uint8Array(deflateRawSync(bytes))],
    ['raw deflate, its own', deflateCodec, deflateCodec.compress!],
    ['zstd', zstdCodec, zstdWriter.compress!],
    ['zstd without the size in its header', zstdCodec, (bytes: Uint8Array) => withoutSize(zstdWriter.compress!(bytes))],
    ['zstd or zlib, of zstd', zstdOrZlibCodec, zstdWriter.compress!],
    ['zstd or zlib, of zlib', zstdOrZlibCodec, zlibCodec.compress!],
  ])('%s gives back what was compressed, at exactly its limit', (name, codec, write) => {
    const wrong = contents.filter((bytes) => !sameBytes(codec.decompress(write(bytes), Math.max(bytes.length, 2 ** 20)), bytes));
    expect(wrong.map(({ length }) => length)).toEqual([]);
    // The window of a stream counts too, and is 1 MiB here.
    const limit = name.includes('without the size') ? 2 ** 20 : contents[2]!.length;
    const tight = codec.decompress(write(contents[2]!), limit);
    expect(sameBytes(tight, contents[2])).toBe(true);
  });

  test.each([
    ['snappy', snappyCodec, snappyCodec.compress!],
    ['zlib', zlibCodec, zlibCodec.compress!],
    ['raw deflate', deflateCodec, deflateCodec.compress!],
    ['zstd', zstdCodec, zstdWriter.compress!],
    ['zstd without size', zstdCodec, (bytes: Uint8Array) => withoutSize(zstdWriter.compress!(bytes))],
  ])('%s refuses a stream that is cut anywhere', (_, codec, write) => {
    const wrong: string[] = [];
    for (const bytes of [contents[2]!, contents[4]!.subarray(0, 300)]) {
      const compressed = write(bytes);
      for (let length = 0; length < compressed.length; length++) {
        const error = caught(() => codec.decompress(compressed.subarray(0, length), 2 ** 20));
        if (error === undefined) {
          const given = codec.decompress(compressed.subarray(0, length), 2 ** 20);
          // Nothing at all is refused one step later: it is no block.
          if (given.length > 0 && !sameBytes(given, bytes)) wrong.push(`${length} of ${compressed.length} give ${given.length}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** How far memory outside the heap grew while `run` ran, and what it threw. */
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
    ['zstd, 64 MiB', 2, zstdBomb(512)],
    ['zstd, 64 MiB that it says', 2, zstdBomb(512, 512 * 2 ** 17)],
    ['zstd, 4 GiB that it only says', 2, zstdBomb(1, 2 ** 32 - 1)],
    ['snappy, 2 MiB', 1, snappyBomb(2 ** 21)],
  ];

  test.each(bombs)('%s, is refused, and takes little memory', (_, type, payload) => {
    const block = sealed(payload, type);
    const codecs = new Map([snappyCodec, ...allCodecs].map((codec) => [codec.type, codec]));
    const place = { structure: 'data block', offset: 5, file: 'bomb.ldb' } as const;
    const { error, bytes } = growth(() => decodeStoredBlock(block, place, { codecs, maxBlockBytes: 2 ** 20 }));
    expect(error).toMatchObject({ code: 'BLOOM_TOO_LARGE', ...place });
    expect(bytes).toBeLessThan(16 * 2 ** 20);
    const time = process.cpuUsage();
    for (let i = 0; i < 20; i++) caught(() => decodeStoredBlock(block, place, { codecs, maxBlockBytes: 2 ** 20 }));
    expect(process.cpuUsage(time).user / 20).toBeLessThan(500_000);
  });

  test.each(bombs)('%s, is refused in a table by each way to it', async (_, type, payload) => {
    const { parts } = takeApart(buildTable(numberedEntries(300), { compression: 'none', filterPolicy: null }));
    const data = parts.findIndex(({ kind }) => kind === 'data');
    const bytes = putTogether(parts.map((part, i) => (i === data ? { ...part, payload, type } : part)));
    const options = { codecs: allCodecs, maxBlockBytes: 2 ** 20 };
    const table = await Table.open(new MemorySource(bytes), options);
    const expected = { code: 'BLOOM_TOO_LARGE', structure: 'data block', offset: 0 };
    const [key] = numberedEntries(1)[0]!;
    expect(await rejection(table.get(key))).toMatchObject(expected);
    expect(await rejection(collect(table))).toMatchObject(expected);
    expect(await verifyTable(new MemorySource(bytes), options)).toEqual([expect.objectContaining(expected)]);
    const [last, value] = numberedEntries(300).at(-1)!;
    expect(await table.get(last)).toEqual(value);
  });

  test('as index, filter or metaindex is refused, or costs the filters', () => {
    const { parts } = takeApart(buildTable(numberedEntries(300), { compression: 'none' }));
    const payload = new Uint8Array(deflateSync(zeros, { level: 9 }));
    const bytes = putTogether(parts.map((part) => (part.kind === 'meta' ? { ...part, payload, type: 2 } : part)));
    const table = SyncTable.open(new MemorySource(bytes), { codecs: allCodecs, maxBlockBytes: 2 ** 20 });
    expect(table.filterStatus).toMatchObject({ state: 'corrupt', error: { code: 'BLOOM_TOO_LARGE', structure: 'filter block' } });
    expect(sameEntries(table.entries(), numberedEntries(300))).toBe(true);
  });
});

describe('a zstd frame that lies about the size of its contents', () => {
  const actual = 3 * 2 ** 17;

  test.each([0, 10, 2 ** 17, actual - 1, actual + 1, 2 * actual])('of %d bytes instead of 393,216 is refused', (claimed) => {
    const error = caught(() => zstdCodec.decompress(zstdBomb(3, claimed), 2 ** 20));
    expect(error).toBeInstanceOf(Error);
  });

  test('is not refused where it tells the truth', () => {
    expect(zstdCodec.decompress(zstdBomb(3, actual), 2 ** 20)).toHaveLength(actual);
    expect(zstdCodec.decompress(zstdBomb(3), 2 ** 20)).toHaveLength(actual);
  });

  test('in a table gives a coded error', () => {
    const block = sealed(zstdBomb(3, 10), 2);
    const decoding = { codecs: new Map([[2, zstdCodec]]), maxBlockBytes: 2 ** 20 };
    const error = caught(() => decodeStoredBlock(block, { structure: 'data block', offset: 0 }, decoding));
    expect(error).toMatchObject({ code: 'BLOOM_BAD_COMPRESSION' });
    expect(block.length - BLOCK_TRAILER_LENGTH).toBe(zstdBomb(3, 10).length);
  });
});

test('snappy that claims more than its bytes can stand for is refused before anything is allocated', () => {
  const { error, bytes } = growth(() => snappyCodec.decompress(snappyBomb(64, 2 ** 31), 2 ** 32));
  expect(error).toBeInstanceOf(Error);
  expect(bytes).toBeLessThan(2 ** 20);
});

test('random bytes under right checksums give coded errors and nothing else (seed 9)', () => {
  const random = seeded(9);
  const codecs = new Map([snappyCodec, ...allCodecs].map((codec) => [codec.type, codec]));
  const starts: number[][] = [[], [0x78, 0x9c], [0x28, 0xb5, 0x2f, 0xfd], [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]];
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

