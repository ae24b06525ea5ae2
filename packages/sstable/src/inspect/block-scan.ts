import { CorruptionError, UnsupportedError, VarintReader } from '@bloom/bytes';
import { snappyDecoder } from '../compression/snappy.js';
import { readBlockHandle } from '../format/block-handle.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { encodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { ANY_SHAPE, type ChecksumPairs, checksumPairs, NO_SHAPE, RAW_SHAPE, SNAPPY_SHAPE, storedRegister, tableOfCrc } from './checksum-search.js';
import type { StoredBlocks } from './stored-blocks.js';

/** A block that was found by its checksum. */
export interface FoundBlock {
  readonly offset: number;
  readonly size: number;
  /** Its entries are whole; undefined for a filter block, and for one that cannot be decoded. */
  readonly contents: Uint8Array | undefined;
  /** Why it cannot be decoded. */
  readonly problem: string | undefined;
}

/** Bytes that are read at once. */
const READ_BYTES = 2 ** 20;
/** Bytes between two looks at whether the next ones were read. */
const STEP_BYTES = 2 ** 16;
/** The bytes in which the end of a block is looked for that starts where the one before it ends, and after many vain looks. */
const FOLLOWING_BYTES = 2 ** 24;
const FOLLOWING_BYTES_AT_LAST = 2 ** 18;
/** The size up to which a checksum alone is believed, of a type that no codec was given for. One in 65,536 is wrong. */
const BELIEVED_BYTES = 2 ** 16;
/**
 * The windows that are searched behind damage, one after another until something is found. A block that lies half in one
 * of the largest and half in the next is found if it has no more than half of its bytes.
 */
const WINDOW_BYTES = [2 ** 18, 2 ** 21, 2 ** 24, 2 ** 26];

/** What is known of the blocks of each compression type. */
export function shapesOf({ decoding }: StoredBlocks): Uint8Array {
  const shapes = new Uint8Array(256);
  shapes[NO_COMPRESSION] = RAW_SHAPE;
  for (const [type, codec] of decoding.codecs) shapes[type] = codec === snappyDecoder ? SNAPPY_SHAPE : ANY_SHAPE;
  return shapes;
}

/**
 * Finds the blocks in a part of a file, in order, by their checksums alone.
 *
 * Blocks follow one another, so the next one is looked for where the last one ended: from there on, a checksum that is
 * right ends it. Where none is, the block is damaged, and starts and ends are searched for together
 * (`checksum-search.ts`) in windows of up to 64 MiB. Takes time in proportion to the bytes, and memory for a window.
 *
 * A checksum may be right by chance. Blocks are believed if they can be decoded and all of their entries read.
 */
export class BlockScan {
  readonly #stored: StoredBlocks;
  readonly #end: number;
  readonly #shapes: Uint8Array;
  readonly #walk = new WholeBlockWalk('data block');
  #position: number;
  #window: Window | undefined;
  /** The number of the largest window that there is memory for. */
  #largestWindow = WINDOW_BYTES.length - 1;
  /** The bytes read last. */
  #bytes = new Uint8Array(0);
  #bytesOffset = 0;
  /** Bytes that may still be gone through for nothing, and decoded for nothing. */
  #vainBytes: number;
  #undecodedBytes: number;

  /** Looks at `[start, end)`. */
  constructor(stored: StoredBlocks, start: number, end: number) {
    this.#stored = stored;
    this.#position = start;
    this.#end = end;
    this.#shapes = shapesOf(stored);
    this.#vainBytes = 4 * (end - start);
    this.#undecodedBytes = 8 * (end - start) + 2 ** 26;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FoundBlock, void, undefined> {
    for (;;) {
      const block = (await this.#following()) ?? (await this.#behindDamage());
      if (block === undefined) return;
      this.#position = block.offset + block.size + BLOCK_TRAILER_LENGTH;
      yield block;
    }
  }

  /** The block that starts at the position. */
  async #following(): Promise<FoundBlock | undefined> {
    const start = this.#position;
    const most = Math.min(this.#vainBytes > 0 ? FOLLOWING_BYTES : FOLLOWING_BYTES_AT_LAST, this.#stored.decoding.maxBlockBytes + 1);
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
    this.#vainBytes -= Math.max(0, end - start);
    return undefined;
  }

  /** The first block that starts at the position or behind it. */
  async #behindDamage(): Promise<FoundBlock | undefined> {
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

  /** Searches the next window. @returns false when all bytes were searched. */
  async #openWindow(): Promise<boolean> {
    const lastEnd = this.#window?.end ?? this.#position;
    if (this.#end - Math.max(this.#position, lastEnd) <= 0) return false;
    // Each window goes on from the last one by half of its bytes at least, so that all take time with the bytes.
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
   * The block of `size` bytes at `offset`, if it is one.
   *
   * @param isFollowing whether it starts where the block before it ended, and may be a filter block.
   */
  async #blockAt(offset: number, size: number, type: number | undefined, isFollowing: boolean): Promise<FoundBlock | undefined> {
    if (type !== undefined && this.#shapes[type] === NO_SHAPE) {
      const problem = `no codec was given for its compression type ${type}`;
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
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    }
    this.#undecodedBytes -= size + decoded + 64;
    return undefined;
  }

  /** Bytes of the file, of which more are read than were asked for. */
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
  /** The pair to be tried next. */
  next: number;
  /** Where whole tables lie, each from its first block to behind its footer. */
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

/** Whether contents that are no block are a filter block: offsets that ascend, in front of their own offset. */
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

/** Bytes of the magic number at the end of a footer. */
const MAGIC_LENGTH = 8;

/**
 * Where `bytes`, which start at `offset` of a file, hold whole tables: values that are tables themselves. Behind damage,
 * their blocks are not those of the file. A footer tells where its table starts.
 */
function tablesInside(bytes: Uint8Array, offset: number, fileBytes: number): [start: number, end: number][] {
  const none = { offset: 0, size: 0 };
  const magic = encodeFooter({ metaindex: none, index: none }).subarray(-MAGIC_LENGTH);
  const tables: [number, number][] = [];
  for (let end = FOOTER_LENGTH; end <= bytes.length; end++) {
    const at = end - MAGIC_LENGTH;
    if (bytes[at] !== magic[0] || !magic.every((byte, i) => bytes[at + i] === byte)) continue;
    const footer = end - FOOTER_LENGTH;
    const reader = new VarintReader(bytes, footer, at);
    const index = readBlockHandle(reader) && readBlockHandle(reader);
    const start = offset + footer - (index === undefined ? Infinity : index.offset + index.size + BLOCK_TRAILER_LENGTH);
    if (start > 0 && offset + end < fileBytes) tables.push([start, offset + end]);
  }
  return tables;
}
