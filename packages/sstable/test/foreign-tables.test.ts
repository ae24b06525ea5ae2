import { fromHex, goldenTables, type KeyValue } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { type Codec, MemorySource, snappyCodec, SyncTable, Table } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator } from '@bloom/sstable/database';
import { BLOCK_KINDS, inspectBlock, outlineTable, profileTable, salvagedEntries, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { encodeBlockHandle } from '../src/format/block-handle.js';
import { decodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { BLOCK_TRAILER_LENGTH } from '../src/format/stored-block.js';
import { assembleTable, blockOf } from './assemble-table.js';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { type Changes, putTogether, sealed, type StoredPart, takeApart } from './damage.js';
import { collect, hex, numberedEntries, sameEntries, utf8 } from './entries.js';
import { WatchedSource } from './sources.js';
import { deflateCodec, zlibCodec, zlibCodecs } from './zlib-codecs.js';

// Tables as other programs write them, but LevelDB's own builder does not. All have correct checksums.

const bloom = new BloomFilterPolicy();
const entries = numberedEntries(1500, 40);
const { parts } = takeApart(buildTable(entries, { compression: 'none' }));
const absent = entries.map(([key]) => Uint8Array.of(...key, 0));

/** The same entries and filters in a different stored form. */
function stored(changes: Changes, others: readonly StoredPart[] = []): Uint8Array {
  return putTogether([...parts, ...others].sort((a, b) => (a.kind === b.kind ? 0 : a.kind === 'data' ? -1 : 1)), changes);
}

/** The problems with reading `bytes` through its filters. */
async function faults(bytes: Uint8Array, codecs: readonly Codec[] = zlibCodecs): Promise<string[]> {
  const found: string[] = [];
  const syncTable = SyncTable.open(new MemorySource(bytes), { codecs });
  const table = await Table.open(new MemorySource(bytes), { codecs, tailBytes: 48 });
  if (!sameEntries(syncTable.entries(), entries)) found.push('SyncTable.entries');
  if (!sameEntries(await collect(table), entries)) found.push('Table.entries');
  for (const { filterStatus } of [syncTable, table]) {
    if (filterStatus.state !== 'used' || filterStatus.policyName !== bloom.name) found.push(JSON.stringify(filterStatus));
  }
  const keys = entries.map(([key]) => key);
  if (!sameEntries(keys.map((key, i) => [key, syncTable.get(key) ?? absent[i]!]), entries)) found.push('SyncTable.get');
  const values = await table.getMany(keys);
  if (!sameEntries(keys.map((key, i) => [key, values[i] ?? absent[i]!]), entries)) found.push('Table.getMany');
  if (syncTable.getMany(absent).some((value) => value !== undefined)) found.push('a key that is absent');
  if (syncTable.stats.filterNegatives < 1400) found.push(`only ${syncTable.stats.filterNegatives} lookups ended by the filter`);
  const { findings } = await verifyTable(new MemorySource(bytes), { codecs });
  return [...found, ...findings.map(({ code, problem }) => `${code} ${problem}`)];
}

/** The compression types of metaindex and index. */
function types(bytes: Uint8Array): (number | undefined)[] {
  const offset = bytes.length - FOOTER_LENGTH;
  const { metaindex, index } = decodeFooter(bytes.subarray(offset), { structure: 'footer', offset });
  return [metaindex, index].map((handle) => bytes[handle.offset + handle.size]);
}

const compressions: [string, Codec | undefined, number][] = [
  ['nothing', undefined, 0],
  ['Snappy, as by goleveldb', snappyCodec, 1],
  ['zlib, as by Mojang', zlibCodec, 2],
  ['raw deflate, as by Mojang', deflateCodec, 4],
];

describe('index and metaindex compressed with', () => {
  test.each(compressions)('%s are read, and the filters that they lead to are used', async (_, codec, type) => {
    const bytes = stored({ codec });
    expect(types(bytes)).toEqual([type, type]);
    expect(await faults(bytes)).toEqual([]);
    const layout = await collect(tableLayout(new MemorySource(bytes), { codecs: zlibCodecs }));
    const compressed = layout.filter(({ label }) => /^(meta)?index block: compressed contents$/.test(label));
    expect(compressed).toHaveLength(codec === undefined ? 0 : 2);
  });

  test.each(compressions)('%s are read when the metaindex is empty', async (_, codec, type) => {
    const bytes = putTogether(parts.filter(({ kind }) => kind === 'data'), { codec });
    expect(types(bytes)).toEqual([type, type]);
    const table = SyncTable.open(new MemorySource(bytes), { codecs: zlibCodecs });
    expect(table.filterStatus).toEqual({ state: 'absent' });
    expect(sameEntries(table.entries(), entries)).toBe(true);
    expect((await verifyTable(new MemorySource(bytes), { codecs: zlibCodecs })).findings).toEqual([]);
  });

  test.each(compressions.filter(([, , type]) => type > 1))('%s are refused without that codec, at the index', async (_, codec) => {
    const source = new MemorySource(stored({ codec }));
    const expected = { code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'index block' };
    expect(caught(() => SyncTable.open(source))).toMatchObject(expected);
    expect(await rejection(Table.open(source))).toMatchObject(expected);
    // Its bytes are undamaged, so nothing else is found in them.
    const { findings, unchecked } = await verifyTable(source);
    expect(findings.filter(({ structure }) => structure === 'index block')).toEqual([expect.objectContaining(expected)]);
    expect(unchecked).toContainEqual({ part: 'data blocks', reason: 'the index cannot be read' });
  });
});

test('a metaindex whose codec was not given costs only the filters', () => {
  const bytes = putTogether(parts.map((part, i) => (i === 0 ? { ...part, type: 77 } : part)), {
    footer: ({ index }, handles) => ({ metaindex: handles[0]!, index }),
  });
  const table = SyncTable.open(new MemorySource(bytes));
  const error = { code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'metaindex block' };
  expect(table.filterStatus).toMatchObject({ state: 'corrupt', error });
  expect(table.get(entries[1400]![0])).toEqual(entries[1400]![1]);
});

describe('bytes after a block handle', () => {
  // The Java port of LevelDB pads handles to 20 bytes with zeros.
  test.each([
    ['zeros up to 20 bytes', (value: Uint8Array) => Uint8Array.of(...value, ...new Uint8Array(20 - value.length))],
    ['one byte', (value: Uint8Array) => Uint8Array.of(...value, 0x80)],
    ['300 bytes that are not varints', (value: Uint8Array) => Uint8Array.of(...value, ...new Uint8Array(300).fill(0xff))],
  ])('are ignored in index and metaindex: %s', async (_, padded) => {
    const bytes = stored({
      listings(index, metaindex) {
        expect([index.length > 10, metaindex.length]).toEqual([true, 1]);
        for (const entry of [...index, ...metaindex]) entry[1] = padded(entry[1]);
      },
    });
    expect(await faults(bytes)).toEqual([]);
  });
});

describe('names in the metaindex', () => {
  const meta = (name: Uint8Array, payload = utf8('whatever')): StoredPart => ({ kind: 'meta', key: name, payload, type: 0 });
  const unknown = ['', 'a', 'filter', 'fullfilter.leveldb.BuiltinBloomFilter2', 'fullfilter.rocksdb.BuiltinBloomFilter', 'rocksdb.properties', 'rocksdb.range_del'];

  test('that are unknown are skipped, before and after the name of the filters', async () => {
    const others = [...unknown.map((name) => meta(utf8(name))), meta(fromHex('ff80c0'))];
    const bytes = stored({ listings: (_, metaindex) => void metaindex.sort(([a], [b]) => Buffer.compare(a, b)) }, others);
    expect(await faults(bytes)).toEqual([]);
  });

  test.each(['fullfilter.rocksdb.BuiltinBloomFilter', 'fullfilter.leveldb.BuiltinBloomFilter2', 'partitionedfilter.rocksdb.BuiltinBloomFilter'])(
    '%s is not read, the status names it, and every key is found',
    async (name) => {
      const data = parts.filter(({ kind }) => kind === 'data');
      const source = new WatchedSource(putTogether([...data, meta(utf8(name))]));
      const table = await Table.open(source, { tailBytes: 48 });
      expect(table.filterStatus).toEqual({ state: 'unsupported', names: [name] });
      // The reads of the footer, and of metaindex and index.
      expect(source.reads).toHaveLength(2);
      const values = await table.getMany(entries.map(([key]) => key));
      expect(values).not.toContain(undefined);
    },
  );
});

// Pebble 1.1.5 lists the block of range deletions twice, sstable/writer.go.
test('a meta block of an unknown kind with two names is sound, and one that is also the filter block is not', async () => {
  const named = (...names: string[]) => stored({
    listings(_, metaindex) {
      for (const name of names) metaindex.push([utf8(name), metaindex.find(([key]) => hex(key) === hex(utf8('rocksdb.range_del')))![1]]);
    },
  }, [{ kind: 'meta', key: utf8('rocksdb.range_del'), payload: blockOf([[utf8('b'), utf8('c')]]), type: 0 }]);
  const sound = named('rocksdb.range_del2');
  expect(await faults(sound)).toEqual([]);
  const layout = await collect(tableLayout(new MemorySource(sound), { detail: 'blocks' }));
  expect(layout.filter(({ label }) => label.includes('rocksdb.range_del'))).toHaveLength(1);
  const { findings } = await verifyTable(new MemorySource(named('filter.test.Other')));
  expect(findings).toContainEqual(expect.objectContaining({ code: 'BLOOM_OVERLAP', problem: '2 handles point to it' }));
});

describe('the index of a table that RocksDB wrote with format_version 0', () => {
  const data = parts.filter(({ kind }) => kind === 'data');
  /** A table whose properties name the type of its index, as RocksDB writes them. */
  function tableWith(type: number): Uint8Array {
    const payload = blockOf([[utf8('rocksdb.block.based.table.index.type'), Uint8Array.of(type, 0, 0, 0)], [utf8('rocksdb.comparator'), utf8('x')]]);
    return putTogether([...data, { kind: 'meta', key: utf8('rocksdb.properties'), payload, type: 0 }]);
  }

  test('is refused if it is in partitions, whether filters are read or not', async () => {
    const bytes = tableWith(2);
    const expected = { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'meta block', problem: expect.stringMatching(/index in partitions/) as string };
    for (const filters of ['at-opening', 'when-needed', 'never'] as const) {
      expect(caught(() => SyncTable.open(new MemorySource(bytes), { filters }))).toMatchObject(expected);
      expect(await rejection(Table.open(new MemorySource(bytes), { filters, tailBytes: 48 }))).toMatchObject(expected);
    }
    expect((await verifyTable(new MemorySource(bytes))).findings).toEqual([expect.objectContaining(expected)]);
  });

  test('is ignored by a salvage if it is in partitions, and the data blocks are found by their checksums', async () => {
    const payloads = data.map(({ payload }) => payload);
    const keys = data.map((_, i) => entries[Math.floor(((i + 1) * entries.length) / data.length) - 1]![0]);
    let end = 0;
    const handleOf = (contents: Uint8Array): Uint8Array => {
      const handle = encodeBlockHandle({ offset: end, size: contents.length });
      end += contents.length + BLOCK_TRAILER_LENGTH;
      return handle;
    };
    const handles = payloads.map(handleOf);
    const half = Math.floor(handles.length / 2);
    const partitions = [[0, half], [half, handles.length]].map(([from, to]) => blockOf(handles.slice(from, to).map((handle, i) => [keys[from! + i]!, handle])));
    const index = blockOf(partitions.map((partition, i) => [keys[i === 0 ? half - 1 : keys.length - 1]!, handleOf(partition)]));
    const properties = blockOf([[utf8('rocksdb.block.based.table.index.type'), Uint8Array.of(2, 0, 0, 0)]]);
    const metaindex = blockOf([[utf8('rocksdb.properties'), handleOf(properties)]]);
    const bytes = assembleTable({ data: [...payloads, ...partitions, properties].map((contents) => [utf8(''), contents]), index, metaindex });
    expect(caught(() => SyncTable.open(new MemorySource(bytes)))).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT' });
    expect(sameEntries(await collect(salvagedEntries(new MemorySource(bytes))), entries)).toBe(true);
  });

  test.each([0, 1, 3])('is read if it is of type %i', async (type) => {
    expect(sameEntries(SyncTable.open(new MemorySource(tableWith(type))).entries(), entries)).toBe(true);
    expect((await verifyTable(new MemorySource(tableWith(type)))).findings).toEqual([]);
  });
});

describe('a table of RocksDB or Pebble without filters that can be read, opened as a plain one', () => {
  // User keys of which some are others followed by zero bytes: as internal keys they are not in bytewise order.
  const userKeys = Array.from({ length: 600 }, (_, i) => utf8(`key${String(Math.floor(i / 2)).padStart(5, '0')}${i % 2 === 0 ? '' : '\0'}`));
  const stored = userKeys.map((key, i): KeyValue => [encodeInternalKey({ userKey: key, sequence: 0n, type: 1 }), utf8(`value ${i}`)]);
  const options = { comparator: internalKeyComparator(), filterPolicy: null, blockSize: 200, compression: 'none' } as const;
  const { parts: dataParts } = takeApart(buildTable(stored, options));
  const properties: StoredPart = { kind: 'meta', key: utf8('rocksdb.properties'), payload: blockOf([[utf8('rocksdb.comparator'), utf8('leveldb.BytewiseComparator')]]), type: 0 };
  const filter: StoredPart = { kind: 'meta', key: utf8('fullfilter.rocksdb.BuiltinBloomFilter'), payload: utf8('whatever'), type: 0 };
  const absentKeys = userKeys.map((key) => encodeInternalKey({ userKey: Uint8Array.of(...key, 1), sequence: 0n, type: 1 }));

  test.each<[string, StoredPart[]]>([['no filters', [properties]], ['a filter of RocksDB', [filter, properties]]])('finds every stored key, with %s', async (_, meta) => {
    const bytes = putTogether([...dataParts, ...meta]);
    for (const filters of ['at-opening', 'when-needed', 'never'] as const) {
      const table = SyncTable.open(new MemorySource(bytes), { filters });
      expect(stored.filter(([key, value]) => hex(table.get(key) ?? utf8('')) !== hex(value))).toEqual([]);
      expect(absentKeys.filter((key) => table.get(key) !== undefined)).toEqual([]);
    }
    const table = await Table.open(new MemorySource(bytes), { tailBytes: 48 });
    expect(await table.getMany(stored.map(([key]) => key))).not.toContain(undefined);
    expect(sameEntries(await collect(table), stored)).toBe(true);
  });

  test('is searched in the order of a comparator that was given', () => {
    const bytes = putTogether([...dataParts, properties]);
    const { compare, findShortestSeparator, findShortSuccessor } = internalKeyComparator();
    const comparator = { name: 'test.InternalKeys', compare, findShortestSeparator, findShortSuccessor };
    const table = SyncTable.open(new MemorySource(bytes), { comparator });
    expect(stored.filter(([key]) => table.get(key) === undefined)).toEqual([]);
  });
});

describe('data blocks with a hash index, which RocksDB can write with format_version 0', () => {
  const data = parts.filter(({ kind }) => kind === 'data');

  /** The block with a hash index of `count` buckets that claims to have `claimed`. */
  function withHashIndex(block: Uint8Array, count: number, claimed = count): Uint8Array {
    const restarts = block.length - 4;
    const bytes = new Uint8Array(block.length + count + 2).fill(0xff, restarts);
    bytes.set(block.subarray(0, restarts));
    const view = new DataView(bytes.buffer);
    view.setUint16(bytes.length - 6, claimed, true);
    view.setUint32(bytes.length - 4, 2 ** 31 + new DataView(block.buffer, block.byteOffset).getUint32(restarts, true), true);
    return bytes;
  }

  /** Every second block has a hash index. */
  const mixed = putTogether(data.map((part, i) => (i % 2 === 0 ? { ...part, payload: withHashIndex(part.payload, 301) } : part)));

  test('are read, forwards, backwards and by key', async () => {
    const table = SyncTable.open(new MemorySource(mixed));
    expect(sameEntries(table.entries(), entries)).toBe(true);
    expect(sameEntries([...table.entries({ reverse: true })].reverse(), entries)).toBe(true);
    expect(sameEntries(entries.map(([key]) => [key, table.get(key) ?? absent[0]!]), entries)).toBe(true);
    expect(absent.filter((key) => table.get(key) !== undefined)).toEqual([]);
    const other = await Table.open(new MemorySource(mixed));
    const values = await other.getMany(entries.map(([key]) => key));
    expect(sameEntries(entries.map(([key], i) => [key, values[i] ?? absent[0]!]), entries)).toBe(true);
  });

  test('have no findings, and are salvaged with and without the index of the table', async () => {
    expect((await verifyTable(new MemorySource(mixed))).findings).toEqual([]);
    expect(sameEntries(await collect(salvagedEntries(new MemorySource(mixed))), entries)).toBe(true);
    const withoutFooter = mixed.subarray(0, -FOOTER_LENGTH);
    expect(sameEntries(await collect(salvagedEntries(new MemorySource(withoutFooter))), entries)).toBe(true);
  });

  test('say where a lookup walked, and what each byte is', async () => {
    const [key] = entries[0]!;
    const plain = SyncTable.open(new MemorySource(putTogether(data))).explain(key).searched!;
    const { byteLength, ...searched } = SyncTable.open(new MemorySource(mixed)).explain(key).searched!;
    expect({ byteLength, ...searched }).toEqual({ ...plain, byteLength: plain.byteLength + 303 });
    const layout = await collect(tableLayout(new MemorySource(mixed)));
    expect(layout.filter(({ label }) => label.includes('hash index of RocksDB')).map(({ byteLength: bytes }) => bytes)).toEqual(data.flatMap((_, i) => (i % 2 === 0 ? [303] : [])));
    expect(layout.filter(({ label }) => label.includes('damaged'))).toEqual([]);
  });

  test.each([1, 301, 65_535])('are found after damage by their checksums, with %i buckets', async (buckets) => {
    const blocks = data.map(({ payload }, i) => sealed(i % 2 === 0 ? payload : withHashIndex(payload, buckets), 0));
    // The block before each one that has a hash index is damaged.
    for (const [i, block] of blocks.entries()) if (i % 2 === 0) block[10]! ^= 1;
    const left = data.flatMap(({ payload }, i) => (i % 2 === 0 ? [] : [...SyncTable.open(new MemorySource(assembleTable({ data: [[absent.at(-1)!, payload]] }))).entries()]));
    expect(sameEntries(await collect(salvagedEntries(new MemorySource(new Uint8Array(Buffer.concat(blocks))))), left)).toBe(true);
  });

  test('say where their entries end', async () => {
    const ends = async (bytes: Uint8Array): Promise<number[]> => {
      const source = new MemorySource(bytes);
      const { kinds, offsets, sizes } = await outlineTable(source);
      const blocks = [...kinds.keys()].filter((i) => BLOCK_KINDS[kinds[i]!] === 'data block');
      return Promise.all(blocks.map(async (i) => (await inspectBlock(source, 'data block', { offset: offsets[i]!, size: sizes[i]! })).entriesEnd));
    };
    const plain = putTogether(data);
    const expected = data.map(({ payload }) => payload.length - 4 * (1 + new DataView(payload.buffer, payload.byteOffset).getUint32(payload.length - 4, true)));
    expect(await ends(plain)).toEqual(expected);
    expect(await ends(mixed)).toEqual(expected);
  });

  test.each([0, 65_000])('are damaged if they claim to have %i buckets', (claimed) => {
    const bytes = putTogether(data.map((part) => ({ ...part, payload: withHashIndex(part.payload, 7, claimed) })));
    expect(caught(() => [...SyncTable.open(new MemorySource(bytes)).entries()])).toMatchObject({ code: 'BLOOM_BAD_BLOCK', problem: expect.stringMatching(/restarts would not fit in/) as string });
  });
});

/** The Bloom policy under another name, which counts its lookups. */
function renamed(name: string): FilterPolicy & { asked: number } {
  return {
    name,
    asked: 0,
    createFilter: (keys, dst) => bloom.createFilter(keys, dst),
    keyMayMatch(key, filter) {
      this.asked++;
      return bloom.keyMayMatch(key, filter);
    },
  };
}

// goleveldb's name for the same filters, without the 2.
describe('filters under the name leveldb.BuiltinBloomFilter', () => {
  const name = 'leveldb.BuiltinBloomFilter';
  const bytes = buildTable(entries, { filterPolicy: renamed(name), compression: 'none' });

  test('are not used by default: the status says why, and every key is found', () => {
    const table = SyncTable.open(new MemorySource(bytes));
    expect(table.filterStatus).toEqual({ state: 'unknown-policy', policyNames: [name] });
    expect(table.getMany(entries.map(([key]) => key))).not.toContain(undefined);
    expect(table.stats.filterNegatives).toBe(0);
  });

  test('are used if a policy of that name is passed', () => {
    const policy = renamed(name);
    const table = SyncTable.open(new MemorySource(bytes), { filterPolicies: [bloom, policy] });
    expect(table.filterStatus).toEqual({ state: 'used', policyName: name });
    expect(table.getMany(entries.map(([key]) => key))).not.toContain(undefined);
    expect(table.getMany(absent).filter((value) => value !== undefined)).toEqual([]);
    expect(table.stats.filterNegatives).toBeGreaterThan(1400);
    expect(policy.asked).toBeGreaterThan(0);
  });
});

describe('filters of two policies in one table', () => {
  const names = ['test.First', 'test.Second'] as const;
  const [filter] = parts.filter(({ kind }) => kind === 'meta');
  const data = parts.filter(({ kind }) => kind === 'data');
  const bytes = putTogether([...data, ...names.map((name) => ({ ...filter!, key: utf8(`filter.${name}`) }))]);

  test.each<[string, readonly string[], string]>([
    ['the first', ['test.First'], 'test.First'],
    ['the second', ['test.Second'], 'test.Second'],
    ['both', ['test.First', 'test.Second'], 'test.First'],
    ['both, in reverse order', ['test.Second', 'test.First'], 'test.First'],
  ])('for a reader that knows %s, the filters of the first known policy are used', (_, known, used) => {
    const policies = known.map(renamed);
    const table = SyncTable.open(new MemorySource(bytes), { filterPolicies: policies });
    expect(table.filterStatus).toEqual({ state: 'used', policyName: used });
    expect(table.getMany(entries.map(([key]) => key))).not.toContain(undefined);
    expect(table.getMany(absent).filter((value) => value !== undefined)).toEqual([]);
    expect(table.stats.filterNegatives).toBeGreaterThan(1400);
    expect(policies.filter(({ asked }) => asked > 0).map(({ name }) => name)).toEqual([used]);
  });

  test('for a reader that knows neither, the status lists their names', () => {
    const table = SyncTable.open(new MemorySource(bytes));
    expect(table.filterStatus).toEqual({ state: 'unknown-policy', policyNames: names });
    expect(table.getMany(entries.map(([key]) => key))).not.toContain(undefined);
  });
});

describe('a table without entries', () => {
  const nothing = fromHex('0000000001000000');
  const empty: [string, Uint8Array, number][] = [
    ...goldenTables()
      .filter(({ entries: count }) => count === 0)
      .map(({ name, bytes }): [string, Uint8Array, number] => [`of LevelDB, ${name}, has no data block`, bytes(), 0]),
    // goleveldb writes one.
    ['has an empty data block under the empty key', assembleTable({ data: [[utf8(''), nothing]] }), 1],
    ['has an empty data block under a key', assembleTable({ data: [[utf8('b'), nothing]] }), 1],
    [
      'has an empty data block, and a filter block without filters',
      assembleTable({ data: [[utf8('b'), nothing]], filter: { name: bloom.name, contents: fromHex('000000000b') } }),
      1,
    ],
    ['has three empty data blocks', assembleTable({ data: ['a', 'b', 'c'].map((key) => [utf8(key), nothing] as const) }), 3],
  ];

  test('is among the golden tables twice', () => {
    expect(empty.map(([, , dataBlocks]) => dataBlocks)).toEqual([0, 0, 1, 1, 1, 3]);
  });

  test.each(empty)('that %s returns no entries by any way, and has no findings', async (_, bytes, dataBlocks) => {
    const syncTable = SyncTable.open(new MemorySource(bytes));
    const table = await Table.open(new MemorySource(bytes));
    const keys = ['', 'a', 'b', 'zz'].map(utf8);
    const none = keys.map(() => undefined);
    expect([keys.map((key) => syncTable.get(key)), syncTable.getMany(keys), await table.getMany(keys)]).toEqual([none, none, none]);
    expect(await Promise.all(keys.map((key) => table.get(key)))).toEqual(none);
    for (const reverse of [false, true]) {
      for (const range of [{ reverse }, { reverse, gte: utf8('a') }, { reverse, lt: utf8('b') }]) {
        expect([...syncTable.entries(range)]).toEqual([]);
        expect(await collect(table.entries(range))).toEqual([]);
      }
    }
    const syncCursor = syncTable.cursor();
    expect([syncCursor.seekToFirst(), syncCursor.seekToLast(), syncCursor.seek(utf8('')), syncCursor.next(), syncCursor.valid]).toEqual(new Array(5).fill(false));
    const cursor = table.cursor();
    expect([await cursor.seekToFirst(), await cursor.seekToLast(), await cursor.seek(utf8('a')), cursor.valid]).toEqual(new Array(4).fill(false));
    expect(await profileTable(new MemorySource(bytes))).toMatchObject({ entries: 0, keyBytes: 0, valueBytes: 0, dataBlocks });
    expect((await verifyTable(new MemorySource(bytes))).findings).toEqual([]);
    const layout = await collect(tableLayout(new MemorySource(bytes), { detail: 'blocks' }));
    expect(layout.filter(({ label }) => label.startsWith('data block'))).toHaveLength(dataBlocks);
  });
});

test('the filters of these tables distinguish present keys from absent ones', () => {
  const present = new Set(entries.map(([key]: KeyValue) => hex(key)));
  expect(absent.filter((key) => present.has(hex(key)))).toEqual([]);
});
