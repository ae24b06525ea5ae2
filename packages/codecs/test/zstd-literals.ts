// Builds the literals sections of zstd blocks by hand. Source: RFC 8878, sections 3.1.1.3.1 and 4.2.
import { backwardBits } from './backward-bits.js';
import { littleEndian } from './zstd-frame.js';

/** Literals as they are. Form 0 has a header of one byte, form 1 of two, and form 3 of three. */
export function rawLiterals(bytes: readonly number[], form: 0 | 1 | 3 = 0): number[] {
  return [...plainHeader(0, bytes.length, form), ...bytes];
}

/** The same byte as every literal. */
export function repeatedLiterals(byte: number, length: number, form: 0 | 1 | 3 = 0): number[] {
  return [...plainHeader(1, length, form), byte];
}

function plainHeader(kind: number, length: number, form: 0 | 1 | 3): number[] {
  // With a header of one byte, the higher bit of the form is the lowest of the length.
  return form === 0 ? [kind | (length << 3)] : littleEndian(kind | (form << 2) | (length << 4), form === 1 ? 2 : 3);
}

export interface HuffmanLiterals {
  /** The weight of each byte value, the last of which is not stored. */
  readonly weights: readonly number[];
  /** Form 0 has one stream, the others have four. The numbers in the header have 10, 10, 14 and 18 bits. Default: 0. */
  readonly form?: 0 | 1 | 2 | 3;
  /** Whether the table is that of the block before, and is not stored. */
  readonly isTreeless?: boolean;
  /** The number of literals by the header. */
  readonly length?: number;
  /** The streams, in place of those that the literals make. */
  readonly streams?: readonly (readonly number[])[];
  /** Added to the number of stored bytes in the header. */
  readonly moreBytes?: number;
}

/** Literals in a Huffman code. */
export function huffmanLiterals(literals: readonly number[], parts: HuffmanLiterals): number[] {
  const { weights, form = 0, isTreeless = false, length = literals.length, moreBytes = 0 } = parts;
  const streams = parts.streams ?? huffmanStreams(literals, weights, form === 0 ? 1 : 4);
  const lengths = streams.slice(0, -1).flatMap((stream) => littleEndian(stream.length, 2));
  const body = [...(isTreeless ? [] : storedWeights(weights.slice(0, -1))), ...lengths, ...streams.flat()];
  const sizeBits = [10, 10, 14, 18][form]!;
  const kind = isTreeless ? 3 : 2;
  return [...littleEndian(kind + 4 * form + 16 * length + 2 ** (4 + sizeBits) * (body.length + moreBytes), [3, 3, 4, 5][form]!), ...body];
}

/** The streams of these literals: one, or four of which the first three have the same number of literals. */
export function huffmanStreams(literals: readonly number[], weights: readonly number[], count: 1 | 4): number[][] {
  const codes = codesOf(weights);
  const each = Math.ceil(literals.length / count);
  return Array.from({ length: count }, (_, i) => backwardBits(literals.slice(i * each, (i + 1) * each).map((byte) => codes[byte]!)));
}

/** The weights, four bits each. */
export function storedWeights(weights: readonly number[]): number[] {
  return [127 + weights.length, ...Array.from({ length: Math.ceil(weights.length / 2) }, (_, i) => (weights[2 * i]! << 4) | (weights[2 * i + 1] ?? 0))];
}

/** The code of each byte value, given all weights. */
function codesOf(weights: readonly number[]): (readonly [value: number, count: number])[] {
  const bits = Math.log2(weights.reduce((sum, weight) => sum + (weight === 0 ? 0 : 2 ** (weight - 1)), 0));
  const codes = new Array<readonly [number, number]>(weights.length).fill([0, 0]);
  let next = 0;
  for (let weight = 1; weight <= bits; weight++) {
    weights.forEach((other, byte) => {
      if (other !== weight) return;
      codes[byte] = [next >>> (weight - 1), bits + 1 - weight];
      next += 2 ** (weight - 1);
    });
  }
  return codes;
}
