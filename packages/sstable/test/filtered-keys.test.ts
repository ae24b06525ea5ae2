import { seeded } from '@bloom/bytes/internal';
import { type KeyValue, vectors } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySource, SyncTable, Table } from '@bloom/sstable';
import {
  DatabaseTable,
  DELETION,
  encodeInternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  SyncDatabaseTable,
  VALUE,
} from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { putTogether, takeApart } from './damage.js';
import { hex, numberedEntries, sameBytes, utf8 } from './entries.js';
import { WatchedSource } from './sources.js';

const POLICY = 'leveldb.BuiltinBloomFilter2';
const bloom = new BloomFilterPolicy();

/** Versions of user keys as a database stores them, newest first for each key. */
function storedVersions(userKeys: readonly Uint8Array[], versionsOfEach = 1, valueLength = 40): KeyValue[] {
  return userKeys.flatMap((userKey, i) =>
    Array.from({ length: versionsOfEach }, (_, v): KeyValue => [
      encodeInternalKey({ userKey, sequence: BigInt((i * 7919) % 100_003) * 16n + BigInt(versionsOfEach - v), type: v === 1 ? DELETION : VALUE }),
      new Uint8Array(valueLength).fill(v),
    ]),
  );
}

function databaseTable(entries: readonly KeyValue[], bitsPerKey = 10, blockSize = 4096): Uint8Array {
  const filterPolicy = internalKeyPolicy(new BloomFilterPolicy(bitsPerKey));
  return buildTable(entries, { comparator: internalKeyComparator(), filterPolicy, blockSize });
}

const userKeys = numberedEntries(20_000).map(([key]) => key);

/** The number of stored keys that a lookup does not find. */
function missesOf(bytes: Uint8Array): { state: string; filteredKeys: string | undefined; misses: number; stored: number } {
  const table = SyncTable.open(new MemorySource(bytes));
  const { filterStatus } = table;
  const stored = [...table.entries()];
  const misses = stored.filter(([key, value]) => !sameBytes(table.get(key), value)).length;
  const impossible = stored.filter(([key]) => !table.mayContain(key)).length;
  const many = table.getMany(stored.map(([key]) => key)).filter((value) => value === undefined).length;
  expect([impossible, many]).toEqual([misses, misses]);
  const filteredKeys = filterStatus.state === 'contradicted' ? filterStatus.filteredKeys : undefined;
  return { state: filterStatus.state, filteredKeys, misses, stored: stored.length };
}

describe('a table of a database that is opened as a plain table', () => {
  test.each<[string, KeyValue[], number?, number?]>([
    ['20,000 user keys', storedVersions(userKeys)],
    ['several versions of each user key', storedVersions(userKeys.slice(0, 5000), 4)],
    ['user keys of which many are prefixes of others', storedVersions(Array.from({ length: 300 }, (_, i) => utf8('ab'.repeat(i))), 2)],
    ['only the empty user key', storedVersions([new Uint8Array(0)], 5)],
    ['one bit per key', storedVersions(userKeys.slice(0, 5000)), 1],
    ['values larger than a block', storedVersions(userKeys.slice(0, 60), 1, 20_000)],
    ['one entry per block', storedVersions(userKeys.slice(0, 3000)), 10, 1],
    ['a single entry', storedVersions(userKeys.slice(0, 1))],
  ])('with %s reports it, and every stored key is found', (_, entries, bitsPerKey, blockSize) => {
    const found = missesOf(databaseTable(entries, bitsPerKey, blockSize));
    expect(found).toEqual({ state: 'contradicted', filteredKeys: 'user-keys', misses: 0, stored: entries.length });
  });

  test('reports it with promises, without reads beyond those of opening', async () => {
    const bytes = databaseTable(storedVersions(userKeys.slice(0, 1000)));
    const source = new WatchedSource(bytes);
    const table = await Table.open(source);
    expect(table.filterStatus).toEqual({ state: 'contradicted', policyName: POLICY, filteredKeys: 'user-keys' });
    expect(source.reads).toHaveLength(1);
    const stored = await Promise.all(storedVersions(userKeys.slice(0, 1000)).map(async ([key, value]) => sameBytes(await table.get(key), value)));
    expect(stored).not.toContain(false);
  });

  test('reads the smallest block to detect it if the tail contains no block', async () => {
    const bytes = databaseTable(storedVersions(userKeys.slice(0, 1000)));
    const source = new WatchedSource(bytes);
    const table = await Table.open(source, { tailBytes: 48 });
    expect(table.filterStatus.state).toBe('contradicted');
    // The reads of footer, metaindex with index, filter, and that block.
    expect(source.reads).toHaveLength(4);
    expect(source.reads[3]!.length).toBeLessThan(4096);
    expect(table.stats.bytesRead).toBe(source.reads.reduce((sum, { length }) => sum + length, 0));
  });

  describe.each([
    ['lie past the end, all of them', () => 0x7fffffff],
    ['lie past the end, and decrease', (i: number) => 0x7fffffff - i],
    ['decrease', (i: number) => 100_000 - i],
  ])('and whose last filters cannot be read, because their offsets %s', (_, offsetOf) => {
    test.each([
      ['with the tail of the file', undefined],
      ['with the smallest block', 48],
    ])('reports it %s', (__, tailBytes) => {
      const stored = storedVersions(userKeys.slice(0, 400), 1, 160);
      const { parts } = takeApart(buildTable(stored, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(bloom), compression: 'none' }));
      const damaged = parts.map((part) => {
        if (part.kind !== 'meta') return part;
        const payload = part.payload.slice();
        const view = new DataView(payload.buffer);
        const offsetsStart = view.getUint32(payload.length - 5, true);
        const count = (payload.length - 5 - offsetsStart) / 4;
        expect(count).toBeGreaterThan(20);
        for (let i = 4; i < count; i++) view.setUint32(offsetsStart + i * 4, offsetOf(i), true);
        return { ...part, payload };
      });
      const table = SyncTable.open(new MemorySource(putTogether(damaged)), { tailBytes });
      expect(table.filterStatus).toMatchObject({ state: 'contradicted', filteredKeys: 'user-keys' });
      expect(stored.filter(([key]) => table.get(key) === undefined)).toEqual([]);
    });
  });

  test('reports it when its comparator is passed, but not its policy', () => {
    const entries = storedVersions(userKeys.slice(0, 3000), 3);
    const table = SyncTable.open(new MemorySource(databaseTable(entries)), { comparator: internalKeyComparator() });
    expect(table.filterStatus).toEqual({ state: 'contradicted', policyName: POLICY, filteredKeys: 'user-keys' });
    expect(entries.filter(([key, value]) => !sameBytes(table.get(key), value))).toEqual([]);
  });

  test('is scanned as stored', () => {
    const entries = storedVersions(userKeys.slice(0, 500), 3);
    const table = SyncTable.open(new MemorySource(databaseTable(entries)));
    expect([...table.keys()].map(hex)).toEqual(entries.map(([key]) => hex(key)));
  });
});

describe('a table that is opened as the right kind', () => {
  test('of a database keeps its filters', async () => {
    for (const entries of [storedVersions(userKeys.slice(0, 3000), 3), storedVersions([new Uint8Array(0)], 3), []]) {
      const source = new MemorySource(databaseTable(entries));
      const used = { state: 'used', policyName: POLICY };
      expect(SyncDatabaseTable.open(source).table.filterStatus).toEqual(used);
      expect((await DatabaseTable.open(source)).table.filterStatus).toEqual(used);
    }
    expect(SyncDatabaseTable.open(new MemorySource(vectors().internalKeyTable.bytes)).table.filterStatus.state).toBe('used');
  });

  // Big-endian numbers of eight bytes look like an internal key with an empty user key.
  test.each<[string, (i: number, random: ReturnType<typeof seeded>) => Uint8Array]>([
    ['numbers of eight bytes', (i) => new Uint8Array(BigUint64Array.of(BigInt(i)).buffer).reverse()],
    ['numbers of sixteen bytes', (i) => Uint8Array.of(...new Uint8Array(8), ...new Uint8Array(BigUint64Array.of(BigInt(i) * 77n).buffer).reverse())],
    ['text that ends like an internal key', (i) => encodeInternalKey({ userKey: userKeys[i]!, sequence: BigInt(i), type: VALUE })],
    ['text that ends in zeros', (i) => Uint8Array.of(...userKeys[i]!, 0, 0, 0, 0, 0, 0, 0, 0)],
  ])('of plain keys that are %s keeps its filters, and every stored key is found', (_, keyOf) => {
    const random = seeded(9);
    const entries = Array.from({ length: 4000 }, (_entry, i): KeyValue => [keyOf(i, random), random.bytes(30)]);
    const bytes = buildTable(entries, { compression: 'none' });
    const table = SyncTable.open(new MemorySource(bytes));
    expect(table.filterStatus).toEqual({ state: 'used', policyName: POLICY });
    expect(missesOf(bytes)).toMatchObject({ state: 'used', misses: 0 });
    for (const [key] of entries) table.get(Uint8Array.of(...key, 1));
    expect(table.stats.filterNegatives).toBeGreaterThan(3000);
  });

  test('of plain text needs no additional reads', async () => {
    const source = new WatchedSource(buildTable(numberedEntries(3000, 100), { compression: 'none' }));
    const table = await Table.open(source, { tailBytes: 48 });
    expect([table.filterStatus.state, source.reads.length]).toEqual(['used', 3]);
  });
});

describe('filters of other keys', () => {
  const entries = storedVersions(userKeys.slice(0, 3000), 2);

  test('that were built without internalKeyPolicy hide no version of a database', () => {
    const bytes = buildTable(entries, { comparator: internalKeyComparator() });
    const table = SyncDatabaseTable.open(new MemorySource(bytes));
    expect(table.table.filterStatus).toEqual({ state: 'contradicted', policyName: POLICY, filteredKeys: 'whole-keys' });
    expect(userKeys.slice(0, 3000).filter((userKey) => table.get(userKey) === undefined)).toEqual([]);
  });

  test('that match none of the keys are not used', () => {
    const others = { name: POLICY, createFilter: () => undefined, keyMayMatch: bloom.keyMayMatch.bind(bloom) };
    const elsewhere = {
      ...others,
      createFilter: (_: unknown, dst: Parameters<typeof bloom.createFilter>[1]) => void dst.extend(200).fill(6, 199),
    };
    // Its index keys are whole keys. Like all of its keys, they look like those of a database.
    const comparator: Comparator = { ...bytewiseComparator, findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };
    const plain = buildTable(storedVersions(userKeys.slice(0, 3000)), { filterPolicy: elsewhere, comparator });
    expect(missesOf(plain)).toEqual({ state: 'contradicted', filteredKeys: 'other-keys', misses: 0, stored: 3000 });
    const bytes = buildTable(entries, { filterPolicy: elsewhere, comparator: internalKeyComparator() });
    const table = SyncDatabaseTable.open(new MemorySource(bytes));
    expect(table.table.filterStatus).toMatchObject({ state: 'contradicted', filteredKeys: 'other-keys' });
    expect(userKeys.slice(0, 3000).filter((userKey) => table.get(userKey) === undefined)).toEqual([]);
  });

  test('are detected even if a block is damaged, and a damaged block alone does not count as detection', () => {
    const bytes = databaseTable(entries).slice();
    const last = SyncTable.open(new MemorySource(bytes)).approximateOffset(entries.at(-1)![0]);
    bytes[last + 100]! ^= 1;
    expect(SyncTable.open(new MemorySource(bytes)).filterStatus.state).toBe('contradicted');
    const few = databaseTable(entries.slice(0, 20)).slice();
    few[100]! ^= 1;
    expect(SyncTable.open(new MemorySource(few)).filterStatus.state).toBe('used');
  });
});
