import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy, PrefixFilterPolicy, prefixOfLength, prefixThrough } from '@bloom/policy';
import { type Comparator, MemorySink, MemorySource, type Source, SyncTable, Table, TableBuilder, type TableBuilderOptions } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyComparator, internalKeyPolicy, SyncDatabaseTable, VALUE } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import type { ByteRange } from './byte-range.js';

const random = seeded(11);
/** Bytes that are special for prefixes: a delimiter, and the highest byte, behind which no key with the prefix comes. */
const ALPHABET = [0x00, 0x2f, 0x61, 0xfe, 0xff];

function someKey(): Uint8Array {
  return Uint8Array.from({ length: random.below(7) }, () => random.pick(ALPHABET));
}

const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex');
const startsWith = (key: Uint8Array, prefix: Uint8Array): boolean => hex(key).startsWith(hex(prefix));
const keys = [...new Map(Array.from({ length: 500 }, () => someKey()).map((key) => [hex(key), key])).values()].sort(Buffer.compare);

function build(stored: readonly Uint8Array[], options: TableBuilderOptions): Uint8Array<ArrayBuffer> {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { blockSize: 64, compression: 'none', ...options });
  for (const key of stored) builder.add(key, key);
  builder.finish();
  return sink.toBytes();
}

const POLICIES: [string, FilterPolicy | null, number | undefined][] = [
  ['no filters', null, undefined],
  ['filters without prefixes', new BloomFilterPolicy(), undefined],
  ['filters of 2 KiB with prefixes of two bytes', new PrefixFilterPolicy(prefixOfLength(2)), 2048],
  ['filters of 64 bytes with prefixes of a byte', new PrefixFilterPolicy(prefixOfLength(1)), 64],
  ['a filter with prefixes of three bytes', new PrefixFilterPolicy(prefixOfLength(3)), 2 ** 40],
  ['filters of 128 bytes with prefixes up to a slash', new PrefixFilterPolicy(prefixThrough(0x2f)), 128],
  ['a filter with empty prefixes', new PrefixFilterPolicy({ name: 'empty', prefixLength: () => 0 }), 2 ** 40],
];

function model(stored: readonly Uint8Array[], { prefix = new Uint8Array(0), gte, gt, lt, lte, reverse = false, limit = Infinity }: ByteRange): string[] {
  const found = stored.filter(
    (key) =>
      startsWith(key, prefix) &&
      (gte === undefined || Buffer.compare(key, gte) >= 0) &&
      (gt === undefined || Buffer.compare(key, gt) > 0) &&
      (lt === undefined || Buffer.compare(key, lt) < 0) &&
      (lte === undefined || Buffer.compare(key, lte) <= 0),
  );
  if (reverse) found.reverse();
  return found.slice(0, limit).map(hex);
}

/** A range with a prefix that a key has, that none has, that is a key, or anything; often with other bounds. */
function someRange(): ByteRange {
  const key = random.pick(keys);
  const prefix = random.below(2) === 0 ? key.subarray(0, random.below(key.length + 1)) : someKey();
  const bound = (): Uint8Array | undefined => (random.below(4) === 0 ? someKey() : undefined);
  return { prefix, gte: bound(), gt: bound(), lt: bound(), lte: bound(), reverse: random.below(2) === 0, limit: random.below(3) === 0 ? random.below(5) : undefined };
}

describe.each(POLICIES)('entries with a prefix, of a table with %s,', (_, filterPolicy, filterRange) => {
  // Some keys are left out, so that there are prefixes that no key has.
  const stored = keys.filter((key) => key.length === 0 || (key[0]! ^ (key[1] ?? 0)) !== 0x9f);
  const filterPolicies = filterPolicy === null ? [] : [filterPolicy];
  const bytes = build(stored, { filterPolicy, filterRange });

  test('are those of the model, with other bounds, a limit, and backward', async () => {
    const table = await Table.open(new MemorySource(bytes), { filterPolicies });
    const sync = SyncTable.open(new MemorySource(bytes), { filterPolicies });
    for (let i = 0; i < 120; i++) {
      const range = someRange();
      const expected = model(stored, range);
      expect([...sync.keys(range)].map(hex)).toEqual(expected);
      if (i % 8 > 0) continue;
      const found: string[] = [];
      for await (const [key, value] of table.entries(range)) {
        expect(hex(value)).toBe(hex(key));
        found.push(hex(key));
      }
      expect(found).toEqual(expected);
      const batched: string[] = [];
      for (const batch of sync.batches(range)) for (let j = 0; j < batch.length; j++) batched.push(hex(batch.key(j)));
      expect(batched).toEqual(expected);
      if (expected.length > 0) expect(table.mayContainPrefix(range.prefix!)).toBe(true);
    }
    await table.close();
  });

  test('are those of the model in a table of a database, in all versions', async () => {
    const versions = stored.flatMap((userKey) => [3n, 2n].map((sequence) => encodeInternalKey({ userKey, sequence, type: VALUE })));
    const file = build(versions, { comparator: internalKeyComparator(), filterPolicy: filterPolicy && internalKeyPolicy(filterPolicy), filterRange });
    const table = SyncDatabaseTable.open(new MemorySource(file), { filterPolicies });
    const async = await DatabaseTable.open(new MemorySource(file), { filterPolicies });
    for (let i = 0; i < 60; i++) {
      const { limit, ...range } = someRange();
      const expected = model(stored.flatMap((key) => [key, key]), range).slice(0, limit);
      expect([...table.entries({ ...range, limit })].map(({ key }) => hex(key))).toEqual(expected);
      if (i % 8 > 0) continue;
      const found: string[] = [];
      for await (const { key } of async.entries({ ...range, limit })) found.push(hex(key));
      expect(found).toEqual(expected);
    }
    expect(() => table.table.entries({ prefix: new Uint8Array(1) }).next()).toThrow(RangeError);
  });
});

/** Counts the reads of a source. */
class CountedSource implements Source {
  reads = 0;
  readonly byteLength: number;
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.byteLength = bytes.length;
  }
  read(offset: number, length: number): Uint8Array {
    this.reads++;
    return this.#bytes.slice(offset, offset + length);
  }
}

describe('a prefix', () => {
  const even = Array.from({ length: 2000 }, (_, i) => new TextEncoder().encode(`user${String(2 * (i >> 2)).padStart(4, '0')}/${i & 3}`));
  const policy = new PrefixFilterPolicy(prefixThrough(0x2f));

  test.each([2048, 2 ** 40])('that no key has costs no read, with filters of %i bytes', async (filterRange) => {
    const source = new CountedSource(build(even, { filterPolicy: policy, filterRange, blockSize: 4096 }));
    const table = await Table.open(source, { filterPolicies: [policy] });
    source.reads = 0;
    let passed = 0;
    for (let i = 0; i < 500; i++) {
      const prefix = new TextEncoder().encode(`user${String(2 * i + 1).padStart(4, '0')}/`);
      for await (const key of table.keys({ prefix })) expect.fail(`found ${hex(key)}`);
      if (table.mayContainPrefix(prefix)) passed++;
    }
    expect(passed).toBeLessThan(25);
    expect(source.reads).toBeLessThanOrEqual(2 * passed);
    // Whatever the filters say, nothing is known of keys that have no slash yet.
    expect(table.mayContainPrefix(new TextEncoder().encode('user0001'))).toBe(true);
    expect(table.mayContainPrefix(new TextEncoder().encode('zebra/'))).toBe(false);
  });

  test('longer than those of the filters is looked up by its first bytes', async () => {
    const fixed = new PrefixFilterPolicy(prefixOfLength(8));
    const table = await Table.open(new MemorySource(build(even, { filterPolicy: fixed })), { filterPolicies: [fixed] });
    expect(table.mayContainPrefix(even[40]!)).toBe(true);
    const denied = [...Array(50).keys()].filter((i) => !table.mayContainPrefix(new TextEncoder().encode(`user${String(2 * i + 1).padStart(4, '0')}/17`)));
    expect(denied.length).toBeGreaterThan(40);
  });

  test('is refused where the keys that have it may be anywhere, and unless it is bytes or text', async () => {
    const reverse: Comparator = { name: 'test.Reverse', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };
    const file = build([...even].reverse(), { comparator: reverse });
    const table = await Table.open(new MemorySource(file), { comparator: reverse });
    expect(() => table.entries({ prefix: even[0]! })).toThrow(/prefix needs keys in bytewise order/);
    expect(() => table.mayContainPrefix(even[0]!)).toThrow(RangeError);
    const plain = await Table.open(new MemorySource(build(even, {})));
    expect(() => plain.entries({ prefix: 7 as never })).toThrow(/prefix must be a Uint8Array/);
    expect(() => plain.mayContainPrefix(7 as never)).toThrow(TypeError);
  });

  test('may be changed by the caller once the walk has begun', async () => {
    const table = SyncTable.open(new MemorySource(build(even, { filterPolicy: policy })), { filterPolicies: [policy] });
    const prefix = new TextEncoder().encode('user0010/');
    const walk = table.keys({ prefix });
    const first = walk.next();
    prefix.fill(0);
    expect([first.value, ...walk].map((key) => new TextDecoder().decode(key as Uint8Array))).toEqual(['user0010/0', 'user0010/1', 'user0010/2', 'user0010/3']);
  });

  test('whose extractor says a length that it has not hides nothing', () => {
    const wrong = new PrefixFilterPolicy({ name: 'wrong', prefixLength: (key) => (key.length < 9 ? 40 : 5) });
    const file = build(even, { filterPolicy: new PrefixFilterPolicy({ name: 'wrong', prefixLength: () => 5 }) });
    const table = SyncTable.open(new MemorySource(file), { filterPolicies: [wrong] });
    expect([...table.keys({ prefix: new TextEncoder().encode('user001') })].length).toBeGreaterThan(0);
  });
});
