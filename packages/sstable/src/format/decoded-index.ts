import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';
import { KeyBuffer } from '@bloom/policy';
import { type BlockHandle, readBlockHandle } from './block-handle.js';
import { BlockWalk } from './block-walk.js';
import { compareBytes, compareInternalBytes, type CompareRange, INTERNAL_KEY_TRAILER_LENGTH } from './bytewise-order.js';
import { numberAt, IndexKeyNumbers } from './index-key-numbers.js';

/** The size that is stored for a handle that cannot be decoded or points outside the file. */
export const BAD_HANDLE = -1;

/** The most memory of a decoded entry besides its key: offset, size, number, and the key's offset. */
export const BYTES_PER_ENTRY = 28;

const MAX_INT32 = 2 ** 31 - 1;

/**
 * Offsets or sizes of data blocks: an Int32Array unless one of them does not fit. V8 treats every number from a Float64Array as a fraction. With
 * one, it discarded and recompiled seven functions of a lookup, which had seen only whole numbers before the index was decoded.
 */
export type HandleNumbers = Int32Array | Float64Array;

/** Puts a number. @returns the array that then has it. */
export function putNumber(numbers: HandleNumbers, i: number, number: number): HandleNumbers {
  if (number > MAX_INT32 && numbers instanceof Int32Array) numbers = Float64Array.from(numbers);
  numbers[i] = number;
  return numbers;
}

/** A decoded index, in flat arrays rather than an object for each data block. */
export class DecodedIndex {
  readonly length: number;
  readonly #separators: KeyBuffer;
  readonly #offsets: HandleNumbers;
  readonly #sizes: HandleNumbers;
  /** For searches by {@link compareBytes} and by {@link compareInternalBytes}; made by the first such search. */
  #byBytes: IndexKeyNumbers | undefined;
  #byUserKey: IndexKeyNumbers | undefined;

  /** @param offsets of the data blocks. @param sizes of them; negative for handles that are damaged. */
  constructor(separators: KeyBuffer, offsets: HandleNumbers, sizes: HandleNumbers) {
    this.length = separators.length;
    this.#separators = separators;
    this.#offsets = offsets;
    this.#sizes = sizes;
  }

  /** @throws CorruptionError as {@link IndexBlock.open}. */
  static decode(contents: Uint8Array, place: Place, blocksEnd: number, maxBytes: number): DecodedIndex {
    const walk = new BlockWalk(place.structure, place.file);
    walk.reset(contents, place.offset);
    let count = 0;
    let keyBytes = 0;
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      count++;
      keyBytes += walk.keyLength;
      if (keyBytes + count * BYTES_PER_ENTRY > maxBytes) {
        throw new CorruptionError('BLOOM_TOO_LARGE', place, `it has more than ${maxBytes} bytes when decoded, the limit`);
      }
    }
    // The entries were counted first, so that arrays need not grow.
    const separators = new KeyBuffer(keyBytes, count);
    let offsets: HandleNumbers = new Int32Array(count);
    let sizes: HandleNumbers = new Int32Array(count);
    const reader = new VarintReader(contents);
    for (let i = 0, more = walk.seekToFirst(); more; i++, more = walk.next()) {
      separators.pushRange(walk.keyBytes, 0, walk.keyLength);
      reader.position = walk.valueStart;
      reader.end = walk.valueEnd;
      const handle = readBlockHandle(reader);
      offsets = putNumber(offsets, i, handle?.offset ?? 0);
      sizes = putNumber(sizes, i, sizeWithin(handle, blocksEnd));
    }
    return new DecodedIndex(separators, offsets, sizes);
  }

  get shortestSeparatorLength(): number {
    const { offsets } = this.#separators;
    let shortest = Infinity;
    for (let i = 0; i < this.length; i++) shortest = Math.min(shortest, offsets[i + 1]! - offsets[i]!);
    return shortest;
  }

  offsetOf(i: number): number {
    return this.#offsets[i]!;
  }

  sizeOf(i: number): number {
    return this.#sizes[i]!;
  }

  separatorOf(i: number): Uint8Array {
    return this.#separators.at(i);
  }

  seek(key: Uint8Array, compare: CompareRange): number {
    if (compare === compareBytes) {
      return this.#seekNumber((this.#byBytes ??= new IndexKeyNumbers(this.#separators, 0)), key, key.length, compare);
    }
    const userKeyEnd = key.length - INTERNAL_KEY_TRAILER_LENGTH;
    if (compare === compareInternalBytes && userKeyEnd >= 0) {
      this.#byUserKey ??= new IndexKeyNumbers(this.#separators, INTERNAL_KEY_TRAILER_LENGTH);
      if (this.#byUserKey.isUsable) return this.#seekNumber(this.#byUserKey, key, userKeyEnd, compare);
    }
    return this.#seekBetween(0, this.length, key, compare);
  }

  /** Does {@link seek} by the separators' numbers. The number of `key` is taken from `key[0, end)`. */
  #seekNumber(numbers: IndexKeyNumbers, key: Uint8Array, end: number, compare: CompareRange): number {
    const { bytes } = this.#separators;
    const { common } = numbers;
    const order = compareBytes(bytes, 0, common, key, 0, Math.min(common, end));
    if (order > 0) return 0;
    const number = order < 0 ? Infinity : numberAt(key, common, end);
    const left = numbers.firstAtLeast(number);
    if (numbers.at(left) !== number) return left;
    const right = number === Infinity ? this.length : numbers.firstAtLeast(number + 1);
    return this.#seekBetween(left, right, key, compare);
  }

  /** The first block in [left, right) whose index key is at or after `key`, or `right`. */
  #seekBetween(left: number, right: number, key: Uint8Array, compare: CompareRange): number {
    const { bytes, offsets } = this.#separators;
    while (left < right) {
      const middle = (left + right) >>> 1;
      if (compare(bytes, offsets[middle]!, offsets[middle + 1]!, key, 0, key.length) < 0) left = middle + 1;
      else right = middle;
    }
    return left;
  }
}

/** The size of a block that ends by `blocksEnd`, or {@link BAD_HANDLE}. */
export function sizeWithin(handle: BlockHandle | undefined, blocksEnd: number): number {
  return handle !== undefined && handle.offset + handle.size <= blocksEnd ? handle.size : BAD_HANDLE;
}
