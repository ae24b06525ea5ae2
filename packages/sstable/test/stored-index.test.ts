// Compares an index that is searched in its stored form with the same index decoded.
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';
import { fromHex } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { encodeBlockHandle, readBlockHandle } from '../src/format/block-handle.js';
import { BlockWalk } from '../src/format/block-walk.js';
import { compareBytes } from '../src/format/bytewise-order.js';
import { BYTES_PER_ENTRY, DecodedIndex, putNumber } from '../src/format/decoded-index.js';
import { IndexBlock } from '../src/format/index-block.js';
import { LOOKUP_COST, StoredIndex } from '../src/format/stored-index.js';
import { blockOf } from './assemble-table.js';
import { caught } from '@bloom/fixtures/caught';
import { hex, utf8 } from './entries.js';

const place: Place = { structure: 'index block', offset: 900, file: 'a.ldb' };
const BLOCKS_END = 900;

type Listed = readonly (readonly [separator: string, offset: number, size: number])[];

/** The entries of an index in which every entry is at a restart and every restart at an entry, found by a walk. */
function walked(contents: Uint8Array): Listed | undefined {
  const walk = new BlockWalk('index block');
  const entries: [string, number, number][] = [];
  try {
    walk.reset(contents, 0);
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      if (entries.length === walk.restartCount || walk.restartOffset(entries.length) !== walk.entryStart) return undefined;
      const handle = readBlockHandle(new VarintReader(walk.value));
      const isInside = handle !== undefined && handle.offset + handle.size <= BLOCKS_END;
      entries.push([hex(walk.key), handle?.offset ?? 0, isInside ? handle.size : -1]);
    }
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    return undefined;
  }
  return entries.length > 0 && entries.length === walk.restartCount ? entries : undefined;
}

/** Reads from the last entry to the first, because an entry must not depend on one that was read before. */
function listed(index: StoredIndex | DecodedIndex): Listed {
  const numbers = Array.from({ length: index.length }, (_, i) => i).reverse();
  return numbers.map((i): Listed[number] => [hex(index.separatorOf(i)), index.offsetOf(i), index.sizeOf(i)]).reverse();
}

function shortestOf(entries: Listed): number {
  return Math.min(...entries.map(([separator]) => separator.length / 2));
}

function indexOf(...entries: Listed): Uint8Array {
  return blockOf(entries.map(([key, offset, size]) => [utf8(key), encodeBlockHandle({ offset, size })]));
}

/** A handle, and bytes after it, which readers ignore. */
function paddedHandle(offset: number, size: number, length: number): Uint8Array {
  const value = new Uint8Array(length);
  value.set(encodeBlockHandle({ offset, size }));
  return value;
}

function sharing(...keys: string[]): Uint8Array {
  const builder = new BlockBuilder(16);
  for (const [i, key] of keys.entries()) builder.add(utf8(key), encodeBlockHandle({ offset: i, size: 1 }));
  return builder.finish().slice();
}

/** Each of these blocks is checked unchanged, with each of its bytes changed, and truncated to each length. */
const blocks: [name: string, contents: Uint8Array][] = [
  ['short and long handles', indexOf(['d', 0, 100], ['m', 105, 200], ['t', 310, 590])],
  ['handles outside the file, cut, and empty', blockOf([[utf8('a'), encodeBlockHandle({ offset: 500, size: 401 })], [utf8('b'), fromHex('ff')], [utf8('c'), new Uint8Array(0)]])],
  ['handles around 2^31 and 2^53', indexOf(['a', 2 ** 31 - 1, 1], ['b', 5, 2 ** 31], ['c', 2 ** 31, 2 ** 31 - 1], ['d', 2 ** 53 - 1, 7], ['e', 100, 200])],
  ['keys of 127 to 129 bytes', indexOf(...[127, 128, 129].map((length) => ['k'.repeat(length), length, 5] as const))],
  ['a long key without a value', blockOf([[utf8('k'.repeat(128)), new Uint8Array(0)]])],
  ['the empty key with a value of 128 bytes', blockOf([[utf8(''), paddedHandle(7, 8, 128)], [utf8('a'), paddedHandle(9, 10, 300)]])],
  ['the empty key without a value', blockOf([[utf8(''), new Uint8Array(0)]])],
  ['no entries', blockOf([])],
  ['no restarts', fromHex('00000000')],
  ['keys that share bytes', sharing('common 1', 'common 2', 'common 3')],
  ['an entry between two restarts', fromHex('0001026100050001026201060001026302070000000005000000' + '02000000')],
  // Each of these would fit if an unreadable length were taken for -1, or the length after it for 1.
  ['an unreadable length of a key, and a value', fromHex('00ffffffffff01' + '0000000001000000')],
  ['an unreadable length of a key', fromHex('00ffffffffff' + '0000000001000000')],
  ['an unreadable length of a value', fromHex('0001ffffffffff' + '0000000001000000')],
  ['an unreadable length of a value before a key', fromHex('0002ffffffffff61' + '0000000001000000')],
];

function* damaged(contents: Uint8Array): Generator<Uint8Array> {
  yield contents;
  for (let length = 0; length < contents.length; length++) yield contents.subarray(0, length);
  for (let i = 0; i < contents.length; i++) {
    for (const byte of [0, 1, 2, 3, 5, 0x7f, 0x80, 0xff]) {
      const changed = contents.slice();
      changed[i] = byte;
      yield changed;
    }
  }
}

test.each(blocks)('%s: the index is searched as stored if and only if each of its entries is readable and a restart', (_, contents) => {
  const wrong: string[] = [];
  for (const block of damaged(contents)) {
    const expected = walked(block);
    const stored = StoredIndex.check(block, BLOCKS_END, Infinity);
    const found = stored && [listed(stored), stored.shortestSeparatorLength];
    if (JSON.stringify(found) !== JSON.stringify(expected && [expected, shortestOf(expected)])) wrong.push(hex(block));
  }
  expect(wrong).toEqual([]);
});

test('the blocks of these tests are of both kinds', () => {
  expect(blocks.filter(([, contents]) => walked(contents) !== undefined)).toHaveLength(7);
});

test.each(blocks.filter(([, contents]) => walked(contents) !== undefined))('%s: decoding gives the same entries', (_, contents) => {
  for (const decoded of [DecodedIndex.decode(contents, place, BLOCKS_END, Infinity), StoredIndex.check(contents, BLOCKS_END, Infinity)!.decode()]) {
    expect(listed(decoded)).toEqual(walked(contents));
    expect(decoded.shortestSeparatorLength).toBe(shortestOf(walked(contents)!));
  }
});

test('the shortest separator of an index is found at any position, and is infinite without entries', () => {
  for (const keys of [['a', 'bb', 'ccc'], ['aa', 'b', 'cc'], ['aaa', 'bb', 'c']]) {
    const contents = indexOf(...keys.map((key) => [key, 0, 1] as const));
    expect(StoredIndex.check(contents, BLOCKS_END, Infinity)!.shortestSeparatorLength).toBe(1);
    expect(DecodedIndex.decode(contents, place, BLOCKS_END, Infinity).shortestSeparatorLength).toBe(1);
  }
  expect(IndexBlock.open(blockOf([]), place, BLOCKS_END).shortestSeparatorLength).toBe(Infinity);
});

test('blocks of more than 2 GiB keep their offsets and sizes when the index is decoded', () => {
  const contents = indexOf(['a', 0, 2 ** 31 - 1], ['b', 2 ** 31 + 4, 2 ** 31], ['c', 2 ** 33, 3]);
  for (const decoded of [DecodedIndex.decode(contents, place, 2 ** 40, Infinity), StoredIndex.check(contents, 2 ** 40, Infinity)!.decode()]) {
    expect(listed(decoded).map(([, offset, size]) => [offset, size])).toEqual([[0, 2 ** 31 - 1], [2 ** 31 + 4, 2 ** 31], [2 ** 33, 3]]);
  }
});

test('numbers are kept as whole ones until one of them is 2^31 or more, wherever it is', () => {
  const most = 2 ** 31 - 1;
  const numbers = Int32Array.of(7, 8, 9);
  expect(putNumber(numbers, 1, most)).toBe(numbers);
  expect(numbers).toEqual(Int32Array.of(7, most, 9));
  for (const i of [0, 2]) {
    const larger = putNumber(numbers, i, 2 ** 31);
    const expected = Float64Array.of(7, most, 9);
    expected[i] = 2 ** 31;
    expect(larger).toEqual(expected);
    expect(putNumber(larger, 1, 2 ** 33)).toBe(larger);
    expect(putNumber(larger, 1, -1)).toBe(larger);
    expect(larger[1]).toBe(-1);
  }
});

test('the limit of a decoded index is exact to the byte, and the error states it', () => {
  const contents = indexOf(['ab', 0, 1], ['cde', 6, 1]);
  const bytes = 2 + 3 + 2 * BYTES_PER_ENTRY;
  expect(StoredIndex.check(contents, BLOCKS_END, bytes)).toBeDefined();
  expect(StoredIndex.check(contents, BLOCKS_END, bytes - 1)).toBeUndefined();
  expect(DecodedIndex.decode(contents, place, BLOCKS_END, bytes)).toHaveLength(2);
  expect(caught(() => DecodedIndex.decode(contents, place, BLOCKS_END, bytes - 1))).toMatchObject({
    code: 'BLOOM_TOO_LARGE',
    structure: 'index block',
    offset: 900,
    file: 'a.ldb',
    problem: `it has more than ${bytes - 1} bytes when decoded, the limit`,
  });
});

describe('an index is decoded once its use has cost as much as decoding', () => {
  const key = (i: number): string => String(i).padStart(6, '0');

  /** What is done to an index of `count` blocks; then the block is overwritten, which a decoded index does not notice. */
  function isDecodedAfter(count: number, use: (index: IndexBlock) => void): boolean {
    const contents = indexOf(...Array.from({ length: count }, (_, i) => [key(i), i, 1] as const));
    const index = IndexBlock.open(contents, place, 1e6);
    use(index);
    // Decodes the index if it is time.
    index.separatorOf(0);
    contents.fill(0);
    return hex(index.separatorOf(count - 1)) === hex(utf8(key(count - 1)));
  }

  const lookUp = (times: number) => (index: IndexBlock): void => {
    for (let i = 0; i < times; i++) index.seek(utf8(key(1)), compareBytes);
  };

  const readHandles = (count: number) => (index: IndexBlock): void => {
    for (let i = 0; i < count; i++) index.offsetOf(i % index.length);
  };

  const readOneHandle = (times: number) => (index: IndexBlock): void => {
    let sum = 0;
    for (let i = 0; i < times; i++) sum += index.offsetOf(1) + index.sizeOf(1);
    expect(sum).toBe(2 * times);
  };

  test.each([
    ['of a small index, 63 lookups', 3, lookUp(63), false],
    ['of a small index, 64 lookups', 3, lookUp(64), true],
    ['of a small index, 8191 handles', 3, readHandles(8191), false],
    ['of a small index, 8192 handles', 3, readHandles(8192), true],
    ['of a small index, one handle 8192 times', 3, readOneHandle(8192), false],
    ['of 4000 blocks, 499 lookups', 4000, lookUp(4000 / LOOKUP_COST - 1), false],
    ['of 4000 blocks, 500 lookups', 4000, lookUp(4000 / LOOKUP_COST), true],
    ['of 4000 blocks, a walk that reads four handles for each', 4000, readHandles(4 * 4000), false],
    ['of 4000 blocks, four such walks', 4000, readHandles(4 * 4 * 4000), true],
  ])('%s', (_, count, use, isDecoded) => {
    expect(isDecodedAfter(count, use)).toBe(isDecoded);
  });

  test('an index that cannot be searched as stored is decoded when it is opened', () => {
    const contents = sharing('common 1', 'common 2');
    const index = IndexBlock.open(contents, place, 1e6);
    contents.fill(0);
    expect([0, 1].map((i) => hex(index.separatorOf(i)))).toEqual([hex(utf8('common 1')), hex(utf8('common 2'))]);
  });
});
