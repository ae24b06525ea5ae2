/**
 * Decoding tables of FSE (finite state entropy). A state is a row of the table. The row has a symbol, and the number
 * of bits to read for the next state.
 *
 * A table is described by the number of rows of each symbol:
 *
 *     accuracy - 5 (4 bits) | counts, each in as many bits as the remaining rows need; after a count of 0, a run of zeros
 *
 * Source: RFC 8878, section 4.1.
 */

/** The highest accuracy of any table: 512 rows. */
export const MAX_ACCURACY = 9;

/** A table of 2^accuracy rows. From the low bits up, a row is: symbol (8), bits to read (8), base of the next state (16). */
export interface FseTable {
  readonly rows: Uint32Array;
  readonly accuracy: number;
}

/** The number of rows of each symbol in a table of 2^accuracy rows. -1 means a share of less than one row; such a symbol gets one row. */
export interface Shares {
  readonly counts: Int16Array;
  readonly symbols: number;
  readonly accuracy: number;
  /** The position of the byte after the description. */
  readonly position: number;
}

/**
 * Reads the description of a table at `position`.
 *
 * @throws Error when it is damaged, does not end before `end`, or exceeds `maxAccuracy` or `maxSymbol`.
 */
export function readShares(bytes: Uint8Array, position: number, end: number, maxSymbol: number, maxAccuracy: number): Shares {
  const counts = new Int16Array(maxSymbol + 1);
  let bit = position * 8;
  const peek = (bits: number): number => {
    const at = bit >>> 3;
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
    return (word >>> (bit & 7)) & ((1 << bits) - 1);
  };
  const accuracy = peek(4) + 5;
  bit += 4;
  if (accuracy > maxAccuracy) throw new Error(`an FSE table has an accuracy of ${accuracy}, the maximum is ${maxAccuracy}`);
  let remaining = (1 << accuracy) + 1;
  let threshold = 1 << accuracy;
  let width = accuracy + 1;
  let symbols = 0;
  let isAfterZero = false;
  while (remaining > 1) {
    if (isAfterZero) {
      let repeat: number;
      do {
        repeat = peek(2);
        bit += 2;
        symbols += repeat;
      } while (repeat === 3 && symbols <= maxSymbol);
    }
    // The padding allows reads past the end; the result is refused here and below.
    if (symbols > maxSymbol || bit > end * 8) throw new Error('the probabilities of an FSE table do not add up');
    const shorter = 2 * threshold - 1 - remaining;
    let count = peek(width);
    if ((count & (threshold - 1)) < shorter) {
      count &= threshold - 1;
      bit += width - 1;
    } else {
      if (count >= threshold) count -= shorter;
      bit += width;
    }
    count--;
    remaining -= Math.abs(count);
    counts[symbols++] = count;
    isAfterZero = count === 0;
    if (remaining < threshold) {
      width = 32 - Math.clz32(remaining);
      threshold = 1 << (width - 1);
    }
  }
  if (remaining !== 1 || bit > end * 8) throw new Error('the probabilities of an FSE table do not add up');
  return { counts, symbols, accuracy, position: (bit + 7) >>> 3 };
}

/** Builds the table of these shares, which must add up to all rows. */
export function buildFseTable({ counts, symbols, accuracy }: Omit<Shares, 'position'>): FseTable {
  const size = 1 << accuracy;
  const rows = new Uint32Array(size);
  const next = new Uint16Array(symbols);
  let top = size - 1;
  for (let symbol = 0; symbol < symbols; symbol++) {
    const count = counts[symbol]!;
    if (count === -1) rows[top--] = symbol;
    next[symbol] = Math.abs(count);
  }
  const step = (size >>> 1) + (size >>> 3) + 3;
  let row = 0;
  for (let symbol = 0; symbol < symbols; symbol++) {
    for (let left = counts[symbol]!; left > 0; left--) {
      rows[row] = symbol;
      do row = (row + step) & (size - 1);
      while (row > top);
    }
  }
  for (let i = 0; i < size; i++) {
    const symbol = rows[i]!;
    const state = next[symbol]!++;
    const bits = accuracy - (31 - Math.clz32(state));
    rows[i] = symbol | (bits << 8) | (((state << bits) - size) << 16);
  }
  return { rows, accuracy };
}

/** A table of one symbol, which consumes no bits. */
export function singleSymbolTable(symbol: number): FseTable {
  return { rows: Uint32Array.of(symbol), accuracy: 0 };
}
