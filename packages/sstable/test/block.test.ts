import { fromHex, vectors } from '@bloom/fixtures';
import { bytewiseComparator, CorruptionError } from '@bloom/sstable';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { BlockSearch } from '../src/format/block-search.js';
import { compareRangeOf } from '../src/format/comparator.js';
import { caught } from './caught.js';
import { hex, sameEntries, utf8 } from './entries.js';

type Entry = readonly [Uint8Array, Uint8Array];

function build(entries: Iterable<Entry>, restartInterval: number): Uint8Array {
  const builder = new BlockBuilder(restartInterval);
  for (const [key, value] of entries) builder.add(key, value);
  return builder.finish().slice();
}

function cursorOn(block: Uint8Array): BlockSearch {
  const cursor = new BlockSearch(compareRangeOf(bytewiseComparator), 'data block', 'a.ldb');
  cursor.reset(block, 4711);
  return cursor;
}

function forwards(cursor: BlockSearch): Entry[] {
  const entries: Entry[] = [];
  for (let more = cursor.seekToFirst(); more; more = cursor.next()) entries.push([cursor.key.slice(), cursor.value.slice()]);
  return entries;
}

function backwards(cursor: BlockSearch): Entry[] {
  const entries: Entry[] = [];
  for (let more = cursor.seekToLast(); more; more = cursor.prev()) entries.push([cursor.key.slice(), cursor.value.slice()]);
  return entries.reverse();
}

/** A block of these entries, in hex, and restarts. */
function rawBlock(entries: string, ...restarts: number[]): Uint8Array {
  const bytes = fromHex(entries);
  const block = new Uint8Array(bytes.length + restarts.length * 4 + 4);
  block.set(bytes);
  const view = new DataView(block.buffer);
  for (const [i, restart] of [...restarts, restarts.length].entries()) view.setUint32(bytes.length + i * 4, restart, true);
  return block;
}

// Measured from LevelDB; the entries of SimpleMulti are those of table/table_test.cc.
test.each(vectors().blocks)('the block "$name" has the bytes that LevelDB writes', ({ restartInterval, entries, bytes }) => {
  const builder = new BlockBuilder(restartInterval);
  for (const [key, value] of entries) builder.add(key, value);
  expect(builder.byteLength).toBe(bytes.length);
  expect(builder.isEmpty).toBe(entries.length === 0);
  expect(hex(builder.finish())).toBe(hex(bytes));
  expect(forwards(cursorOn(bytes))).toEqual(entries);
  expect(backwards(cursorOn(bytes))).toEqual(entries);
});

test('a builder starts a new block after finish, and keeps its last key', () => {
  const builder = new BlockBuilder(16);
  builder.add(utf8('abcdef'), utf8('1'));
  builder.finish();
  expect(builder.lastKey).toEqual(utf8('abcdef'));
  expect(builder.isEmpty).toBe(true);
  // Nothing is shared with the key of the block before.
  builder.add(utf8('abcxyz'), utf8('2'));
  expect(forwards(cursorOn(builder.finish().slice()))).toEqual([[utf8('abcxyz'), utf8('2')]]);
  expect(hex(builder.finish())).toBe('0000000001000000');
});

test.each([
  ['the empty block of LevelDB', '0000000001000000'],
  ['a block of no restarts', '00000000'],
  ['a block of no restarts with bytes before', 'ffffffff00000000'],
])('%s has no entries', (_, block) => {
  const cursor = cursorOn(fromHex(block));
  expect([
    cursor.seekToFirst(),
    cursor.seekToLast(),
    cursor.seek(utf8('')),
    cursor.seek(utf8('a')),
    cursor.next(),
    cursor.prev(),
    cursor.valid,
  ]).toEqual(Array(7).fill(false));
});

test('a cursor is on no entry before its first seek', () => {
  const cursor = cursorOn(build([[utf8('a'), utf8('1')]], 16));
  expect([cursor.valid, cursor.next(), cursor.prev()]).toEqual([false, false, false]);
});

const key = fc.array(fc.constantFrom(0x00, 0x61, 0x62, 0xff), { maxLength: 7 }).map((bytes) => Uint8Array.from(bytes));
const sorted = fc
  .uniqueArray(key, { selector: hex, maxLength: 60 })
  .map((keys) => keys.sort((a, b) => Buffer.compare(a, b)).map((bytes, i): Entry => [bytes, utf8('v'.repeat(i))]));

test('entries are read as they were added, in both directions', () => {
  fc.assert(
    fc.property(sorted, fc.constantFrom(1, 2, 3, 16, 128), (entries, restartInterval) => {
      const block = build(entries, restartInterval);
      return sameEntries(forwards(cursorOn(block)), entries) && sameEntries(backwards(cursorOn(block)), entries);
    }),
  );
});

test('a block of many entries and one restart is read backwards, from its last entry and from any other', () => {
  // Keys that grow and shrink, so that an entry overwrites much of the previous key or little of it.
  const entries = Array.from({ length: 300 }, (_, i): Entry => [utf8(`${String(i).padStart(3, '0')}${'x'.repeat((i * 37) % 101)}`), utf8(`value ${i}`)]);
  const cursor = cursorOn(build(entries, 1000));
  expect(sameEntries(backwards(cursor), entries)).toBe(true);
  for (const i of [0, 1, 63, 64, 65, 128, 129, 200, 298]) {
    expect(cursor.seek(entries[i]![0])).toBe(true);
    const before: Entry[] = [];
    while (cursor.prev()) before.push([cursor.key.slice(), cursor.value.slice()]);
    expect(sameEntries(before.reverse(), entries.slice(0, i))).toBe(true);
  }
});

test('a seek finds the first entry at or after the key', () => {
  fc.assert(
    fc.property(sorted, fc.constantFrom(1, 2, 16), key, (entries, restartInterval, target) => {
      const cursor = cursorOn(build(entries, restartInterval));
      const expected = entries.find(([other]) => Buffer.compare(other, target) >= 0);
      return cursor.seek(target) === (expected !== undefined) && (!expected || hex(cursor.key) === hex(expected[0]));
    }),
  );
});

/** A block whose entries share fewer bytes than they could, as `shares` says: a writer is free to. */
function buildSharingLess(entries: readonly Entry[], restartInterval: number, shares: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  const restarts: number[] = [];
  let last: Uint8Array = new Uint8Array();
  for (const [i, [key, value]] of entries.entries()) {
    let shared = 0;
    while (shared < last.length && shared < key.length && last[shared] === key[shared]) shared++;
    shared = Math.min(shared, shares[i % shares.length]!);
    if (i % restartInterval === 0) {
      restarts.push(bytes.length);
      shared = 0;
    }
    bytes.push(shared, key.length - shared, value.length, ...key.subarray(shared), ...value);
    last = key;
  }
  return rawBlock(Buffer.from(bytes).toString('hex'), ...(restarts.length === 0 ? [0] : restarts));
}

// The order of bytes has a search of its own, which does not put every key together.
test('a bytewise seek ends on the same entry as a seek with any comparator, however much the entries share', () => {
  const shares = fc.array(fc.constantFrom(0, 1, 2, 9), { minLength: 1, maxLength: 5 });
  const { compareRange: _, ...withoutRanges } = bytewiseComparator;
  fc.assert(
    fc.property(sorted, fc.constantFrom(1, 2, 16), shares, key, (entries, restartInterval, share, target) => {
      const block = buildSharingLess(entries, restartInterval, share);
      const ends = [compareRangeOf(bytewiseComparator), compareRangeOf(withoutRanges)].map(
        (compare) => {
          const cursor = new BlockSearch(compare, 'data block');
          cursor.reset(block, 0);
          const steps: string[] = [];
          for (let more = cursor.seek(target); more; more = cursor.next()) steps.push(`${hex(cursor.key)}=${hex(cursor.value)}`);
          return steps.join();
        },
      );
      const expected = entries.filter(([other]) => Buffer.compare(other, target) >= 0).map(([k, v]) => `${hex(k)}=${hex(v)}`);
      return ends.every((end) => end === expected.join());
    }),
    { numRuns: 1000 },
  );
});

test('next and prev move to adjacent entries in any sequence', () => {
  fc.assert(
    fc.property(sorted, fc.constantFrom(1, 2, 16), fc.array(fc.boolean()), (entries, restartInterval, steps) => {
      const cursor = cursorOn(build(entries, restartInterval));
      let place = Math.floor(entries.length / 2);
      if (entries.length === 0 || !cursor.seek(entries[place]![0])) return entries.length === 0;
      for (const forward of steps) {
        place += forward ? 1 : -1;
        const expected = entries[place];
        if ((forward ? cursor.next() : cursor.prev()) !== (expected !== undefined)) return false;
        if (expected === undefined) return !cursor.valid;
        if (hex(cursor.key) !== hex(expected[0]) || hex(cursor.value) !== hex(expected[1])) return false;
      }
      return true;
    }),
  );
});

describe('damage', () => {
  test.each([
    ['no bytes', ''],
    ['three bytes', '010000'],
    ['two restarts in eight bytes', '0000000002000000'],
    ['more restarts than there can be', '00000000ffffffff'],
    ['as many restarts as make the sum wrap', '0000000000000040'],
    ['a first restart that is not at 0', '0100000001000000'],
  ])('reset rejects a block of %s', (_, block) => {
    const error = caught(() => cursorOn(fromHex(block)));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711, file: 'a.ldb' });
  });

  // Good ones to start with: a = 1, ab = 2, ac = 3.
  const good = '000101 61 31  010101 62 32  010101 63 33';

  test('without damage the blocks of these tests are good', () => {
    expect(forwards(cursorOn(rawBlock(good, 0)))).toEqual([
      [utf8('a'), utf8('1')],
      [utf8('ab'), utf8('2')],
      [utf8('ac'), utf8('3')],
    ]);
  });

  test.each([
    ['an entry that runs past the restarts by its value', rawBlock('000102 61 31', 0)],
    ['a second entry that runs past the restarts by its value', rawBlock('000101 61 31 010105 62 32', 0)],
    ['an entry that runs past the restarts by its key', rawBlock('000901 61 31', 0)],
    ['lengths whose sum wraps at 2^32', rawBlock('00ffffffff0f03 61 31', 0)],
    ['a value of 4 GiB', rawBlock('0001ffffffff0f 61 31', 0)],
    ['a length that does not end', rawBlock('0001ffffffffffffff 61 31', 0)],
    ['lengths that the end of the entries cuts', rawBlock('000101 61 31 01', 0)],
    ['a second length that the end of the entries cuts', rawBlock('000101 61 31 0180', 0)],
    ['a key that shares more than the key before has', rawBlock('000101 61 31 020101 62 32', 0)],
    ['a first entry that shares', rawBlock('010101 61 31', 0)],
    ['an entry at the second restart that shares', rawBlock('000101 61 31 010101 62 32', 0, 5)],
    ['a shared length of 4 GiB', rawBlock('000101 61 31 ffffffff0f0101 62 32', 0)],
  ])('%s is reported forwards and backwards', (_, block) => {
    for (const walk of [forwards, backwards]) {
      const cursor = cursorOn(block);
      const error = caught(() => walk(cursor));
      expect(error).toBeInstanceOf(CorruptionError);
      expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711, file: 'a.ldb' });
      expect(cursor.valid).toBe(false);
    }
    expect(caught(() => cursorOn(block).seek(utf8('zz')))).toMatchObject({ code: 'BLOOM_BAD_BLOCK' });
  });

  test.each([
    ['past the entries', rawBlock(good, 0, 15)],
    ['far past the entries', rawBlock(good, 0, 0xffffffff)],
  ])('a restart %s is reported by a seek and when moving backwards', (_, block) => {
    for (const move of [(cursor: BlockSearch) => cursor.seek(utf8('zz')), backwards]) {
      const error = caught(() => move(cursorOn(block)));
      expect(error).toBeInstanceOf(CorruptionError);
      expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711 });
    }
  });

  test('for any bytes, every move ends, and throws only CorruptionError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 60 }), fc.nat({ max: 3 }), (entries, restarts) => {
        const block = rawBlock(hex(entries), 0, ...Array.from({ length: restarts }, (_, i) => i * 7));
        const moves = [forwards, backwards, (cursor: BlockSearch) => cursor.seek(utf8('m'))];
        return moves
          .map((move) => caught(() => move(cursorOn(block))))
          .every((error) => error === undefined || error instanceof CorruptionError);
      }),
      { numRuns: 2000 },
    );
  });
});
