import { BloomFilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { Database, type DatabaseOptions, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { ThreadedMemoryFolder } from './threaded-memory-folder.js';

const ENTRIES = 4000;
const keyOf = (number: number): Uint8Array => new TextEncoder().encode(String(number).padStart(16, '0'));

interface Wasted {
  /** Blocks read for absent keys, for 1,000 lookups. */
  readonly reads: number;
  readonly filterBytes: number;
}

/** Stores even numbers, and looks up the odd ones between them. */
async function wastedReads(options: DatabaseOptions, folder: WritableMemoryFolder = new WritableMemoryFolder()): Promise<Wasted> {
  const database = await Database.open(folder, { lock: 'none', ...options });
  for (let from = 0; from < ENTRIES; from += 1000) {
    const batch = new WriteBatch();
    for (let i = from; i < from + 1000; i++) batch.put(keyOf(i * 2), new Uint8Array(100).fill(i));
    await database.write(batch);
  }
  await database.compactRange();
  for (let i = 0; i < ENTRIES; i += 97) expect(await database.get(keyOf(i * 2))).toBeDefined();
  const before = database.stats.filterFalsePositives;
  const absent = Array.from({ length: ENTRIES }, (_, i) => keyOf(i * 2 + 1));
  expect(absent.filter((key) => database.getSync(key) !== undefined)).toEqual([]);
  const reads = ((database.stats.filterFalsePositives - before) * 1000) / ENTRIES;
  const filterBytes = database.describe().filters.reduce((sum, level) => sum + level.filterBytes, 0);
  await database.close();
  return { reads, filterBytes };
}

describe('with fitFilters, lookups of absent neighbours read a tenth of the blocks', () => {
  test.each<[string, DatabaseOptions, DatabaseOptions]>([
    ['with the default bits', {}, { fitFilters: true }],
    ['with bits by level', { bitsPerKey: [12, 10, 10] }, { bitsPerKey: [12, 10, 10], fitFilters: true }],
    ['with a policy that is fitted', { filterPolicy: new BloomFilterPolicy(12) }, { filterPolicy: new FittedBloomFilterPolicy(12) }],
    ['with another budget', {}, { fitFilters: { extraBytes: 0.1 } }],
  ])('%s', async (_, plainOptions, fittedOptions) => {
    const plain = await wastedReads(plainOptions);
    const fitted = await wastedReads(fittedOptions);
    expect(plain.reads).toBeGreaterThan(15);
    expect(fitted.reads).toBeLessThan(plain.reads * 0.12);
    expect(fitted.filterBytes).toBeLessThan(plain.filterBytes * 1.05);
  });

  test.each<[string, DatabaseOptions]>([
    ['fitFilters', { fitFilters: { extraBytes: 0.02 } }],
    ['a policy', { filterPolicy: new FittedBloomFilterPolicy(9, { extraBytes: 0.02 }) }],
    ['bits by level', { bitsPerKey: 'auto', fitFilters: true }],
  ])('also on the thread, which makes the same filters with %s', async (_, options) => {
    expect(await wastedReads(options, new ThreadedMemoryFolder())).toEqual(await wastedReads(options));
  });
});

test.each<[DatabaseOptions, Error]>([
  [{ fitFilters: true, filterPolicy: null }, new TypeError("fitFilters is for LevelDB's Bloom filter: leave out filterPolicy")],
  [{ fitFilters: 1 as unknown as boolean }, new TypeError('fitFilters must be true, false or { extraBytes }, got 1')],
  [{ fitFilters: null as unknown as boolean }, new TypeError('fitFilters must be true, false or { extraBytes }, got null')],
  [{ fitFilters: { extraBytes: 2 } }, new RangeError('extraBytes must be from 0 to 1, got 2')],
])('%o is refused', async (options, error) => {
  expect(await rejection(Database.open(new WritableMemoryFolder(), { lock: 'none', ...options }))).toEqual(error);
});
