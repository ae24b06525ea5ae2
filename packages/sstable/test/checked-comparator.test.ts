// Comparators whose results cannot order keys, wherever a table compares keys.
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, type ComparatorError, MemorySink, MemorySource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, SyncDatabaseTable, VALUE } from '@bloom/sstable/database';
import { comparatorOf, compareRangeOf } from '@bloom/sstable/internal';
import { salvageTable, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { compareBytes, compareInternalBytes } from '../src/format/bytewise-order.js';
import { checkedComparator } from '../src/format/checked-comparator.js';
import { InternalKeyComparator } from '../src/format/internal-key.js';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { utf8 } from './entries.js';

const lowerCase = (key: Uint8Array): Uint8Array => key.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

/** Ignores the case of letters, and does not say so. */
const caseless: Comparator = {
  name: 'test.Caseless',
  compare: (a, b) => bytewiseComparator.compare(lowerCase(a), lowerCase(b)),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
const declared: Comparator = { ...caseless, keyEquivalence: 'ASCII letters without case' };

const internalKey = (key: string, sequence: bigint): Uint8Array => encodeInternalKey({ userKey: utf8(key), sequence, type: VALUE });

/** What a call throws. */
function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The members of an error that says that "Apple" and "apple" are equal. */
const UNDECLARED = { name: 'ComparatorError', code: 'BLOOM_UNDECLARED_EQUIVALENCE', comparator: 'test.Caseless' };

const entries = ['aardvark', 'Apple', 'pear'].map((key) => [utf8(key), utf8('1')] as const);

describe('keys with different bytes that compare as 0 without a keyEquivalence are refused by', () => {
  for (const filterPolicy of [null, new BloomFilterPolicy()]) {
    const filters = filterPolicy === null ? 'without filters' : 'with filters';
    const bytes = buildTable(entries, { comparator: caseless, filterPolicy, blockSize: 1 });
    const source = new MemorySource(bytes);
    const filterPolicies = filterPolicy === null ? [] : [filterPolicy];
    const open = (): SyncTable => SyncTable.open(source, { comparator: caseless, filterPolicies });
    test.each<[string, () => unknown]>([
      ['get', () => open().get(utf8('apple'))],
      ['has', () => open().has(utf8('apple'))],
      ['explain', () => open().explain(utf8('apple'))],
      ['seek of a cursor', () => open().cursor().seek(utf8('apple'))],
      ['entries from a key on', () => [...open().entries({ gte: utf8('apple') })]],
      ['entries up to a key', () => [...open().entries({ lte: utf8('apple') })]],
      ['entries in reverse', () => [...open().entries({ lt: utf8('apple'), reverse: true })]],
      ['approximateOffset', () => open().approximateOffset(utf8('apple'))],
      ['compare', () => open().compare(utf8('Apple'), utf8('apple'))],
    ])(`%s, ${filters}`, (call, run) => {
      const error = thrown(run);
      expect(error, call).toMatchObject(UNDECLARED);
      expect((error as ComparatorError).keys.map((key) => Buffer.from(key).toString().toLowerCase())).toEqual(['apple', 'apple']);
    });

    test(`getMany and find of a Table, ${filters}`, async () => {
      const table = await Table.open(source, { comparator: caseless, filterPolicies });
      expect(await rejection(table.getMany([utf8('x'), utf8('apple')]))).toMatchObject(UNDECLARED);
      expect(await rejection(table.find(utf8('apple'), () => true))).toMatchObject(UNDECLARED);
    });
  }

  test('a builder, which can go on with another key', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: caseless });
    builder.add(utf8('Apple'), utf8('1'));
    expect(thrown(() => builder.add(utf8('apple'), utf8('2')))).toMatchObject(UNDECLARED);
    builder.add(utf8('pear'), utf8('3'));
    builder.finish();
    const table = SyncTable.open(new MemorySource(sink.toBytes()), { comparator: caseless });
    expect([...table.keys()].map((key) => Buffer.from(key).toString())).toEqual(['Apple', 'pear']);
  });

  test('the search of a block, though the index key differs from both keys', () => {
    const keys = ['Apple', 'pear'].map((key) => [utf8(key), utf8('1')] as const);
    const table = SyncTable.open(new MemorySource(buildTable(keys, { comparator: caseless })), { comparator: caseless, filterPolicies: [] });
    expect(thrown(() => table.get(utf8('apple')))).toMatchObject(UNDECLARED);
  });

  test('a table of a database, whose internal keys are in the order of the comparator', () => {
    const order = internalKeyComparator(caseless);
    const bytes = buildTable([[internalKey('Apple', 1n), utf8('1')]], { comparator: order, filterPolicy: null });
    const table = SyncDatabaseTable.open(new MemorySource(bytes), { comparator: caseless });
    expect(thrown(() => table.get(utf8('apple')))).toMatchObject(UNDECLARED);
    expect(thrown(() => order.compare(internalKey('Apple', 1n), internalKey('apple', 2n)))).toMatchObject(UNDECLARED);
    expect(order.compare(internalKey('Apple', 1n), internalKey('Apple', 1n))).toBe(0);
  });

  test('verifyTable and salvageTable, of a table that another order wrote', async () => {
    const keys = ['Apple', 'apple'].map((key) => [utf8(key), utf8('1')] as const);
    const source = new MemorySource(buildTable(keys));
    expect(await rejection(verifyTable(source, { comparator: caseless }))).toMatchObject(UNDECLARED);
    expect(await rejection(salvageTable(source, () => undefined, { comparator: caseless }))).toMatchObject(UNDECLARED);
    expect((await verifyTable(source, { comparator: null })).findings).toEqual([]);
  });
});

test('verifyTable does not take the end of plain keys for that of internal keys and then report the comparator', async () => {
  // Without their last eight bytes all of them are equal to the comparator.
  const fromNinth: Comparator = { ...caseless, name: 'test.FromNinth', compare: (a, b) => bytewiseComparator.compare(a.subarray(8), b.subarray(8)) };
  const keys = ['aaaaaaaa\u0001bbbbbb1', 'bbbbbbbb\u0001bbbbbb2'].map((key) => [utf8(key), utf8('1')] as const);
  const source = new MemorySource(buildTable(keys, { comparator: fromNinth }));
  expect((await verifyTable(source, { comparator: fromNinth })).findings).toEqual([]);
});

test('the message names both keys, escaped and truncated, and the member to add', () => {
  const compare = (a: Uint8Array, b: Uint8Array): string => String(thrown(() => checkedComparator({ ...caseless, compare: () => 0 }).compare(a, b)));
  expect(compare(utf8('Apple'), utf8('apple'))).toBe(
    'ComparatorError: the comparator "test.Caseless" calls the keys "Apple" and "apple" equal, and has no keyEquivalence: a filter tells these keys apart, ' +
      'so a lookup of one would find the other in some places and not in others. Return 0 only for the same bytes, or give the comparator a keyEquivalence, ' +
      'which names the rule that makes different keys equal, and use a filter policy with the same keyEquivalence',
  );
  expect(compare(Uint8Array.of(0, 0x22, 0x5c, 0xff), new Uint8Array(0))).toContain('calls the keys "\\x00\\x22\\x5c\\xff" and "" equal');
  expect(compare(new Uint8Array(2 ** 20).fill(0x61), utf8('b'))).toContain(`calls the keys "${'a'.repeat(40)}…" (1048576 bytes) and "b" equal`);
});

test('the keys of the error are copies', () => {
  const key = utf8('Apple');
  const { keys } = thrown(() => checkedComparator(caseless).compare(key, utf8('apple'))) as ComparatorError;
  key.fill(0);
  expect(Buffer.from(keys[0]).toString()).toBe('Apple');
});

test.each<[string, unknown]>([
  ['NaN', NaN],
  ['undefined', undefined],
  ['null', null],
  ['boolean', true],
  ['string', '1'],
  ['a bigint', 1n],
  ['a bigint', 0n],
  ['object', { valueOf: () => 1 }],
])('a result that is %s is refused, also with a keyEquivalence', (shown, result) => {
  const compare = (): number => result as number;
  for (const order of [{ ...declared, compare }, { ...caseless, compare }, { ...caseless, compareRange: compare }]) {
    const error = thrown(() => compareRangeOf(checkedComparator(order))(utf8('a'), 0, 1, utf8('b'), 0, 1));
    expect(error).toMatchObject({ code: 'BLOOM_BAD_COMPARISON' });
    expect(String(error)).toBe(`ComparatorError: compare of the comparator "test.Caseless" must return a number for the keys "a" and "b", got ${shown}`);
  }
});

test('other results pass as they are', () => {
  for (const result of [-Infinity, -1.5, 1e-300, 7, Infinity]) expect(checkedComparator({ ...caseless, compare: () => result }).compare(utf8('a'), utf8('b'))).toBe(result);
  expect(checkedComparator({ ...caseless, compare: () => -0 }).compare(utf8('a'), utf8('a'))).toBe(0);
  expect(checkedComparator(declared).compare(utf8('A'), utf8('a'))).toBe(0);
  expect(checkedComparator(caseless).compare(utf8('A'), utf8('b'))).toBeLessThan(0);
});

test('the two orders of LevelDB and checked comparators are returned themselves, so that searches recognise them', () => {
  const renamed = { ...bytewiseComparator, name: 'test.Renamed' };
  const internal = internalKeyComparator(caseless);
  for (const order of [bytewiseComparator, renamed, internalKeyComparator(), internal, checkedComparator(caseless)]) expect(checkedComparator(order)).toBe(order);
  expect(internal).toBeInstanceOf(InternalKeyComparator);
  expect(compareRangeOf(renamed)).toBe(compareBytes);
  expect(compareRangeOf(internalKeyComparator())).toBe(compareInternalBytes);
  expect(comparatorOf('comparator', undefined)).toBe(bytewiseComparator);
});

test('a copy of a checked comparator with another compare is checked again', () => {
  const copy = { ...checkedComparator(caseless), compare: () => 0 };
  expect(thrown(() => checkedComparator(copy).compare(utf8('a'), utf8('b')))).toMatchObject(UNDECLARED);
});

test('methods are called on the comparator itself', () => {
  class Counting implements Comparator {
    readonly name = 'test.Counting';
    #calls = 0;
    compare(a: Uint8Array, b: Uint8Array): number {
      this.#calls++;
      return bytewiseComparator.compare(a, b);
    }
    compareRange(a: Uint8Array, aStart: number, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
      return this.compare(a.subarray(aStart, aEnd), b.subarray(bStart, bEnd));
    }
    findShortestSeparator(start: Uint8Array): Uint8Array {
      return this.#calls < 0 ? utf8('') : start;
    }
    findShortSuccessor(key: Uint8Array): Uint8Array {
      return this.#calls < 0 ? utf8('') : key;
    }
  }
  const checked = checkedComparator(new Counting());
  expect(checked.compare(utf8('a'), utf8('b'))).toBeLessThan(0);
  expect(checked.compareRange!(utf8('xa'), 1, 2, utf8('b'), 0, 1)).toBeLessThan(0);
  expect(checked.findShortestSeparator(utf8('a'), utf8('b'))).toEqual(utf8('a'));
  expect(checked.findShortSuccessor(utf8('a'))).toEqual(utf8('a'));
});

test('a copy of the internal order with a compare of its own is ordered by that one', () => {
  const backwards: Comparator = { ...internalKeyComparator(), compare: (a, b) => bytewiseComparator.compare(b, a) };
  const [a, b] = [internalKey('a', 1n), internalKey('b', 1n)];
  expect(compareRangeOf(backwards)(a, 0, a.length, b, 0, b.length)).toBeGreaterThan(0);
  expect(compareRangeOf({ ...internalKeyComparator() })).toBe(compareInternalBytes);
});

describe('a comparator is refused', () => {
  test.each<[string, object, string]>([
    ['without a name', { name: undefined }, 'comparator must have a name that is text and not empty, got undefined'],
    ['with an empty name', { name: '' }, 'comparator must have a name that is text and not empty, got an empty string'],
    ['with a number as its name', { name: 5 }, 'comparator must have a name that is text and not empty, got number'],
    ['with half of a surrogate pair in its name', { name: 'a\ud800' }, 'the name of comparator must be well-formed text, got one with half of a surrogate pair'],
    ['with a keyEquivalence of null', { keyEquivalence: null }, 'keyEquivalence of comparator must be text that is not empty, or left out, got null'],
    ['with a keyEquivalence of false', { keyEquivalence: false }, 'keyEquivalence of comparator must be text that is not empty, or left out, got boolean'],
    ['with an empty keyEquivalence', { keyEquivalence: '' }, 'keyEquivalence of comparator must be text that is not empty, or left out, got an empty string'],
  ])('%s', (what, members, message) => {
    const comparator = { ...caseless, ...members };
    expect(thrown(() => comparatorOf('comparator', comparator))).toEqual(new TypeError(message));
    expect(thrown(() => new TableBuilder(new MemorySink(), { comparator }))).toEqual(new TypeError(message));
    expect(thrown(() => internalKeyComparator(comparator))).toEqual(new TypeError(message));
  });
});
