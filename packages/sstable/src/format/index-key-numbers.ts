import type { KeyBuffer } from '@bloom/policy';

/**
 * For each separator, the first bytes after the common prefix as a number, so that most steps of a search compare numbers
 * that are adjacent in memory.
 *
 * The common prefix is that of all separators but the last, which is often a short successor, such as `l` after `key…`,
 * and has no prefix in common with the others. Its number is Infinity then.
 */
export class IndexKeyNumbers {
  /** The length of the common prefix. */
  readonly common: number;
  /** Whether every separator has a whole trailer, so that the numbers can be used. */
  readonly isUsable: boolean;
  readonly #numbers: Float64Array;

  /** @param trailerLength how many bytes at the end of each separator to ignore. */
  constructor({ length, bytes, offsets }: KeyBuffer, trailerLength: number) {
    this.#numbers = new Float64Array(length);
    let common = length < 2 ? 0 : offsets[1]! - trailerLength;
    for (let i = 1; i < length - 1; i++) common = commonLength(bytes, common, offsets[i]!, offsets[i + 1]! - trailerLength);
    const last = length === 0 ? 0 : offsets[length - 1]!;
    const lastEnd = length === 0 ? 0 : offsets[length]! - trailerLength;
    this.isUsable = common >= 0 && lastEnd >= last;
    this.common = common;
    if (!this.isUsable) return;
    for (let i = 0; i < length; i++) this.#numbers[i] = numberAt(bytes, offsets[i]! + common, offsets[i + 1]! - trailerLength);
    if (commonLength(bytes, common, last, lastEnd) < common) this.#numbers[length - 1] = Infinity;
  }

  /** The number of separator `i`; undefined past the last. */
  at(i: number): number | undefined {
    return this.#numbers[i];
  }

  /** The first separator whose number is at least `number`, or the number of separators if there is none. */
  firstAtLeast(number: number): number {
    const numbers = this.#numbers;
    let first = 0;
    for (let left = numbers.length; left > 0; ) {
      const half = (left + 1) >>> 1;
      // Branch-free, because the branch is unpredictable: a get of an absent key took 200 ns instead of 290.
      first += half & -Number(numbers[first + half - 1]! < number);
      left -= half;
    }
    return first;
  }
}

/** A double holds an integer of six bytes exactly. */
const NUMBER_LENGTH = 6;

/**
 * The first six bytes of `bytes[start, end)` as a big-endian number, padded with zeros. A key with a smaller number is
 * before one with a larger number.
 */
export function numberAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= NUMBER_LENGTH) {
    const high = (bytes[start]! << 16) | (bytes[start + 1]! << 8) | bytes[start + 2]!;
    const low = (bytes[start + 3]! << 16) | (bytes[start + 4]! << 8) | bytes[start + 5]!;
    return high * 2 ** 24 + low;
  }
  let number = 0;
  for (let i = start; i < start + NUMBER_LENGTH; i++) number = number * 256 + (i < end ? bytes[i]! : 0);
  return number;
}

/** How many of the first `most` bytes `bytes[start, end)` begins with; negative when `end` is before `start`. */
function commonLength(bytes: Uint8Array, most: number, start: number, end: number): number {
  const limit = Math.min(most, end - start);
  let common = Math.min(limit, 0);
  while (common < limit && bytes[common] === bytes[start + common]) common++;
  return common;
}
