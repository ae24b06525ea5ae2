import { type KeyValue, seeded } from '@bloom/fixtures';
import { nativeLevelDb, nativeUnavailableReason } from '@bloom/native';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { buildTable } from '../build-table.js';
import { hex, sameBytes, sameEntries, utf8 } from '../entries.js';
import { randomEntries } from '../random-entries.js';

// Compares with the real LevelDB 1.23, which runs as a separate program.
const native = nativeLevelDb();

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`LevelDB is not available to compare with: ${reason}`, () => {});
}

const seeds = Array.from({ length: 12 }, (_, i) => 0x1d00 + i);

describe.runIf(native !== undefined).each(seeds)('the random table of seed %i', (seed) => {
  const leveldb = native!;
  const random = seeded(seed);
  const entries = randomEntries(random, { most: 400 });
  const settings = {
    blockSize: random.pick([1, 64, 256, 1024, 4096, 65536]),
    blockRestartInterval: random.pick([1, 2, 3, 16, 128]),
    bitsPerKey: random.pick([1, 5, 10, 20, 50]),
  };
  const { blockSize, blockRestartInterval, bitsPerKey } = settings;
  const filterPolicy = new BloomFilterPolicy(bitsPerKey);
  const plain = buildTable(entries, { blockSize, blockRestartInterval, filterPolicy, compression: 'none' });
  const packed = buildTable(entries, { blockSize, blockRestartInterval, filterPolicy, compression: 'snappy' });
  const about = JSON.stringify(settings);
  const absent = absentKeys(entries);

  test('has the same bytes as LevelDB’s', () => {
    const theirs = leveldb.build(entries, { blockSize, blockRestartInterval, bitsPerKey });
    expect(sameBytes(plain, theirs), about).toBe(true);
  });

  test('is read by LevelDB as the same entries, with and without Snappy', () => {
    expect(sameEntries(leveldb.dump(plain), entries), about).toBe(true);
    expect(sameEntries(leveldb.dump(packed), entries), about).toBe(true);
  });

  test('lets LevelDB find every stored key and no absent key through its filters', () => {
    for (const table of [plain, packed]) {
      const found = leveldb.get(
        table,
        entries.map(([key]) => key),
        { useFilter: true },
      );
      const missing = entries.filter(([, value], i) => !sameBytes(found[i], value));
      expect(missing.map(([key]) => hex(key)), about).toEqual([]);
      const invented = leveldb.get(table, absent, { useFilter: true }).filter((value) => value !== undefined);
      expect(invented, about).toEqual([]);
    }
  });

  test('lets LevelDB find every stored key and no absent key through filters of any range', () => {
    for (const filterRange of [1, 2 ** (1 + random.below(12)), 2 ** (12 + random.below(8)), 2 ** 40]) {
      const table = buildTable(entries, { blockSize, blockRestartInterval, filterPolicy, filterRange });
      const keys = entries.map(([key]) => key);
      const found = leveldb.get(table, keys, { useFilter: true });
      const missing = entries.filter(([, value], i) => !sameBytes(found[i], value));
      expect(missing.map(([key]) => hex(key)), `${about}, filterRange ${filterRange}`).toEqual([]);
      expect(leveldb.get(table, absent, { useFilter: true }).filter((value) => value !== undefined)).toEqual([]);
      const ours = SyncTable.open(new MemorySource(table));
      expect(ours.filterStatus.state).toBe('used');
      expect(entries.every(([key, value]) => sameBytes(ours.get(key), value))).toBe(true);
    }
  });

  test('when LevelDB writes it with Snappy, is read as the same entries', () => {
    const compression = 'snappy';
    const theirs = leveldb.build(entries, { blockSize, blockRestartInterval, bitsPerKey, compression });
    const table = SyncTable.open(new MemorySource(theirs));
    expect(sameEntries(table.entries(), entries), about).toBe(true);
    expect(table.filterStatus.state).toBe('used');
    const found = table.getMany(entries.map(([key]) => key));
    expect(found.filter((value, i) => !sameBytes(value, entries[i]![1])), about).toEqual([]);
    expect(table.getMany(absent).filter((value) => value !== undefined), about).toEqual([]);
  });

  test('has the same approximate offsets as in LevelDB', () => {
    const keys = [...entries.map(([key]) => key), ...absent];
    const table = SyncTable.open(new MemorySource(packed));
    expect(keys.map((key) => table.approximateOffset(key)), about).toEqual(leveldb.approximateOffsets(packed, keys));
  });
});

/** Neighbours of the keys, and others. */
function absentKeys(entries: readonly KeyValue[]): Uint8Array[] {
  const present = new Set(entries.map(([key]) => hex(key)));
  return entries
    .flatMap(([key]) => [Uint8Array.of(...key.subarray(0, 1000), 0), key.subarray(0, -1)])
    .concat(utf8('absent'), Uint8Array.of(), new Uint8Array(20).fill(0xff))
    .filter((key) => !present.has(hex(key)));
}
