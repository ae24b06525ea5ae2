import type { SyncCursor } from '@bloom/sstable';
import type { CompareRange } from '@bloom/sstable/internal';

/** The current keys of cursors, in which the first key is searched. Cursors are identified by their numbers. */
export interface MergedKeys {
  /** Cursor `i` has moved for the first time. */
  begin(i: number): void;
  /** Cursor `i`, which had the first key of all, `bytes[start, end)`, has moved on. @returns false when its key is not after that one. */
  advance(i: number, bytes: Uint8Array, start: number, end: number): boolean;
  /** Cursor `i` has no further key: it comes after all others. */
  end(i: number): void;
  isOver(i: number): boolean;
  /**
   * Compares the keys of two cursors; of equal keys that of the smaller number comes first. They are compared when both have lost
   * to the same cursor, or to none.
   */
  isBefore(i: number, j: number): boolean;
  /** Whether the key of cursor `i` is equal to that of the cursor to which it has lost last. */
  isRepeated(i: number): boolean;
}

/** Keys in any order. */
export class ComparedKeys implements MergedKeys {
  readonly #cursors: readonly SyncCursor[];
  readonly #compare: CompareRange;
  readonly #isOver: Uint8Array;
  readonly #isRepeated: Uint8Array;

  constructor(cursors: readonly SyncCursor[], compare: CompareRange) {
    this.#cursors = cursors;
    this.#compare = compare;
    this.#isOver = new Uint8Array(cursors.length);
    this.#isRepeated = new Uint8Array(cursors.length);
  }

  begin(): void {
    // Nothing is known about the key.
  }

  advance(i: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { keyBytes, keyLength } = this.#cursors[i]!;
    this.#isRepeated[i] = 0;
    return this.#compare(bytes, start, end, keyBytes, 0, keyLength) < 0;
  }

  end(i: number): void {
    this.#isOver[i] = 1;
  }

  isOver(i: number): boolean {
    return this.#isOver[i] !== 0;
  }

  isBefore(i: number, j: number): boolean {
    if (this.#isOver[i] !== 0) return false;
    if (this.#isOver[j] !== 0) return true;
    const a = this.#cursors[i]!;
    const b = this.#cursors[j]!;
    const order = this.#compare(a.keyBytes, 0, a.keyLength, b.keyBytes, 0, b.keyLength);
    const isBefore = order === 0 ? i < j : order < 0;
    this.#isRepeated[isBefore ? j : i] = order === 0 ? 1 : 0;
    return isBefore;
  }

  isRepeated(i: number): boolean {
    return this.#isRepeated[i] !== 0;
  }
}

/** More than the longest common start of two keys. */
const MOST = 2 ** 32;
/** The number of values of the last part of a code: 256 for a byte, and two for the end of the key. */
const VALUES = 512;
const LAST_PART = VALUES - 1;
/** The key is equal to the other key. */
const EQUAL = 0;
/** The key is empty and has not been compared. */
const EMPTY = 1;
const FIRST_BYTE = 2;
const OVER = Infinity;

/**
 * Keys in bytewise order, as codes: the number of bytes that a key shares with the key that it lost to, and its next byte.
 *
 *     (2^32 - common bytes) * 512 + first other byte + 2
 *
 * Of two keys that are after a third one, the one with more in common with that is first; where both have the same in common, the
 * next byte decides. So mostly one comparison of numbers is enough: `bloom merge` of ten tables takes 0.92 of the time that it takes
 * with comparisons of whole keys.
 *
 * Source: Conner, Offset value coding, IBM Technical Disclosure Bulletin 20 (1977); Graefe and Do, Offset-value coding in database
 * query processing (EDBT 2023).
 */
export class BytewiseKeys implements MergedKeys {
  readonly #cursors: readonly SyncCursor[];
  readonly #codes: Float64Array;

  constructor(cursors: readonly SyncCursor[]) {
    this.#cursors = cursors;
    this.#codes = new Float64Array(cursors.length);
  }

  begin(i: number): void {
    const { keyBytes, keyLength } = this.#cursors[i]!;
    this.#codes[i] = MOST * VALUES + (keyLength === 0 ? EMPTY : keyBytes[0]! + FIRST_BYTE);
  }

  advance(i: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { keyBytes, keyLength } = this.#cursors[i]!;
    const shorter = Math.min(keyLength, end - start);
    let common = 0;
    while (common < shorter && keyBytes[common] === bytes[start + common]) common++;
    if (common === keyLength) return false;
    this.#codes[i] = codeOf(keyBytes, keyLength, common);
    return common === shorter || keyBytes[common]! > bytes[start + common]!;
  }

  end(i: number): void {
    this.#codes[i] = OVER;
  }

  isOver(i: number): boolean {
    return this.#codes[i] === OVER;
  }

  isBefore(i: number, j: number): boolean {
    const code = this.#codes[i]!;
    const other = this.#codes[j]!;
    // What the later key has in common with the third one, it has in common with the other as well.
    if (code !== other) return code < other;
    return code !== OVER && this.#isBefore(i, j, code);
  }

  /** Compares two keys that have the same code. */
  #isBefore(i: number, j: number, code: number): boolean {
    const value = code & LAST_PART;
    const { keyBytes: a, keyLength: aLength } = this.#cursors[i]!;
    const { keyBytes: b, keyLength: bLength } = this.#cursors[j]!;
    const shorter = Math.min(aLength, bLength);
    let common = value < FIRST_BYTE ? shorter : MOST - (code - value) / VALUES + 1;
    while (common < shorter && a[common] === b[common]) common++;
    const isBefore = common < shorter ? a[common]! < b[common]! : aLength === bLength ? i < j : aLength < bLength;
    if (isBefore) this.#codes[j] = codeOf(b, bLength, common);
    else this.#codes[i] = codeOf(a, aLength, common);
    return isBefore;
  }

  isRepeated(i: number): boolean {
    const code = this.#codes[i]!;
    return (code & LAST_PART) === EQUAL && code !== OVER;
  }
}

/** The code of a key that shares `common` bytes with the key that it lost to. */
function codeOf(bytes: Uint8Array, length: number, common: number): number {
  return (MOST - common) * VALUES + (common === length ? EQUAL : bytes[common]! + FIRST_BYTE);
}
