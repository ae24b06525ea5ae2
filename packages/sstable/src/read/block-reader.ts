import type { OpenTable } from './open-table.js';
import { type ByteRange, readRange } from './reading.js';
import type { Source } from './source.js';

/** How a table reads blocks that lie near one another. */
export interface ReadingOptions {
  /**
   * The most bytes that a scan reads at once. It starts with one block and doubles, so that a short scan reads little
   * and a long one seldom. 0 reads block by block. Default: 256 KiB.
   */
  readonly readAheadBytes?: number | undefined;
  /** The most bytes between two blocks that are read in vain to fetch both in one read. Default: 16 KiB. */
  readonly gapBytes?: number | undefined;
}

/** The default of {@link ReadingOptions.readAheadBytes}. */
export const DEFAULT_READ_AHEAD_BYTES = 256 * 2 ** 10;
/** The default of {@link ReadingOptions.gapBytes}. */
export const DEFAULT_GAP_BYTES = 16 * 2 ** 10;

/** Reads of `blocks` that are under way at once. */
const PARALLEL_READS = 8;
/** The most bytes of one read of `blocks`. */
const MAX_GROUP_BYTES = 2 ** 20;

/** Blocks near one another, and the range of the file that holds them all. */
interface Group {
  readonly blocks: number[];
  range: ByteRange;
}

/** Reads data blocks of a source that answers with promises. */
export class BlockReader {
  readonly #table: OpenTable;
  readonly #source: Source;
  readonly #readAheadBytes: number;
  readonly #gapBytes: number;
  /** Single blocks that are being read: simultaneous reads of one share it. */
  readonly #reads = new Map<number, Promise<Uint8Array>>();

  constructor(table: OpenTable, source: Source, readAheadBytes: number, gapBytes: number) {
    this.#table = table;
    this.#source = source;
    this.#readAheadBytes = readAheadBytes;
    this.#gapBytes = gapBytes;
  }

  /** The contents of data block `i`, which is not in the cache. */
  read(i: number, signal?: AbortSignal): Promise<Uint8Array> {
    const shared = this.#reads.get(i);
    if (shared !== undefined) return shared;
    const read = this.#stored(this.#table.rangeOf(i), signal)
      .then((stored) => this.#table.decode(i, stored))
      .finally(() => {
        if (this.#reads.get(i) === read) this.#reads.delete(i);
      });
    // A read that may be aborted is its caller's alone.
    if (signal === undefined) this.#reads.set(i, read);
    return read;
  }

  /**
   * Hands the contents of each of `blocks` to `take`, in any order; neighbours are read at once.
   *
   * @param blocks ascending, without duplicates.
   */
  async each(blocks: readonly number[], take: (i: number, contents: Uint8Array) => void): Promise<void> {
    const missing: number[] = [];
    for (const i of blocks) {
      const cached = this.#table.cached(i);
      if (cached === undefined) missing.push(i);
      else take(i, cached);
    }
    const groups = this.#group(missing);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
        if (group.blocks.length === 1) {
          take(group.blocks[0]!, await this.read(group.blocks[0]!));
        } else {
          const bytes = await this.#stored(group.range);
          for (const i of group.blocks) take(i, this.#decodePart(i, bytes, group.range));
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_READS, groups.length) }, work));
  }

  /** Reads for one walk through the table, ahead of it. */
  ahead(reverse: boolean, signal?: AbortSignal): ReadAhead {
    const reads: WalkReads = { block: (i) => this.read(i, signal), range: (range) => this.#stored(range, signal) };
    return new ReadAhead(this.#table, reads, reverse ? -1 : 1, this.#readAheadBytes);
  }

  #group(blocks: readonly number[]): Group[] {
    const groups: Group[] = [];
    for (const i of blocks) {
      const range = this.#table.rangeOf(i);
      const last = groups.at(-1);
      const gap = last === undefined ? Infinity : range.offset - (last.range.offset + last.range.length);
      const length = last === undefined ? Infinity : range.offset + range.length - last.range.offset;
      if (last !== undefined && gap >= 0 && gap <= this.#gapBytes && length <= MAX_GROUP_BYTES) {
        last.blocks.push(i);
        last.range = { offset: last.range.offset, length };
      } else {
        groups.push({ blocks: [i], range });
      }
    }
    return groups;
  }

  #decodePart(i: number, bytes: Uint8Array, { offset }: ByteRange): Uint8Array {
    const range = this.#table.rangeOf(i);
    // A copy: a view in the cache would keep all of the group's bytes alive.
    return this.#table.decode(i, bytes.slice(range.offset - offset, range.offset - offset + range.length));
  }

  #stored(range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
    return readRange(this.#source, range, signal);
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

/**
 * Reads several blocks at once for a walk that will want them one after another.
 *
 * The first read is of one block, and each further one of twice as many bytes. While one window is used, the next one
 * is read; no more than these two are held.
 */
export class ReadAhead {
  readonly #table: OpenTable;
  readonly #reads: WalkReads;
  readonly #step: 1 | -1;
  readonly #maxBytes: number;
  #windowBytes = 0;
  #current: Window | undefined;
  #next: Window | undefined;

  constructor(table: OpenTable, reads: WalkReads, step: 1 | -1, maxBytes: number) {
    this.#table = table;
    this.#reads = reads;
    this.#step = step;
    this.#maxBytes = maxBytes;
  }

  /** The contents of data block `i`. */
  async block(i: number): Promise<Uint8Array> {
    const cached = this.#table.cached(i);
    if (cached !== undefined) return cached;
    const window = this.#windowWith(i);
    if (window === undefined) return this.#reads.block(i);
    const bytes = await window.bytes;
    const { offset, length } = this.#table.rangeOf(i);
    const start = offset - window.range.offset;
    // A copy for the cache: a view would keep all of the window alive.
    const stored = bytes.subarray(start, start + length);
    return this.#table.decode(i, this.#table.hasCache ? stored.slice() : stored);
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
    let range = this.#table.rangeOf(i);
    let end = i;
    for (let j = i + this.#step; this.#isReadable(j); j += this.#step) {
      const other = this.#table.rangeOf(j);
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
    return i >= 0 && i < this.#table.index.length && this.#table.index.sizeOf(i) >= 0;
  }
}

function holds({ first, last }: Window, i: number): boolean {
  return first <= i && i <= last;
}
