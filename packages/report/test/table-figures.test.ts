import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { falsePositivesText, plainKeys, tryFilters, WatchedPolicy } from '../src/index.js';

/** What is said of a table of a database, with its filters of user keys, that is read with plain keys. */
function textOf(count: number): unknown {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { comparator: internalKeyComparator(bytewiseComparator), filterPolicy: internalKeyPolicy(new BloomFilterPolicy()) });
  for (let i = 0; i < count; i++) builder.add(encodeInternalKey({ userKey: Uint8Array.of(i), sequence: 7n, type: VALUE }), Uint8Array.of(1));
  builder.finish();
  const policy = new WatchedPolicy();
  const table = SyncTable.open(new MemorySource(sink.toBytes()), { filterPolicies: [policy] });
  return falsePositivesText(tryFilters({ table, policy, entries: count, keys: plainKeys }));
}

test('the text on false positives says that there are no keys only if there are none', () => {
  expect(textOf(0)).toEqual({ notMeasured: 'no keys' });
  expect(textOf(100)).toEqual({ notMeasured: 'its filters are not used for these keys' });
});
