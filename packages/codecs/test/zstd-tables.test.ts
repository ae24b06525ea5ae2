import { beforeAll, describe, expect, test } from 'vitest';
import { zstdCodec } from '@bloom/codecs';
import { buildFseTable, readShares } from '../src/zstd/fse-table.js';
import { caught } from './caught.js';
import { ReferenceZstd } from './reference-zstd.js';
import { compressedBlock, zstdFrame } from './zstd-frame.js';

let reference: ReferenceZstd;
beforeAll(async () => {
  reference = await ReferenceZstd.load(2 ** 20);
});

/** Bits, the lowest first, as bytes. */
function bytesOf(bits: readonly (readonly [value: number, count: number])[]): number[] {
  const digits = bits.flatMap(([value, count]) => Array.from({ length: count }, (_, i) => (value >>> i) & 1));
  return Array.from({ length: Math.ceil(digits.length / 8) }, (_, i) => digits.slice(8 * i, 8 * i + 8).reduce((byte, digit, j) => byte | (digit << j), 0));
}

/** The description of an FSE table in which each of these symbols has rows. Source: RFC 8878, section 4.1.1. */
function describedShares(counts: readonly number[], accuracy: number): number[] {
  const bits: [number, number][] = [[accuracy - 5, 4]];
  let remaining = (1 << accuracy) + 1;
  for (const count of counts) {
    const width = 32 - Math.clz32(remaining);
    const threshold = 1 << (width - 1);
    const shorter = 2 * threshold - 1 - remaining;
    const value = count + 1 >= threshold ? count + 1 + shorter : count + 1;
    bits.push([value, count + 1 < shorter ? width - 1 : width]);
    remaining -= Math.abs(count);
  }
  expect(remaining).toBe(1);
  return bytesOf(bits);
}

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
    expect(() => readShares(bytes, 0, end, 35, 5)).toThrow('an FSE table has an accuracy of 6, the most is 5');
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
    const weights = [...description, ...bytesOf([[none, accuracy], [one, accuracy], [1, 1]])];
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
  });
});
