import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import {
  bytewiseComparator,
  type Codec,
  type Comparator,
  MemorySink,
  MemorySource,
  SyncTable,
  TableBuilder,
  type TableInfo,
} from '@bloom/sstable';
import { profileTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught } from '@bloom/fixtures/caught';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { hex, numberedEntries, sameBytes, sameEntries, utf8 } from './entries.js';

const empty = new Uint8Array();

describe('keys', () => {
  test.each([
    ['before the previous one', 'b', 'a'],
    ['the same as the previous one', 'b', 'b'],
    ['a prefix of the previous one', 'ab', 'a'],
    ['empty, like the previous one', '', ''],
  ])('are rejected when one is %s', (_, first, second) => {
    const builder = new TableBuilder(new MemorySink());
    builder.add(utf8(first), empty);
    const error = caught(() => builder.add(utf8(second), empty));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as RangeError).message).toMatch(/^key must be after the previous key/);
    expect((error as RangeError).message).toContain(bytewiseComparator.name);
  });

  test('the error shows both keys, or the start of a long one', () => {
    const builder = new TableBuilder(new MemorySink());
    builder.add(utf8('b'.repeat(1000)), empty);
    const { message } = caught(() => builder.add(empty, empty)) as RangeError;
    expect(message).toContain('0x6262');
    expect(message).toContain('the empty key');
    expect(message.length).toBeLessThan(300);
  });

  test('the builder continues after a rejected key as if it had not been added', () => {
    const entries = numberedEntries(1000);
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { blockSize: 128 });
    for (const [i, [key, value]] of entries.entries()) {
      builder.add(key, value);
      for (const other of [key, entries[0]![0], empty]) {
        if (caught(() => builder.add(other, utf8('wrong'))) === undefined) throw new Error(`${hex(other)} was taken`);
      }
      if (builder.entries !== i + 1) throw new Error(`it counts ${builder.entries} entries`);
    }
    builder.finish();
    expect(sameBytes(sink.toBytes(), buildTable(entries, { blockSize: 128 }))).toBe(true);
  });

  test('order is checked across blocks', () => {
    const builder = new TableBuilder(new MemorySink(), { blockSize: 1 });
    builder.add(utf8('b'), empty);
    expect(caught(() => builder.add(utf8('b'), empty))).toBeInstanceOf(RangeError);
    expect(caught(() => builder.add(utf8('a'), empty))).toBeInstanceOf(RangeError);
    builder.add(utf8('c'), empty);
    expect(builder.finish()).toMatchObject({ entries: 2, dataBlocks: 2 });
  });

  test('keys and values are copied when they are added', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink);
    const key = utf8('a');
    const value = utf8('value');
    builder.add(key, value);
    key.fill(0);
    value.fill(0);
    builder.finish();
    expect([...SyncTable.open(new MemorySource(sink.toBytes())).entries()]).toEqual([[utf8('a'), utf8('value')]]);
  });
});

describe('sizes', () => {
  const key = utf8('key');

  test('an entry that would need a block larger than maxBlockBytes is rejected, and the builder continues without it', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { maxBlockBytes: 10_000, compression: 'none' });
    builder.add(utf8('a'), utf8('small'));
    // The block has lengths, unshared key bytes, a value, one restart, and the number of restarts.
    const largest = 10_000 - builder.byteLength - (3 + 1 + 5) - (4 + 3) - 8;
    expect(() => builder.add(key, new Uint8Array(largest + 1))).toThrow(
      new RangeError('the data block with entry 1 would have 10001 bytes, maxBlockBytes is 10000'),
    );
    builder.add(key, new Uint8Array(largest));
    expect(builder.finish()).toMatchObject({ entries: 2, dataBlocks: 1, rawDataBytes: 10_000 });
    const table = SyncTable.open(new MemorySource(sink.toBytes()), { maxBlockBytes: 10_000 });
    expect(table.get(key)).toHaveLength(largest);
  });

  test('by default, the builder rejects what a reader would refuse, without copying it', () => {
    const builder = new TableBuilder(new MemorySink());
    const value = new Uint8Array(2 ** 28);
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    expect(() => builder.add(key, value)).toThrow(/^the data block with entry 0 would have 268435474 bytes, maxBlockBytes is 268435456$/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
  });

  // Such a value used to be written with length 0 and was read back empty.
  test('a value of 2^31 bytes is rejected', () => {
    const builder = new TableBuilder(new MemorySink(), { compression: 'none', maxBlockBytes: 2 ** 30 });
    expect(() => builder.add(key, new Uint8Array(2 ** 31))).toThrow(/^the data block with entry 0 would have 2147483666 bytes/);
    expect(builder.entries).toBe(0);
  });

  test('a blockSize above maxBlockBytes is rejected', () => {
    expect(() => new TableBuilder(new MemorySink(), { blockSize: 4096, maxBlockBytes: 4095 })).toThrow(
      new RangeError('blockSize must be a whole number, from 1 to 4095, got 4096'),
    );
  });

  test.each([2 ** 30 + 1, 2 ** 31, 0, 1.5, Number.NaN])('maxBlockBytes of %d is rejected', (maxBlockBytes) => {
    const refusal = /^maxBlockBytes must be a whole number, from 1 to 1073741824, got/;
    expect(() => new TableBuilder(new MemorySink(), { maxBlockBytes })).toThrow(refusal);
    expect(() => SyncTable.open(new MemorySource(buildTable([])), { maxBlockBytes })).toThrow(refusal);
  });

  test('an index that would be larger than maxBlockBytes is rejected before an entry is lost', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { blockSize: 1, maxBlockBytes: 2000, compression: 'none' });
    let refusal: unknown;
    let added = 0;
    for (; refusal === undefined; added++) refusal = caught(() => builder.add(utf8(`key ${String(added).padStart(40, '0')}`), empty));
    expect(refusal).toMatchObject({ name: 'RangeError', message: expect.stringMatching(/^the index block with entry \d+ would have/) as string });
    expect(builder.finish()).toMatchObject({ entries: added - 1 });
    const table = SyncTable.open(new MemorySource(sink.toBytes()), { maxBlockBytes: 2000 });
    expect([...table.keys()]).toHaveLength(added - 1);
  });

  test('filters end the builder as soon as they are larger than maxBlockBytes', () => {
    const filterPolicy = new BloomFilterPolicy(1000);
    const builder = new TableBuilder(new MemorySink(), { maxBlockBytes: 10_000, compression: 'none', filterPolicy });
    const refusal = caught(() => {
      for (let i = 0; i < 5000; i++) builder.add(utf8(String(i).padStart(8, '0')), empty);
    });
    expect(refusal).toMatchObject({ name: 'RangeError', message: expect.stringMatching(/^the filter block would have/) as string });
    expect(() => builder.finish()).toThrow(new TypeError('the table failed while a block was written'));
  });
});

describe('an entry is added completely or not at all', () => {
  const entries = numberedEntries(300);
  const options = { blockSize: 128, compression: 'none' } as const;

  test.each<[string, unknown]>([
    ['a key that is a number', [7, empty]],
    ['a value that is a number', [utf8('y'), 7]],
    ['a key with half of a surrogate pair', ['y\ud800', empty]],
    ['a value with half of a surrogate pair', ['y', '\udc00']],
    ['a value that is null', [utf8('y'), null]],
    ['a value too large for a block', [utf8('y'), new Uint8Array(5000)]],
  ])('%s, rejected after each entry, changes nothing', (_, refused) => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { ...options, maxBlockBytes: 5000 });
    for (const [key, value] of numberedEntries(30)) {
      builder.add(key, value);
      const [otherKey, otherValue] = refused as [Uint8Array, Uint8Array];
      if (caught(() => builder.add(otherKey, otherValue)) === undefined) throw new Error('it was taken');
    }
    builder.finish();
    expect(sameBytes(sink.toBytes(), buildTable(numberedEntries(30), options))).toBe(true);
  });

  // A wrong separator used to be written before it was detected, and the next key went into a block that no search reached.
  test.each<[string, Partial<Comparator>]>([
    ['throws', { findShortestSeparator: () => { throw new Error('no separator'); } }],
    ['is before the last key', { findShortestSeparator: () => empty }],
    ['is the next key', { findShortestSeparator: (_, limit) => limit }],
    ['is not bytes', { findShortestSeparator: () => 'x' as unknown as Uint8Array }],
  ])('a separator that %s is rejected, and the builder continues with a correct one', (_, wrong) => {
    let isWrong = false;
    const comparator: Comparator = {
      ...bytewiseComparator,
      name: 'test',
      findShortestSeparator: (start, limit) => (isWrong ? wrong : bytewiseComparator).findShortestSeparator!(start, limit),
    };
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { ...options, comparator });
    let refusals = 0;
    for (const [key, value] of entries) {
      isWrong = true;
      if (caught(() => builder.add(key, value)) === undefined) {
        isWrong = false;
        continue;
      }
      refusals++;
      isWrong = false;
      builder.add(key, value);
    }
    builder.finish();
    expect(refusals).toBeGreaterThan(30);
    expect(sameBytes(sink.toBytes(), buildTable(entries, options))).toBe(true);
  });

  test('a policy that throws ends the builder, because its filter may lack keys', () => {
    const createFilter = (): void => { throw new Error('no filter'); };
    const policy: FilterPolicy = { name: 'test', createFilter, keyMayMatch: () => true };
    const builder = new TableBuilder(new MemorySink(), { ...options, blockSize: 4096, filterPolicy: policy });
    expect(() => {
      for (const [key, value] of entries) builder.add(key, value);
    }).toThrow('no filter');
    expect(() => builder.add(utf8('z'), empty)).toThrow(new TypeError('the table failed while a block was written'));
  });

  test('a successor that is before the last key ends the builder', () => {
    const comparator: Comparator = { ...bytewiseComparator, name: 'test', findShortSuccessor: () => empty };
    const builder = new TableBuilder(new MemorySink(), { comparator });
    builder.add(utf8('a'), empty);
    expect(() => builder.finish()).toThrow(/^findShortSuccessor of test must return a key that is not before 0x61, got the empty key$/);
    expect(() => builder.finish()).toThrow(new TypeError('the table failed while it was finished'));
  });
});

describe('after its end', () => {
  test('a finished builder accepts no more calls', () => {
    const builder = new TableBuilder(new MemorySink());
    builder.add(utf8('a'), empty);
    builder.finish();
    for (const call of [() => builder.add(utf8('b'), empty), () => builder.finish()]) {
      expect(caught(call)).toBeInstanceOf(TypeError);
      expect((caught(call) as TypeError).message).toContain('finished');
    }
  });

  test('a builder whose sink threw at a block accepts no more calls', () => {
    const full = new Error('disk full');
    const builder = new TableBuilder(
      {
        append() {
          throw full;
        },
      },
      { compression: 'none' },
    );
    const entries = numberedEntries(4);
    const large = new Uint8Array(2 ** 20);
    // The builder holds back a block, so that small blocks reach the sink together.
    builder.add(entries[0]![0], large);
    expect(caught(() => builder.add(entries[1]![0], large))).toBe(full);
    for (const call of [() => builder.add(...entries[2]!), () => builder.finish()]) {
      expect(caught(call)).toBeInstanceOf(TypeError);
      expect((caught(call) as TypeError).message).toContain('failed');
    }
  });

  // `finish` appends filter block, metaindex, index and footer. A key or a value of a megabyte puts them into separate parts.
  test.each([1, 2, 3])('a builder whose sink threw at part %d of finish accepts no more calls', (part) => {
    const full = new Error('disk full');
    let appended = 0;
    const builder = new TableBuilder(
      {
        append() {
          if (++appended === part) throw full;
        },
      },
      { compression: 'none', filterPolicy: new BloomFilterPolicy(2 ** 23) },
    );
    builder.add(new Uint8Array(2 ** 20).fill(0xff), empty);
    expect(appended).toBe(0);
    expect(caught(() => builder.finish())).toBe(full);
    expect(caught(() => builder.finish())).toBeInstanceOf(TypeError);
    expect(caught(() => builder.add(utf8('b'), empty))).toBeInstanceOf(TypeError);
    expect(appended).toBe(part);
  });
});

describe('the sink', () => {
  test('may keep and change the arrays that it gets', () => {
    const entries = numberedEntries(2000);
    const parts: Uint8Array[] = [];
    const builder = new TableBuilder(
      {
        append(bytes) {
          parts.push(bytes.slice());
          bytes.fill(0xee);
        },
      },
      { blockSize: 256 },
    );
    for (const [key, value] of entries) builder.add(key, value);
    builder.finish();
    expect(sameBytes(Buffer.concat(parts), buildTable(entries, { blockSize: 256 }))).toBe(true);
  });

  test('gets blocks in chunks, and larger blocks separately', () => {
    const given: number[] = [];
    const builder = new TableBuilder({ append: (bytes) => given.push(bytes.length) }, { compression: 'none', filterPolicy: null });
    const lengths: number[] = [];
    for (const [i, [key]] of numberedEntries(40).entries()) {
      builder.add(key, new Uint8Array(i === 30 ? 100_000 : 4096));
      lengths.push(builder.byteLength);
    }
    const { byteLength } = builder.finish();
    // Each block is full after its first entry, and counts immediately, even before the sink has it.
    expect(lengths.every((length, i) => length > (lengths[i - 1] ?? 0))).toBe(true);
    expect(given.slice(0, -1).every((length) => length > 60_000)).toBe(true);
    expect(given.filter((length) => length > 65_536)).toHaveLength(1);
    expect(given.reduce((sum, length) => sum + length, 0)).toBe(byteLength);
  });
});

describe('TableInfo', () => {
  test('matches what is read from the table', async () => {
    const entries = numberedEntries(3000, 50);
    const sink = new MemorySink();
    const builder = new TableBuilder(sink);
    for (const [key, value] of entries) builder.add(key, value);
    const info = builder.finish();
    const { keyBytes, valueBytes, codecs, damagedBlocks, deletions, ...profile } = await profileTable(new MemorySource(sink.toBytes()));
    expect(info).toMatchObject(profile);
    expect(info.entryBytes).toBe(keyBytes + valueBytes);
    expect({ codecs, damagedBlocks, deletions }).toEqual({ codecs: { snappy: info.dataBlocks }, damagedBlocks: 0, deletions: undefined });
    expect(info.byteLength).toBe(sink.toBytes().length);
    expect(info.storedDataBytes).toBeLessThan(info.rawDataBytes);
    expect(info.entries).toBe(3000);
  });

  test('reports no entries for an empty table', () => {
    const sink = new MemorySink();
    const info = new TableBuilder(sink).finish();
    const expected: TableInfo = {
      byteLength: 123,
      entries: 0,
      dataBlocks: 0,
      entryBytes: 0,
      rawDataBytes: 0,
      storedDataBytes: 0,
      filterBytes: 5,
      filters: 0,
      indexBytes: 8,
    };
    expect(info).toEqual(expected);
    const table = SyncTable.open(new MemorySource(sink.toBytes()));
    expect([...table.entries()]).toEqual([]);
    expect([table.get(empty), table.get(utf8('a')), table.mayContain(utf8('a'))]).toEqual([undefined, undefined, false]);
    const cursor = table.cursor();
    expect([cursor.seekToFirst(), cursor.seekToLast(), cursor.seek(empty)]).toEqual([false, false, false]);
  });
});

describe('options', () => {
  test.each([
    ['blockSize', 0],
    ['blockSize', -1],
    ['blockSize', 1.5],
    ['blockSize', NaN],
    ['blockSize', Infinity],
    ['blockSize', '4096'],
    ['blockRestartInterval', 0],
    ['blockRestartInterval', 2.5],
    ['blockRestartInterval', -16],
    ['blockRestartInterval', NaN],
    ['compression', 'zip'],
    ['compression', 1],
    ['compression', ''],
  ])('a builder rejects %s %j with a RangeError that names it', (name, value) => {
    const error = caught(() => new TableBuilder(new MemorySink(), { [name]: value }));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as RangeError).message).toMatch(new RegExp(`^${name} `));
    expect((error as RangeError).message).toContain(String(value));
  });

  test.each([
    ['maxBlockBytes', 0],
    ['maxBlockBytes', 0.5],
    ['tailBytes', 47],
    ['tailBytes', NaN],
  ])('a table rejects %s %d with a RangeError that names it', (name, value) => {
    const error = caught(() => SyncTable.open(new MemorySource(buildTable([])), { [name]: value }));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as RangeError).message).toMatch(new RegExp(`^${name} `));
  });

  test.each([48, 100, 5000, 10 ** 9])('a table has the same entries with a tail of %d bytes', (tailBytes) => {
    const entries = numberedEntries(5000);
    const table = SyncTable.open(new MemorySource(buildTable(entries)), { tailBytes });
    expect(table.filterStatus.state).toBe('used');
    expect(sameEntries(table.entries(), entries)).toBe(true);
  });

  test('the defaults are LevelDB’s, with a Bloom filter of 10 bits per key', () => {
    const entries = numberedEntries(2000);
    const filterPolicy = new BloomFilterPolicy(10);
    const spelled = { blockSize: 4096, blockRestartInterval: 16, compression: 'snappy', filterPolicy } as const;
    expect(sameBytes(buildTable(entries), buildTable(entries, { ...spelled, comparator: bytewiseComparator }))).toBe(true);
  });

  test('a custom codec writes and reads', () => {
    // Encodes runs of a byte as their length and the byte.
    const runs: Codec = {
      type: 200,
      name: 'runs',
      compress(contents) {
        const out: number[] = [];
        for (let i = 0, end = 0; i < contents.length; i = end) {
          while (end < contents.length && end - i < 255 && contents[end] === contents[i]) end++;
          out.push(end - i, contents[i]!);
        }
        return Uint8Array.from(out);
      },
      decompress(compressed, maxBytes) {
        const out: number[] = [];
        for (let i = 0; i < compressed.length; i += 2) {
          for (let n = 0; n < compressed[i]!; n++) out.push(compressed[i + 1]!);
          if (out.length > maxBytes) throw new RangeError('too many');
        }
        return Uint8Array.from(out);
      },
    };
    const entries = numberedEntries(300).map(([key], i) => [key, new Uint8Array(500).fill(i)] as const);
    const bytes = buildTable(entries, { compression: runs });
    expect(bytes.length).toBeLessThan(buildTable(entries, { compression: 'none' }).length / 4);
    expect(sameEntries(SyncTable.open(new MemorySource(bytes), { codecs: [runs] }).entries(), entries)).toBe(true);
    const table = SyncTable.open(new MemorySource(bytes));
    expect(caught(() => [...table.entries()])).toMatchObject({ code: 'BLOOM_UNSUPPORTED_CODEC', structure: 'data block' });
  });
});

describe('equivalences of keys', () => {
  const bloom = new BloomFilterPolicy();
  const caseless: Comparator = {
    ...bytewiseComparator,
    name: 'test.Caseless',
    keyEquivalence: 'ASCII letters without case',
  };
  const caselessPolicy: FilterPolicy = {
    name: 'test.CaselessBloom',
    keyEquivalence: 'ASCII letters without case',
    createFilter: (keys, dst) => bloom.createFilter(keys, dst),
    keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter),
  };
  const otherPolicy: FilterPolicy = { ...caselessPolicy, name: 'test.OtherBloom', keyEquivalence: 'trailing spaces' };

  test.each([
    ['a comparator with a key equivalence and a policy without one', caseless, bloom],
    ['a policy with a key equivalence and a comparator without one', bytewiseComparator, caselessPolicy],
    ['a comparator and a policy with different key equivalences', caseless, otherPolicy],
  ])('%s are rejected by builder and reader, with both names', (_, comparator, policy) => {
    const source = new MemorySource(buildTable([]));
    for (const make of [
      () => new TableBuilder(new MemorySink(), { comparator, filterPolicy: policy }),
      () => SyncTable.open(source, { comparator, filterPolicies: [policy] }),
    ]) {
      const error = caught(make);
      expect(error).toBeInstanceOf(RangeError);
      const { message } = error as RangeError;
      expect(message).toContain(policy.name);
      expect(message).toContain(comparator.name);
      expect(message).toContain('keyEquivalence');
    }
  });

  test('a builder without a policy does not use the built-in one with such a comparator', () => {
    const error = caught(() => new TableBuilder(new MemorySink(), { comparator: caseless }));
    expect(error).toBeInstanceOf(RangeError);
    expect((error as RangeError).message).toContain('filtered out although it is present');
  });

  test('a reader without a policy reads such a table without its filters', () => {
    const bytes = buildTable(numberedEntries(10), { comparator: caseless, filterPolicy: caselessPolicy });
    const unaware = SyncTable.open(new MemorySource(bytes), { comparator: caseless });
    expect(unaware.filterStatus).toEqual({ state: 'unknown-policy', policyNames: ['test.CaselessBloom'] });
    const aware = SyncTable.open(new MemorySource(bytes), { comparator: caseless, filterPolicies: [caselessPolicy] });
    expect(aware.filterStatus).toEqual({ state: 'used', policyName: 'test.CaselessBloom' });
  });

  test('a table without filters works with every comparator', () => {
    const bytes = buildTable(numberedEntries(10), { comparator: caseless, filterPolicy: null });
    const table = SyncTable.open(new MemorySource(bytes), { comparator: caseless, filterPolicies: [] });
    expect(table.filterStatus).toEqual({ state: 'absent' });
    expect([...table.keys()]).toHaveLength(10);
  });
});

describe('filters that would need a block of more than maxBlockBytes', () => {
  const options = { maxBlockBytes: 2 ** 16, filterRange: 1, compression: 'none' } as const;
  const entries = Array.from({ length: 3 }, (_, i) => [utf8(`key ${i}`), new Uint8Array(20_000)] as const);

  test('are refused, before there is an offset for each range', () => {
    const builder = new TableBuilder(new MemorySink(), { ...options, maxBlockBytes: 2 ** 28 });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    expect(caught(() => builder.add(utf8('key'), new Uint8Array(100 * 2 ** 20)))).toBeInstanceOf(RangeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(400 * 2 ** 20);
  });

  test('are left out with omitLargeFilters, and all entries are there', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { ...options, omitLargeFilters: true });
    for (const [key, value] of entries) builder.add(key, value);
    expect(builder.indexByteLength).toBeGreaterThan(0);
    expect(builder.finish()).toMatchObject({ entries: 3, filters: 0, filterBytes: 0 });
    const table = SyncTable.open(new MemorySource(sink.toBytes()));
    expect(table.filterStatus).toEqual({ state: 'absent' });
    expect([...table.keys()]).toHaveLength(3);
  });

  test.each([
    ['more bytes than an array can have', 2 ** 31 - 1],
    ['more bytes than the block', 2 ** 20],
  ])('are refused or left out before they are made if a key needs %s', (_, bitsPerKey) => {
    const filterPolicy = new BloomFilterPolicy(bitsPerKey);
    const make = (omitLargeFilters: boolean): MemorySink => {
      const sink = new MemorySink();
      const builder = new TableBuilder(sink, { filterPolicy, maxBlockBytes: 2 ** 16, omitLargeFilters });
      for (let i = 0; i < 100; i++) builder.add(utf8(`key ${String(i).padStart(3, '0')}`), new Uint8Array(100));
      expect(builder.finish()).toMatchObject({ entries: 100, filters: 0, filterBytes: 0 });
      return sink;
    };
    expect(caught(() => make(false))).toMatchObject({ name: 'RangeError', message: expect.stringMatching(/^the filter block would have at least \d+ bytes, maxBlockBytes is 65536$/) as string });
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    expect(SyncTable.open(new MemorySource(make(true).toBytes())).filterStatus).toEqual({ state: 'absent' });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });

  test('are not left out where they fit', () => {
    const plain = new MemorySink();
    const omitting = new MemorySink();
    for (const [sink, omitLargeFilters] of [[plain, false], [omitting, true]] as const) {
      const builder = new TableBuilder(sink, { omitLargeFilters });
      for (const [key, value] of entries) builder.add(key, value);
      builder.finish();
    }
    expect(hex(omitting.toBytes())).toBe(hex(plain.toBytes()));
    expect(caught(() => new TableBuilder(plain, { omitLargeFilters: 1 as unknown as boolean }))).toBeInstanceOf(TypeError);
  });
});

test('a metaindex that would be larger than a block may be is refused, or the filters are left out', () => {
  const filterPolicy: FilterPolicy = { name: `test.${'n'.repeat(300)}`, createFilter: (_, dst) => void dst.extend(1), keyMayMatch: () => true };
  const open = (bytes: Uint8Array): SyncTable => SyncTable.open(new MemorySource(bytes), { maxBlockBytes: 256, filterPolicies: [filterPolicy] });
  const build = (omitLargeFilters: boolean): Uint8Array => buildTable([[utf8('a'), utf8('b')]], { filterPolicy, maxBlockBytes: 256, omitLargeFilters });
  expect(() => build(false)).toThrow(/^the metaindex block would have 3\d\d bytes, maxBlockBytes is 256$/);
  const table = open(build(true));
  expect(table.filterStatus).toEqual({ state: 'absent' });
  expect(table.get('a')).toEqual(utf8('b'));
});

describe('the last index key', () => {
  // Its successors are longer than the keys that they follow.
  const comparator: Comparator = { ...bytewiseComparator, name: 'test.LongSuccessors', findShortSuccessor: (key) => Uint8Array.of(...key, ...new Uint8Array(500)) };

  test.each([
    [300, 'is the last key where a successor would make the index larger than maxBlockBytes', 0],
    [700, 'is the successor where it fits', 500],
  ])('with a limit of %d bytes %s', (maxBlockBytes, _, leastIndexBytes) => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator, maxBlockBytes, filterPolicy: null, compression: 'none' });
    builder.add('abc', 'value');
    const { indexBytes } = builder.finish();
    expect(indexBytes).toBeGreaterThan(leastIndexBytes);
    expect(indexBytes).toBeLessThanOrEqual(maxBlockBytes);
    const table = SyncTable.open(new MemorySource(sink.toBytes()), { comparator, maxBlockBytes });
    expect(table.get(utf8('abc'))).toEqual(utf8('value'));
  });
});

test('a policy with the longest name makes filters that are used, and one with a longer name is refused', () => {
  const policyOf = (name: string): FilterPolicy => ({ name, createFilter: (_, dst) => void dst.extend(1), keyMayMatch: () => true });
  const longest = policyOf(`${'n'.repeat(2 ** 20 - 9)}ü`);
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy: longest });
  builder.add('key', 'value');
  builder.finish();
  expect(SyncTable.open(new MemorySource(sink.toBytes()), { filterPolicies: [longest] }).filterStatus.state).toBe('used');
  const message = 'the name of filterPolicy must have at most 1048569 bytes, got 1048570';
  expect(() => new TableBuilder(new MemorySink(), { filterPolicy: policyOf(`n${longest.name}`) })).toThrow(new RangeError(message));
});
