import { TrailingSpacePolicy, trailingSpaceComparator } from '@bloom/example-trailing-space-policy';
import { goldenTables } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { tableOf, text } from './catalogue.js';

describe.each(goldenTables({ comparator: 'trailing-space' }))('$name, written by LevelDB 1.23 with the same order', (golden) => {
  const { bitsPerKey, blockSize, blockRestartInterval, compression } = golden.options;
  const policy = bitsPerKey === null ? null : new TrailingSpacePolicy(new BloomFilterPolicy(bitsPerKey));
  const entries = golden.input();

  test('is rebuilt byte for byte', () => {
    const source = tableOf(entries, policy, { blockSize, blockRestartInterval, compression });
    expect(Buffer.compare(source.read(0, source.byteLength), golden.bytes())).toBe(0);
  });

  test('finds every entry, with any number of trailing spaces in the requested key', () => {
    const table = SyncTable.open(new MemorySource(golden.bytes()), {
      comparator: trailingSpaceComparator,
      filterPolicies: [new TrailingSpacePolicy()],
    });
    expect(table.filterStatus.state).toBe(policy === null ? 'absent' : 'used');
    const missed: (string | undefined)[] = [];
    for (const [key, value] of entries) {
      let end = key.length;
      while (end > 0 && key[end - 1] === 0x20) end--;
      const trimmed = key.subarray(0, end);
      for (const asked of [key, trimmed, Uint8Array.of(...trimmed, 0x20), Uint8Array.of(...key, 0x20, 0x20, 0x20)]) {
        const found = table.get(asked);
        if (found === undefined || Buffer.compare(found, value) !== 0) missed.push(text(asked));
      }
    }
    expect(entries).toHaveLength(800);
    expect(missed).toEqual([]);
  });
});

test('there are golden tables with a filter and without', () => {
  const bits = goldenTables({ comparator: 'trailing-space' }).map(({ options }) => options.bitsPerKey);
  expect(bits).toContain(10);
  expect(bits).toContain(null);
});
