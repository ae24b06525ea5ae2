// Builds the sequences sections of zstd blocks by hand. Source: RFC 8878, section 3.1.1.3.2.
import { buildFseTable } from '../src/zstd/fse-table.js';
import { backwardBits } from './backward-bits.js';
import { describedShares } from './fse-description.js';
import { littleEndian } from './zstd-frame.js';

/** A number of literals, and a match. */
export interface Sequence {
  readonly literals: number;
  /** The distance of the match plus 3, or 1 to 3 for an offset that was used before. */
  readonly offset: number;
  readonly match: number;
}

/** A table of codes: how a block refers to it, and the symbol, bits to read and base of the next state of each row. */
export interface CodeTable {
  readonly kind: number;
  readonly description: readonly number[];
  readonly accuracy: number;
  readonly rows: readonly { readonly symbol: number; readonly bits: number; readonly base: number }[];
}

function fseTable(kind: number, description: readonly number[], counts: readonly number[], accuracy: number): CodeTable {
  const { rows } = buildFseTable({ counts: Int16Array.from(counts), symbols: counts.length, accuracy });
  return { kind, description, accuracy, rows: Array.from(rows, (row) => ({ symbol: row & 0xff, bits: (row >>> 8) & 0xff, base: row >>> 16 })) };
}

/** A table that the block describes. */
export const describedTable = (counts: readonly number[], accuracy: number): CodeTable => fseTable(2, describedShares(counts, accuracy), counts, accuracy);

/** A table of one symbol. */
export const singleTable = (symbol: number): CodeTable => ({ kind: 1, description: [symbol], accuracy: 0, rows: [{ symbol, bits: 0, base: 0 }] });

/** The table of the block before. */
export const tableAgain = (table: CodeTable): CodeTable => ({ ...table, kind: 3, description: [] });

/** Rows of symbols 0, 1, …, from `[how many symbols, rows of each]`. */
const shares = (...runs: readonly (readonly [symbols: number, rows: number])[]): number[] => runs.flatMap(([symbols, rows]) => new Array<number>(symbols).fill(rows));

/** The tables that every decoder knows. Source: RFC 8878, section 3.1.1.3.2.2. */
export const predefined = {
  literals: fseTable(0, [], shares([1, 4], [1, 3], [11, 2], [3, 1], [9, 2], [1, 3], [1, 2], [5, 1], [4, -1]), 6),
  offset: fseTable(0, [], shares([6, 1], [3, 2], [15, 1], [5, -1]), 5),
  match: fseTable(0, [], shares([1, 1], [1, 4], [1, 3], [6, 2], [37, 1], [7, -1]), 6),
};

/** The lowest number of each code that has extra bits, and how many. Source: RFC 8878, section 3.1.1.3.2.1.1. */
const LITERAL_CODES = [[16, 1], [18, 1], [20, 1], [22, 1], [24, 2], [28, 2], [32, 3], [40, 3], [48, 4], [64, 6], [128, 7], [256, 8], [512, 9], [1024, 10], [2048, 11], [4096, 12], [8192, 13], [16_384, 14], [32_768, 15], [65_536, 16]] as const;
const MATCH_CODES = [[35, 1], [37, 1], [39, 1], [41, 1], [43, 2], [47, 2], [51, 3], [59, 3], [67, 4], [83, 4], [99, 5], [131, 7], [259, 8], [515, 9], [1027, 10], [2051, 11], [4099, 12], [8195, 13], [16_387, 14], [32_771, 15], [65_539, 16]] as const;

interface Coded {
  readonly symbol: number;
  readonly extra: readonly [value: number, count: number];
}

function coded(value: number, first: number, codes: readonly (readonly [lowest: number, count: number])[]): Coded {
  const below = codes.filter(([lowest]) => lowest <= value).length - 1;
  if (below < 0) return { symbol: value - first, extra: [0, 0] };
  const [lowest, count] = codes[below]!;
  return { symbol: codes[0]![0] - first + below, extra: [value - lowest, count] };
}

function codedOffset(offset: number): Coded {
  const symbol = 31 - Math.clz32(offset);
  return { symbol, extra: [offset - 2 ** symbol, symbol] };
}

/** The states that a decoder goes through for these symbols. */
function statesFor(symbols: readonly number[], { rows }: CodeTable): number[] {
  const states: number[] = [];
  let next: number | undefined;
  for (const symbol of [...symbols].reverse()) {
    const after = next;
    next = rows.findIndex((row) => row.symbol === symbol && (after === undefined || (row.base <= after && after < row.base + 2 ** row.bits)));
    if (next < 0) throw new Error(`the table has no row for ${symbol}`);
    states.push(next);
  }
  return states.reverse();
}

export interface SequenceTables {
  readonly literals?: CodeTable;
  readonly offset?: CodeTable;
  readonly match?: CodeTable;
}

/** How many sequences there are, in one byte, two or three. */
export function sequenceCount(count: number, length: number = count < 0x80 ? 1 : count < 0x7f00 ? 2 : 3): number[] {
  return length === 1 ? [count] : length === 2 ? [0x80 + (count >>> 8), count & 0xff] : [0xff, ...littleEndian(count - 0x7f00, 2)];
}

/** A sequences section; its tables are the predefined ones by default. `more` bits follow the last sequence. */
export function sequencesSection(sequences: readonly Sequence[], given: SequenceTables = {}, count = sequenceCount(sequences.length), more: readonly (readonly [number, number])[] = []): number[] {
  if (sequences.length === 0) return [0];
  const tables = { ...predefined, ...given };
  const codes = sequences.map(({ literals, offset, match }) => ({ literals: coded(literals, 0, LITERAL_CODES), offset: codedOffset(offset), match: coded(match, 3, MATCH_CODES) }));
  const states = {
    literals: statesFor(codes.map(({ literals }) => literals.symbol), tables.literals),
    offset: statesFor(codes.map(({ offset }) => offset.symbol), tables.offset),
    match: statesFor(codes.map(({ match }) => match.symbol), tables.match),
  };
  const bits: (readonly [number, number])[] = (['literals', 'offset', 'match'] as const).map((part) => [states[part][0]!, tables[part].accuracy]);
  codes.forEach(({ literals, offset, match }, i) => {
    bits.push(offset.extra, match.extra, literals.extra);
    if (i === codes.length - 1) return;
    for (const part of ['literals', 'match', 'offset'] as const) {
      const { bits: count, base } = tables[part].rows[states[part][i]!]!;
      bits.push([states[part][i + 1]! - base, count]);
    }
  });
  const kinds = (tables.literals.kind << 6) | (tables.offset.kind << 4) | (tables.match.kind << 2);
  return [...count, kinds, ...tables.literals.description, ...tables.offset.description, ...tables.match.description, ...backwardBits([...bits, ...more])];
}

/** What sequences leave for the next block of a frame. */
export interface Executed {
  readonly contents: number[];
  readonly offsets: [number, number, number];
}

/** The contents of a frame after a block of these literals and sequences. */
export function executed(literals: readonly number[], sequences: readonly Sequence[], before: Executed = { contents: [], offsets: [1, 4, 8] }): Executed {
  const contents = [...before.contents];
  let [first, second, third] = before.offsets;
  let used = 0;
  for (const { literals: count, offset, match } of sequences) {
    for (const stop = used + count; used < stop; used++) contents.push(literals[used]!);
    // Without literals, a repetition of the last offset would be a longer match.
    const which = offset > 3 ? 'new' : offset + (count === 0 ? 1 : 0);
    if (which === 'new') [first, second, third] = [offset - 3, first, second];
    else if (which === 2) [first, second] = [second, first];
    else if (which === 3) [first, second, third] = [third, first, second];
    else if (which === 4) [first, second, third] = [first - 1, first, second];
    for (let left = match; left > 0; left--) contents.push(contents[contents.length - first]!);
  }
  for (const byte of literals.slice(used)) contents.push(byte);
  return { contents, offsets: [first, second, third] };
}
