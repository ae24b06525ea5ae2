/**
 * The index of a table: a block with one entry for each data block.
 *
 *     key: last key of the data block ≤ key < first key of the next      value: the data block's handle
 *
 * Source: LevelDB, table/table_builder.cc and doc/table_format.md.
 */
import type { Place } from '@bloom/bytes';
import { BlockBuilder } from './block-builder.js';
import { type BlockHandle, MAX_BLOCK_HANDLE_LENGTH, putBlockHandle } from './block-handle.js';
import type { CompareRange } from './bytewise-order.js';
import { DecodedIndex } from './decoded-index.js';
import { LOOKUP_COST, StoredIndex } from './stored-index.js';

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

/** The least to be spent before decoding: 64 lookups. */
const MIN_SPENT = 64 * LOOKUP_COST;

/**
 * The index of an open table.
 *
 * Opening checks the whole block, but does not decode it if every entry is at a restart of its own, as LevelDB writes
 * indexes: then any entry can be found by its number, and searched in the block itself. That takes a thirtieth of the time of
 * decoding. An index that is used much is decoded: lookups then take 0.6 of the time (2,000 blocks, Node 20).
 */
export class IndexBlock {
  /** How many data blocks there are. */
  readonly length: number;
  /** Bytes of the shortest index key; Infinity when there is none. */
  readonly shortestSeparatorLength: number;
  /** Until it is decoded. */
  #stored: StoredIndex | undefined;
  #decoded: DecodedIndex | undefined;

  private constructor(index: StoredIndex | DecodedIndex) {
    this.length = index.length;
    this.shortestSeparatorLength = index.shortestSeparatorLength;
    if (index instanceof StoredIndex) this.#stored = index;
    else this.#decoded = index;
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
    return new IndexBlock(StoredIndex.check(contents, blocksEnd, maxBytes) ?? DecodedIndex.decode(contents, place, blocksEnd, maxBytes));
  }

  // Each kind of index has its own call, so that V8 compiles each once.

  /** Where data block `i` is: bytes from the start of the file. */
  offsetOf(i: number): number {
    const decoded = this.#decoded ?? this.#decodedIfDue();
    return decoded === undefined ? this.#stored!.offsetOf(i) : decoded.offsetOf(i);
  }

  /** Bytes of data block `i` as stored, without its trailer. Negative when its handle is damaged. */
  sizeOf(i: number): number {
    const decoded = this.#decoded ?? this.#decodedIfDue();
    return decoded === undefined ? this.#stored!.sizeOf(i) : decoded.sizeOf(i);
  }

  /** The index key of data block `i`, as a view. No key of the block is after it. */
  separatorOf(i: number): Uint8Array {
    const decoded = this.#decoded ?? this.#decodedIfDue();
    return decoded === undefined ? this.#stored!.separatorOf(i) : decoded.separatorOf(i);
  }

  /** The only data block that can hold `key`: the first whose index key is at or after it, or `length` if there is none. */
  seek(key: Uint8Array, compare: CompareRange): number {
    const decoded = this.#decoded ?? this.#decodedIfDue();
    return decoded === undefined ? this.#stored!.seek(key, compare) : decoded.seek(key, compare);
  }

  /** The decoded index, if the stored one was used so much that decoding pays off. */
  #decodedIfDue(): DecodedIndex | undefined {
    const stored = this.#stored!;
    if (stored.spent < Math.max(MIN_SPENT, this.length)) return undefined;
    this.#decoded = stored.decode();
    this.#stored = undefined;
    return this.#decoded;
  }
}
