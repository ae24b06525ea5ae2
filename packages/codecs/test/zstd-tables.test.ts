import { beforeAll, describe, expect, test } from 'vitest';
import { zstdCodec } from '@bloom/codecs';
import { lastSetBit, padded, peekBits } from '../src/zstd/bits.js';
import { buildFseTable, readShares } from '../src/zstd/fse-table.js';
import { type HuffmanTable, readHuffmanTable } from '../src/zstd/huffman-table.js';
import { caught } from '@bloom/fixtures/caught';
import { describedShares, forwardBits } from './fse-description.js';
import { ReferenceZstd } from './reference-zstd.js';
import { compressedBlock, zstdFrame } from './zstd-frame.js';
import { storedWeights } from './zstd-literals.js';

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 ** 20);
});

describe('the description of an FSE table', () => {
  const counts = [20, 1, -1, 5, 30, 7];
  const bytes = Uint8Array.of(...describedShares(counts, 6), 0xff, 0xff, 0xff, 0xff);
  const end = bytes.length - 4;

  test('is read to its end', () => {
    const shares = readShares(bytes, 0, end, 35, 9);
    expect(Array.from(shares.counts.subarray(0, shares.symbols))).toEqual(counts);
    expect([shares.accuracy, shares.position]).toEqual([6, end]);
  });

  test('is refused when it is truncated at any length', () => {
    for (let cut = 0; cut < end; cut++) expect(() => readShares(bytes, 0, cut, 35, 9)).toThrow('do not add up');
  });

  test('is refused when it has too many symbols or too high an accuracy', () => {
    expect(() => readShares(bytes, 0, end, counts.length - 2, 9)).toThrow('do not add up');
    expect(readShares(bytes, 0, end, counts.length - 1, 9).symbols).toBe(counts.length);
    expect(() => readShares(bytes, 0, end, 35, 5)).toThrow('an FSE table has an accuracy of 6, the maximum is 5');
  });
});

describe('the weights of a Huffman code', () => {
  /** A frame with one literal, whose Huffman code has the weights 1, 0 and 1, coded by an FSE table with these shares. */
  function frameBy(counts: readonly number[], accuracy: number): Uint8Array {
    const description = describedShares(counts, accuracy);
    const { rows } = buildFseTable({ counts: Int16Array.from(counts), symbols: counts.length, accuracy });
    // The first symbol needs more bits than are left. That ends the weights after the second one.
    const one = rows.findIndex((row) => (row & 0xff) === 1 && row >>> 8 !== 0);
    const none = rows.findIndex((row) => (row & 0xff) === 0);
    const weights = [...description, ...forwardBits([[none, accuracy], [one, accuracy], [1, 1]])];
    const streams = [weights.length, ...weights, 0b10];
    const header = 2 | (1 << 4) | (streams.length << 14);
    return zstdFrame([compressedBlock([header & 0xff, (header >>> 8) & 0xff, header >>> 16, ...streams, 0])]);
  }

  const sum = (counts: readonly number[]): number[] => [64 - counts.reduce((total, count) => total + count, 0), ...counts];

  test.each([
    ['of 12 symbols', sum([20, ...Array<number>(10).fill(2)]), 6, true],
    ['of 13 symbols, which is more than the reference has room for', sum([20, ...Array<number>(11).fill(2)]), 6, false],
  ])('from a table %s are read or refused as the reference implementation does', (_, counts, accuracy, isRead) => {
    const stream = frameBy(counts, accuracy);
    expect(caught(() => zstdCodec.decompress(stream, 100)) === undefined).toBe(isRead);
    expect(reference.decompress(stream) !== undefined).toBe(isRead);
    if (!isRead) expect(() => zstdCodec.decompress(stream, 100)).toThrow(new Error('the table of Huffman weights has too many symbols'));
  });

  test('in FSE that end before both states are read, or never end, are refused', () => {
    const readFse = (...bytes: readonly number[]): unknown => readHuffmanTable(padded(Uint8Array.of(bytes.length, ...bytes)), 0, 1 + bytes.length);
    expect(() => readFse(...describedShares([32, 32], 6), 0b1)).toThrow(new Error('the Huffman weights are truncated'));
    // All rows have one symbol, and take no bits.
    expect(() => readFse(...describedShares([64], 6), 0xff, 0xff)).toThrow(new Error('there are too many Huffman weights'));
  });
});

describe('the end of a stream of bits', () => {
  test('is the highest set bit of its last byte', () => {
    const stream = padded(Uint8Array.of(0xff, 0x01, 0x80, 0x2f));
    expect([1, 2, 3, 4].map((end) => lastSetBit(stream, 0, end))).toEqual([7, 8, 23, 29]);
    expect([peekBits(stream, 4, 5), peekBits(stream, 23, 7)]).toEqual([0b11111, 0b1011111]);
  });

  test('is missing where the last byte is zero, or there is none', () => {
    const stream = padded(Uint8Array.of(0xff, 0x00));
    for (const [start, end] of [[0, 2], [1, 1], [1, 0]] as const) expect(() => lastSetBit(stream, start, end)).toThrow(new Error('a stream of bits has no end mark'));
  });
});

describe('the weights of a Huffman code that are stored as they are', () => {
  const read = (bytes: readonly number[], end = bytes.length): { table: HuffmanTable; position: number } => readHuffmanTable(padded(Uint8Array.of(...bytes, 0x11, 0x11)), 0, end);
  /** Byte and length of each code of the table, in the order of the codes. */
  const codesOf = (...weights: readonly number[]): string => Array.from(read(storedWeights(weights)).table.codes, (code) => `${code & 0xff}:${code >>> 8}`).join(' ');

  test('make a code in which the longest codes come first, and the last weight completes the tree', () => {
    expect(codesOf(1)).toBe('0:1 1:1');
    expect(codesOf(2, 1)).toBe('1:2 2:2 0:1 0:1');
    expect(codesOf(1, 1, 1)).toBe('0:2 1:2 2:2 3:2');
    expect(codesOf(0, 1, 0, 3, 1)).toBe('1:3 4:3 5:2 5:2 3:1 3:1 3:1 3:1');
  });

  test('end with their last half byte', () => {
    for (const weights of [[1], [2, 1], [1, 1, 1]]) {
      const bytes = storedWeights(weights);
      expect(read(bytes).position).toBe(bytes.length);
      expect(() => read(bytes, bytes.length - 1)).toThrow(new Error('a Huffman table is truncated'));
    }
    expect(() => read([], 0)).toThrow(new Error('there is no Huffman table'));
    // A length below 128 is that of weights in FSE.
    expect(() => read([127, 0, 0])).toThrow(new Error('a Huffman table is truncated'));
  });

  test('give codes of up to 12 bits', () => {
    const { table } = read(storedWeights([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]));
    expect([table.bits, table.codes.length, table.codes[0], table.codes[1], table.codes[4095]]).toEqual([12, 4096, 11 | (12 << 8), 12 | (12 << 8), 1 << 8]);
    expect(() => read(storedWeights([13, 1]))).toThrow(new Error('a Huffman weight is 13, the maximum is 12'));
  });

  test.each([
    ['that are all 0', [0, 0, 0]],
    ['to which no single weight can be added', [1, 1, 1, 1, 1]],
    ['that need codes of 13 bits', [12, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
    ['of which none is 1', [2, 2]],
  ])('%s do not make a tree', (_, weights) => {
    expect(() => read(storedWeights(weights))).toThrow(new Error('the Huffman weights do not make a tree'));
  });

  test('are read for as many as 128 bytes', () => {
    const { table, position } = read(storedWeights(Array<number>(127).fill(1)));
    expect([table.bits, new Set(Array.from(table.codes, (code) => code & 0xff)).size, position]).toEqual([7, 128, 65]);
    // One more needs codes of 8 bits, and a last weight for the other half.
    const more = read(storedWeights(Array<number>(128).fill(1)));
    expect([more.table.bits, more.table.codes[255]]).toEqual([8, 128 | (1 << 8)]);
  });
});
