import type { Bytes, Signal } from '@bloom/bytes';
import type { SignalController } from '@bloom/bytes/internal';
import { BlockScratch } from './block-scratch.js';
import type { DataBlocks } from './data-blocks.js';
import { PendingRead } from './pending-read.js';
import type { ByteRange } from './reading.js';

/**
 * Reads several blocks at once for a walk that needs them in order.
 *
 * The first read is one block, and each further read has twice as many bytes. While one window is used, the next one is
 * read; no more than these two are in memory.
 */
export class ReadAhead {
  readonly #blocks: DataBlocks;
  readonly #reads: WalkReads;
  readonly #step: 1 | -1;
  readonly #maxBytes: number;
  readonly #scratch: BlockScratch | undefined;
  readonly #fillsCache: boolean;
  readonly #signal: Signal | undefined;
  #windowBytes = 0;
  #memory: Bytes = new Uint8Array(0);
  #current: Window | undefined;
  #next: Window | undefined;

  /**
   * @param isLent whether the contents of a block are only needed until the next one is asked for.
   * @param fillsCache whether the cache keeps the blocks.
   * @param signal ends the walk.
   */
  constructor(blocks: DataBlocks, reads: WalkReads, step: 1 | -1, maxBytes: number, isLent: boolean, fillsCache: boolean, signal?: Signal) {
    this.#blocks = blocks;
    this.#reads = reads;
    this.#step = step;
    this.#maxBytes = maxBytes;
    this.#scratch = isLent ? new BlockScratch() : undefined;
    this.#fillsCache = fillsCache;
    this.#signal = signal;
  }

  /**
   * The contents of data block `i`, without a promise where they are at hand.
   *
   * @param signal ends the waiting for this block only; that of the whole walk when left out.
   * @param isBorrowed whether the caller is like those of `DataBlocks.borrowed`, unless there is a promise.
   */
  block(i: number, signal: Signal | undefined = this.#signal, isBorrowed = false): Uint8Array | Promise<Uint8Array> {
    const cached = isBorrowed ? this.#blocks.borrowed(i) : this.#blocks.cached(i);
    if (cached !== undefined) return cached;
    const window = this.#windowWith(i);
    if (window === undefined) return this.#reads.block(i, signal);
    const { read, range } = window;
    if (read instanceof Uint8Array) return this.#decode(i, read, range, isBorrowed);
    return read.wait(signal).then((bytes) => this.#decode(i, bytes, range, false));
  }

  /** @param bytes of `range`, which contains data block `i`. */
  #decode(i: number, bytes: Uint8Array, range: ByteRange, isBorrowed: boolean): Uint8Array {
    const { offset, length } = this.#blocks.rangeOf(i);
    const start = offset - range.offset;
    const stored = bytes.subarray(start, start + length);
    if (this.#scratch !== undefined) return this.#blocks.decodeLent(i, stored, this.#scratch, true, this.#fillsCache, isBorrowed);
    // A copy for the cache, because a view would keep the whole window in memory.
    return this.#blocks.decode(i, this.#fillsCache && this.#blocks.hasCache ? stored.slice() : stored, false, this.#fillsCache);
  }

  /** Ends the reads under way, because the walk has ended. */
  end(): void {
    for (const window of [this.#current, this.#next]) {
      if (window?.read instanceof PendingRead && !window.read.isOver) window.read.abort(new Error('the walk has ended'));
    }
    this.#current = this.#next = undefined;
  }

  /** The window that contains block `i`, or undefined when the block is read on its own. */
  #windowWith(i: number): Window | undefined {
    if (this.#current !== undefined && holds(this.#current, i)) return this.#current;
    this.#current = this.#next !== undefined && holds(this.#next, i) ? this.#next : this.#open(i);
    this.#next = undefined;
    // What is read at once needs no other read beside it.
    if (this.#current?.read instanceof PendingRead) {
      const after = (this.#step > 0 ? this.#current.last : this.#current.first) + this.#step;
      if (this.#blocks.isReadable(after)) this.#next = this.#open(after);
    }
    return this.#current;
  }

  /** The bytes of a window, if they are at hand. Where no block stays in it, the memory of the window before is used again. */
  #readAtOnce(range: ByteRange): Uint8Array | undefined {
    if (this.#scratch === undefined || !this.#reads.takesMemory) return this.#reads.rangeAtOnce(range, undefined);
    if (range.length > this.#memory.length) this.#memory = new Uint8Array(range.length);
    return this.#reads.rangeAtOnce(range, this.#memory.subarray(0, range.length));
  }

  /** Starts to read the adjacent blocks from `i` that fit into a window; undefined if that is only one block. */
  #open(i: number): Window | undefined {
    const { last: end, range } = this.#blocks.adjacent(i, this.#step, this.#windowBytes);
    this.#windowBytes = Math.min(this.#maxBytes, Math.max(this.#windowBytes, range.length) * 2);
    if (end === i) return undefined;
    const read = this.#readAtOnce(range) ?? this.#reads.range(range, new AbortController());
    return { first: Math.min(i, end), last: Math.max(i, end), range, read };
  }
}

/** How a walk reads: the contents of one block, or the stored bytes of several. */
interface WalkReads {
  block(i: number, signal: Signal | undefined): Uint8Array | Promise<Uint8Array>;
  /** Whether bytes may be at hand, and can be read into memory of the caller's. */
  readonly takesMemory: boolean;
  /** Undefined where the bytes are not at hand. @param into may receive them. */
  rangeAtOnce(range: ByteRange, into: Bytes | undefined): Uint8Array | undefined;
  range(range: ByteRange, controller: SignalController): PendingRead;
}

/** The adjacent data blocks `first` to `last`, and their stored bytes. */
interface Window {
  readonly first: number;
  readonly last: number;
  readonly range: ByteRange;
  readonly read: PendingRead | Uint8Array;
}

function holds({ first, last }: Window, i: number): boolean {
  return first <= i && i <= last;
}
