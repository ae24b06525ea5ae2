import { mustBeWhole } from '@bloom/bytes/internal';
import { BlockScratch } from './block-scratch.js';
import type { DataBlocks } from './data-blocks.js';
import { type ByteRange, readRangeSync } from './reading.js';
import type { SyncSource } from './source.js';

/**
 * Reads several blocks at once for a synchronous walk, into one array that is used again for the next blocks.
 *
 * As in `ReadAhead`, the first read is one block, and each further read has twice as many bytes, while the walk goes from
 * block to block in one direction. A source that has its bytes in memory is read block by block.
 */
export class SyncReadAhead {
  readonly #blocks: DataBlocks;
  readonly #source: SyncSource;
  readonly #maxBytes: number;
  readonly #scratch: BlockScratch | undefined;
  readonly #fillsCache: boolean;
  /** Holds the bytes of the file from `#start` to `#end`. */
  #window = new Uint8Array(0);
  #start = 0;
  #end = 0;
  /** The most bytes of the next read; 0 for a single block. */
  #nextBytes = 0;
  /** The block that was asked for last. */
  #last = NaN;

  /**
   * @param maxBytes the most bytes to read at once; a larger block is read on its own.
   * @param isLent whether the contents of a block are only needed until the next one is asked for.
   * @param fillsCache whether the cache keeps the blocks.
   */
  constructor(blocks: DataBlocks, source: SyncSource, maxBytes: number, isLent: boolean, fillsCache = true) {
    this.#blocks = blocks;
    this.#source = source;
    this.#maxBytes = Math.min(maxBytes, blocks.maxBytes);
    this.#fillsCache = fillsCache;
    this.#scratch = isLent ? new BlockScratch() : undefined;
  }

  /** The contents of data block `i`. @param isBorrowed whether the caller is like those of `DataBlocks.borrowed`. */
  block(i: number, isBorrowed = false): Uint8Array {
    const step = i - this.#last;
    this.#last = i;
    const cached = isBorrowed ? this.#blocks.borrowed(i) : this.#blocks.cached(i);
    if (cached !== undefined) return cached;
    const stored = this.#stored(i, step);
    if (this.#scratch === undefined) return this.#blocks.decode(i, stored, false, this.#fillsCache);
    return this.#blocks.decodeLent(i, stored, this.#scratch, this.#source.readInto !== undefined, this.#fillsCache, isBorrowed);
  }

  #stored(i: number, step: number): Uint8Array {
    const range = this.#blocks.rangeOf(i);
    if (this.#source.readInto === undefined) return readRangeSync(this.#source, range);
    if (!this.#holds(range)) {
      const window = step === 1 || step === -1 ? this.#blocks.adjacent(i, step, this.#nextBytes).range : range;
      this.#nextBytes = Math.min(this.#maxBytes, Math.max(window.length, this.#nextBytes) * 2);
      if (window.length <= this.#maxBytes) this.#read(window);
      if (!this.#holds(range)) return readRangeSync(this.#source, range);
    }
    const start = range.offset - this.#start;
    return this.#window.subarray(start, start + range.length);
  }

  #holds({ offset, length }: ByteRange): boolean {
    return offset >= this.#start && offset + length <= this.#end;
  }

  /** Fills the window as far as the file can be read: damage further on costs the blocks that it is in. */
  #read({ offset, length }: ByteRange): void {
    this.#end = this.#start = 0;
    // Blocks that may be kept need an array of their own.
    if (length > this.#window.length || this.#scratch === undefined) this.#window = new Uint8Array(length);
    let filled: number;
    try {
      filled = this.#source.readInto!(offset, this.#window.subarray(0, length));
    } catch {
      return;
    }
    this.#start = offset;
    this.#end = offset + mustBeWhole('the result of source.readInto', filled, 0, length);
  }
}
