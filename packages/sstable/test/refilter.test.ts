import { goldenTables, realTables, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource, type Source, Table } from '@bloom/sstable';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { inspectBlock, outlineTable, refilterTable, verifyTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { WatchedSource } from './sources.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const random = seeded(11);
const entries = Array.from({ length: 4000 }, (_, i) => [utf8(`key ${String(i).padStart(5, '0')}`), random.bytes(random.below(120))] as const);

async function filterBlockOf(source: Source): Promise<Uint8Array> {
  const { metaindex } = await outlineTable(source);
  const { contents } = await inspectBlock(source, 'filter block', metaindex[0]!.handle!);
  return contents!;
}

test.each([
  ['LevelDB’s policy with 6 bits per key', { filterPolicy: new BloomFilterPolicy(6) }],
  ['LevelDB’s policy with 14 bits per key and wide ranges', { filterPolicy: new BloomFilterPolicy(14), filterRange: 65_536 }],
  ['one filter for the table', { filterPolicy: new BloomFilterPolicy(10), filterRange: 2 ** 40 }],
  ['ranges smaller than a block', { filterPolicy: new BloomFilterPolicy(10), filterRange: 512 }],
])('the filters are those that a builder writes: %s', async (_, options) => {
  const given = new MemorySource(buildTable(entries, { filterPolicy: null }));
  const written = new MemorySource(buildTable(entries, options));
  const { source, filterBytes, filters, entries: added } = await refilterTable(given, options);
  const block = await filterBlockOf(source);
  expect(Buffer.compare(block, await filterBlockOf(written))).toBe(0);
  expect(added).toBe(entries.length);
  expect(filterBytes).toBe(block.length);
  expect(filters).toBe((block.length - 5 - new DataView(block.buffer, block.byteOffset).getUint32(block.length - 5, true)) / 4);
  const { findings, unchecked } = await verifyTable(source, { filterPolicies: [options.filterPolicy] });
  expect(findings).toEqual([]);
  expect(unchecked).toEqual([]);
});

test('a table with other filters finds every key, and skips blocks as they say', async () => {
  const given = new WatchedSource(buildTable(entries));
  for (const bitsPerKey of [2, 20]) {
    const policy = new BloomFilterPolicy(bitsPerKey);
    const { source } = await refilterTable(given, { filterPolicy: policy });
    const table = await Table.open(source, { filterPolicies: [policy] });
    expect(table.filterStatus).toEqual({ state: 'used', policyName: policy.name });
    for (const [key, value] of entries.slice(0, 500)) expect(await table.get(key)).toEqual(value);
    for (const [key] of entries.slice(0, 2000)) expect(await table.get(Uint8Array.of(...key, 0x21))).toBeUndefined();
    const { filterFalsePositives } = table.stats;
    if (bitsPerKey === 2) expect(filterFalsePositives).toBeGreaterThan(300);
    else expect(filterFalsePositives).toBeLessThan(10);
    await table.close();
  }
});

test('without a policy, the table has no filters', async () => {
  const { source, filterBytes, filters } = await refilterTable(new MemorySource(buildTable(entries)), { filterPolicy: null });
  expect([filterBytes, filters]).toEqual([0, 0]);
  const table = await Table.open(source);
  expect(table.filterStatus).toEqual({ state: 'absent' });
  expect(await table.get(entries[7]![0])).toEqual(entries[7]![1]);
  await table.close();
});

test('filters of a database’s table are made from user keys, and are those that Chromium’s LevelDB wrote', async () => {
  const { bytes } = realTables().find(({ file }) => /^forensicsim.*000116/.test(file))!;
  const given = new MemorySource(bytes());
  const policy = new BloomFilterPolicy(10);
  const { source } = await refilterTable(given, { filterPolicy: internalKeyPolicy(policy) });
  const written = await filterBlockOf(given);
  expect(written.length).toBeGreaterThan(100);
  expect(Buffer.compare(await filterBlockOf(source), written)).toBe(0);
});

test.each(goldenTables().filter(({ name }) => name.includes('bits10')).map(({ name, bytes }) => [name, bytes]))('the filters of %s, which LevelDB wrote, are made again', async (_, bytes) => {
  const given = new MemorySource(bytes());
  const { source } = await refilterTable(given, { filterPolicy: new BloomFilterPolicy(10) });
  expect(Buffer.compare(await filterBlockOf(source), await filterBlockOf(given))).toBe(0);
});

test('a damaged block, a wrong range, and filters above the limit are refused', async () => {
  const bytes = buildTable(entries);
  const filterPolicy = new BloomFilterPolicy(10);
  await expect(refilterTable(new MemorySource(bytes), { filterPolicy, filterRange: 3 })).rejects.toThrow(RangeError);
  await expect(refilterTable(new MemorySource(bytes), { filterPolicy, filterRange: 1, maxBlockBytes: 65_536 })).rejects.toThrow('the filter block would have at least');
  await expect(refilterTable(new MemorySource(bytes), { filterPolicy, bits: 3 } as never)).rejects.toThrow(TypeError);
  const damaged = bytes.slice();
  damaged[5000]! ^= 1;
  await expect(refilterTable(new MemorySource(damaged), { filterPolicy })).rejects.toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', structure: 'data block' });
});

test('an aborted signal ends it', async () => {
  const filterPolicy = new BloomFilterPolicy(10);
  await expect(refilterTable(new MemorySource(buildTable(entries)), { filterPolicy, signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
});
