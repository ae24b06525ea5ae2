import type { DataBlocks } from './data-blocks.js';
import { ReadAhead } from './read-ahead.js';
import { type ByteRange, readRange } from './reading.js';
import type { Source } from './source.js';

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
  readonly #blocks: DataBlocks;
  readonly #source: Source;
  readonly #readAheadBytes: number;
  readonly #gapBytes: number;
  /** Single blocks that are being read: simultaneous reads of one share it. */
  readonly #reads = new Map<number, Promise<Uint8Array>>();

  constructor(blocks: DataBlocks, source: Source, readAheadBytes: number, gapBytes: number) {
    this.#blocks = blocks;
    this.#source = source;
    this.#readAheadBytes = readAheadBytes;
    this.#gapBytes = gapBytes;
  }

  /** The contents of data block `i`, which is not in the cache. */
  read(i: number, signal?: AbortSignal): Promise<Uint8Array> {
    const shared = this.#reads.get(i);
    if (shared !== undefined) return shared;
    const read = this.#stored(this.#blocks.rangeOf(i), signal)
      .then((stored) => this.#blocks.decode(i, stored))
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
      const cached = this.#blocks.cached(i);
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
    const reads = { block: (i: number) => this.read(i, signal), range: (range: ByteRange) => this.#stored(range, signal) };
    return new ReadAhead(this.#blocks, reads, reverse ? -1 : 1, this.#readAheadBytes);
  }

  #group(blocks: readonly number[]): Group[] {
    const groups: Group[] = [];
    for (const i of blocks) {
      const range = this.#blocks.rangeOf(i);
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
    const range = this.#blocks.rangeOf(i);
    // A copy: a view in the cache would keep all of the group's bytes alive.
    return this.#blocks.decode(i, bytes.slice(range.offset - offset, range.offset - offset + range.length));
  }

  #stored(range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
    return readRange(this.#source, range, signal);
  }
}
