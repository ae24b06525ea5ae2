import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded, vectors } from '@bloom/fixtures';
import { BloomFilterPolicy, buildFilter, type FilterPolicy, PrefixFilterPolicy, prefixThrough } from '@bloom/policy';
import { bytewiseComparator, type Comparator, MemorySource } from '@bloom/sstable';
import { verifyTable } from '@bloom/sstable/inspect';
import {
  DatabaseTable,
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  isLikelyInternalKey,
  kindOfType,
  MAX_SEQUENCE,
  SyncDatabaseTable,
  typeOfKind,
  VALUE,
} from '@bloom/sstable/database';
import { ClassicLevel } from 'classic-level';
import { describe, expect, test } from 'vitest';
import { compareInternalBytes } from '../src/format/bytewise-order.js';
import { mayBeInternalKey } from '../src/format/internal-key.js';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, utf8 } from './entries.js';
import { show, stored, type Version } from './versions.js';

const comparator = internalKeyComparator();
const filterPolicy = internalKeyPolicy(new BloomFilterPolicy(10));

function internalKey(userKey: string | Uint8Array, sequence: number | bigint, type = VALUE): Uint8Array {
  return encodeInternalKey({
    userKey: typeof userKey === 'string' ? utf8(userKey) : userKey,
    sequence: BigInt(sequence),
    type,
  });
}

// LevelDB, db/dbformat_test.cc.
describe('as in LevelDB', () => {
  test('InternalKey_EncodeDecode', () => {
    const sequences = [1, 2, 3, ...[8, 16, 32].flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])];
    const wrong: string[] = [];
    for (const key of ['', 'k', 'hello', 'longggggggggggggggggggggg']) {
      for (const sequence of sequences) {
        for (const type of [VALUE, DELETION]) {
          const encoded = internalKey(key, sequence, type);
          const decoded = decodeInternalKey(encoded);
          const same =
            decoded?.sequence === BigInt(sequence) && decoded.type === type && hex(decoded.userKey) === hex(utf8(key));
          if (!same || encoded.length !== key.length + 8) wrong.push(`${key} ${sequence} ${type}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test('InternalKey_DecodeFromEmpty', () => {
    expect(decodeInternalKey(utf8(''))).toBeUndefined();
    expect(decodeInternalKey(utf8('1234567'))).toBeUndefined();
  });

  const g = internalKey('g', MAX_SEQUENCE);
  const foo = internalKey('foo', 100);

  test.each([
    ['the user keys are the same, and the limit is older', foo, internalKey('foo', 99), foo],
    ['the user keys are the same, and the limit is newer', foo, internalKey('foo', 101), foo],
    ['the keys are the same', foo, internalKey('foo', 100), foo],
    ['the types differ alone', foo, internalKey('foo', 100, DELETION), foo],
    ['the user keys are misordered', foo, internalKey('bar', 99), foo],
    ['the user keys differ in their order', foo, internalKey('hello', 200), g],
    ['the start is a prefix of the limit', foo, internalKey('foobar', 200), foo],
    ['the limit is a prefix of the start', internalKey('foobar', 100), internalKey('foo', 200), internalKey('foobar', 100)],
  ])('InternalKeyShortSeparator, where %s', (_, start, limit, separator) => {
    expect(hex(internalKeyComparator().findShortestSeparator(start, limit))).toBe(hex(separator));
  });

  test('InternalKeyShortestSuccessor', () => {
    expect(hex(internalKeyComparator().findShortSuccessor(foo))).toBe(hex(g));
    const last = internalKey(Uint8Array.of(0xff, 0xff), 100);
    expect(hex(internalKeyComparator().findShortSuccessor(last))).toBe(hex(last));
  });

  // LevelDB, db/dbformat.cc: a new user key is only used if it is shorter.
  test('a user key that would not become shorter is not changed', () => {
    const ab = internalKey('ab', 100);
    expect(hex(internalKeyComparator().findShortestSeparator(ab, internalKey('ad', 200)))).toBe(hex(ab));
    const f = internalKey('f', 100);
    expect(hex(internalKeyComparator().findShortSuccessor(f))).toBe(hex(f));
  });

  // LevelDB, db/dbformat.cc: `user_comparator_->Compare(user_start, tmp) < 0`.
  test('a shorter user key is used only if it is after the old one in the user order', () => {
    const shortened = (short: string, order: number): string => {
      const made = internalKeyComparator({
        name: 'test.Shortening',
        keyEquivalence: 'any',
        compare: () => order,
        findShortestSeparator: () => utf8(short),
        findShortSuccessor: () => utf8(short),
      });
      const separator = hex(made.findShortestSeparator(foo, internalKey('hello', 200)));
      expect(hex(made.findShortSuccessor(foo))).toBe(separator);
      return separator;
    };
    expect(shortened('g', -1)).toBe(hex(g));
    expect(shortened('g', 0)).toBe(hex(foo));
    expect(shortened('g', 1)).toBe(hex(foo));
  });

  // tooling/fixtures/data/golden/vectors.txt, measured from LevelDB.
  test('a table of internal keys equals LevelDB’s byte for byte, with a filter of the user keys', () => {
    const { entries, bytes } = vectors().internalKeyTable;
    expect(hex(buildTable(entries, { comparator, filterPolicy, compression: 'none' }))).toBe(hex(bytes));
    const table = SyncDatabaseTable.open(new MemorySource(bytes));
    expect(table.table.filterStatus).toEqual({ state: 'used', policyName: 'leveldb.BuiltinBloomFilter2' });
    const foundText = (key: string, sequence?: bigint): string | undefined => {
      const found = table.get(utf8(key), { sequence });
      return found && `${found.sequence} ${found.kind} ${new TextDecoder().decode(found.value)}`;
    };
    expect(foundText('foo')).toBe('100 value v1');
    expect(foundText('foo', 100n)).toBe('100 value v1');
    expect(foundText('foo', 99n)).toBe('99 value v0');
    expect(foundText('foo', 98n)).toBeUndefined();
    expect(foundText('hello')).toBe('200 deletion ');
    expect(foundText('fo')).toBeUndefined();
    expect([...table].map(({ sequence, kind }) => `${sequence} ${kind}`)).toEqual(['100 value', '99 value', '200 deletion']);
  });
});

describe('a stored key', () => {
  test('holds sequences up to 2^56 - 1 and any type', () => {
    expect(MAX_SEQUENCE).toBe(2n ** 56n - 1n);
    const key = internalKey('a', MAX_SEQUENCE, 0xff);
    expect(hex(key)).toBe('61ffffffffffffffff');
    expect(decodeInternalKey(key)).toEqual({ userKey: utf8('a'), sequence: MAX_SEQUENCE, type: 0xff });
    expect(hex(internalKey('', 0x0102030405060708n & MAX_SEQUENCE, 9))).toBe('0908070605040302');
  });

  test.each([-1n, 2n ** 56n, 2n ** 64n])('with sequence %d is rejected', (sequence) => {
    const message = `sequence must be from 0 to 2^56 - 1, got ${sequence}`;
    expect(() => encodeInternalKey({ userKey: utf8('a'), sequence, type: 1 })).toThrow(new RangeError(message));
  });

  test.each([-1, 256, 1.5, NaN])('of type %d is rejected', (type) => {
    const message = `type must be a byte, got ${type}`;
    expect(() => encodeInternalKey({ userKey: utf8('a'), sequence: 1n, type })).toThrow(new RangeError(message));
  });

  test('is decoded at its offset in a larger buffer', () => {
    const buffer = Uint8Array.of(1, 2, 3, ...internalKey('key', 77), 4);
    expect(decodeInternalKey(buffer.subarray(3, 14))).toEqual({ userKey: utf8('key'), sequence: 77n, type: 1 });
  });
});

// 0x1f is the largest type that RocksDB and Pebble write.
test.each([
  ['seven bytes', '01000000000000', false],
  ['a trailer alone', '0100000000000000', true],
  ['a user key and a trailer', '610100000000000000', true],
  ['the largest known type', '611f00000000000000', true],
  ['a type beyond it', '612000000000000000', false],
  ['nine bytes of text', hex(utf8('plain key')), false],
])('%s may be an internal key: %s, %s', (_, key, mayBe) => {
  expect(mayBeInternalKey(Buffer.from(key, 'hex'))).toBe(mayBe);
});

describe('the order', () => {
  const backwards: Comparator = {
    name: 'test.Backwards',
    compare: (a, b) => bytewiseComparator.compare(b, a),
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  };

  test('is by ascending user key, then descending sequence, then descending type, and is total over arbitrary bytes', () => {
    const sorted = [
      utf8(''),
      utf8('1234567'),
      utf8('zz'),
      internalKey('', MAX_SEQUENCE, 255),
      internalKey('', 5),
      internalKey('', 0, 0),
      internalKey('a', 256),
      internalKey('a', 255),
      internalKey('a', 255, DELETION),
      internalKey('a', 1),
      internalKey('a\0', MAX_SEQUENCE),
      internalKey('aa', 2 ** 40),
      internalKey('aa', 2 ** 40 - 1),
      internalKey('b', 0),
    ];
    const wrong: string[] = [];
    for (const [i, a] of sorted.entries()) {
      for (const [j, b] of sorted.entries()) {
        if (Math.sign(comparator.compare(a, b)) !== Math.sign(i - j)) wrong.push(`${i} ${j}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('follows the user comparator, even a reverse one', () => {
    const { compare } = internalKeyComparator(backwards);
    expect(compare(internalKey('b', 1), internalKey('a', 9))).toBeLessThan(0);
    expect(compare(internalKey('a', 1), internalKey('a', 9))).toBeGreaterThan(0);
  });

  test('puts keys too short to be internal keys first, in bytewise order, even if the user order is reverse', () => {
    const { compare } = internalKeyComparator(backwards);
    const sorted = [utf8(''), utf8('1234567'), utf8('zz'), internalKey('zz', 1), internalKey('1234567', 1), internalKey('', 1)];
    const wrong: string[] = [];
    for (const [i, a] of sorted.entries()) {
      for (const [j, b] of sorted.entries()) {
        if (Math.sign(compare(a, b)) !== Math.sign(i - j)) wrong.push(`${i} ${j}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('of bytewise user keys is the one that searches have a fast path for', () => {
    expect(internalKeyComparator().compareRange).toBe(compareInternalBytes);
    expect(internalKeyComparator(backwards).compareRange).not.toBe(compareInternalBytes);
  });

  test('has LevelDB’s name, and the equivalence of the user comparator; the policy has the user policy’s name and equivalence', () => {
    const userComparator = { ...bytewiseComparator, keyEquivalence: 'spaces' };
    const { name, keyEquivalence } = internalKeyComparator(userComparator);
    expect([name, keyEquivalence]).toEqual(['leveldb.InternalKeyComparator', 'spaces']);
    const policy = internalKeyPolicy({ name: 'x', keyEquivalence: 'spaces', createFilter() {}, keyMayMatch: () => true });
    expect([policy.name, policy.keyEquivalence]).toEqual(['x', 'spaces']);
  });
});

describe('a table of a database', () => {
  test('is refused if an index key is too short to be internal', async () => {
    const source = new MemorySource(buildTable([[utf8('short'), utf8('1')]]), 'raw.ldb');
    const expected = { code: 'BLOOM_BAD_INTERNAL_KEY', structure: 'index block', file: 'raw.ldb' };
    expect(caught(() => SyncDatabaseTable.open(source))).toMatchObject(expected);
    expect(await rejection(DatabaseTable.open(source))).toMatchObject(expected);
  });

  test('with a key that is too short causes an error at that key', async () => {
    const source = new MemorySource(buildTable([[utf8('short'), utf8('1')], [utf8('short and long'), utf8('2')]], {
      comparator: { ...bytewiseComparator, findShortSuccessor: (key) => key },
      filterPolicy: null,
    }), 'raw.ldb');
    const expected = { code: 'BLOOM_BAD_INTERNAL_KEY', file: 'raw.ldb' };
    expect(caught(() => [...SyncDatabaseTable.open(source).entries()])).toMatchObject(expected);
    expect(await rejection(collect(await DatabaseTable.open(source)))).toMatchObject(expected);
  });

  test('rejects an invalid sequence, and one that is higher than all sees the newest version', async () => {
    const source = new MemorySource(buildTable(stored([{ userKey: utf8('a'), sequence: 7n, type: VALUE, value: utf8('1') }]), { comparator }));
    const table = SyncDatabaseTable.open(source);
    expect(() => table.get(utf8('a'), { sequence: -1n })).toThrow(RangeError);
    expect(table.get(utf8('a'), { sequence: 2n ** 56n })?.sequence).toBe(7n);
    expect((await (await DatabaseTable.open(source)).get(utf8('a'), { sequence: 2n ** 64n }))?.sequence).toBe(7n);
  });

  test('with filters that were not made of its user keys is still searched', () => {
    const entries = stored(numberedEntries(500).map(([userKey, value], i) => ({ userKey, value, sequence: BigInt(i), type: VALUE })));
    // Another program could make filters of the whole stored keys.
    const bytes = buildTable(entries, { comparator, filterPolicy: { ...allOf(new BloomFilterPolicy()), name: 'other' } });
    const table = SyncDatabaseTable.open(new MemorySource(bytes));
    expect(table.table.filterStatus).toEqual({ state: 'unknown-policy', policyNames: ['other'] });
    expect(table.get(utf8('key 000321'))?.sequence).toBe(321n);
  });
});

function allOf(policy: BloomFilterPolicy): Pick<BloomFilterPolicy, 'createFilter' | 'keyMayMatch'> {
  return {
    createFilter: (keys, dst) => policy.createFilter(keys, dst),
    keyMayMatch: (key, filter) => policy.keyMayMatch(key, filter),
  };
}

test('in a table that LevelDB wrote, every version and deletion is found at its sequence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-internal-key-'));
  try {
    const db = new ClassicLevel<Uint8Array, Uint8Array>(folder, { keyEncoding: 'view', valueEncoding: 'view' });
    await db.open();
    const random = seeded(56);
    // LevelDB numbers the operations of a new database from 1.
    const versions: Version[] = [];
    const batch = db.batch();
    for (let i = 1; i <= 5000; i++) {
      const userKey = utf8(`key ${random.below(700)}`);
      const value = random.bytes(random.below(40));
      const type = random.below(4) === 0 ? DELETION : VALUE;
      if (type === DELETION) batch.del(userKey);
      else batch.put(userKey, value);
      versions.push({ userKey, sequence: BigInt(i), type, value: type === DELETION ? new Uint8Array() : value });
    }
    await batch.write();
    await db.close();
    // Reopening the database turns its log into a table, including old versions.
    const again = new ClassicLevel(folder);
    await again.open();
    await again.close();
    const names = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    expect(names).toHaveLength(1);
    const source = new MemorySource(await readFile(join(folder, names[0]!)));
    const table = await DatabaseTable.open(source);
    const all = await collect(table);
    expect(all.length).toBeGreaterThan(4000);
    versions.sort((a, b) => Buffer.compare(a.userKey, b.userKey) || Number(b.sequence - a.sequence));
    expect(all.map(show).join('\n')).toBe(versions.map(show).join('\n'));
    const versionsOf = new Map<string, Version[]>();
    for (const version of versions) versionsOf.set(hex(version.userKey), [...(versionsOf.get(hex(version.userKey)) ?? []), version]);
    const wrong: string[] = [];
    for (let i = 0; i < 700; i++) {
      const userKey = utf8(`key ${i}`);
      const own = versionsOf.get(hex(userKey)) ?? [];
      const sequence = BigInt(random.below(5002));
      if (show(await table.get(userKey)) !== show(own[0])) wrong.push(`newest of ${i}`);
      const expected = show(own.find((version) => version.sequence <= sequence));
      if (show(await table.get(userKey, { sequence })) !== expected) wrong.push(`${i} at ${sequence}`);
    }
    expect(wrong).toEqual([]);
    expect((await verifyTable(source, { comparator, filterPolicies: [filterPolicy] })).findings).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a policy of internal keys reads an array again when it is passed again with different bytes', () => {
  const filter = buildFilter(filterPolicy, ['apple', 'plum', 'fig'].map((key) => internalKey(key, 1)));
  const buffer = new (ArrayBuffer as unknown as ResizableConstructor)(32, { maxByteLength: 32 });
  const key = new Uint8Array(buffer);
  const ask = (userKey: string): boolean => {
    const stored = internalKey(userKey, 7);
    // The array is as long as its buffer.
    buffer.resize(stored.length);
    key.set(stored);
    return filterPolicy.keyMayMatch(key, filter);
  };
  expect(['apple', 'grape', 'plum', 'fig', 'lemon', 'apple'].map(ask)).toEqual([true, false, true, true, false, true]);
});

test('a policy of internal keys does not keep the memory of a large filter’s keys', () => {
  const lent: number[] = [];
  const policy = internalKeyPolicy({ name: 'x', createFilter: ({ bytes }) => void lent.push(bytes.length), keyMayMatch: () => true });
  const small = [internalKey('a', 1)];
  const large = [internalKey(new Uint8Array(2 ** 21), 1)];
  for (const keys of [small, large, small]) buildFilter(policy, keys);
  expect(lent[1]).toBeGreaterThanOrEqual(2 ** 21);
  expect(lent[2]).toBe(lent[0]);
});

test('a policy of internal keys is asked in ranges and for prefixes as the policy of user keys is, and only then', () => {
  const keys = ['user1/name', 'user1/mail', 'user2/name'].map((key) => internalKey(key, 1));
  const withPrefixes = internalKeyPolicy(new PrefixFilterPolicy(prefixThrough(0x2f)));
  const filter = buildFilter(withPrefixes, keys);
  expect(withPrefixes.prefixes?.name).toBe(prefixThrough(0x2f).name);
  expect(['user1/', 'user2/', 'user3/'].map((prefix) => withPrefixes.prefixMayMatch!(utf8(prefix), filter))).toEqual([true, true, false]);
  expect(filterPolicy.prefixes).toBeUndefined();
  expect(filterPolicy.prefixMayMatch).toBeUndefined();

  const inRange = (policy: FilterPolicy, key: Uint8Array, filterBytes: Uint8Array): boolean => {
    const padded = Uint8Array.of(9, ...key, 9);
    return policy.keyMayMatchRange!(padded, 1, 1 + key.length, Uint8Array.of(9, 9, ...filterBytes, 9), 2, 2 + filterBytes.length);
  };
  const plain = buildFilter(filterPolicy, keys);
  expect(['user1/name', 'user2/name', 'user2/mail'].map((key) => inRange(filterPolicy, internalKey(key, 7), plain))).toEqual([true, true, false]);
  expect(inRange(internalKeyPolicy({ ...filterPolicy, name: 'x', keyMayMatchRange: (_, start, end) => start === end }), Uint8Array.of(1, 2, 3), plain)).toBe(true);
  expect(internalKeyPolicy({ name: 'x', createFilter: () => undefined, keyMayMatch: () => true }).keyMayMatchRange).toBeUndefined();

  // A copy by a spread has neither, since its maker may replace the methods that they belong to.
  expect(Object.keys({ ...withPrefixes })).not.toEqual(expect.arrayContaining([expect.stringMatching(/prefix|Range/)]));
  const replaced = Object.create(withPrefixes, { prefixMayMatch: { value: () => true } }) as FilterPolicy;
  expect(replaced.prefixMayMatch!(utf8('user3/'), filter)).toBe(true);
});

test('the kind of an entry is the type in words, and a number for the types of other programs', () => {
  expect([VALUE, DELETION, 2, 0xff].map(kindOfType)).toEqual(['value', 'deletion', 2, 0xff]);
  expect((['value', 'deletion', 2, 0xff] as const).map(typeOfKind)).toEqual([VALUE, DELETION, 2, 0xff]);
});

test('keys of LevelDB are likely, those of a type or sequence that it does not write are not', () => {
  const isLikely = (sequence: bigint, type: number): boolean => isLikelyInternalKey({ userKey: utf8('k'), sequence, type });
  expect([VALUE, DELETION, 2].map((type) => isLikely(0n, type))).toEqual([true, false, false]);
  for (const sequence of [1n, 2n ** 48n - 1n]) expect([VALUE, DELETION, 2, 0x7f].map((type) => isLikely(sequence, type))).toEqual([true, true, false, false]);
  for (const sequence of [2n ** 48n, MAX_SEQUENCE]) expect([VALUE, DELETION].map((type) => isLikely(sequence, type))).toEqual([false, false]);
  expect([7, 8, 9].map((length) => mayBeInternalKey(new Uint8Array(length)))).toEqual([false, true, true]);
});

/** Typed here because it is in ES2024 and Node 20, but not in our lib. */
type ResizableConstructor = new (byteLength: number, options: { maxByteLength: number }) => ArrayBuffer & { resize(byteLength: number): void };

test('the comparator of user keys is asked for separators only of a key and one after it', () => {
  const calls: [Uint8Array, Uint8Array][] = [];
  const user: Comparator = {
    name: 'test.Noted',
    compare: bytewiseComparator.compare,
    findShortestSeparator(start, limit) {
      calls.push([start.slice(), limit.slice()]);
      return bytewiseComparator.findShortestSeparator(start, limit);
    },
    findShortSuccessor: bytewiseComparator.findShortSuccessor,
  };
  const key = (text: string, sequence: bigint): Uint8Array => encodeInternalKey({ userKey: utf8(text), sequence, type: 1 });
  const { findShortestSeparator } = internalKeyComparator(user);
  expect(findShortestSeparator(key('same', 9n), key('same', 8n))).toEqual(key('same', 9n));
  expect(calls).toEqual([]);
  expect(findShortestSeparator(key('abcde', 9n), key('abz', 8n))).toEqual(key('abd', 2n ** 56n - 1n));
  expect(calls).toEqual([[utf8('abcde'), utf8('abz')]]);
});
