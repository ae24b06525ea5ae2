import { bytewiseComparator } from '@bloom/sstable';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { keyOrderOf } from '../src/format/database-key.js';
import { addBatch, hasIndexRoom, isFull, isSmallBatch, misfitOf } from '../src/memtable/batch-entries.js';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableCursor } from '../src/memtable/memtable-cursor.js';
import { MemtableFull } from '../src/memtable/memtable-full.js';
import { ParkMiller } from '../src/memtable/park-miller.js';
import { TableBound } from '../src/memtable/table-bound.js';
import { hasSequences, WriteBatch, WriteBatchReader } from '../src/format/write-batch.js';
import { caught } from '@bloom/fixtures/caught';

/** Bytes of the keys and values that were put, and `leveldb.approximate-memory-usage` after each put: measured with LevelDB 1.23. */
const MEASURED: readonly (readonly [key: number, value: number, memory: number])[] = [
  [1, 1, 4104], [1, 0, 4104], [119, 127, 4104], [120, 128, 4104], [0, 1000, 4104], [3, 1010, 4104], [3, 1011, 4104], [3, 1012, 5138],
  [3, 1013, 6173], [10, 3000, 9202], [10, 4060, 13_291], [10, 5000, 18_320], [8, 16_383, 34_730], [8, 16_384, 51_142], [1000, 0, 55_246],
  [1001, 1, 55_246], [5, 5, 55_246], [16_375, 3, 71_643], [16_376, 3, 88_042], [100, 900, 88_042], [100, 901, 92_146],
];

test('a memtable takes as much memory as LevelDB’s does, to the byte', async () => {
  const database = await Database.open(new WritableMemoryFolder());
  const memory = (): number => Number(database.property('leveldb.approximate-memory-usage'));
  expect(memory()).toBe(4104);
  for (const [key, value, expected] of MEASURED) {
    await database.put(new Uint8Array(key).fill(0x61), new Uint8Array(value).fill(0x62));
    expect(memory(), `${key} and ${value} bytes`).toBe(expected);
  }
  await database.close();
});

test('a memtable of 4,000 entries, some of which take exactly 1,024 bytes, takes after each of them as much memory as LevelDB’s does', async () => {
  const database = await Database.open(new WritableMemoryFolder());
  let sum = 0;
  for (let i = 0; i < 4000; i++) {
    const [key, value] = i % 17 === 0 ? [3, 1010] : [(i * 37) % 61, (i * 53) % 211];
    await database.put(new Uint8Array(key).fill(0x61), new Uint8Array(value).fill(0x62));
    sum += Number(database.property('leveldb.approximate-memory-usage'));
  }
  // Measured with LevelDB 1.23, too.
  expect([database.property('leveldb.approximate-memory-usage'), sum]).toEqual(['968544', 1_939_550_400]);
  await database.close();
});

describe('the generator of Park and Miller', () => {
  test('gives 1043618065 as the 10,000th number from 1, the check value of its authors', () => {
    const random = new ParkMiller(1);
    for (let i = 1; i < 10_000; i++) random.next();
    expect(random.next()).toBe(1_043_618_065);
  });

  test('is seed · 16807 mod 2^31 - 1 for any seed, of which it takes 31 bits, and never stays at 0 or 2^31 - 1', () => {
    // After the last seed, the high and the low bits together are above the modulus.
    for (const seed of [1, 2, 0x7ffffffe, 0xdeadbeef, 127_773, 2 ** 30, 1_074_189_030]) {
      const random = new ParkMiller(seed);
      let expected = BigInt(seed) & 0x7fffffffn;
      for (let i = 0; i < 1000; i++) expect(random.next()).toBe(Number((expected = (expected * 16_807n) % 0x7fffffffn)));
    }
    for (const seed of [0, 0x7fffffff, 0x80000000]) expect(new ParkMiller(seed).next()).toBe(16_807);
  });
});

describe('a batch', () => {
  const readerOf = (batch: WriteBatch, sequence = 1n): WriteBatchReader => new WriteBatchReader(batch.encode(sequence));
  const put = (keyLength: number, valueLength: number): WriteBatch => new WriteBatch().put(new Uint8Array(keyLength), new Uint8Array(valueLength));

  test('has sequences of a database if the one after its last is at most the greatest, 2^56 - 1', () => {
    const three = put(1, 1).append(put(2, 2)).append(put(3, 3));
    expect([2n ** 56n - 4n, 2n ** 56n - 3n].map((sequence) => hasSequences(readerOf(three, sequence)))).toEqual([true, false]);
    expect([2n ** 56n - 1n, 2n ** 56n].map((sequence) => hasSequences(readerOf(new WriteBatch(), sequence)))).toEqual([true, false]);
  });

  test('fits into a table unless an entry needs a larger block, or its keys an index of more than half of one', () => {
    const problem = (batch: WriteBatch): string | undefined => misfitOf(batch.encode(1n), { blockSize: 4096, maxBlockBytes: 2 ** 16 });
    const most = 2 ** 16 - 4096 - 64 - 8;
    expect(problem(put(100, most - 100))).toBeUndefined();
    expect(problem(put(100, most - 99))).toBe('an entry needs a block of up to 65537 bytes, maxBlockBytes is 65536');
    // 16 keys of 1,976 bytes, with 8 for the sequence and 64 for an index’s entry, need exactly half.
    const keys = new WriteBatch();
    for (let i = 0; i < 16; i++) keys.append(put(1976, 0));
    expect(problem(keys)).toBeUndefined();
    expect(problem(keys.delete(new Uint8Array(1976)))).toBe('the keys need an index of up to 34816 bytes, half of maxBlockBytes is 32768');
  });

  test('is small up to an eighth of the largest block less a usual one, and then fits whatever it has', () => {
    const limits = { blockSize: 4096, maxBlockBytes: 2 ** 16 };
    expect([0, 4096, 4097, 2 ** 16].map((byteLength) => isSmallBatch(byteLength, limits))).toEqual([true, true, false, false]);
    expect(isSmallBatch(0, { blockSize: 4096, maxBlockBytes: 4096 })).toBe(false);
  });

  test('is added to a memtable up to where it is damaged, one sequence after another', () => {
    const record = put(1, 2).delete(new Uint8Array(3)).append(put(4, 5)).encode(7n).slice(0, -1);
    const memtable = new Memtable(keyOrderOf(bytewiseComparator).compareInternalKeys);
    const reader = new WriteBatchReader(record);
    addBatch(memtable, reader, { structure: 'write batch', offset: 0 });
    const cursor = new MemtableCursor(memtable);
    const found: string[] = [];
    for (cursor.seekToFirst(); cursor.valid; cursor.next()) {
      const { keyBytes, keyStart, keyEnd, valueStart, valueEnd } = cursor.entry;
      found.push(`${keyEnd - keyStart - 8} and ${valueEnd - valueStart} bytes, type ${keyBytes[keyEnd - 8]}, sequence ${keyBytes[keyEnd - 7]}`);
    }
    expect(found).toEqual(['1 and 2 bytes, type 1, sequence 7', '3 and 0 bytes, type 0, sequence 8']);
    expect(reader.problem).toBe('bad WriteBatch Put');
  });

  test('for which there is no memory is damage at its place, and any other failure is thrown unchanged', () => {
    const failing = (error: Error): Memtable => ({ add: () => { throw error; } }) as unknown as Memtable;
    const place = { structure: 'write batch', offset: 7, file: '000004.log' } as const;
    const full = new MemtableFull('no room');
    expect(caught(() => addBatch(failing(full), readerOf(put(1, 1)), place))).toMatchObject({
      ...place,
      code: 'BLOOM_TOO_LARGE',
      problem: 'its operations do not fit into memory: no room',
      cause: full,
    });
    const other = new RangeError('other');
    expect(caught(() => addBatch(failing(other), readerOf(put(1, 1)), place))).toBe(other);
  });

  test('is measured by its largest entry, also where that is not the last', () => {
    const batch = put(10, 500).append(put(3, 1)).delete(new Uint8Array(7));
    const block = 128 + 10 + 8 + 500 + 64;
    expect(misfitOf(batch.encode(1n), { blockSize: 128, maxBlockBytes: block - 1 })).toContain(`a block of up to ${block} bytes`);
  });
});

describe('a memtable', () => {
  const limits = { blockSize: 4096, maxBlockBytes: 2 ** 16, writeBufferSize: 1000 };
  /** What is known of a memtable of `count` keys, each of which takes 2,048 bytes of an index: 16 of them take half of the largest block. */
  const memtableOf = (memoryUsage: number, count: number): Memtable => {
    const tableBound = new TableBound();
    for (let i = 0; i < count; i++) tableBound.addUserKey(1976, 0);
    return { memoryUsage, tableBound } as unknown as Memtable;
  };

  test('has room in its index until that takes more than half of the largest block', () => {
    expect([0, 1, 16, 17, 40].map((count) => hasIndexRoom(memtableOf(0, count), limits))).toEqual([true, true, true, false, false]);
  });

  test('is full when it takes more memory than the write buffer, or has no room in its index', () => {
    const isFullOf = (memoryUsage: number, count: number): boolean => isFull(memtableOf(memoryUsage, count), limits);
    expect([isFullOf(0, 0), isFullOf(1000, 16), isFullOf(1001, 16), isFullOf(1000, 17), isFullOf(1001, 17)]).toEqual([false, false, true, true, true]);
  });
});

test('a memtable that is given no expected size grows as needed, and its arena is the bytes of all entries', () => {
  const memtable = new Memtable(keyOrderOf(bytewiseComparator).compareInternalKeys);
  const bytes = new Uint8Array(5000).fill(7);
  const buffers = new Set<ArrayBufferLike>();
  for (let i = 0; i < 500; i++) {
    memtable.add(BigInt(i), 1, bytes, 0, 100, 100, 200);
    buffers.add(memtable.arena.buffer);
  }
  expect(memtable.count).toBe(500);
  expect(buffers.size).toBeLessThan(10);
});
