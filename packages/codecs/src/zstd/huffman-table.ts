/**
 * The Huffman code of the literals, described by the weight of each byte value. With longest code length `bits`, a weight w
 * means a code of bits + 1 - w bits, and 0 means no code. The last weight is not stored: it completes the tree.
 *
 *     length (u8), below 128 | weights as an FSE stream of that length, decoded by two states in turn
 *     127 + count (u8)       | weights, 4 bits each, high half first
 *
 * Source: RFC 8878, section 4.2.1. Like the reference, this accepts codes of 12 bits, one more than the RFC allows.
 */
import { buildFseTable, readShares } from './fse-table.js';
import { lastSetBit, type PaddedStream, peekBits } from './bits.js';

const MAX_CODE_BITS = 12;

/** The most weights that can be stored. */
const MAX_WEIGHTS = 255;

/** For each value of the next `bits` bits: the byte whose code they start with (8 bits), and the length of that code (8). */
export interface HuffmanTable {
  readonly codes: Uint16Array;
  readonly bits: number;
}

/** Reads the table at `position`. @throws Error when it is damaged or ends after `end`. */
export function readHuffmanTable(stream: PaddedStream, position: number, end: number): { table: HuffmanTable; position: number } {
  if (position >= end) throw new Error('there is no Huffman table');
  const { bytes } = stream;
  const length = bytes[position++]!;
  const weights = new Uint8Array(MAX_WEIGHTS + 1);
  let count: number;
  let next: number;
  if (length < 128) {
    next = position + length;
    if (next > end) throw new Error('a Huffman table is truncated');
    count = readFseWeights(stream, position, next, weights);
  } else {
    count = length - 127;
    next = position + ((count + 1) >>> 1);
    if (next > end) throw new Error('a Huffman table is truncated');
    for (let i = 0; i < count; i++) {
      const pair = bytes[position + (i >>> 1)]!;
      weights[i] = (i & 1) === 0 ? pair >>> 4 : pair & 15;
    }
  }
  return { table: buildHuffmanTable(weights, count), position: next };
}

function readFseWeights(stream: PaddedStream, position: number, end: number, weights: Uint8Array): number {
  const shares = readShares(stream.bytes, position, end, 255, 6);
  // The reference has room for this many symbols.
  if (shares.symbols - 1 > (shares.accuracy === 6 ? 11 : 91)) throw new Error('the table of Huffman weights has too many symbols');
  const { rows, accuracy } = buildFseTable(shares);
  const start = shares.position * 8;
  let bit = lastSetBit(stream, shares.position, end) - 2 * accuracy;
  if (bit < start) throw new Error('the Huffman weights are truncated');
  let state = peekBits(stream, bit + accuracy, accuracy);
  let other = peekBits(stream, bit, accuracy);
  for (let count = 0; count < MAX_WEIGHTS - 1; ) {
    const row = rows[state]!;
    weights[count++] = row;
    const bits = (row >>> 8) & 0xff;
    bit -= bits;
    if (bit < start) {
      weights[count++] = rows[other]!;
      return count;
    }
    state = other;
    other = (row >>> 16) + peekBits(stream, bit, bits);
  }
  throw new Error('there are too many Huffman weights');
}

function buildHuffmanTable(weights: Uint8Array, count: number): HuffmanTable {
  const starts = new Uint16Array(MAX_CODE_BITS + 2);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const weight = weights[i]!;
    if (weight > MAX_CODE_BITS) throw new Error(`a Huffman weight is ${weight}, the maximum is ${MAX_CODE_BITS}`);
    total += (1 << weight) >> 1;
  }
  const bits = 32 - Math.clz32(total);
  const size = 1 << bits;
  const missing = size - total;
  if (total === 0 || bits > MAX_CODE_BITS || (missing & (missing - 1)) !== 0) throw new Error('the Huffman weights do not make a tree');
  weights[count++] = 32 - Math.clz32(missing);
  let longest = 0;
  for (let i = 0; i < count; i++) {
    const weight = weights[i]!;
    if (weight === 1) longest++;
    if (weight > 0) starts[weight + 1]! += (1 << weight) >> 1;
  }
  // The sum is a power of two, so the number of longest codes is even: there are at least two, or none.
  if (longest < 2) throw new Error('the Huffman weights do not make a tree');
  for (let weight = 2; weight < starts.length; weight++) starts[weight]! += starts[weight - 1]!;
  const codes = new Uint16Array(size);
  for (let byte = 0; byte < count; byte++) {
    const weight = weights[byte]!;
    if (weight === 0) continue;
    const start = starts[weight]!;
    const stop = start + (1 << (weight - 1));
    codes.fill(byte | ((bits + 1 - weight) << 8), start, stop);
    starts[weight] = stop;
  }
  return { codes, bits };
}
