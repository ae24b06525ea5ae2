import { type Place, putVarint, VarintReader } from '@bloom/bytes';
import { fromHex, seeded } from '@bloom/fixtures';
import { bytewiseComparator, CorruptionError } from '@bloom/sstable';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { encodeBlockHandle, readBlockHandle } from '../src/format/block-handle.js';
import { BlockWalk } from '../src/format/block-walk.js';
import { compareBytes, compareInternalBytes, type CompareRange } from '../src/format/bytewise-order.js';
import { compareRangeOf } from '../src/format/checked-comparator.js';
import { IndexBlock } from '../src/format/index-block.js';
import { blockOf } from './assemble-table.js';
import { caught } from '@bloom/fixtures/caught';
import { collectGarbage } from '@bloom/fixtures/collect-garbage';
import { hex, utf8 } from './entries.js';

const place: Place = { structure: 'index block', offset: 900, file: 'a.ldb' };
const compareRange = compareRangeOf(bytewiseComparator);

function indexOf(...entries: (readonly [key: string, offset: number, size: number])[]): Uint8Array {
  return blockOf(entries.map(([key, offset, size]) => [utf8(key), encodeBlockHandle({ offset, size })]));
}

/** The number of lookups after which an index is decoded. */
function lookUpOften(index: IndexBlock): void {
  for (let i = 0; i < 100; i++) index.seek(utf8('m'), compareRange);
}

/** The result of a walk through the entries: each separator with its handle, if it can be read, or the code of the damage. */
function walked(contents: Uint8Array, blocksEnd: number): unknown {
  return outcome(() => {
    const walk = new BlockWalk('index block');
    walk.reset(contents, 0);
    const entries = [];
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      const handle = readBlockHandle(new VarintReader(walk.value));
      const isGood = handle !== undefined && handle.offset + handle.size <= blocksEnd;
      entries.push([hex(walk.key), handle?.offset ?? 0, isGood ? handle.size : -1]);
    }
    return entries;
  });
}

function listed(index: IndexBlock): unknown {
  return Array.from({ length: index.length }, (_, i) => [hex(index.separatorOf(i)), index.offsetOf(i), index.sizeOf(i)]);
}

function outcome(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    return error.code;
  }
}

test('an index returns the offset, size and key of each block', () => {
  const index = IndexBlock.open(indexOf(['d', 0, 100], ['m', 105, 200], ['t', 310, 50]), place, 900);
  const blocks = Array.from({ length: index.length }, (_, i) => [index.separatorOf(i), index.offsetOf(i), index.sizeOf(i)]);
  expect(blocks).toEqual([
    [utf8('d'), 0, 100],
    [utf8('m'), 105, 200],
    [utf8('t'), 310, 50],
  ]);
});

test.each([
  ['', 0],
  ['a', 0],
  ['d', 0],
  ['d\0', 1],
  ['m', 1],
  ['n', 2],
  ['t', 2],
  ['t\0', 3],
  ['z', 3],
])('the block that can hold %j is %i', (key, block) => {
  const index = IndexBlock.open(indexOf(['d', 0, 100], ['m', 105, 200], ['t', 310, 50]), place, 900);
  expect(index.seek(utf8(key), compareRange)).toBe(block);
});

// The search compares numbers made of the bytes after the common prefix. Prefixes, zeros and long equal ends are hard for it.
test('a bytewise search finds the same block as a search with any comparator', () => {
  const part = fc.constantFrom('', 'a', 'b', '\0', '\0\0', '\xff', 'aaaaaa', 'aaaaaab');
  const key = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
  const { compareRange: _, ...withoutRanges } = bytewiseComparator;
  const other = compareRangeOf(withoutRanges);
  fc.assert(
    fc.property(fc.constantFrom('', 'a', 'common '), fc.uniqueArray(key, { maxLength: 40 }), key, fc.boolean(), (front, keys, wanted, isFar) => {
      const separators = keys.map((end) => Buffer.from(front + end, 'latin1')).sort((a, b) => Buffer.compare(a, b));
      const index = IndexBlock.open(
        blockOf(separators.map((separator, i) => [separator, encodeBlockHandle({ offset: i, size: 1 })])),
        place,
        900,
      );
      const target = Buffer.from(isFar ? wanted : front + wanted, 'latin1');
      const asStored = index.seek(target, compareRange);
      lookUpOften(index);
      return index.seek(target, compareRange) === asStored && index.seek(target, other) === asStored;
    }),
    { numRuns: 2000 },
  );
});

test('a search follows the comparator’s order, whatever it is', () => {
  const backwards: CompareRange = (a, aStart, aEnd, b, bStart, bEnd) => compareBytes(b, bStart, bEnd, a, aStart, aEnd);
  const index = IndexBlock.open(indexOf(['t', 0, 100], ['m', 105, 200], ['d', 310, 50]), place, 900);
  const search = (): number[] => ['z', 't', 's', 'm', 'e', 'd', 'a', ''].map((key) => index.seek(utf8(key), backwards));
  expect(search()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  lookUpOften(index);
  expect(search()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
});

test('an index without blocks has no block for any key', () => {
  const index = IndexBlock.open(fromHex('0000000001000000'), place, 0);
  expect([index.length, index.seek(utf8('a'), compareRange), index.seek(utf8('a key of a database'), compareInternalBytes)]).toEqual([0, 0, 0]);
});

test('offsets are exact beyond 2^32', () => {
  const index = IndexBlock.open(indexOf(['d', 2 ** 40 + 1, 2 ** 33 + 1]), place, 2 ** 41);
  expect([index.offsetOf(0), index.sizeOf(0)]).toEqual([2 ** 40 + 1, 2 ** 33 + 1]);
});

test('a handle that points outside the file costs only its own block', () => {
  const index = IndexBlock.open(indexOf(['d', 0, 100], ['m', 105, 796], ['t', 850, 50]), place, 900);
  expect([0, 1, 2].map((i) => index.sizeOf(i) >= 0)).toEqual([true, false, true]);
});

test('a handle that cannot be read costs only its own block', () => {
  const contents = blockOf([
    [utf8('d'), fromHex('ffff')],
    [utf8('m'), fromHex('0005')],
  ]);
  const index = IndexBlock.open(contents, place, 900);
  expect([0, 1].map((i) => index.sizeOf(i) >= 0)).toEqual([false, true]);
});

test('contents that are not a block are reported as damage to the index', () => {
  const error = caught(() => IndexBlock.open(fromHex('000000'), place, 900));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_BAD_BLOCK', structure: 'index block', offset: 900, file: 'a.ldb' });
});

// With shared prefixes, a small block can have keys of many times its size.
test('an index of 260 kB that would take more than 16 times as much when decoded is refused within 1 MB of memory', () => {
  const entries = 86_000;
  const key = new Uint8Array(3000).fill(0x61);
  const bytes = new Uint8Array(key.length + 12 + entries * 4);
  let position = putVarint(bytes, putVarint(bytes, putVarint(bytes, 0, 0), key.length), 0);
  bytes.set(key, position);
  position += key.length;
  for (let i = 0; i < entries; i++) position = putVarint(bytes, putVarint(bytes, putVarint(bytes, position, key.length), 0), 0);
  new DataView(bytes.buffer).setUint32(position + 4, 1, true);
  const contents = bytes.subarray(0, position + 8);
  collectGarbage();
  const before = process.memoryUsage();
  expect(caught(() => IndexBlock.open(contents, place, 900))).toMatchObject({
    code: 'BLOOM_TOO_LARGE',
    structure: 'index block',
    offset: 900,
  });
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(2 ** 20);
});

test('an index with restarts further apart than LevelDB’s is read', () => {
  const separators = Array.from({ length: 1000 }, (_, i) => utf8(`a prefix of 40 bytes that they all share ${String(i).padStart(4, '0')}`));
  const builder = new BlockBuilder(16);
  for (const [i, separator] of separators.entries()) builder.add(separator, encodeBlockHandle({ offset: i * 10, size: 5 }));
  const index = IndexBlock.open(builder.finish(), place, 10_000);
  expect(separators.map((_, i) => hex(index.separatorOf(i)))).toEqual(separators.map((separator) => hex(separator)));
});

test('opening an index refuses what a walk through its entries refuses, with the same code, and otherwise finds the same entries', () => {
  const random = seeded(14);
  const counts = { refused: 0, opened: 0 };
  for (let round = 0; round < 3000; round++) {
    const builder = new BlockBuilder(random.pick([1, 1, 1, 2, 16]));
    const count = random.below(6);
    const isLong = random.below(10) === 0;
    for (let i = 0; i < count; i++) {
      const key = utf8(`${isLong ? 'k'.repeat(126 + random.below(4)) : 'k'}${i}`);
      builder.add(key, encodeBlockHandle({ offset: random.below(900), size: random.below(300) }));
    }
    const contents = new Uint8Array(builder.finish());
    for (let changes = random.below(4); changes > 0; changes--) {
      contents[random.below(contents.length)] = random.pick([0, 1, 2, 3, 4, 127, 128, 255]);
    }
    const cut = random.below(8) === 0 ? contents.subarray(random.below(contents.length)) : contents;
    const expected = walked(cut, 900);
    expect(outcome(() => listed(IndexBlock.open(cut, place, 900))), hex(cut)).toEqual(expected);
    if (typeof expected === 'string') {
      counts.refused++;
      continue;
    }
    counts.opened++;
    const index = IndexBlock.open(cut, place, 900);
    const before = ['k', 'k1', 'k3', 'k30', 'l'].map((key) => index.seek(utf8(key), compareRange));
    lookUpOften(index);
    expect(listed(index), hex(cut)).toEqual(expected);
    // If the index is in order, as an undamaged one is, both searches find the same.
    const keys = (expected as [string][]).map(([key]) => key);
    if (keys.some((key, i) => i > 0 && key < keys[i - 1]!)) continue;
    expect(['k', 'k1', 'k3', 'k30', 'l'].map((key) => index.seek(utf8(key), compareRange)), hex(cut)).toEqual(before);
  }
  expect(Math.min(counts.refused, counts.opened)).toBeGreaterThan(500);
});

test('an index in which every entry is a restart is also refused if it would take more memory than allowed when decoded', () => {
  const contents = blockOf(Array.from({ length: 60_000 }, (_, i) => [utf8(String(i).padStart(5, '0')), encodeBlockHandle({ offset: 0, size: 1 })]));
  expect(caught(() => IndexBlock.open(contents, place, 900, 2 ** 20))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
  expect(IndexBlock.open(contents, place, 900, 2 ** 21).length).toBe(60_000);
});
