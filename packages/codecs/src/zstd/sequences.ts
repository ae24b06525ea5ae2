/**
 * The sequences of a block. Each one copies some literals, then a match: earlier output, `offset` bytes back.
 *
 *     count (1 to 3 bytes) | kinds of the three tables (u8) | tables | bits, read backwards
 *
 * The bits are: the initial state of each table; for each sequence the extra bits of its offset, match length and literal
 * length; and after each sequence except the last, the bits for the next states.
 *
 * Source: RFC 8878, section 3.1.1.3.2.
 */
import type { GrowingOutput } from '../growing-output.js';
import { lastSetBit, type PaddedStream, peekBits } from './bits.js';
import { buildFseTable, type FseTable, MAX_ACCURACY, readShares, singleSymbolTable } from './fse-table.js';
import type { Literals } from './literals.js';

/** State that lasts from block to block of a frame. */
export interface SequenceState {
  tables: SequenceTables | undefined;
  /** The three most recent offsets. */
  readonly offsets: [number, number, number];
}

interface SequenceTables {
  readonly literalLengths: FseTable;
  readonly offsets: FseTable;
  readonly matchLengths: FseTable;
}

/** A symbol means its base plus the number in its extra bits. */
interface Symbols {
  readonly bases: Uint32Array;
  readonly bits: Uint8Array;
}

/** The definition of one of the three tables. */
interface TableKind {
  readonly symbols: number;
  readonly maxAccuracy: number;
  readonly predefined: FseTable;
}

/** Symbols with these numbers of extra bits, which cover the numbers from `first` without a gap. */
function symbolsFrom(first: number, bits: readonly number[]): Symbols {
  const bases = new Uint32Array(bits.length);
  let base = first;
  bits.forEach((count, symbol) => {
    bases[symbol] = base;
    base += 2 ** count;
  });
  return { bases, bits: Uint8Array.from(bits) };
}

function tableKind(symbols: number, maxAccuracy: number, accuracy: number, counts: readonly number[]): TableKind {
  return {
    symbols,
    maxAccuracy,
    predefined: buildFseTable({ counts: Int16Array.from(counts), symbols: counts.length, accuracy }),
  };
}

const times = (count: number, value: number): number[] => Array<number>(count).fill(value);

/** The symbols and predefined tables of RFC 8878, sections 3.1.1.3.2.1.1 and 3.1.1.3.2.2. */
class Definitions {
  readonly literalLengthSymbols = symbolsFrom(0, [...times(16, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  readonly matchLengthSymbols = symbolsFrom(3, [...times(32, 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
  readonly literalLengths = tableKind(36, MAX_ACCURACY, 6, [4, 3, ...times(11, 2), ...times(3, 1), ...times(9, 2), 3, 2, ...times(5, 1), ...times(4, -1)]);
  readonly offsets = tableKind(32, 8, 5, [...times(6, 1), ...times(3, 2), ...times(15, 1), ...times(5, -1)]);
  readonly matchLengths = tableKind(53, MAX_ACCURACY, 6, [1, 4, 3, ...times(6, 2), ...times(37, 1), ...times(7, -1)]);
}

// Created at first use, so that nothing is computed at import.
let shared: Definitions | undefined;

/**
 * Executes the sequences at [position, end): appends the contents of the block, at most `maxBlockBytes`, to `output`.
 *
 * @param frameStart the position in `output` of the frame's contents, before which no match may reach.
 * @throws Error when the sequences are damaged; RangeError when the output would exceed its limit.
 */
export function executeSequences(
  stream: PaddedStream,
  position: number,
  end: number,
  literals: Literals,
  state: SequenceState,
  output: GrowingOutput,
  frameStart: number,
  maxBlockBytes: number,
): void {
  const { bytes } = stream;
  if (position >= end) throw new Error('a block has no sequences section');
  const first = bytes[position]!;
  const headerBytes = first < 0x80 ? 1 : first < 0xff ? 2 : 3;
  if (position + headerBytes > end) throw new Error('the number of sequences is truncated');
  const second = bytes[position + 1]!;
  const count = first < 0x80 ? first : first < 0xff ? ((first - 0x80) << 8) + second : 0x7f00 + second + (bytes[position + 2]! << 8);
  position += headerBytes;
  let literal = literals.start;
  const literalEnd = literal + literals.length;
  const blockEnd = output.length + maxBlockBytes;
  if (count === 0) {
    if (position !== end) throw new Error('bytes follow a block without sequences');
  } else {
    shared ??= new Definitions();
    const definitions = shared;
    if (position >= end) throw new Error('the tables of the sequences are truncated');
    const kinds = bytes[position++]!;
    if ((kinds & 3) !== 0) throw new Error('a reserved bit is set before the sequences');
    const before = state.tables;
    const literalLengths = readTable(stream, position, end, kinds >>> 6, definitions.literalLengths, before?.literalLengths);
    const offsets = readTable(stream, literalLengths.position, end, (kinds >>> 4) & 3, definitions.offsets, before?.offsets);
    const matchLengths = readTable(stream, offsets.position, end, (kinds >>> 2) & 3, definitions.matchLengths, before?.matchLengths);
    const tables = { literalLengths: literalLengths.table, offsets: offsets.table, matchLengths: matchLengths.table };
    state.tables = tables;
    literal = runSequences(stream, matchLengths.position, end, count, tables, definitions, literals, state.offsets, output, frameStart, blockEnd);
  }
  const rest = literalEnd - literal;
  if (output.length + rest > blockEnd) throw tooLong(maxBlockBytes);
  output.reserve(rest);
  output.bytes.set(literals.bytes.subarray(literal, literalEnd), output.length);
  output.length += rest;
}

function tooLong(maxBlockBytes: number): Error {
  return new Error(`a block has more than ${maxBlockBytes} bytes of contents`);
}

function readTable(
  stream: PaddedStream,
  position: number,
  end: number,
  kind: number,
  { symbols, maxAccuracy, predefined }: TableKind,
  before: FseTable | undefined,
): { table: FseTable; position: number } {
  switch (kind) {
    case 0:
      return { table: predefined, position };
    case 1: {
      const symbol = position < end ? stream.bytes[position]! : 255;
      if (symbol >= symbols) throw new Error('the only symbol of an RLE table is missing or undefined');
      return { table: singleSymbolTable(symbol), position: position + 1 };
    }
    case 2: {
      const shares = readShares(stream.bytes, position, end, symbols - 1, maxAccuracy);
      return { table: buildFseTable(shares), position: shares.position };
    }
    default:
      if (before === undefined) throw new Error('there is no FSE table to reuse');
      return { table: before, position };
  }
}

/** Up to this many bytes, a loop is faster than `set` and `copyWithin`. */
const MAX_LOOPED = 32;

/** @returns the position after the literals that the sequences used. */
function runSequences(
  stream: PaddedStream,
  start: number,
  end: number,
  count: number,
  tables: SequenceTables,
  { literalLengthSymbols, matchLengthSymbols }: Definitions,
  literals: Literals,
  lastOffsets: [number, number, number],
  output: GrowingOutput,
  frameStart: number,
  blockEnd: number,
): number {
  const { rows: literalRows } = tables.literalLengths;
  const { rows: offsetRows } = tables.offsets;
  const { rows: matchRows } = tables.matchLengths;
  const literalBytes = literals.bytes;
  const literalEnd = literals.start + literals.length;
  const firstBit = start * 8;
  let literal = literals.start;
  let [last, beforeLast, thirdLast] = lastOffsets;
  let to = output.length;
  let made = output.bytes;

  const mustHave = (bit: number): void => {
    if (bit < firstBit) throw new Error('the sequences are truncated');
  };
  let bit = lastSetBit(stream, start, end) - tables.literalLengths.accuracy - tables.offsets.accuracy - tables.matchLengths.accuracy;
  mustHave(bit);
  let matchRow = matchRows[peekBits(stream, bit, tables.matchLengths.accuracy)]!;
  let offsetRow = offsetRows[peekBits(stream, bit + tables.matchLengths.accuracy, tables.offsets.accuracy)]!;
  let literalRow = literalRows[peekBits(stream, bit + tables.matchLengths.accuracy + tables.offsets.accuracy, tables.literalLengths.accuracy)]!;

  while (true) {
    const offsetBits = offsetRow & 0xff;
    const literalSymbol = literalRow & 0xff;
    const matchSymbol = matchRow & 0xff;
    const matchBits = matchLengthSymbols.bits[matchSymbol]!;
    const literalBits = literalLengthSymbols.bits[literalSymbol]!;
    mustHave(bit - offsetBits - matchBits - literalBits);

    let offset: number;
    bit -= offsetBits;
    if (offsetBits > 1) {
      // Up to 31 bits, read in two parts.
      const high = Math.max(0, offsetBits - 16);
      const low = offsetBits - high;
      offset = ((1 << offsetBits) >>> 0) - 3 + ((peekBits(stream, bit + low, high) << low) >>> 0) + peekBits(stream, bit, low);
      thirdLast = beforeLast;
      beforeLast = last;
      last = offset;
    } else {
      const which = (literalSymbol === 0 ? 1 : 0) + (offsetBits === 0 ? 0 : 1 + peekBits(stream, bit, 1));
      if (which === 0) {
        offset = last;
      } else {
        offset = which === 1 ? beforeLast : which === 2 ? thirdLast : last - 1;
        if (which > 1) thirdLast = beforeLast;
        beforeLast = last;
        last = offset;
      }
    }
    bit -= matchBits;
    const matchLength = matchLengthSymbols.bases[matchSymbol]! + peekBits(stream, bit, matchBits);
    bit -= literalBits;
    const literalLength = literalLengthSymbols.bases[literalSymbol]! + peekBits(stream, bit, literalBits);

    const literalStop = literal + literalLength;
    const matchStart = to + literalLength;
    const matchStop = matchStart + matchLength;
    if (literalStop > literalEnd) throw new Error('the sequences use more literals than the block has');
    if (matchStop > blockEnd) throw tooLong(blockEnd - output.length);
    if (offset === 0 || offset > matchStart - frameStart) throw new Error(`the offset of a match is ${offset}, but the match starts at ${matchStart - frameStart} of the frame`);
    if (matchStop > made.length) {
      const blockStart = output.length;
      // The output of this block so far must be kept, too.
      output.length = to;
      output.reserve(matchStop - to);
      output.length = blockStart;
      made = output.bytes;
    }
    if (literalLength <= MAX_LOOPED) {
      while (literal < literalStop) made[to++] = literalBytes[literal++]!;
    } else {
      made.set(literalBytes.subarray(literal, literalStop), to);
      literal = literalStop;
      to = matchStart;
    }
    if (matchLength <= MAX_LOOPED || offset < matchLength) {
      for (let from = matchStart - offset; to < matchStop; ) made[to++] = made[from++]!;
    } else {
      made.copyWithin(to, matchStart - offset, matchStop - offset);
      to = matchStop;
    }

    if (--count === 0) break;
    const literalStep = (literalRow >>> 8) & 0xff;
    const matchStep = (matchRow >>> 8) & 0xff;
    const offsetStep = (offsetRow >>> 8) & 0xff;
    // Whether there were enough bits is tested with those of the next sequence.
    bit -= literalStep;
    literalRow = literalRows[(literalRow >>> 16) + peekBits(stream, bit, literalStep)]!;
    bit -= matchStep;
    matchRow = matchRows[(matchRow >>> 16) + peekBits(stream, bit, matchStep)]!;
    bit -= offsetStep;
    offsetRow = offsetRows[(offsetRow >>> 16) + peekBits(stream, bit, offsetStep)]!;
  }
  if (bit !== firstBit) throw new Error('bits follow the last sequence');
  output.length = to;
  lastOffsets[0] = last;
  lastOffsets[1] = beforeLast;
  lastOffsets[2] = thirdLast;
  return literal;
}
