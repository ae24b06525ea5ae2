// What the table view says of tables of databases whose entries all have the same sequence, as those of @bloom/bulk have.
import { BloomFilterPolicy } from '@bloom/policy';
import { falsePositivesText } from '@bloom/report';
import { bytewiseComparator, MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { InspectedTable } from '../src/table/inspected-table.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const work = { signal: new AbortController().signal, progress: () => undefined };
const userKeys = Array.from({ length: 1000 }, (_, i) => utf8(`key ${String(i).padStart(6, '0')}`));
const storedKeys = userKeys.map((userKey) => encodeInternalKey({ userKey, sequence: 7n, type: VALUE }));

/** A table of the stored keys, with filters made from the user keys or from the stored keys. */
function tableWith(filtered: 'user keys' | 'stored keys' | 'none'): MemorySource {
  const policy = new BloomFilterPolicy();
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: filtered === 'none' ? null : filtered === 'user keys' ? internalKeyPolicy(policy) : policy });
  for (const key of storedKeys) builder.add(key, utf8('value'));
  builder.finish();
  return new MemorySource(sink.toBytes(), 'table.ldb');
}

describe('a table whose entries all have the same sequence', () => {
  test('has the keys of a database if its filters were made from user keys', async () => {
    const table = await InspectedTable.open(tableWith('user keys'));
    expect(table.facts.isDatabase).toBe(true);
    const [first] = await table.entries(0, 0, 1, false, work.signal);
    expect([first!.key.bytes, first!.sequence]).toEqual([userKeys[0], '7']);
    expect((await table.check(work)).isSound).toBe(true);
    expect(falsePositivesText(await table.measureFilters(work, 1000))).toMatchObject({ rate: expect.stringMatching(/%$/u) as string });
  });

  test.each(['stored keys', 'none'] as const)('has plain keys if its filters were made from: %s', async (filtered) => {
    expect((await InspectedTable.open(tableWith(filtered))).facts.isDatabase).toBe(false);
  });

  test('has the keys of a database if it belongs to one, with any filters', async () => {
    for (const filtered of ['stored keys', 'none'] as const) {
      const table = await InspectedTable.open(tableWith(filtered), { isOfDatabase: true });
      expect(table.facts.isDatabase).toBe(true);
    }
  });
});
