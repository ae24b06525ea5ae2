/**
 * The index of a table: a block with one entry for each data block.
 *
 *     key: last key of the data block ≤ key < first key of the next      value: the data block's handle
 *
 * Source: LevelDB, table/table_builder.cc and doc/table_format.md.
 */
import { KeyBuffer } from '@bloom/policy';
import { readBlockHandle } from './block-handle.js';
import { BlockCursor } from './block.js';
import { bytewiseComparator, type CompareRange, compareRangeOf } from './comparator.js';
import { CorruptionError, type Place } from './errors.js';
import { VarintReader } from './varint.js';

/** The size of a handle that could not be read, or that lies outside the file. */
const BAD_HANDLE = -1;

/** A decoded index, in flat arrays: a table of a million blocks has no object for each. */
export class IndexBlock {
  /** How many data blocks there are. */
  readonly length: number;
  readonly #separators: KeyBuffer;
  readonly #offsets: Float64Array;
  readonly #sizes: Float64Array;

  private constructor(separators: KeyBuffer, offsets: readonly number[], sizes: readonly number[]) {
    this.length = separators.length;
    this.#separators = separators;
    this.#offsets = Float64Array.from(offsets);
    this.#sizes = Float64Array.from(sizes);
  }

  /**
   * Decodes an index block. A handle that is damaged spoils the block that it is for, not the table.
   *
   * @param blocksEnd the offset that no data block, with its trailer, runs past.
   * @param maxBytes the most bytes that all keys together may have when their shared prefixes are written out.
   * @throws CorruptionError when the contents are not a block, or the keys too large.
   */
  static decode(contents: Uint8Array, place: Place, blocksEnd: number, maxBytes: number): IndexBlock {
    const cursor = new BlockCursor(compareRangeOf(bytewiseComparator), place.structure, place.file);
    cursor.reset(contents, place.offset);
    const separators = new KeyBuffer();
    const offsets: number[] = [];
    const sizes: number[] = [];
    const reader = new VarintReader(contents);
    let keyBytes = 0;
    for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
      keyBytes += cursor.keyLength;
      if (keyBytes > maxBytes) {
        throw new CorruptionError('BLOOM_TOO_LARGE', place, `its keys have more than ${maxBytes} bytes, the limit`);
      }
      separators.push(cursor.key);
      reader.position = cursor.valueStart;
      reader.end = cursor.valueEnd;
      const handle = readBlockHandle(reader);
      const good = handle !== undefined && handle.offset + handle.size <= blocksEnd;
      offsets.push(handle?.offset ?? 0);
      sizes.push(good ? handle.size : BAD_HANDLE);
    }
    return new IndexBlock(separators, offsets, sizes);
  }

  /** Bytes from the start of the file to data block `i`. */
  offsetOf(i: number): number {
    return this.#offsets[i]!;
  }

  /** Bytes of data block `i` as stored, without its trailer; negative when its handle is damaged. */
  sizeOf(i: number): number {
    return this.#sizes[i]!;
  }

  /** The index key of data block `i`: no key of the block is after it. A view. */
  separatorOf(i: number): Uint8Array {
    return this.#separators.at(i);
  }

  /** The first data block whose index key is at or after `key`: the only one that can hold it; `length` if there is none. */
  seek(key: Uint8Array, compare: CompareRange): number {
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
}
