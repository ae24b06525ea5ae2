import { type KeyValue, type TableVector, vectors } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { MemorySource, SyncTable, type TableBuilderOptions } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { crc32c } from '@bloom/crc32c';
import { internalKeyComparator, internalKeyPolicy } from '../src/format/internal-key.js';
import { buildTable } from './build-table.js';
import { hex, sameEntries, utf8 } from './entries.js';

// All values here were measured with LevelDB's main branch and its defaults: blocks of 4096 bytes and a restart every 16
// entries. There is no compression unless a test says so.

const { tables, internalKeyTable, tableChecksums, approximateOffsets } = vectors();

function bloom({ bitsPerKey }: TableVector): FilterPolicy | null {
  return bitsPerKey === null ? null : new BloomFilterPolicy(bitsPerKey);
}

describe.each(tables)('the table "$name"', (vector) => {
  test('has the same bytes as LevelDB’s', () => {
    const bytes = buildTable(vector.entries, { compression: 'none', filterPolicy: bloom(vector) });
    expect(hex(bytes)).toBe(hex(vector.bytes));
  });

  test('has the recorded entries', () => {
    const table = SyncTable.open(new MemorySource(vector.bytes));
    expect([...table.entries()]).toEqual(vector.entries);
    expect(table.getMany(vector.entries.map(([key]) => key))).toEqual(vector.entries.map(([, value]) => value));
    const policyName = new BloomFilterPolicy().name;
    expect(table.filterStatus).toEqual(vector.bitsPerKey === null ? { state: 'absent' } : { state: 'used', policyName });
  });
});

// The comparator and the policy are those of LevelDB, db/dbformat.cc.
describe('the table of internal keys', () => {
  const options: TableBuilderOptions = {
    compression: 'none',
    comparator: internalKeyComparator(),
    filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)),
  };

  test('has the same bytes as LevelDB’s', () => {
    expect(hex(buildTable(internalKeyTable.entries, options))).toBe(hex(internalKeyTable.bytes));
  });

  test('finds every key through its filter', () => {
    const table = SyncTable.open(new MemorySource(internalKeyTable.bytes), {
      comparator: internalKeyComparator(),
      filterPolicies: [internalKeyPolicy(new BloomFilterPolicy())],
    });
    expect([...table.entries()]).toEqual(internalKeyTable.entries);
    const found = table.getMany(internalKeyTable.entries.map(([key]) => key));
    expect(found).toEqual(internalKeyTable.entries.map(([, value]) => value));
    expect(table.filterStatus.state).toBe('used');
    expect(table.stats.filterTruePositives).toBe(internalKeyTable.entries.length);
  });

  test('has the recorded entries when it is read without its comparator', () => {
    const table = SyncTable.open(new MemorySource(internalKeyTable.bytes));
    expect([...table.entries()]).toEqual(internalKeyTable.entries);
    expect([...table.entries({ reverse: true })].reverse()).toEqual(internalKeyTable.entries);
  });
});

describe.each(tableChecksums.filter(({ compression }) => compression === 'none'))('the table of 1000 entries', (vector) => {
  test('has the same size and checksum as LevelDB’s', () => {
    const bytes = buildTable(vector.entries(), { compression: 'none' });
    expect([bytes.length, crc32c(bytes)]).toEqual([vector.size, vector.crc32c]);
  });
});

// Snappy encoders differ, so the bytes need not be the same as LevelDB's.
test.each(tableChecksums.filter(({ compression }) => compression === 'snappy'))(
  'the table of 1000 entries, with Snappy, has about the same size as LevelDB’s, and the same entries',
  (vector) => {
    const bytes = buildTable(vector.entries(), { compression: 'snappy' });
    expect(bytes.length).toBeGreaterThan(vector.size * 0.9);
    expect(bytes.length).toBeLessThan(vector.size * 1.1);
    expect(sameEntries(SyncTable.open(new MemorySource(bytes)).entries(), vector.entries())).toBe(true);
  },
);

// LevelDB, table/table_test.cc, ApproximateOffsetOfPlain.
describe('approximate offsets', () => {
  const entries: KeyValue[] = approximateOffsets.entries();
  const bytes = buildTable(entries, { blockSize: 1024, compression: 'none', filterPolicy: null });
  const table = SyncTable.open(new MemorySource(bytes));

  test('the file has the same size as LevelDB’s', () => {
    expect(bytes).toHaveLength(approximateOffsets.fileSize);
  });

  test('the offsets for its keys and for keys between them are the same as in LevelDB', () => {
    const offsets = approximateOffsets.offsets.map(({ key }) => table.approximateOffset(key));
    expect(offsets).toEqual(approximateOffsets.offsets.map(({ offset }) => offset));
  });

  test('the offset for a key after the last one is that of the metaindex', () => {
    // After it come an empty metaindex, an index of the four blocks, and the footer.
    const past = table.approximateOffset(utf8('xyz'));
    expect(hex(bytes.subarray(past, past + 13))).toBe('000000000100000000c0f2a1b0');
  });
});
