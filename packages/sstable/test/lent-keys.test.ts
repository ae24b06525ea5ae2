import { bytewiseComparator, type Comparator, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { DatabaseTable, encodeInternalKey, internalKeyComparator, internalKeyPolicy, SyncDatabaseTable, VALUE } from '@bloom/sstable/database';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect, hex, numberedEntries, sameEntries, utf8 } from './entries.js';
import { WatchedSource } from './sources.js';

const entries = numberedEntries(2000, 60);
const keys = entries.map(([key]) => key);
const bytes = buildTable(entries, { compression: 'none' });

/** Bytewise order by a comparator that no fast path recognises. */
const ownComparator: Comparator = {
  name: 'test.Own',
  compare: bytewiseComparator.compare,
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/** A table without a cache, so that blocks are read each time. */
async function opened(): Promise<Table> {
  return Table.open(new WatchedSource(bytes), { cache: null, tailBytes: 48 });
}

/** Yields each key in the same buffer, like a program that reads keys from a file. */
class ReusedKey {
  readonly buffer = new Uint8Array(keys[0]!.length);

  set(key: Uint8Array): Uint8Array {
    this.buffer.set(key);
    return this.buffer;
  }
}

describe('a key whose buffer is reused immediately', () => {
  test('is looked up as it was when get was called', async () => {
    const table = await opened();
    const reused = new ReusedKey();
    // The keys are adjacent, so that the later one is in the block of the earlier one.
    const lookups = keys.slice(700, 720).map((key) => table.get(reused.set(key)));
    reused.buffer.fill(0);
    expect(await Promise.all(lookups)).toEqual(entries.slice(700, 720).map(([, value]) => value));
  });

  test('is looked up as it was even if it is a Buffer, whose slice is a view', async () => {
    const table = await opened();
    const reused = Buffer.from(keys[700]!);
    const lookup = table.get(reused);
    keys[701]!.forEach((byte, i) => (reused[i] = byte));
    expect(await lookup).toEqual(entries[700]![1]);
  });

  test('is looked up as it was when find was called', async () => {
    const table = await opened();
    const reused = new ReusedKey();
    const lookups = keys.slice(700, 720).map((key) => table.find(reused.set(key), (found) => hex(found) === hex(key)));
    reused.buffer.fill(0);
    expect(await Promise.all(lookups)).toEqual(entries.slice(700, 720));
  });

  test('is looked up as it was when a list lent it to getMany', async () => {
    const table = await opened();
    const reused = new ReusedKey();
    function* lent(): Generator<Uint8Array> {
      for (const key of keys) yield reused.set(key);
      reused.buffer.fill(0);
    }
    const found = await table.getMany(lent());
    expect(sameEntries(found.map((value, i) => [keys[i]!, value ?? utf8('absent')]), entries)).toBe(true);
    const list = keys.slice(5, 8).map((key) => key.slice());
    const values = table.getMany(list);
    for (const key of list) key.fill(0);
    expect(await values).toEqual(entries.slice(5, 8).map(([, value]) => value));
  });

  test('bounds a scan as it was when the scan started', async () => {
    const expected = entries.slice(100, 900);
    for (const table of [await opened(), SyncTable.open(new MemorySource(bytes))]) {
      for (const reverse of [false, true]) {
        for (const [lower, upper] of [['gte', 'lt'], ['gt', 'lte']] as const) {
          const from = keys[lower === 'gte' ? 100 : 99]!.slice();
          const to = keys[upper === 'lt' ? 900 : 899]!.slice();
          const walk = table.entries({ [lower]: from, [upper]: to, reverse });
          from.fill(0xff);
          to.fill(0);
          const found = Symbol.asyncIterator in walk ? await collect(walk) : [...walk];
          expect(sameEntries(reverse ? found.reverse() : found, expected), `${lower} ${upper} ${reverse}`).toBe(true);
        }
      }
    }
  });

  test('is sought by a cursor as it was when the move began', async () => {
    const cursor = (await opened()).cursor();
    const reused = new ReusedKey();
    const move = cursor.seek(reused.set(keys[1234]!));
    reused.buffer.fill(0);
    expect([await move, hex(cursor.key)]).toEqual([true, hex(keys[1234])]);
  });

  test('is looked up in a table of a database as it was when the call was made', async () => {
    const versions = entries.map(([userKey, value]) => [encodeInternalKey({ userKey, sequence: 5n, type: VALUE }), value] as const);
    const file = buildTable(versions, { comparator: internalKeyComparator(), filterPolicy: internalKeyPolicy(new BloomFilterPolicy()) });
    const table = await DatabaseTable.open(new WatchedSource(file), { cache: null });
    const reused = new ReusedKey();
    const lookups = keys.slice(700, 720).map((key) => table.get(reused.set(key)));
    const walk = table.entries({ gte: reused.set(keys[300]!), limit: 1 });
    const syncWalk = SyncDatabaseTable.open(new MemorySource(file)).entries({ gte: reused.set(keys[300]!), limit: 1 });
    reused.buffer.fill(0);
    expect((await Promise.all(lookups)).map((entry) => entry?.value)).toEqual(entries.slice(700, 720).map(([, value]) => value));
    expect([(await collect(walk))[0]?.key, [...syncWalk][0]?.key].map(hex)).toEqual([hex(keys[300]), hex(keys[300])]);
  });
});

describe.each([['by bytes', bytewiseComparator], ['with a custom comparator', ownComparator]])('a cursor %s', (_, comparator) => {
  // Each key shares less with the keys before it, so that the search for it overwrites it.
  const words = ['aaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaab', 'aaaaaaaabbbbbbbb', 'aaaabbbbbbbbbbbb', 'b', 'bcdefghijklmnop', 'c'].map(utf8);
  const table = buildTable(words.map((key) => [key, key]), { comparator });

  test('seeks its own key, or a part of it', async () => {
    const syncCursor = SyncTable.open(new MemorySource(table), { comparator }).cursor();
    const cursor = (await Table.open(new WatchedSource(table), { comparator, cache: null })).cursor();
    for (const key of words) {
      expect(syncCursor.seek(key) && syncCursor.seek(syncCursor.key) && hex(syncCursor.key)).toBe(hex(key));
      expect((await cursor.seek(key)) && (await cursor.seek(cursor.key)) && hex(cursor.key)).toBe(hex(key));
      // The first word that starts with this word's first byte.
      const first = words.find((word) => word[0] === key[0]!);
      expect(syncCursor.seek(syncCursor.key.subarray(0, 1)) && hex(syncCursor.key)).toBe(hex(first));
    }
  });
});

describe('the key that find passes to matches', () => {
  const table = SyncTable.open(new MemorySource(bytes));

  test('may be kept', () => {
    const kept: Uint8Array[] = [];
    for (const key of keys) table.find(key, (found) => kept.push(found) > 0);
    expect(kept.map(hex)).toEqual(keys.map(hex));
  });

  test('is that of the returned entry, even if matches looks up others', () => {
    const found = table.find(keys[100]!, () => table.get(keys[101]!) !== undefined && table.find(keys[1999]!, () => true) !== undefined);
    expect(found).toEqual(entries[100]);
  });
});

describe('a key whose buffer was transferred, which looks empty', () => {
  const detached = (): Uint8Array => {
    const key = utf8('key 000007');
    structuredClone(key.buffer, { transfer: [key.buffer as ArrayBuffer] });
    return key;
  };
  const message = (name: string): Error => new TypeError(`${name} must be a Uint8Array with its bytes, got one whose ArrayBuffer is detached`);

  test('is rejected by lookups, walks and cursors', async () => {
    // The empty key is stored, and must not be mistaken for it.
    const withEmpty = new MemorySource(buildTable([[new Uint8Array(0), utf8('empty')], ...entries]));
    const syncTable = SyncTable.open(withEmpty);
    const table = await Table.open(withEmpty);
    expect(caught(() => syncTable.get(detached()))).toEqual(message('key'));
    expect(await rejection(table.get(detached()))).toEqual(message('key'));
    expect(caught(() => syncTable.find(detached(), () => true))).toEqual(message('key'));
    expect(caught(() => syncTable.mayContain(detached()))).toEqual(message('key'));
    expect(caught(() => syncTable.approximateOffset(detached()))).toEqual(message('key'));
    expect(caught(() => syncTable.compare(keys[0]!, detached()))).toEqual(message('b'));
    expect(caught(() => syncTable.cursor().seek(detached()))).toEqual(message('key'));
    expect(await rejection(table.cursor().seek(detached()))).toEqual(message('key'));
    expect(caught(() => syncTable.getMany([keys[0]!, detached()]))).toEqual(message('keys[1]'));
    expect(await rejection(table.getMany([keys[0]!, detached()]))).toEqual(message('keys[1]'));
    for (const name of ['gt', 'gte', 'lt', 'lte']) {
      expect(caught(() => syncTable.entries({ [name]: detached() }))).toEqual(message(name));
      expect(caught(() => table.keys({ [name]: detached() }))).toEqual(message(name));
    }
    expect(syncTable.get(new Uint8Array(0))).toEqual(utf8('empty'));
  });

  test('is rejected as a user key, as the bytes of a source, and by builders', () => {
    const table = SyncDatabaseTable.open(new MemorySource(buildTable([], { comparator: internalKeyComparator() })));
    expect(caught(() => table.get(detached()))).toEqual(message('key'));
    expect(caught(() => table.entries({ gte: detached() }))).toEqual(message('gte'));
    expect(caught(() => encodeInternalKey({ userKey: detached(), sequence: 1n, type: VALUE }))).toEqual(message('userKey'));
    expect(caught(() => new MemorySource(detached()))).toEqual(message('bytes'));
    expect(caught(() => buildTable([[utf8('a'), detached()]]))).toEqual(message('value'));
    expect(caught(() => buildTable([[detached(), utf8('a')]]))).toEqual(message('key'));
  });
});

test('bytewiseComparator does not change its arguments, whatever kind of Uint8Array they are', () => {
  const start = Buffer.from('apple');
  const limit = Buffer.from('bzzz');
  bytewiseComparator.findShortestSeparator(Buffer.from(start), limit);
  const successor = Buffer.from('apple');
  bytewiseComparator.findShortSuccessor(successor);
  const separated = Buffer.from('abc');
  bytewiseComparator.findShortestSeparator(separated, Buffer.from('axc'));
  expect([successor, separated].map(String)).toEqual(['apple', 'abc']);
});

test('an array that was lent and then transferred is missed by no other walk', () => {
  const source = new MemorySource(buildTable([[new Uint8Array(0), utf8('empty')], [utf8('pear'), utf8('green')]]));
  const cursor = SyncTable.open(source).cursor();
  const unmoved = [cursor.key, cursor.value];
  cursor.seekToFirst();
  // Empty arrays may share a buffer, which can be transferred once.
  const buffers = new Set([...unmoved, cursor.key].map(({ buffer }) => buffer as ArrayBuffer));
  for (const buffer of buffers) structuredClone(null, { transfer: buffer.byteLength === 0 ? [buffer] : [] });
  const table = SyncTable.open(source);
  expect(table.get(utf8('pear'))).toEqual(utf8('green'));
  const other = table.cursor();
  expect(other.seekToLast()).toBe(true);
  expect(other.key).toEqual(utf8('pear'));
});
