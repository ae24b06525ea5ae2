import { CorruptionError, VarintReader } from '@bloom/bytes';
import { snappyDecoder } from '../compression/snappy.js';
import { readBlockHandle } from '../format/block-handle.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { encodeFooter, FOOTER_LENGTH, TABLE_MAGIC_LENGTH } from '../format/footer.js';
import { isFormatError } from '../format/is-format-error.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock, missingCodec, storedEnd } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { ANY_SHAPE, type ChecksumPairs, checksumPairs, NO_SHAPE, RAW_SHAPE, SNAPPY_SHAPE, storedRegister, tableOfCrc } from './checksum-search.js';
import type { StoredBlocks } from './stored-blocks.js';

/** A block that was found by means of its checksum. */
export interface FoundBlock {
  readonly offset: number;
  readonly size: number;
  /** A block of entries, all readable; undefined for a filter block, and for a block that cannot be decoded. */
  readonly contents: Uint8Array | undefined;
  /** Why the block cannot be decoded. */
  readonly problem: string | undefined;
}

/** Bytes per read. */
const READ_BYTES = 2 ** 20;
/** Bytes that are searched before the next ones are fetched. */
const STEP_BYTES = 2 ** 16;
/** How far to look for the end of a block that starts where the previous one ended; less after many wasted attempts. */
const FOLLOWING_BYTES = 2 ** 24;
const FOLLOWING_BYTES_AT_LAST = 2 ** 18;
/** Up to this size, a checksum alone is trusted for a type without a codec. One in 65,536 such blocks is wrong. */
const BELIEVED_BYTES = 2 ** 16;
/**
 * The sizes of the windows that are searched after damage, in this order until something is found. The largest windows
 * overlap by half, so a block at the border of two is found if it is at most half as large.
 */
export const WINDOW_BYTES = [2 ** 18, 2 ** 21, 2 ** 24, 2 ** 26];

/** What is known about the blocks of each compression type. */
export function shapesOf({ decoding }: StoredBlocks): Uint8Array {
  const shapes = new Uint8Array(256);
  shapes[NO_COMPRESSION] = RAW_SHAPE;
  for (const [type, codec] of decoding.codecs) shapes[type] = codec === snappyDecoder ? SNAPPY_SHAPE : ANY_SHAPE;
  return shapes;
}

/**
 * Finds the blocks in a part of a file, in order, by means of their checksums alone.
 *
 * Blocks are adjacent, so the next one should start where the last one ended, and it ends where the checksum from there is
 * right. If it is right nowhere, the block is damaged, and starts and ends are searched together (`checksum-search.ts`)
 * in windows of up to 64 MiB. Takes time in proportion to the bytes, and memory for one window.
 *
 * A checksum can be right by chance. A block is trusted if it can be decoded and all of its entries can be read.
 */
export class BlockScan {
  readonly #stored: StoredBlocks;
  readonly #end: number;
  readonly #shapes: Uint8Array;
  readonly #walk = new WholeBlockWalk('data block');
  #position: number;
  #window: Window | undefined;
  /** The index in {@link WINDOW_BYTES} of the largest window that is possible. */
  #largestWindow = WINDOW_BYTES.length - 1;
  /** The bytes read last. */
  #bytes = new Uint8Array(0);
  #bytesOffset = 0;
  /** How many more bytes may be searched and decoded without finding a block. */
  #wastedBytes: number;
  #undecodedBytes: number;

  /** Searches `[start, end)`. */
  constructor(stored: StoredBlocks, start: number, end: number) {
    this.#stored = stored;
    this.#position = start;
    this.#end = end;
    this.#shapes = shapesOf(stored);
    this.#wastedBytes = 4 * (end - start);
    this.#undecodedBytes = 8 * (end - start) + 2 ** 26;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FoundBlock, void, undefined> {
    for (;;) {
      const block = (await this.#following()) ?? (await this.#afterDamage());
      if (block === undefined) return;
      this.#position = storedEnd(block);
      yield block;
    }
  }

  /** The block that starts at the position. */
  async #following(): Promise<FoundBlock | undefined> {
    const start = this.#position;
    const most = Math.min(this.#wastedBytes > 0 ? FOLLOWING_BYTES : FOLLOWING_BYTES_AT_LAST, this.#stored.decoding.maxBlockBytes + 1);
    const end = Math.min(this.#end - 4, start + most);
    const table = tableOfCrc();
    let register = -1;
    for (let begin = start; begin < end; begin += STEP_BYTES) {
      const stop = Math.min(end, begin + STEP_BYTES);
      const bytes = await this.#read(begin, stop + 4 - begin);
      for (let i = 0; i < stop - begin; i++) {
        const byte = bytes[i]!;
        register = (register >>> 8) ^ table[(register ^ byte) & 0xff]!;
        if (register !== storedRegister(bytes, i + 1)) continue;
        const block = await this.#blockAt(start, begin + i - start, byte, true);
        if (block !== undefined) return block;
      }
    }
    this.#wastedBytes -= Math.max(0, end - start);
    return undefined;
  }

  /** The first block that starts at or after the position. */
  async #afterDamage(): Promise<FoundBlock | undefined> {
    for (;;) {
      const window = this.#window;
      while (window !== undefined && window.next < window.pairs.length) {
        const start = window.start + window.pairs.starts[window.next]!;
        const typeAt = window.start + window.pairs.typesAt[window.next++]!;
        if (start < this.#position || window.tables.some(([from, to]) => start >= from && start < to)) continue;
        const block = await this.#blockAt(start, typeAt - start, undefined, false);
        if (block !== undefined) return block;
      }
      if (!(await this.#openWindow())) return undefined;
    }
  }

  /** Searches the next window. @returns false when all bytes have been searched. */
  async #openWindow(): Promise<boolean> {
    const lastEnd = this.#window?.end ?? this.#position;
    if (this.#end - Math.max(this.#position, lastEnd) <= 0) return false;
    // Each window ends at least half its length after the last one, so that the total time is in proportion to the bytes.
    let level = 0;
    while (level < this.#largestWindow && this.#position + WINDOW_BYTES[level]! / 2 < lastEnd) level++;
    for (;;) {
      const length = WINDOW_BYTES[level]!;
      const start = Math.max(this.#position, lastEnd - length / 2);
      const end = Math.min(this.#end, start + length);
      const bytes = await this.#stored.bytes(start, end - start);
      const pairs = await checksumPairs(bytes, this.#shapes, () => this.#stored.pause());
      if (pairs === undefined) {
        this.#largestWindow = --level;
        continue;
      }
      this.#window = { start, end, next: 0, pairs, tables: tablesInside(bytes, start, this.#stored.source.byteLength) };
      return true;
    }
  }

  /**
   * The `size` bytes at `offset` as a block, if they are one.
   *
   * @param isFollowing whether they start where the previous block ended, so that they may be a filter block.
   */
  async #blockAt(offset: number, size: number, type: number | undefined, isFollowing: boolean): Promise<FoundBlock | undefined> {
    if (type !== undefined && this.#shapes[type] === NO_SHAPE) {
      const problem = missingCodec(type);
      return size > 0 && size <= BELIEVED_BYTES ? { offset, size, contents: undefined, problem } : undefined;
    }
    if (this.#undecodedBytes < 0) return undefined;
    const bytes = await this.#read(offset, size + BLOCK_TRAILER_LENGTH);
    let decoded = 0;
    try {
      const contents = decodeStoredBlock(bytes, { structure: 'data block', offset }, this.#stored.decoding);
      decoded = contents.length;
      if (isBlock(this.#walk, contents)) return { offset, size, contents, problem: undefined };
      if (isFollowing && bytes[size] === NO_COMPRESSION && isFilterBlock(contents)) {
        return { offset, size, contents: undefined, problem: undefined };
      }
    } catch (error) {
      if (!isFormatError(error)) throw error;
      // Its codec is sure of the format, so the checksum is not right by chance.
      if (error.code === 'BLOOM_UNSUPPORTED_CODEC') return { offset, size, contents: undefined, problem: error.problem };
    }
    this.#undecodedBytes -= size + decoded + 64;
    return undefined;
  }

  /** Bytes of the file. Reads more than that, for the next call. */
  async #read(offset: number, length: number): Promise<Uint8Array> {
    const start = offset - this.#bytesOffset;
    if (start < 0 || start + length > this.#bytes.length) {
      const most = Math.min(this.#end - offset, Math.max(length, READ_BYTES));
      this.#bytes = (await this.#stored.bytes(offset, most)) as Uint8Array<ArrayBuffer>;
      this.#bytesOffset = offset;
      return this.#bytes.subarray(0, length);
    }
    return this.#bytes.subarray(start, start + length);
  }
}

/** A part of the file in which starts and ends of blocks were searched for. */
interface Window {
  readonly start: number;
  readonly end: number;
  readonly pairs: ChecksumPairs;
  /** The next pair to try. */
  next: number;
  /** The positions of whole tables, each from its first block to the end of its footer. */
  readonly tables: readonly (readonly [start: number, end: number])[];
}

/** Whether all entries of a block can be read. */
export function isBlock(walk: WholeBlockWalk, contents: Uint8Array): boolean {
  try {
    walk.reset(contents, 0);
    if (walk.restartCount === 0) return false;
    for (let more = walk.seekToFirst(); more; more = walk.next());
    return true;
  } catch (error) {
    if (error instanceof CorruptionError) return false;
    throw error;
  }
}

/** Whether contents that are not a block of entries are a filter block: ascending offsets, before their own offset. */
function isFilterBlock(contents: Uint8Array): boolean {
  const trailer = contents.length - 5;
  if (trailer < 0 || contents[trailer + 4]! > 32) return false;
  const view = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
  const offsetsStart = view.getUint32(trailer, true);
  if (offsetsStart > trailer || (trailer - offsetsStart) % 4 !== 0) return false;
  for (let i = offsetsStart, last = 0; i < trailer; i += 4) {
    const offset = view.getUint32(i, true);
    if (offset < last || offset > offsetsStart) return false;
    last = offset;
  }
  return true;
}

/**
 * The positions of whole tables in `bytes`, which start at `offset` of a file. These are values that are tables
 * themselves, and after damage, their blocks must not be mistaken for the file's. A footer determines where its table starts.
 */
function tablesInside(bytes: Uint8Array, offset: number, fileBytes: number): [start: number, end: number][] {
  const none = { offset: 0, size: 0 };
  const magic = encodeFooter({ metaindex: none, index: none }).subarray(-TABLE_MAGIC_LENGTH);
  const tables: [number, number][] = [];
  for (let end = FOOTER_LENGTH; end <= bytes.length; end++) {
    const at = end - TABLE_MAGIC_LENGTH;
    if (bytes[at] !== magic[0] || !magic.every((byte, i) => bytes[at + i] === byte)) continue;
    const footer = end - FOOTER_LENGTH;
    const reader = new VarintReader(bytes, footer, at);
    const index = readBlockHandle(reader) && readBlockHandle(reader);
    const start = offset + footer - (index === undefined ? Infinity : storedEnd(index));
    if (start > 0 && offset + end < fileBytes) tables.push([start, offset + end]);
  }
  return tables;
}
