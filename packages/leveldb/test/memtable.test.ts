import { VarintReader } from '@bloom/bytes';
import { type Random, seeded } from '@bloom/fixtures';
import { bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey } from '@bloom/sstable/database';
import { expect, test } from 'vitest';
import { keyOrderOf } from '../src/format/database-key.js';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableCursor, MemtableEntries } from '../src/memtable/memtable-cursor.js';
import { TableBound } from '../src/memtable/table-bound.js';
import { copiedMemtable } from '../src/write/memtable-copy.js';
import { collidingKeys } from './colliding-keys.js';
import { reverseComparator } from './reverse-comparator.js';

const { compareInternalKeys } = keyOrderOf(bytewiseComparator);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

function add(memtable: Memtable, userKey: Uint8Array, sequence: bigint, type: number, value: Uint8Array): Entry {
  const bytes = Uint8Array.of(9, ...userKey, 9, ...value, 9);
  memtable.add(sequence, type, bytes, 1, 1 + userKey.length, 2 + userKey.length, bytes.length - 1);
  return { key: encodeInternalKey({ userKey, sequence, type }), value };
}

function at(cursor: MemtableCursor): string | undefined {
  if (!cursor.valid) return undefined;
  return `${hex(cursor.entry.keyBytes.subarray(cursor.entry.keyStart, cursor.entry.keyEnd))}=${hex(cursor.entry.valueBytes.subarray(cursor.entry.valueStart, cursor.entry.valueEnd))}`;
}

const shown = ({ key, value }: Entry): string => `${hex(key)}=${hex(value)}`;

/** Kinds of user keys, each of which a skip list could order wrongly in its own way. */
const USER_KEYS: Record<string, (random: Random, n: number) => Uint8Array> = {
  'of up to two bytes': (random) => random.bytes(random.below(3)),
  // Bytes around powers of two, and keys that are prefixes of others.
  'that share a prefix': (random) => Uint8Array.of(1, 2, 3, 4, 5, ...Array.from({ length: random.below(12) }, () => [0, 1, 3, 4, 0x7f, 0x80, 0xff][random.below(7)]!)),
  'that share a little less each time': (random, n) => new Uint8Array(100).fill(7).fill(random.below(256), Math.max(0, 100 - n)),
  'after a first key of eight zeros': (random, n) => (n === 1 ? new Uint8Array(8) : Uint8Array.of(0, 0, 0, 0, 0, random.below(3), random.below(256))),
};
const orders = { bytewise: compareInternalKeys, reverse: keyOrderOf(reverseComparator).compareInternalKeys };
const walks = Object.entries(orders).flatMap(([order, compareRange]) => Object.keys(USER_KEYS).map((kind) => ({ order, kind, compareRange })));

test.each(walks)('a memtable of keys $kind agrees with a sorted array on all cursor moves in $order order while entries are added', ({ kind, compareRange }) => {
  const userKeyOf = USER_KEYS[kind]!;
  for (let seed = 0; seed < 6; seed++) {
    const random = seeded(seed);
    const memtable = new Memtable(compareRange, seed % 2 === 0 ? 0 : 100_000);
    const model: Entry[] = [];
    const cursor = new MemtableCursor(memtable);
    const compare = (a: Uint8Array, b: Uint8Array): number => compareRange(a, 0, a.length, b, 0, b.length);
    for (let sequence = 1n; sequence < 300n; sequence++) {
      const added = add(memtable, userKeyOf(random, Number(sequence)), sequence + (2n ** 50n) * BigInt(seed % 3), random.below(2), random.bytes(random.below(60)));
      const later = model.findIndex((entry) => compare(entry.key, added.key) > 0);
      model.splice(later < 0 ? model.length : later, 0, added);
      if (random.below(4) > 0) continue;
      const sought = userKeyOf(random, random.below(300));
      const userKey = random.below(2) === 0 ? sought : sought.subarray(0, random.below(sought.length + 1));
      const key = encodeInternalKey({ userKey, sequence: BigInt(random.below(500)), type: 0xff });
      const first = model.findIndex((entry) => compare(entry.key, key) >= 0);
      const after = model.findIndex((entry) => compare(entry.key, key) > 0);
      const places = {
        'at-or-after': first,
        after,
        'at-or-before': (after < 0 ? model.length : after) - 1,
        before: (first < 0 ? model.length : first) - 1,
      };
      for (const [side, place] of Object.entries(places)) {
        cursor.seek(key, side as keyof typeof places);
        const entry = model[place];
        expect(at(cursor)).toBe(entry && shown(entry));
      }
    }
    expect(memtable.count).toBe(model.length);
    const forwards: (string | undefined)[] = [];
    for (cursor.seekToFirst(); cursor.valid; cursor.next()) forwards.push(at(cursor));
    const backwards: (string | undefined)[] = [];
    const back = new MemtableCursor(memtable);
    for (back.seekToLast(); back.valid; back.prev()) backwards.push(at(back));
    expect(forwards).toEqual(model.map(shown));
    expect(backwards.reverse()).toEqual(model.map(shown));
  }
});

test('of entries with the same internal key, the one added last comes first', () => {
  const memtable = new Memtable(compareInternalKeys);
  for (const value of [1, 2, 3]) add(memtable, Uint8Array.of(7), 5n, 1, Uint8Array.of(value));
  const cursor = new MemtableCursor(memtable);
  const values: number[] = [];
  for (cursor.seekToFirst(); cursor.valid; cursor.next()) values.push(cursor.entry.valueBytes[cursor.entry.valueStart]!);
  expect(values).toEqual([3, 2, 1]);
});

test.each(walks)('a copied memtable of keys $kind gives the same entries as the original in $order order', async ({ kind, compareRange }) => {
  const random = seeded(1);
  const memtable = new Memtable(compareRange);
  const entriesOf = (walked: Memtable): string[] => {
    const found: string[] = [];
    const entries = new MemtableEntries(walked);
    for (entries.seekToFirst(); entries.valid; entries.next()) found.push(at(entries)!);
    return found;
  };
  expect(entriesOf(Memtable.of(await copiedMemtable(memtable), compareRange))).toEqual([]);
  for (let n = 1; n < 500; n++) add(memtable, USER_KEYS[kind]!(random, n % 300), BigInt(random.below(n)), random.below(2), random.bytes(random.below(20)));
  const copy = await copiedMemtable(memtable);
  const expected = entriesOf(memtable);
  add(memtable, Uint8Array.of(1), 1000n, 1, new Uint8Array(0));
  expect(entriesOf(Memtable.of(copy, compareRange))).toEqual(expected);
});

test('a key that a cursor lent stays unchanged when the arena grows', () => {
  const memtable = new Memtable(compareInternalKeys);
  add(memtable, Uint8Array.of(1), 1n, 1, Uint8Array.of(42));
  const cursor = new MemtableCursor(memtable);
  cursor.seekToFirst();
  const lent = cursor.entry.valueBytes.subarray(cursor.entry.valueStart, cursor.entry.valueEnd);
  for (let i = 0n; i < 1000n; i++) add(memtable, new Uint8Array(100), i + 2n, 1, new Uint8Array(100).fill(7));
  expect([...lent]).toEqual([42]);
  cursor.seekToLast();
  expect(cursor.entry.valueBytes[cursor.entry.valueStart]).toBe(42);
});

test('sequences of up to 56 bits are stored exactly', () => {
  const memtable = new Memtable(compareInternalKeys);
  const sequences = [0n, 1n, 255n, 256n, 2n ** 32n, 2n ** 48n - 1n, 2n ** 48n, 2n ** 53n + 1n, 2n ** 56n - 1n];
  for (const sequence of sequences) add(memtable, Uint8Array.of(1), sequence, 1, new Uint8Array(0));
  const cursor = new MemtableCursor(memtable);
  const found: bigint[] = [];
  for (cursor.seekToLast(); cursor.valid; cursor.prev()) {
    found.push(new DataView(cursor.entry.keyBytes.buffer, cursor.entry.keyEnd - 8).getBigUint64(0, true) >> 8n);
  }
  expect(found).toEqual(sequences);
});

test.each(walks)('a lookup of keys $kind finds the same as a search in $order order, while entries are added and the index is made and grows', ({ kind, compareRange }) => {
  const userKeyOf = USER_KEYS[kind]!;
  for (let seed = 0; seed < 4; seed++) {
    const random = seeded(seed);
    const memtable = new Memtable(compareRange);
    const present: Uint8Array[] = [];
    const presentHex = new Set<string>();
    for (let n = 1; n < 700; n++) {
      const userKey = userKeyOf(random, n % 300);
      present.push(userKey);
      presentHex.add(hex(userKey));
      // Mostly a newer version than all before, at times an older one or another of the same sequence, as a damaged log may have them.
      add(memtable, userKey, BigInt(random.below(8) === 0 ? random.below(n) : n), random.below(2), Uint8Array.of(1));
      for (const sought of [random.pick(present), userKeyOf(random, random.below(300))]) {
        const key = encodeInternalKey({ userKey: sought, sequence: BigInt(random.below(800)), type: 0xff });
        const node = memtable.find(key);
        const expected = memtable.seek(key);
        // Without a search only that there is no such user key can be told.
        if (node !== expected && (node !== 0 || presentHex.has(hex(sought)))) expect.fail(hex(sought));
      }
    }
  }
});

test('a lookup finds the same as a search while the index is made part by part, and entries are added before and after its parts', () => {
  for (let seed = 0; seed < 8; seed++) {
    const random = seeded(seed);
    const memtable = new Memtable(compareInternalKeys);
    // Few user keys, so that the versions of many are in different parts.
    const userKeys = Array.from({ length: 200 + random.below(3000) }, (_, n) => Buffer.from(`key ${n}`));
    let sequence = 0;
    const addOne = (): void => {
      sequence++;
      // At times one that was there before, as a damaged log may have it.
      add(memtable, random.pick(userKeys), BigInt(random.below(20) === 0 ? random.below(sequence) : sequence), 1, Uint8Array.of(1));
    };
    while (memtable.count < 5000) addOne();
    const userKey = Buffer.from('key 1');
    for (let i = 0; i < 5000 / 8; i++) memtable.find(encodeInternalKey({ userKey, sequence: 2n ** 50n, type: 0xff }));
    // From here on, lookups make the index.
    for (let i = 0; i < 400; i++) {
      const key = encodeInternalKey({ userKey: random.pick(userKeys), sequence: BigInt(random.below(2) === 0 ? random.below(sequence) : 2 ** 50), type: 0xff });
      const found = memtable.find(key);
      if (found !== memtable.seek(key) && found !== 0) expect.fail(`lookup ${i} with seed ${seed}`);
      if (found === 0) expect(hex(userKeyAt(memtable, memtable.seek(key)))).not.toBe(hex(key.subarray(0, -8)));
      for (let n = random.below(30); n > 0; n--) addOne();
    }
  }
});

/** The user key of a node; without bytes if there is no node. */
function userKeyAt(memtable: Memtable, node: number): Uint8Array {
  if (node === 0) return new Uint8Array(0);
  const start = memtable.keyStart(node);
  return memtable.arena.slice(start, start + memtable.keyLength(node) - 8);
}

test('a lookup finds each of many versions of a key, those that were added before the index was made and those after', () => {
  const memtable = new Memtable(compareInternalKeys);
  const userKey = Buffer.from('key');
  for (let sequence = 1; sequence <= 400; sequence++) {
    add(memtable, userKey, BigInt(sequence), 1, Uint8Array.of(sequence >> 8, sequence));
    if (sequence % 40 !== 0) continue;
    for (let at = 0; at <= 410; at++) {
      const node = memtable.find(encodeInternalKey({ userKey, sequence: BigInt(at), type: 0xff }));
      const found = node === 0 ? 0 : new DataView(memtable.arena.buffer, memtable.keyStart(node) + memtable.keyLength(node)).getUint16(0);
      expect(found).toBe(Math.min(at, sequence));
    }
  }
});

test('of entries with the same internal key, a lookup finds the one added last, before the index is made and after', () => {
  const memtable = new Memtable(compareInternalKeys);
  const key = encodeInternalKey({ userKey: Uint8Array.of(7), sequence: 5n, type: 0xff });
  for (let value = 1; value <= 300; value++) {
    add(memtable, Uint8Array.of(7), 5n, 1, Uint8Array.of(value));
    const node = value < 3 ? memtable.seek(key) : memtable.find(key);
    expect(memtable.arena[memtable.keyStart(node) + memtable.keyLength(node)]).toBe(value % 256);
  }
});

/** Looks up absent keys before the last entry. @returns how many lookups searched the skip list: those find the last entry. */
function searches(memtable: Memtable, name: string, count: number): number {
  const nodes = Array.from({ length: count }, (_, n) => memtable.find(encodeInternalKey({ userKey: Buffer.from(`${name} ${n}`), sequence: 5n, type: 0xff })));
  return nodes.filter((node) => node !== 0).length;
}

test('a lookup searches the skip list until there are 256 entries and one lookup for every eight of them, and again after many were added without lookups', () => {
  const memtable = new Memtable(compareInternalKeys);
  add(memtable, Uint8Array.of(0xff), 1n, 1, new Uint8Array(0));
  const addTo = (count: number): void => {
    while (memtable.count < count) add(memtable, Buffer.from(`key ${memtable.count}`), 1n, 1, new Uint8Array(0));
  };
  addTo(255);
  expect(searches(memtable, 'few', 20)).toBe(20);
  addTo(300);
  expect(searches(memtable, 'none', 80)).toBe(17);
  // The index was made for 300 entries, and has grown: a hundred lookups are enough for 800.
  addTo(800);
  expect(searches(memtable, 'other', 100)).toBe(0);
  // They are not enough for 2,000, but it is not full.
  addTo(2000);
  expect(searches(memtable, 'still', 1)).toBe(0);
  // With 2,048 entries it was full, and dropped.
  addTo(5000);
  // The next index is made by ten lookups, each of which puts 500 nodes into it. The tenth has the whole of it.
  expect(searches(memtable, 'again', 1000)).toBe(5000 / 8 - 201 - 1 + 9);
  const added = Array.from({ length: 4999 }, (_, i) => `key ${i + 1}`);
  expect(added.filter((key) => memtable.find(encodeInternalKey({ userKey: Buffer.from(key), sequence: 5n, type: 0xff })) === 0)).toEqual([]);
});

test.each(['before', 'after'])('lookups search the skip list where a thousand keys with the same hash were added %s the index was made', (when) => {
  const memtable = new Memtable(compareInternalKeys);
  const last = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
  add(memtable, last, 1n, 1, new Uint8Array(0));
  if (when === 'after') {
    for (let n = 0; n < 300; n++) add(memtable, Buffer.from(`key ${n}`), 1n, 1, new Uint8Array(0));
    expect(searches(memtable, 'none', 100)).toBe(37);
  }
  const keys = collidingKeys(1000);
  for (const key of keys) add(memtable, key, 1n, 1, new Uint8Array(0));
  expect(searches(memtable, 'absent', 1000)).toBe(1000);
  for (const userKey of keys) {
    const key = encodeInternalKey({ userKey, sequence: 5n, type: 0xff });
    const node = memtable.find(key);
    expect(node).toBe(memtable.seek(key));
    expect(hex(memtable.arena.subarray(memtable.keyStart(node), memtable.keyStart(node) + 8))).toBe(hex(userKey));
  }
});

test('lookups search the skip list of a memtable in an order of the user’s', () => {
  const memtable = new Memtable(orders.reverse);
  add(memtable, Uint8Array.of(5), 1n, 1, new Uint8Array(0));
  const key = encodeInternalKey({ userKey: Uint8Array.of(6), sequence: 5n, type: 0xff });
  for (let i = 0; i < 100; i++) expect(memtable.find(key)).toBe(memtable.seek(key));
  expect(memtable.seek(key)).not.toBe(0);
});

test('a memtable makes room for the expected bytes at once, at least 1,024, and more only when they are full', () => {
  expect(new Memtable(compareInternalKeys).arena).toHaveLength(1024);
  expect(new Memtable(compareInternalKeys, 1000).arena).toHaveLength(1024);
  const memtable = new Memtable(compareInternalKeys, 5000);
  const { arena } = memtable;
  expect(arena).toHaveLength(5000);
  // With eight bytes for sequence and type, these are all of it.
  add(memtable, new Uint8Array(92), 1n, 1, new Uint8Array(4900));
  expect(memtable.arena).toBe(arena);
  add(memtable, new Uint8Array(0), 2n, 1, new Uint8Array(0));
  expect(memtable.arena).toHaveLength(10_000);
  expect(hex(memtable.arena.subarray(0, 5000))).toBe(hex(arena));
});

test('an entry is a copy if the previous one has the same internal key, and a walk over entries visits only the copy added last', () => {
  const memtable = new Memtable(compareInternalKeys);
  const [a, b] = [Uint8Array.of(1), Uint8Array.of(1, 0)];
  const values: [userKey: Uint8Array, sequence: bigint, type: number, value: number][] = [
    [b, 7n, 1, 1], [b, 7n, 1, 2], [a, 7n, 1, 3], [a, 7n, 0, 4], [a, 7n, 1, 5], [a, 7n + 256n, 1, 6], [a, 7n + 2n ** 40n, 1, 7], [a, 8n, 1, 8], [a, 7n, 1, 9], [b, 8n, 1, 10], [b, 8n, 1, 11],
  ];
  for (const [userKey, sequence, type, value] of values) add(memtable, userKey, sequence, type, Uint8Array.of(value));
  const cursor = new MemtableCursor(memtable);
  const all: [value: number, isCopy: boolean][] = [];
  for (cursor.seekToFirst(); cursor.valid; cursor.next()) all.push([cursor.entry.valueBytes[cursor.entry.valueStart]!, cursor.isCopy]);
  expect(all).toEqual([[7, false], [6, false], [8, false], [9, false], [5, true], [3, true], [4, false], [11, false], [10, true], [2, false], [1, true]]);
  const entries = new MemtableEntries(memtable);
  const visited: number[] = [];
  for (entries.seekToFirst(); entries.valid; entries.next()) visited.push(entries.entry.valueBytes[entries.entry.valueStart]!);
  expect(visited).toEqual([7, 6, 8, 9, 4, 11, 2]);
});

test('every move in a memtable ends synchronously, and finds nothing if there is nothing', () => {
  for (const memtable of [new Memtable(compareInternalKeys), new Memtable(orders.reverse)]) {
    const key = encodeInternalKey({ userKey: Uint8Array.of(1), sequence: 5n, type: 1 });
    const moves = (cursor: MemtableCursor): [isOver: boolean, isValid: boolean][] => [
      [cursor.seekToFirst(), cursor.valid],
      [cursor.seekToLast(), cursor.valid],
      ...(['at-or-after', 'after', 'at-or-before', 'before'] as const).map((side): [boolean, boolean] => [cursor.seek(key, side), cursor.valid]),
      [cursor.seekToFirst() && (!cursor.valid || cursor.next()), cursor.valid],
      [cursor.seekToLast() && (!cursor.valid || cursor.prev()), cursor.valid],
    ];
    const none = [true, false];
    expect(moves(new MemtableCursor(memtable))).toEqual(Array(8).fill(none));
    expect(memtable.find(key)).toBe(0);
    add(memtable, Uint8Array.of(1), 5n, 1, new Uint8Array(0));
    const one = [true, true];
    expect(moves(new MemtableCursor(memtable))).toEqual([one, one, one, none, one, none, none, none]);
    expect(moves(new MemtableEntries(memtable))).toEqual([one, one, one, none, one, none, none, none]);
  }
});

test('a memtable bounds its table by the bytes of its entries', () => {
  const memtable = new Memtable(compareInternalKeys);
  const bound = new TableBound();
  for (const [key, value] of [[8, 16_384], [300, 10], [2000, 20_000]] as const) {
    add(memtable, new Uint8Array(key), 1n, 1, new Uint8Array(value));
    bound.addUserKey(key, value);
    expect([memtable.tableBound.blockBytes(4096), memtable.tableBound.indexBytes(4096)]).toEqual([bound.blockBytes(4096), bound.indexBytes(4096)]);
  }
});

/** Adds random entries, some of which are longer than a block. @returns them in the order of their internal keys. */
function someEntries(memtable: Memtable, random: Random, count: number): Entry[] {
  const entries = Array.from({ length: count }, (_, i) => add(memtable, random.bytes(1 + random.below(20)), BigInt(i + 1), 1, random.bytes(random.below(i % 50 === 0 ? 20_000 : 60))));
  return entries.sort((a, b) => compareInternalKeys(a.key, 0, a.key.length, b.key, 0, b.key.length));
}

/** The entries of a block, of which each key is stored whole, with their positions. */
function* blockEntries(contents: Uint8Array): Generator<{ position: number; shown: string }> {
  const reader = new VarintReader(contents);
  // The block ends with one restart point, at 0.
  expect(hex(contents.subarray(-8))).toBe('0000000001000000');
  while (reader.position < contents.length - 8) {
    const { position } = reader;
    expect(reader.varint32()).toBe(0);
    const keyLength = reader.varint32();
    const valueLength = reader.varint32();
    const valueStart = reader.position + keyLength;
    yield { position, shown: shown({ key: contents.subarray(reader.position, valueStart), value: contents.subarray(valueStart, valueStart + valueLength) }) };
    reader.position = valueStart + valueLength;
  }
}

/** The moves that set the direction of the blocks, with the number of the entry on which each of them lands. */
const starts = (keys: readonly Uint8Array[], middle: number): [isReverse: boolean, index: number, move: (cursor: MemtableCursor) => unknown][] => [
  [false, 0, (cursor) => cursor.seekToFirst()],
  [false, middle, (cursor) => cursor.seek(keys[middle]!, 'at-or-after')],
  [false, middle + 1, (cursor) => cursor.seek(keys[middle]!, 'after')],
  [true, keys.length - 1, (cursor) => cursor.seekToLast()],
  [true, middle, (cursor) => cursor.seek(keys[middle]!, 'at-or-before')],
  [true, middle - 1, (cursor) => cursor.seek(keys[middle]!, 'before')],
];

test('the blocks of a memtable have all its entries from a place on, in either direction, and a cursor skips to any of them', () => {
  const random = seeded(5);
  const memtable = new Memtable(compareInternalKeys);
  const entries = someEntries(memtable, random, 400);
  const texts = entries.map(shown);
  for (const [isReverse, index, move] of starts(entries.map(({ key }) => key), 200)) {
    for (const isSkipping of [false, true]) {
      const cursor = new MemtableCursor(memtable);
      move(cursor);
      const step = isReverse ? -1 : 1;
      let current = index;
      for (let blocks = 0; cursor.valid; blocks++) {
        if (blocks > 400) expect.fail('there is no end of blocks');
        expect(at(cursor)).toBe(texts[current]);
        const { contents, position } = cursor.block;
        expect(cursor.block).toEqual({ contents, position });
        const inBlock = [...blockEntries(contents)];
        const length = inBlock.length;
        const [first, end] = isReverse ? [current - length + 1, current + 1] : [current, current + length];
        expect(inBlock.map((entry) => entry.shown)).toEqual(texts.slice(first, end));
        expect(position).toBe(inBlock.at(isReverse ? -1 : 0)!.position);
        const skipped = random.below(length);
        cursor.skip(isSkipping ? skipped : 0);
        if (isSkipping) {
          current += step * skipped;
          expect(at(cursor)).toBe(texts[current]);
          // From there on, the next block has further entries.
          if (skipped > 0 && random.below(2) === 0) continue;
        }
        current = isReverse ? first - 1 : end;
        cursor.nextBlock();
      }
      expect(current).toBe(isReverse ? -1 : entries.length);
    }
  }
});

test('the bounds of a memtable are copies of its first and last key', () => {
  const memtable = new Memtable(compareInternalKeys);
  const entries = someEntries(memtable, seeded(6), 30);
  const { smallest, largest } = memtable.bounds;
  expect([hex(smallest), hex(largest)]).toEqual([hex(entries[0]!.key), hex(entries.at(-1)!.key)]);
  smallest.fill(0);
  expect(hex(memtable.bounds.smallest)).toBe(hex(entries[0]!.key));
});

test('a memtable that follows a full one, or takes its arrays, is empty and has the same capacity, up to 8 MiB', () => {
  const full = new Memtable(compareInternalKeys);
  const entries = someEntries(full, seeded(7), 1000);
  const { arena } = full;
  const following = Memtable.following(full, compareInternalKeys);
  expect(following.arena).toHaveLength(arena.length);
  expect(full.count).toBe(1000);
  const reusing = Memtable.reusing(full, compareInternalKeys);
  expect(reusing.arena).toBe(arena);
  for (const memtable of [following, reusing]) {
    expect([memtable.count, memtable.first, memtable.last, memtable.seek(entries[500]!.key)]).toEqual([0, 0, 0, 0]);
    const again = someEntries(memtable, seeded(8), 300).map(shown);
    const cursor = new MemtableCursor(memtable);
    const found: (string | undefined)[] = [];
    for (cursor.seekToFirst(); cursor.valid; cursor.next()) found.push(at(cursor));
    expect(found).toEqual(again);
  }
  const large = new Memtable(compareInternalKeys, 20 * 2 ** 20);
  expect(Memtable.following(large, compareInternalKeys).arena).toHaveLength(8 * 2 ** 20);
});

test('a memtable is lent once it has a cursor', () => {
  const memtable = new Memtable(compareInternalKeys);
  expect(memtable.isLent).toBe(false);
  expect(new MemtableCursor(memtable).valid).toBe(false);
  expect(memtable.isLent).toBe(true);
});
