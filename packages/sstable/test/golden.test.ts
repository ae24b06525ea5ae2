import { goldenTables } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySink, MemorySource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { collect, hex, sameBytes, sameEntries } from './entries.js';

describe.each(goldenTables())('$name, written by LevelDB 1.23', (golden) => {
  const entries = golden.input();
  const policy = golden.options.bitsPerKey === null ? null : new BloomFilterPolicy(golden.options.bitsPerKey);

  test.runIf(golden.byteExact)('is rebuilt byte for byte', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, {
      blockSize: golden.options.blockSize,
      blockRestartInterval: golden.options.blockRestartInterval,
      compression: golden.options.compression,
      filterPolicy: policy,
    });
    for (const [key, value] of entries) builder.add(key, value);
    const info = builder.finish();
    expect(sameBytes(sink.toBytes(), golden.bytes())).toBe(true);
    expect(info).toMatchObject({ byteLength: golden.size, entries: entries.length });
  });

  test('is read with and without promises, forwards and backwards, as the entries from which it was built', async () => {
    const source = new MemorySource(golden.bytes());
    const syncTable = SyncTable.open(source);
    const table = await Table.open(source);
    expect(entries).toHaveLength(golden.entries);
    expect(sameEntries(syncTable.entries(), entries)).toBe(true);
    expect(sameEntries(await collect(table), entries)).toBe(true);
    expect(sameEntries([...syncTable.entries({ reverse: true })].reverse(), entries)).toBe(true);
    expect(sameEntries((await collect(table.entries({ reverse: true }))).reverse(), entries)).toBe(true);
  });

  test('finds every stored key and no absent key', () => {
    const table = SyncTable.open(new MemorySource(golden.bytes()));
    const keys = new Set(entries.map(([key]) => hex(key)));
    const missing: string[] = [];
    const invented: string[] = [];
    let absent = 0;
    for (const [key, value] of entries) {
      if (!sameBytes(table.get(key), value)) missing.push(hex(key));
      for (const other of [Uint8Array.of(...key.subarray(0, 8), 0), key.subarray(0, key.length - 1)]) {
        if (keys.has(hex(other))) continue;
        absent++;
        if (table.get(other) !== undefined) invented.push(hex(other));
      }
    }
    expect({ missing, invented }).toEqual({ missing: [], invented: [] });
    const { stats } = table;
    if (policy === null) expect(table.filterStatus).toEqual({ state: 'absent' });
    else {
      expect(table.filterStatus).toEqual({ state: 'used', policyName: policy.name });
      expect(stats.filterTruePositives).toBe(entries.length);
      expect(stats.filterNegatives + stats.filterFalsePositives).toBeLessThanOrEqual(absent);
    }
  });
});

test.each(goldenTables())('the entries of $name are in order', (golden) => {
  const keys = golden.input().map(([key]) => key);
  const disordered = keys.slice(1).filter((key, i) => bytewiseComparator.compare(keys[i]!, key) >= 0);
  expect(disordered.map(hex)).toEqual([]);
});
