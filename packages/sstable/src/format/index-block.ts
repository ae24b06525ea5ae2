/**
 * The index of a table: a block with one entry for each data block.
 *
 *     key: last key of the data block ≤ key < first key of the next      value: the data block's handle
 *
 * Source: LevelDB, table/table_builder.cc and doc/table_format.md.
 */
import { KeyBuffer } from '@bloom/policy';
import { type BlockHandle, MAX_BLOCK_HANDLE_LENGTH, putBlockHandle, readBlockHandle } from './block-handle.js';
import { BlockBuilder } from './block-builder.js';
import { BlockWalk } from './block-walk.js';
import { compareBytes, type CompareRange } from './comparator.js';
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';

/** Stands for the size of a handle that cannot be decoded or points outside the file. */
const BAD_HANDLE = -1;

/** The memory of a decoded entry beside its key: offset, size, number, and the key's offset. */
const BYTES_PER_ENTRY = 28;
/** The most memory of a decoded index, as a multiple of its block. Crafted entries can share megabytes each. */
const MAX_EXPANSION = 16;
/** A decoded index of this size is always accepted. */
const MIN_DECODED_BYTES = 2 ** 20;

/** Builds the index block: an entry for each data block, none of which shares key bytes. */
export class IndexBlockBuilder {
  readonly #block = new BlockBuilder(1);
  readonly #handle = new Uint8Array(MAX_BLOCK_HANDLE_LENGTH);

  /** Bytes of the block if it were finished now. */
  get byteLength(): number {
    return this.#block.byteLength;
  }

  /** @param separator a key that is not before any key of the data block, and before all keys of the next one. */
  add(separator: Uint8Array, handle: BlockHandle): void {
    this.#block.add(separator, this.#handle.subarray(0, putBlockHandle(this.#handle, 0, handle)));
  }

  /** The contents of the block. */
  finish(): Uint8Array {
    return this.#block.finish();
  }
}

/** A decoded index, in flat arrays rather than an object for each data block. */
export class IndexBlock {
  /** How many data blocks there are. */
  readonly length: number;
  readonly #separators: KeyBuffer;
  readonly #offsets: Float64Array;
  readonly #sizes: Float64Array;
  /** The length of the common prefix of all separators. */
  readonly #common: number;
  /**
   * For each separator the first bytes after the common prefix, as a number, so that most steps of a search compare
   * numbers that are adjacent in memory.
   */
  readonly #numbers: Float64Array;

  private constructor(separators: KeyBuffer, offsets: Float64Array, sizes: Float64Array) {
    this.length = separators.length;
    this.#separators = separators;
    this.#offsets = offsets;
    this.#sizes = sizes;
    this.#common = commonLength(separators);
    this.#numbers = new Float64Array(this.length);
    for (let i = 0; i < this.length; i++) {
      this.#numbers[i] = numberAt(separators.bytes, separators.offsets[i]! + this.#common, separators.offsets[i + 1]!);
    }
  }

  /**
   * Decodes an index block. A damaged handle spoils the block that it is for, not the table.
   *
   * @param blocksEnd the offset that no data block, trailer excluded, may run past.
   * @param maxDecodedBytes the most memory that the decoded index may take, if it is to be less than 16 times the block.
   * @throws CorruptionError `BLOOM_BAD_BLOCK` when the contents are not a block, `BLOOM_TOO_LARGE` when the decoded
   *   index would take more memory.
   */
  static decode(contents: Uint8Array, place: Place, blocksEnd: number, maxDecodedBytes = Infinity): IndexBlock {
    const walk = new BlockWalk(place.structure, place.file);
    walk.reset(contents, place.offset);
    const maxBytes = Math.max(MIN_DECODED_BYTES, Math.min(contents.length * MAX_EXPANSION, maxDecodedBytes));
    let count = 0;
    let keyBytes = 0;
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      count++;
      keyBytes += walk.keyLength;
      if (keyBytes + count * BYTES_PER_ENTRY > maxBytes) {
        throw new CorruptionError('BLOOM_TOO_LARGE', place, `decoded it has more than ${maxBytes} bytes, the limit`);
      }
    }
    // Entries were counted first, so that nothing has to grow.
    const separators = new KeyBuffer(keyBytes, count);
    const offsets = new Float64Array(count);
    const sizes = new Float64Array(count);
    const reader = new VarintReader(contents);
    for (let i = 0, more = walk.seekToFirst(); more; i++, more = walk.next()) {
      separators.pushRange(walk.keyBytes, 0, walk.keyLength);
      reader.position = walk.valueStart;
      reader.end = walk.valueEnd;
      const handle = readBlockHandle(reader);
      const good = handle !== undefined && handle.offset + handle.size <= blocksEnd;
      offsets[i] = handle?.offset ?? 0;
      sizes[i] = good ? handle.size : BAD_HANDLE;
    }
    return new IndexBlock(separators, offsets, sizes);
  }

  /** Where data block `i` is: bytes from the start of the file. */
  offsetOf(i: number): number {
    return this.#offsets[i]!;
  }

  /** Bytes of data block `i` as stored, without its trailer. Negative when its handle is damaged. */
  sizeOf(i: number): number {
    return this.#sizes[i]!;
  }

  /** The index key of data block `i`, as a view. No key of the block is after it. */
  separatorOf(i: number): Uint8Array {
    return this.#separators.at(i);
  }

  /** Bytes of the shortest index key; Infinity without any. */
  get shortestSeparatorLength(): number {
    const { offsets } = this.#separators;
    let shortest = Infinity;
    for (let i = 0; i < this.length; i++) shortest = Math.min(shortest, offsets[i + 1]! - offsets[i]!);
    return shortest;
  }

  /** The only data block that can hold `key`: the first whose index key is at or after it, or `length` if there is none. */
  seek(key: Uint8Array, compare: CompareRange): number {
    if (compare === compareBytes) return this.#seekBytes(key);
    const { bytes, offsets } = this.#separators;
    let left = 0;
    let right = this.length;
    while (left < right) {
      const middle = (left + right) >>> 1;
      if (compare(bytes, offsets[middle]!, offsets[middle + 1]!, key, 0, key.length) < 0) left = middle + 1;
      else right = middle;
    }
    return left;
  }

  #seekBytes(key: Uint8Array): number {
    if (this.length === 0) return 0;
    const { bytes, offsets } = this.#separators;
    const common = this.#common;
    const order = compareBytes(bytes, 0, common, key, 0, Math.min(common, key.length));
    if (order !== 0) return order < 0 ? this.length : 0;
    const number = numberAt(key, common, key.length);
    let left = this.#firstAtLeast(number);
    if (this.#numbers[left] !== number) return left;
    let right = this.#firstAtLeast(number + 1);
    while (left < right) {
      const middle = (left + right) >>> 1;
      const isBefore = compareBytes(bytes, offsets[middle]! + common, offsets[middle + 1]!, key, common, key.length) < 0;
      if (isBefore) left = middle + 1;
      else right = middle;
    }
    return left;
  }

  /** The first block whose number is at least `number`, or `length` if there is none. */
  #firstAtLeast(number: number): number {
    const numbers = this.#numbers;
    let first = 0;
    for (let left = this.length; left > 0; ) {
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
 * The first six bytes of `bytes[start, end)` as a big-endian number, padded with zeros. A key with a lesser number is
 * before one with a greater number.
 */
function numberAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start >= NUMBER_LENGTH) {
    const high = (bytes[start]! << 16) | (bytes[start + 1]! << 8) | bytes[start + 2]!;
    const low = (bytes[start + 3]! << 16) | (bytes[start + 4]! << 8) | bytes[start + 5]!;
    return high * 2 ** 24 + low;
  }
  let number = 0;
  for (let i = start; i < start + NUMBER_LENGTH; i++) number = number * 256 + (i < end ? bytes[i]! : 0);
  return number;
}

/** The length of the common prefix of all `keys`. */
function commonLength({ length, bytes, offsets }: KeyBuffer): number {
  let common = length === 0 ? 0 : offsets[1]!;
  for (let i = 1; i < length; i++) {
    const start = offsets[i]!;
    common = Math.min(common, offsets[i + 1]! - start);
    for (let j = 0; j < common; j++) if (bytes[j] !== bytes[start + j]) common = j;
  }
  return common;
}
