import { VarintReader } from '@bloom/bytes';
import { KeyBuffer } from '@bloom/policy';
import { readBlockHandle } from './block-handle.js';
import { uint32At } from './block-walk.js';
import type { CompareRange } from './bytewise-order.js';
import { BAD_HANDLE, BYTES_PER_ENTRY, DecodedIndex, type HandleNumbers, putNumber, sizeWithin } from './decoded-index.js';

/**
 * How much longer a lookup and the reading of a handle take in the stored index than in the decoded one, in units of about
 * the time that decoding takes for each entry. When a table has spent on them what decoding costs, it is decoded. A walk
 * reads a few handles for each block, so the first walks through a table do without: a compaction takes a twentieth less time.
 */
export const LOOKUP_COST = 8;
const HANDLE_COST = 1 / 16;

/** An index as it is in the block, in which every entry is at a restart of its own. */
export class StoredIndex {
  readonly length: number;
  readonly shortestSeparatorLength: number;
  private readonly contents: Uint8Array;
  /** Bytes of all separators. */
  private readonly keyBytes: number;
  private readonly reader: VarintReader;
  private readonly blocksEnd: number;
  /** What using the index has cost more than if it were decoded. */
  spent = 0;
  /** The entry that was read last: its number, its key's and value's place, and its handle. */
  private entry = -1;
  private keyStart = 0;
  private keyEnd = 0;
  private valueEnd = 0;
  private handle = -1;
  private offset = 0;
  private size = BAD_HANDLE;

  private constructor(contents: Uint8Array, length: number, shortestSeparatorLength: number, keyBytes: number, blocksEnd: number) {
    this.length = length;
    this.keyBytes = keyBytes;
    this.shortestSeparatorLength = shortestSeparatorLength;
    this.contents = contents;
    this.reader = new VarintReader(contents);
    this.blocksEnd = blocksEnd;
  }

  /**
   * Checks every entry except its handle.
   *
   * @returns undefined when the block is damaged or has another form, which {@link DecodedIndex.decode} tells apart.
   */
  static check(contents: Uint8Array, blocksEnd: number, maxDecodedBytes: number): StoredIndex | undefined {
    const { length } = contents;
    if (length < 4) return undefined;
    const view = new DataView(contents.buffer, contents.byteOffset, length);
    const count = view.getUint32(length - 4, true);
    if (count === 0 || count > (length - 4) / 4) return undefined;
    const restarts = length - 4 - count * 4;
    const reader = new VarintReader(contents, 0, restarts);
    let position = 0;
    let keyBytes = 0;
    let shortest = Infinity;
    for (let restart = restarts; restart < length - 4; restart += 4) {
      if (view.getUint32(restart, true) !== position || restarts - position < 3) return undefined;
      // How many bytes are shared, the lengths of key and value, if they take a byte each, and another byte.
      const header = view.getUint32(position, true);
      if ((header & 0xff) !== 0) return undefined;
      let unshared = (header >>> 8) & 0xff;
      let valueLength = (header >>> 16) & 0xff;
      position += 3;
      if ((unshared | valueLength) >= 0x80) {
        reader.position = position - 2;
        unshared = reader.varint32();
        valueLength = unshared < 0 ? -1 : reader.varint32();
        if (valueLength < 0) return undefined;
        position = reader.position;
      }
      position += unshared + valueLength;
      keyBytes += unshared;
      if (unshared < shortest) shortest = unshared;
    }
    if (position !== restarts || keyBytes + count * BYTES_PER_ENTRY > maxDecodedBytes) return undefined;
    return new StoredIndex(contents, count, shortest, keyBytes, blocksEnd);
  }

  /**
   * The same index, decoded.
   *
   * One loop that copies keys itself, because it mostly runs before V8 has optimized it: with a `BlockWalk` and `pushRange`, V8 also compiled
   * each function that they call for each entry.
   */
  decode(): DecodedIndex {
    const { contents, length, blocksEnd, reader } = this;
    const separators = new KeyBuffer(this.keyBytes, length);
    const { bytes, offsets: keys } = separators;
    let offsets: HandleNumbers = new Int32Array(length);
    let sizes: HandleNumbers = new Int32Array(length);
    for (let i = 0, position = 0, to = 0; i < length; i++) {
      let unshared = contents[position + 1]!;
      let valueLength = contents[position + 2]!;
      position += 3;
      if ((unshared | valueLength) >= 0x80) {
        reader.position = position - 2;
        reader.end = contents.length;
        unshared = reader.varint32();
        valueLength = reader.varint32();
        position = reader.position;
      }
      for (const end = position + unshared; position < end; position++) bytes[to++] = contents[position]!;
      keys[i + 1] = to;
      reader.position = position;
      position += valueLength;
      reader.end = position;
      const handle = readBlockHandle(reader);
      offsets = putNumber(offsets, i, handle?.offset ?? 0);
      sizes = putNumber(sizes, i, sizeWithin(handle, blocksEnd));
    }
    separators.length = length;
    return new DecodedIndex(separators, offsets, sizes);
  }

  offsetOf(i: number): number {
    this.#readHandle(i);
    return this.offset;
  }

  sizeOf(i: number): number {
    this.#readHandle(i);
    return this.size;
  }

  separatorOf(i: number): Uint8Array {
    this.#readEntry(i);
    return this.contents.subarray(this.keyStart, this.keyEnd);
  }

  seek(key: Uint8Array, compare: CompareRange): number {
    this.spent += LOOKUP_COST;
    let left = 0;
    for (let right = this.length; left < right; ) {
      const middle = (left + right) >>> 1;
      this.#readEntry(middle);
      if (compare(this.contents, this.keyStart, this.keyEnd, key, 0, key.length) < 0) left = middle + 1;
      else right = middle;
    }
    return left;
  }

  #readEntry(i: number): void {
    if (i === this.entry) return;
    const contents = this.contents;
    const position = uint32At(contents, contents.length - 4 - (this.length - i) * 4);
    let unshared = contents[position + 1]!;
    let valueLength = contents[position + 2]!;
    let keyStart = position + 3;
    if ((unshared | valueLength) >= 0x80) {
      const reader = this.reader;
      reader.position = position + 1;
      reader.end = contents.length;
      unshared = reader.varint32();
      valueLength = reader.varint32();
      keyStart = reader.position;
    }
    this.entry = i;
    this.keyStart = keyStart;
    this.keyEnd = keyStart + unshared;
    this.valueEnd = keyStart + unshared + valueLength;
  }

  #readHandle(i: number): void {
    if (i === this.handle) return;
    this.spent += HANDLE_COST;
    this.#readEntry(i);
    const reader = this.reader;
    reader.position = this.keyEnd;
    reader.end = this.valueEnd;
    const handle = readBlockHandle(reader);
    this.handle = i;
    this.offset = handle?.offset ?? 0;
    this.size = sizeWithin(handle, this.blocksEnd);
  }
}
