import { fromHex, vectors } from '@bloom/fixtures';
import { bytewiseComparator, CorruptionError } from '@bloom/sstable';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { BlockSearch } from '../src/format/block-search.js';
import { BlockWalk } from '../src/format/block-walk.js';
import { compareBytes, type CompareRange } from '../src/format/bytewise-order.js';
import { compareRangeOf } from '../src/format/checked-comparator.js';
import { caught } from '@bloom/fixtures/caught';
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
  // The first key shares nothing with the last key of the previous block.
  builder.add(utf8('abcxyz'), utf8('2'));
  expect(forwards(cursorOn(builder.finish().slice()))).toEqual([[utf8('abcxyz'), utf8('2')]]);
  expect(hex(builder.finish())).toBe('0000000001000000');
});

test.each([
  ['the empty block of LevelDB', '0000000001000000'],
  ['a block of no restarts', '00000000'],
  ['a block of no restarts with bytes before', 'ffffffff00000000'],
  ['a block of two restarts and nothing else', '000000000000000002000000'],
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

test('a walk without a block is on no entry', () => {
  const walk = new BlockWalk('data block');
  expect([walk.valid, walk.next(), walk.prev(), walk.seekToFirst(), walk.seekToLast(), walk.valid]).toEqual(Array(6).fill(false));
});

test('a cursor past either end is not on an entry, and next and prev are no-ops', () => {
  const cursor = cursorOn(build([[utf8('a'), utf8('1')], [utf8('b'), utf8('2')], [utf8('c'), utf8('3')]], 16));
  const ends = [
    () => cursor.seekToLast() && cursor.next(),
    () => cursor.seekToFirst() && cursor.prev(),
    () => cursor.seekToFirst() && cursor.seek(utf8('d')),
  ];
  for (const end of ends) {
    expect([end(), cursor.valid, cursor.prev(), cursor.valid]).toEqual(Array(4).fill(false));
    expect([end(), cursor.valid, cursor.next(), cursor.valid]).toEqual(Array(4).fill(false));
  }
});

test('a walk recognises arrays that are views of its memory', () => {
  const cursor = cursorOn(build([[utf8('a'), utf8('1')]], 16));
  cursor.seekToFirst();
  const { key, value } = cursor;
  expect([key, value, key.slice(), value.slice()].map((bytes) => cursor.lends(bytes))).toEqual([true, true, false, false]);
});

// The lengths at which a varint takes another byte.
test('shared, unshared and value lengths of 0 to 16,384 bytes are read as they were written', () => {
  const lengths = [0, 1, 127, 128, 16_383, 16_384];
  for (const shared of lengths) {
    for (const unshared of lengths) {
      for (const valueLength of lengths) {
        const first: Entry = [new Uint8Array(shared).fill(1), utf8('first')];
        const second: Entry = [new Uint8Array(shared + unshared).fill(2).fill(1, 0, shared), new Uint8Array(valueLength).fill(3)];
        const entries = [first, second];
        const block = build(entries, 16);
        expect(sameEntries(forwards(cursorOn(block)), entries) && sameEntries(backwards(cursorOn(block)), entries), `${shared}, ${unshared}, ${valueLength}`).toBe(true);
      }
    }
  }
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

test('a block with many entries and a single restart is read backwards from any entry', () => {
  // Keys grow and shrink, so that an entry overwrites much or little of the previous key.
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

/** A block whose entries share at most as many bytes as `shares` says. The format allows sharing less than possible. */
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

// Bytewise order has a special search, which does not assemble every key.
test('a bytewise seek finds the same entry as a seek with any comparator, however much the entries share', () => {
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

test('a seek follows the comparator’s order, whatever it is', () => {
  const backwardsOrder: CompareRange = (a, aStart, aEnd, b, bStart, bEnd) => compareBytes(b, bStart, bEnd, a, aStart, aEnd);
  const keys = ['zebra crossing', 'zebra', 'yellow submarine', 'yak', 'common prefix 2', 'common prefix 1', 'a', ''];
  for (const restartInterval of [1, 3, 16]) {
    const cursor = new BlockSearch(backwardsOrder, 'data block');
    cursor.reset(build(keys.map((key) => [utf8(key), utf8('value')]), restartInterval), 0);
    const found = ['zz', ...keys, 'zebra c', 'yb', 'common prefix 3', 'common prefix 15', 'b'].map((key) => {
      expect(cursor.seek(utf8(key))).toBe(true);
      return Buffer.from(cursor.key).toString();
    });
    expect(found).toEqual([keys[0], ...keys, keys[1], keys[3], keys[4], keys[5], keys[6]]);
  }
});

test('a seek takes its key from inside a larger array', () => {
  fc.assert(
    fc.property(sorted, fc.constantFrom(1, 2, 16), key, fc.uint8Array({ maxLength: 9 }), key, (entries, restartInterval, target, before, after) => {
      const cursor = cursorOn(build(entries, restartInterval));
      const array = Uint8Array.of(...before, ...target, ...after);
      const isFound = cursor.seek(array, before.length, before.length + target.length);
      const expected = entries.find(([other]) => Buffer.compare(other, target) >= 0);
      return isFound === (expected !== undefined) && (!expected || sameEntries([[cursor.key, cursor.value]], [expected]));
    }),
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

test('the bytes of a value before the restarts are not taken for a restart after a move backwards', () => {
  // The last value is 5 as a uint32, and the second entry, which shares, starts at byte 5.
  const cursor = cursorOn(rawBlock('000101 61 31  010101 62 32  010104 63 05000000', 0));
  const moves = [cursor.seekToLast(), cursor.prev(), cursor.prev(), cursor.next(), cursor.next()];
  expect(moves).toEqual([true, true, true, true, true]);
  expect(hex(cursor.key)).toBe(hex(utf8('ac')));
});

describe('damage', () => {
  test.each([
    ['no bytes', '', '0 bytes cannot be a block'],
    ['three bytes', '010000', '3 bytes cannot be a block'],
    ['one restart in seven bytes', '00000001000000', '1 restart would not fit in 7 bytes'],
    ['two restarts in eight bytes', '0000000002000000', '2 restarts would not fit in 8 bytes'],
    ['more restarts than there can be', '00000000ffffffff', '4294967295 restarts would not fit in 8 bytes'],
    ['as many restarts as make the sum wrap', '0000000000000040', '1073741824 restarts would not fit in 8 bytes'],
    ['a first restart that is not at 0', '0100000001000000', 'restart 0 is at byte 1, not at 0'],
  ])('reset rejects a block of %s', (_, block, problem) => {
    const error = caught(() => cursorOn(fromHex(block)));
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711, file: 'a.ldb', problem });
  });

  // The undamaged entries: a = 1, ab = 2, ac = 3.
  const good = '000101 61 31  010101 62 32  010101 63 33';

  test('the blocks of these tests are valid without the damage', () => {
    expect(forwards(cursorOn(rawBlock(good, 0)))).toEqual([
      [utf8('a'), utf8('1')],
      [utf8('ab'), utf8('2')],
      [utf8('ac'), utf8('3')],
    ]);
  });

  const past = (entry: number, end: number): string => `the entry at byte ${entry} runs past the entries' end at byte ${end}`;
  const unreadable = (entry: number): string => `the lengths of the entry at byte ${entry} cannot be read`;

  test.each([
    ['an entry that runs past the restarts by its value', rawBlock('000102 61 31', 0), past(0, 5)],
    ['a second entry that runs past the restarts by its value', rawBlock('000101 61 31 010105 62 32', 0), past(5, 10)],
    ['an entry that runs past the restarts by its key', rawBlock('000901 61 31', 0), past(0, 5)],
    ['lengths whose sum wraps at 2^32', rawBlock('00ffffffff0f03 61 31', 0), past(0, 9)],
    ['a value of 4 GiB', rawBlock('0001ffffffff0f 61 31', 0), past(0, 9)],
    ['a length of a value that does not end', rawBlock('0001ffffffffffffff 61 31', 0), unreadable(0)],
    ['a length of a key that does not end', rawBlock('000101 61 31 01ffffffffff01', 0), unreadable(5)],
    ['a shared length that does not end', rawBlock('000101 61 31 ffffffffff0000', 0), unreadable(5)],
    ['a shared length that does not end, and a key', rawBlock('000101 61 31 ffffffffff00 62', 0), unreadable(5)],
    ['lengths that the end of the entries cuts', rawBlock('000101 61 31 01', 0), unreadable(5)],
    ['a second length that the end of the entries cuts', rawBlock('000101 61 31 0180', 0), unreadable(5)],
    ['a key that shares more than the key before has', rawBlock('000101 61 31 020101 62 32', 0), 'the entry at byte 5 shares 2 key bytes, but the previous key has 1'],
    ['a first entry that shares', rawBlock('010101 61 31', 0), 'the entry at byte 0 is at a restart, but its key is not whole'],
    ['an entry at the second restart that shares', rawBlock('000101 61 31 010101 62 32', 0, 5), 'the entry at byte 5 is at a restart, but its key is not whole'],
    ['a shared length of 4 GiB', rawBlock('000101 61 31 ffffffff0f0101 62 32', 0), 'the entry at byte 5 shares 4294967295 key bytes, but the previous key has 1'],
  ])('%s is reported forwards, backwards and by a seek', (_, block, problem) => {
    for (const walk of [forwards, backwards, (cursor: BlockSearch) => cursor.seek(utf8('zz'))]) {
      const cursor = cursorOn(block);
      const error = caught(() => walk(cursor));
      expect(error).toBeInstanceOf(CorruptionError);
      expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711, file: 'a.ldb', problem });
      expect(cursor.valid).toBe(false);
    }
  });

  test('damage before the last restart is reported when moving backwards reaches it', () => {
    const cursor = cursorOn(rawBlock('000101 61 31  020101 62 32  000101 63 33', 0, 10));
    expect([cursor.seekToLast(), hex(cursor.key)]).toEqual([true, '63']);
    expect(caught(() => cursor.prev())).toMatchObject({ code: 'BLOOM_BAD_BLOCK', problem: 'the entry at byte 5 shares 2 key bytes, but the previous key has 1' });
    expect([cursor.valid, cursor.prev(), cursor.next()]).toEqual([false, false, false]);
  });

  test('an entry at a restart that shares bytes is reported by a seek that compares with it, even for a key before it', () => {
    const cursor = cursorOn(rawBlock('000101 61 31 010101 62 32', 0, 5));
    expect(caught(() => cursor.seek(utf8('a')))).toMatchObject({ code: 'BLOOM_BAD_BLOCK', problem: 'the entry at byte 5 is at a restart, but its key is not whole' });
    expect(cursor.valid).toBe(false);
  });

  test('a restart inside an entry is reported when moving backwards from it', () => {
    // The value of the only entry looks like an entry.
    const cursor = cursorOn(rawBlock('000105 61 0001016232', 0, 4));
    expect([cursor.seekToLast(), hex(cursor.key)]).toEqual([true, '62']);
    expect(caught(() => cursor.prev())).toMatchObject({ code: 'BLOOM_BAD_BLOCK', problem: 'an entry starts at byte 4, but the one before it does not end there' });
    expect(cursor.valid).toBe(false);
  });

  test.each([
    ['past the entries', rawBlock(good, 0, 15), 15],
    ['far past the entries', rawBlock(good, 0, 0xffffffff), 0xffffffff],
  ])('a restart %s is reported by a seek and when moving backwards', (_, block, restart) => {
    const past = `restart 1 is at byte ${restart}, past the entries' end at byte 15`;
    // A seek reads the entry at the restart first.
    for (const [move, problem] of [[(cursor: BlockSearch) => cursor.seek(utf8('zz')), unreadable(restart)], [backwards, past]] as const) {
      const error = caught(() => move(cursorOn(block)));
      expect(error).toBeInstanceOf(CorruptionError);
      expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'data block', offset: 4711, problem });
    }
  });

  test('every move over random bytes ends, and throws only a CorruptionError', () => {
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
