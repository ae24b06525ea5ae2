import { runInNewContext } from 'node:vm';
import { goldenTables, realTables, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import { MemorySource, type Source, Table, type TableBuilderOptions } from '@bloom/sstable';
import { internalKeyPolicy } from '@bloom/sstable/database';
import { inspectBlock, outlineTable, type RefilteredTable, refilterTable, verifyTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { numberedEntries } from './entries.js';
import { WatchedSource } from './sources.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const random = seeded(11);
const entries = Array.from({ length: 4000 }, (_, i) => [utf8(`key ${String(i).padStart(5, '0')}`), random.bytes(random.below(120))] as const);

/** LevelDB's filters under a name that compresses well. */
const longNamed: FilterPolicy = {
  name: 'test.'.repeat(40),
  createFilter: (keys, filter) => new BloomFilterPolicy(10).createFilter(keys, filter),
  keyMayMatch: (key, filter) => new BloomFilterPolicy(10).keyMayMatch(key, filter),
};

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
  await expect(refilterTable(new MemorySource(bytes), { filterPolicy: null, filterRange: 3 })).rejects.toThrow(RangeError);
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

async function fileOf(table: RefilteredTable): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of table.file()) pieces.push(piece.slice());
  return Buffer.concat(pieces);
}

test.each<[string, TableBuilderOptions, TableBuilderOptions]>([
  ['other filters', { filterPolicy: new BloomFilterPolicy(10) }, { filterPolicy: new FittedBloomFilterPolicy(10) }],
  ['filters where there were none', { filterPolicy: null, compression: 'none' }, { filterPolicy: new BloomFilterPolicy(12), compression: 'none' }],
  ['no filters', { filterPolicy: new BloomFilterPolicy(10) }, { filterPolicy: null }],
  ['another range', { filterPolicy: new BloomFilterPolicy(10), blockSize: 512 }, { filterPolicy: new BloomFilterPolicy(10), blockSize: 512, filterRange: 65_536 }],
])('the file of a table with %s is the one that a builder writes', async (_, before, after) => {
  for (const some of [entries, entries.slice(0, 1), []]) {
    const given = new MemorySource(buildTable(some, before));
    const refiltered = await refilterTable(given, { filterPolicy: after.filterPolicy!, filterRange: after.filterRange });
    const file = await fileOf(refiltered);
    expect(file.equals(buildTable(some, after))).toBe(true);
    expect(refiltered.fileBytes).toBe(file.length);
    expect(refiltered.isChanged).toBe(!file.equals(buildTable(some, before)));
    expect((await refilterTable(new MemorySource(file), { filterPolicy: after.filterPolicy!, filterRange: after.filterRange })).isChanged).toBe(false);
  }
});

test('every golden and real table keeps its data blocks byte for byte', async () => {
  const policy = new FittedBloomFilterPolicy(10);
  let refiltered = 0;
  for (const table of [...goldenTables(), ...realTables()]) {
    const bytes = table.bytes();
    const made = bytes.length > 2 ** 20 ? undefined : await refilterTable(new MemorySource(bytes), { filterPolicy: policy }).catch(() => undefined);
    if (made === undefined) continue;
    const file = await fileOf(made);
    // The new filter block follows the data blocks at once.
    const { offset: dataEnd } = (await outlineTable(new MemorySource(file))).metaindex[0]!.handle!;
    expect(Buffer.compare(file.subarray(0, dataEnd), bytes.subarray(0, dataEnd))).toBe(0);
    const { findings } = await verifyTable(new MemorySource(file), { comparator: null, filterPolicies: [policy] });
    expect(findings).toEqual([]);
    refiltered++;
  }
  expect(refiltered).toBeGreaterThan(40);
});

test('the file comes in pieces of at most 1 MiB, and can be read after the signal was aborted', async () => {
  const controller = new AbortController();
  const given = new MemorySource(buildTable(entries));
  const table = await refilterTable(given, { filterPolicy: new BloomFilterPolicy(10), filterRange: 1, signal: controller.signal });
  controller.abort();
  const lengths: number[] = [];
  for await (const piece of table.file()) lengths.push(piece.length);
  expect(table.filterBytes).toBeGreaterThan(2 ** 20);
  expect(Math.max(...lengths)).toBe(2 ** 20);
  expect(lengths.reduce((sum, length) => sum + length)).toBe(table.fileBytes);
});

test('reads of a source that returns promises of another realm, or other objects with a then, are joined with the filters', async () => {
  const bytes = buildTable(entries, { compression: 'none' });
  const Foreign = runInNewContext('Promise') as PromiseConstructor;
  const promises = {
    'another realm': (offset: number, length: number) => Foreign.resolve(bytes.slice(offset, offset + length)),
    'thenables': (offset: number, length: number) => ({
      then: (resolve: (read: Uint8Array) => void) => resolve(bytes.slice(offset, offset + length)),
    }),
  };
  for (const read of Object.values(promises)) {
    const given = { byteLength: bytes.length, read } as unknown as Source;
    const { source } = await refilterTable(given, { filterPolicy: new BloomFilterPolicy(12) });
    const table = await Table.open(source, { tailBytes: 65_536 });
    expect(table.filterStatus).toMatchObject({ state: 'used' });
    expect(await table.get(entries[7]![0])).toEqual(entries[7]![1]);
  }
});

test('a metaindex that would be larger than a block may be is refused', async () => {
  const filterPolicy = { name: `test.${'n'.repeat(300)}`, createFilter: () => undefined, keyMayMatch: () => true };
  const source = new MemorySource(buildTable([[utf8('a'), utf8('b')]], { filterPolicy: null }));
  await expect(refilterTable(source, { filterPolicy, maxBlockBytes: 256 })).rejects.toThrow(/^the metaindex block would have 3\d\d bytes, maxBlockBytes is 256$/);
});

test.each<[string, TableBuilderOptions, TableBuilderOptions]>([
  ['with a codec', { filterPolicy: null }, { filterPolicy: longNamed }],
  ['in which only the metaindex is compressed', { filterPolicy: longNamed, blockSize: 100 }, { filterPolicy: longNamed, filterRange: 512, blockSize: 100 }],
  ['without compression', { filterPolicy: null, compression: 'none' }, { filterPolicy: longNamed, compression: 'none' }],
])('the metaindex of a table %s is compressed as a builder compresses it', async (_, before, after) => {
  const some = before.blockSize === undefined ? numberedEntries(300) : [[utf8('key'), seeded(3).bytes(100)] as const];
  const given = new MemorySource(buildTable(some, before));
  const file = await fileOf(await refilterTable(given, { filterPolicy: longNamed, filterRange: after.filterRange }));
  expect(file.equals(buildTable(some, after))).toBe(true);
});

test('where no block of the table is compressed, the metaindex is not either', async () => {
  const random = [[utf8('key'), seeded(3).bytes(100)]] as const;
  for (const compression of ['none', 'snappy'] as const) {
    const given = new MemorySource(buildTable(random, { filterPolicy: null, compression }));
    const file = await fileOf(await refilterTable(given, { filterPolicy: longNamed }));
    expect(file.equals(buildTable(random, { filterPolicy: longNamed, compression: 'none' }))).toBe(true);
  }
});

test('with omitLargeFilters, a table whose filters would need a larger block than the limit has none', async () => {
  const given = new MemorySource(buildTable(entries));
  const options = { filterPolicy: new BloomFilterPolicy(10), filterRange: 1, maxBlockBytes: 65_536, omitLargeFilters: true };
  const refiltered = await refilterTable(given, options);
  expect(refiltered).toMatchObject({ filterBytes: 0, filters: 0, entries: entries.length, isChanged: true });
  expect((await fileOf(refiltered)).equals(buildTable(entries, options))).toBe(true);
  expect((await refilterTable(given, { ...options, filterRange: 2048 })).filterBytes).toBeGreaterThan(0);
  await expect(refilterTable(given, { ...options, omitLargeFilters: 1 as never })).rejects.toThrow('omitLargeFilters must be');
});

test('refuses a policy whose name is too long for a reader', async () => {
  const filterPolicy = { name: 'n'.repeat(2 ** 20), createFilter: () => undefined, keyMayMatch: () => true };
  const message = 'the name of filterPolicy must have at most 1048569 bytes, got 1048576';
  await expect(refilterTable(new MemorySource(buildTable(numberedEntries(10, 10))), { filterPolicy })).rejects.toThrow(new RangeError(message));
});

test('a filter that a policy makes larger than a block may be is refused before it has memory, or left out, as by a builder', async () => {
  const filterPolicy = new BloomFilterPolicy(2 ** 31 - 1);
  for (const [count, range] of [[300, 2048], [3, 2048], [300, 2 ** 40]] as const) {
    const few = entries.slice(0, count);
    const source = new MemorySource(buildTable(few, { filterPolicy: null }));
    const options = { filterPolicy, filterRange: range };
    expect(() => buildTable(few, options)).toThrow(/^the filter block would have at least \d+ bytes, maxBlockBytes is 268435456$/);
    await expect(refilterTable(source, options)).rejects.toThrow(/^the filter block would have at least \d+ bytes, maxBlockBytes is 268435456$/);
    const refiltered = await refilterTable(source, { ...options, omitLargeFilters: true });
    expect(refiltered).toMatchObject({ filterBytes: 0, filters: 0, entries: count, isChanged: false });
  }
});
