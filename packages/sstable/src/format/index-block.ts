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
import { BlockWalk, uint32At } from './block-walk.js';
import { compareBytes, compareInternalBytes, type CompareRange, INTERNAL_KEY_TRAILER_LENGTH } from './bytewise-order.js';
import { CorruptionError, type Place, VarintReader } from '@bloom/bytes';

/** The size that is stored for a handle that cannot be decoded or points outside the file. */
const BAD_HANDLE = -1;

/** The memory of a decoded entry besides its key: offset, size, number, and the key's offset. */
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

/**
 * How much longer a lookup and the reading of a handle take in the stored index than in the decoded one, in units of about
 * the time that decoding takes for each entry. When a table has spent on them what decoding costs, it is decoded.
 */
const LOOKUP_COST = 8;
const HANDLE_COST = 1;
/** The least to be spent before decoding: 64 lookups. */
const MIN_SPENT = 64 * LOOKUP_COST;

/**
 * The index of an open table.
 *
 * Opening checks the whole block, but does not decode it if every entry is at a restart of its own, as LevelDB writes
 * indexes: then any entry can be found by its number, and searched in the block itself. That takes a tenth of the time of
 * decoding. An index that is used much is decoded: lookups then take a third of the time.
 */
export class IndexBlock {
  /** How many data blocks there are. */
  readonly length: number;
  /** Bytes of the shortest index key; Infinity when there is none. */
  readonly shortestSeparatorLength: number;
  /** Dropped with the stored index, so that the block is not kept in memory. */
  #decode: (() => DecodedIndex) | undefined;
  #stored: StoredIndex | undefined;
  #decoded: DecodedIndex | undefined;

  private constructor(index: StoredIndex | DecodedIndex, decode: () => DecodedIndex) {
    this.length = index.length;
    this.shortestSeparatorLength = index.shortestSeparatorLength;
    if (index instanceof StoredIndex) {
      this.#stored = index;
      this.#decode = decode;
    } else {
      this.#decoded = index;
    }
  }

  /**
   * Opens an index block. A damaged handle costs only its data block, not the table.
   *
   * @param contents must not change while the index is in use.
   * @param blocksEnd the offset at which the last data block must end, without its trailer.
   * @param maxDecodedBytes the most memory that the decoded index may take; never more than 16 times the block.
   * @throws CorruptionError `BLOOM_BAD_BLOCK` when the contents are not a block, `BLOOM_TOO_LARGE` when the decoded
   *   index would take more memory.
   */
  static open(contents: Uint8Array, place: Place, blocksEnd: number, maxDecodedBytes = Infinity): IndexBlock {
    const maxBytes = Math.max(MIN_DECODED_BYTES, Math.min(contents.length * MAX_EXPANSION, maxDecodedBytes));
    const decode = (): DecodedIndex => DecodedIndex.decode(contents, place, blocksEnd, maxBytes);
    return new IndexBlock(StoredIndex.check(contents, blocksEnd, maxBytes) ?? decode(), decode);
  }

  /** Where data block `i` is: bytes from the start of the file. */
  offsetOf(i: number): number {
    return (this.#decoded ?? this.#current()).offsetOf(i);
  }

  /** Bytes of data block `i` as stored, without its trailer. Negative when its handle is damaged. */
  sizeOf(i: number): number {
    return (this.#decoded ?? this.#current()).sizeOf(i);
  }

  /** The index key of data block `i`, as a view. No key of the block is after it. */
  separatorOf(i: number): Uint8Array {
    return (this.#decoded ?? this.#current()).separatorOf(i);
  }

  /** The only data block that can hold `key`: the first whose index key is at or after it, or `length` if there is none. */
  seek(key: Uint8Array, compare: CompareRange): number {
    return (this.#decoded ?? this.#current()).seek(key, compare);
  }

  #current(): StoredIndex | DecodedIndex {
    const stored = this.#stored!;
    if (stored.spent < Math.max(MIN_SPENT, this.length)) return stored;
    this.#decoded = this.#decode!();
    this.#stored = this.#decode = undefined;
    return this.#decoded;
  }
}

/** An index as it is in the block, in which every entry is at a restart of its own. */
class StoredIndex {
  readonly length: number;
  readonly shortestSeparatorLength: number;
  readonly #contents: Uint8Array;
  readonly #reader: VarintReader;
  readonly #blocksEnd: number;
  /** What using the index has cost more than if it were decoded. */
  spent = 0;
  /** The entry that was read last: its number, its key's and value's place, and its handle. */
  #entry = -1;
  #keyStart = 0;
  #keyEnd = 0;
  #valueEnd = 0;
  #handle = -1;
  #offset = 0;
  #size = BAD_HANDLE;

  private constructor(contents: Uint8Array, length: number, shortestSeparatorLength: number, blocksEnd: number) {
    this.length = length;
    this.shortestSeparatorLength = shortestSeparatorLength;
    this.#contents = contents;
    this.#reader = new VarintReader(contents);
    this.#blocksEnd = blocksEnd;
  }

  /**
   * Checks every entry except its handle.
   *
   * @returns undefined when the block is damaged or has another form, which {@link DecodedIndex.decode} tells apart.
   */
  static check(contents: Uint8Array, blocksEnd: number, maxDecodedBytes: number): StoredIndex | undefined {
    const { length } = contents;
    if (length < 4) return undefined;
    const count = uint32At(contents, length - 4);
    if (count === 0 || count > (length - 4) / 4) return undefined;
    const restarts = length - 4 - count * 4;
    const reader = new VarintReader(contents, 0, restarts);
    let position = 0;
    let keyBytes = 0;
    let shortest = Infinity;
    for (let restart = restarts; restart < length - 4; restart += 4) {
      if (uint32At(contents, restart) !== position || restarts - position < 3) return undefined;
      let unshared = contents[position + 1]!;
      let valueLength = contents[position + 2]!;
      if (contents[position] !== 0) return undefined;
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
    return new StoredIndex(contents, count, shortest, blocksEnd);
  }

  offsetOf(i: number): number {
    this.#readHandle(i);
    return this.#offset;
  }

  sizeOf(i: number): number {
    this.#readHandle(i);
    return this.#size;
  }

  separatorOf(i: number): Uint8Array {
    this.#readEntry(i);
    return this.#contents.subarray(this.#keyStart, this.#keyEnd);
  }

  seek(key: Uint8Array, compare: CompareRange): number {
    this.spent += LOOKUP_COST;
    let left = 0;
    for (let right = this.length; left < right; ) {
      const middle = (left + right) >>> 1;
      this.#readEntry(middle);
      if (compare(this.#contents, this.#keyStart, this.#keyEnd, key, 0, key.length) < 0) left = middle + 1;
      else right = middle;
    }
    return left;
  }

  #readEntry(i: number): void {
    if (i === this.#entry) return;
    const contents = this.#contents;
    const position = uint32At(contents, contents.length - 4 - (this.length - i) * 4);
    let unshared = contents[position + 1]!;
    let valueLength = contents[position + 2]!;
    let keyStart = position + 3;
    if ((unshared | valueLength) >= 0x80) {
      const reader = this.#reader;
      reader.position = position + 1;
      reader.end = contents.length;
      unshared = reader.varint32();
      valueLength = reader.varint32();
      keyStart = reader.position;
    }
    this.#entry = i;
    this.#keyStart = keyStart;
    this.#keyEnd = keyStart + unshared;
    this.#valueEnd = keyStart + unshared + valueLength;
  }

  #readHandle(i: number): void {
    if (i === this.#handle) return;
    this.spent += HANDLE_COST;
    this.#readEntry(i);
    const reader = this.#reader;
    reader.position = this.#keyEnd;
    reader.end = this.#valueEnd;
    const handle = readBlockHandle(reader);
    this.#handle = i;
    this.#offset = handle?.offset ?? 0;
    this.#size = sizeWithin(handle, this.#blocksEnd);
  }
}

/** A decoded index, in flat arrays rather than an object for each data block. */
class DecodedIndex {
  readonly length: number;
  readonly #separators: KeyBuffer;
  readonly #offsets: Float64Array;
  readonly #sizes: Float64Array;
  /** For searches by {@link compareBytes} and by {@link compareInternalBytes}; made by the first such search. */
  #byBytes: SeparatorNumbers | undefined;
  #byUserKey: SeparatorNumbers | undefined;

  private constructor(separators: KeyBuffer, offsets: Float64Array, sizes: Float64Array) {
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
    const offsets = new Float64Array(count);
    const sizes = new Float64Array(count);
    const reader = new VarintReader(contents);
    for (let i = 0, more = walk.seekToFirst(); more; i++, more = walk.next()) {
      separators.pushRange(walk.keyBytes, 0, walk.keyLength);
      reader.position = walk.valueStart;
      reader.end = walk.valueEnd;
      const handle = readBlockHandle(reader);
      offsets[i] = handle?.offset ?? 0;
      sizes[i] = sizeWithin(handle, blocksEnd);
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
      return this.#seekNumber((this.#byBytes ??= new SeparatorNumbers(this.#separators, 0)), key, key.length, compare);
    }
    const userKeyEnd = key.length - INTERNAL_KEY_TRAILER_LENGTH;
    if (compare === compareInternalBytes && userKeyEnd >= 0) {
      this.#byUserKey ??= new SeparatorNumbers(this.#separators, INTERNAL_KEY_TRAILER_LENGTH);
      if (this.#byUserKey.isUsable) return this.#seekNumber(this.#byUserKey, key, userKeyEnd, compare);
    }
    return this.#seekBetween(0, this.length, key, compare);
  }

  /** Does {@link seek} by the separators' numbers. The number of `key` is taken from `key[0, end)`. */
  #seekNumber(numbers: SeparatorNumbers, key: Uint8Array, end: number, compare: CompareRange): number {
    if (this.length === 0) return 0;
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
function sizeWithin(handle: BlockHandle | undefined, blocksEnd: number): number {
  return handle !== undefined && handle.offset + handle.size <= blocksEnd ? handle.size : BAD_HANDLE;
}

/**
 * For each separator, the first bytes after the common prefix as a number, so that most steps of a search compare numbers
 * that are adjacent in memory.
 *
 * The common prefix is that of all separators but the last, which is often a short successor, such as `l` after `key…`,
 * and has no prefix in common with the others. Its number is Infinity then.
 */
class SeparatorNumbers {
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

/** How many of the first `most` bytes `bytes[start, end)` begins with; negative when `end` is before `start`. */
function commonLength(bytes: Uint8Array, most: number, start: number, end: number): number {
  const limit = Math.min(most, end - start);
  let common = Math.min(limit, 0);
  while (common < limit && bytes[common] === bytes[start + common]) common++;
  return common;
}
