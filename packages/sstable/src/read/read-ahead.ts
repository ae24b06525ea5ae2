import type { DataBlocks } from './data-blocks.js';
import type { ByteRange } from './reading.js';

/**
 * Reads several blocks at once for a walk that will want them one after another.
 *
 * The first read is of one block, and each further one of twice as many bytes. While one window is used, the next one
 * is read; no more than these two are held.
 */
export class ReadAhead {
  readonly #blocks: DataBlocks;
  readonly #reads: WalkReads;
  readonly #step: 1 | -1;
  readonly #maxBytes: number;
  #windowBytes = 0;
  #current: Window | undefined;
  #next: Window | undefined;

  constructor(blocks: DataBlocks, reads: WalkReads, step: 1 | -1, maxBytes: number) {
    this.#blocks = blocks;
    this.#reads = reads;
    this.#step = step;
    this.#maxBytes = maxBytes;
  }

  /** The contents of data block `i`. */
  async block(i: number): Promise<Uint8Array> {
    const cached = this.#blocks.cached(i);
    if (cached !== undefined) return cached;
    const window = this.#windowWith(i);
    if (window === undefined) return this.#reads.block(i);
    const bytes = await window.bytes;
    const { offset, length } = this.#blocks.rangeOf(i);
    const start = offset - window.range.offset;
    // A copy for the cache: a view would keep all of the window alive.
    const stored = bytes.subarray(start, start + length);
    return this.#blocks.decode(i, this.#blocks.hasCache ? stored.slice() : stored);
  }

  /** The window that block `i` is in, or undefined when it is to be read by itself. */
  #windowWith(i: number): Window | undefined {
    if (this.#current !== undefined && holds(this.#current, i)) return this.#current;
    this.#current = this.#next !== undefined && holds(this.#next, i) ? this.#next : this.#open(i);
    this.#next = undefined;
    if (this.#current !== undefined) {
      const after = (this.#step > 0 ? this.#current.last : this.#current.first) + this.#step;
      if (this.#isReadable(after)) this.#next = this.#open(after);
    }
    return this.#current;
  }

  /** Reads the blocks from `i` on that lie one behind the other and fit into a window; undefined for one alone. */
  #open(i: number): Window | undefined {
    let range = this.#blocks.rangeOf(i);
    let end = i;
    for (let j = i + this.#step; this.#isReadable(j); j += this.#step) {
      const other = this.#blocks.rangeOf(j);
      const [before, behind] = this.#step > 0 ? [range, other] : [other, range];
      const length = range.length + other.length;
      if (before.offset + before.length !== behind.offset || length > this.#windowBytes) break;
      range = { offset: before.offset, length };
      end = j;
    }
    this.#windowBytes = Math.min(this.#maxBytes, Math.max(this.#windowBytes, range.length) * 2);
    if (end === i) return undefined;
    const bytes = this.#reads.range(range);
    // A walk that ends early never asks for it.
    bytes.catch(() => undefined);
    return { first: Math.min(i, end), last: Math.max(i, end), range, bytes };
  }

  #isReadable(i: number): boolean {
    return i >= 0 && i < this.#blocks.index.length && this.#blocks.index.sizeOf(i) >= 0;
  }
}

/** How a walk reads: the contents of one block, or the stored bytes of several. */
interface WalkReads {
  block(i: number): Promise<Uint8Array>;
  range(range: ByteRange): Promise<Uint8Array>;
}

/** Data blocks `first` to `last`, one behind the other, and their stored bytes. */
interface Window {
  readonly first: number;
  readonly last: number;
  readonly range: ByteRange;
  readonly bytes: Promise<Uint8Array>;
}

function holds({ first, last }: Window, i: number): boolean {
  return first <= i && i <= last;
}
