import type { Signal, SignalController } from '@bloom/bytes';
import type { DataBlocks } from './data-blocks.js';
import { onAbort } from './on-abort.js';
import { PendingRead } from './pending-read.js';
import { ReadAhead } from './read-ahead.js';
import { type ByteRange, readRange } from './reading.js';
import type { Source } from './source.js';

/** The most simultaneous reads of one call of `each`. */
const PARALLEL_READS = 8;
/** The most bytes of one read for several blocks in `each`. */
const MAX_GROUP_BYTES = 2 ** 20;
/** The most bytes of all simultaneous reads of one call of `each`, unless a single block is larger. */
const MAX_PARALLEL_BYTES = PARALLEL_READS * MAX_GROUP_BYTES;
/** The most reads with one signal. From the eleventh listener on a signal, Node warns of a memory leak. */
const MAX_SHARED_READS = 8;

/** Blocks that are close to each other, and the range of the file that contains them. */
interface Group {
  readonly blocks: number[];
  range: ByteRange;
}

/** Reads data blocks from a source that may return promises. No read is larger than the limit for one block. */
export class BlockReader {
  readonly #blocks: DataBlocks;
  readonly #source: Source;
  readonly #readAheadBytes: number;
  readonly #gapBytes: number;
  /** Single blocks that are being read. Simultaneous calls for the same block share its read. */
  readonly #shared = new Map<number, PendingRead>();
  /** All reads under way, which `close` ends. */
  readonly #pending = new Set<PendingRead>();
  /** Aborts reads that only `close` can end. Several share it, because making a controller takes Node three microseconds. */
  #closing: SignalController | undefined;
  /** The reads that share `#closing`. A source may leave a listener on its signal for each. */
  #closingReads = 0;
  #closed: Error | undefined;

  constructor(blocks: DataBlocks, source: Source, readAheadBytes: number, gapBytes: number) {
    this.#blocks = blocks;
    this.#source = source;
    this.#readAheadBytes = readAheadBytes;
    this.#gapBytes = gapBytes;
  }

  /**
   * The contents of data block `i`, which is not in the cache.
   *
   * @param signal ends the wait, and also the read if no other call waits for it.
   */
  read(i: number, signal?: Signal): Promise<Uint8Array> {
    const shared = this.#shared.get(i);
    if (shared !== undefined) return shared.wait(signal);
    const controller = signal && new AbortController();
    const read = this.#start(
      this.#blocks.rangeOf(i),
      controller,
      (stored) => this.#blocks.decode(i, stored),
      () => this.#shared.delete(i),
    );
    this.#shared.set(i, read);
    return read.wait(signal);
  }

  /**
   * Passes the contents of each of `blocks` to `take`, in any order. Blocks that are close to each other share a read.
   *
   * When a read fails, or `signal` is aborted, no further read is started.
   *
   * @param blocks block numbers, ascending and without duplicates.
   */
  async each(blocks: readonly number[], take: (i: number, contents: Uint8Array) => void, signal?: Signal): Promise<void> {
    const missing: number[] = [];
    for (const i of blocks) {
      const cached = this.#blocks.cached(i);
      if (cached === undefined) missing.push(i);
      else take(i, cached);
    }
    if (missing.length === 0) return;
    const call = new AbortController();
    const endWait = signal && onAbort(signal, () => call.abort(signal.reason));
    try {
      await this.#readGroups(this.#group(missing), take, call, signal !== undefined);
    } finally {
      endWait?.();
    }
  }

  /**
   * Makes the read-ahead of one walk through the table.
   *
   * @param isLent whether the contents of a block are only needed until the next one is asked for.
   */
  ahead(reverse: boolean, isLent: boolean, signal?: Signal): ReadAhead {
    const reads = {
      block: (i: number, waiting: Signal | undefined) => this.read(i, waiting),
      range: (range: ByteRange, controller: SignalController) => this.#start(range, controller),
    };
    const maxBytes = Math.min(this.#readAheadBytes, this.#blocks.maxBytes);
    return new ReadAhead(this.#blocks, reads, reverse ? -1 : 1, maxBytes, isLent, signal);
  }

  /** Ends all reads under way. Calls that wait for them are rejected with `reason`. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const read of this.#pending) read.abort(reason);
  }

  /** @param isAbortable whether an abort of the call also ends its wait for single reads, which other calls may share. */
  #readGroups(
    groups: readonly Group[],
    take: (i: number, contents: Uint8Array) => void,
    call: SignalController,
    isAbortable: boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      let next = 0;
      let reads = 0;
      let bytes = 0;
      const fail = (error: unknown): void => {
        reject(error);
        call.abort(error);
      };
      onAbort(call.signal, () => reject(call.signal.reason));
      const start = (): void => {
        while (next < groups.length && reads < PARALLEL_READS && !call.signal.aborted) {
          const group = groups[next]!;
          const { length } = group.range;
          if (reads > 0 && bytes + length > MAX_PARALLEL_BYTES) return;
          next++;
          reads++;
          bytes += length;
          this.#readGroup(group, take, call, isAbortable).then(() => {
            reads--;
            bytes -= length;
            start();
          }, fail);
        }
        if (reads === 0 && next === groups.length) resolve();
      };
      start();
    });
  }

  async #readGroup(
    { blocks, range }: Group,
    take: (i: number, contents: Uint8Array) => void,
    call: SignalController,
    isAbortable: boolean,
  ): Promise<void> {
    if (blocks.length === 1) {
      const i = blocks[0]!;
      take(i, await this.read(i, isAbortable ? call.signal : undefined));
      return;
    }
    const bytes = await this.#start(range, call).wait();
    for (const i of blocks) take(i, this.#decodePart(i, bytes, range));
  }

  #group(blocks: readonly number[]): Group[] {
    const groups: Group[] = [];
    const maxBytes = Math.min(MAX_GROUP_BYTES, this.#blocks.maxBytes);
    for (const i of blocks) {
      const range = this.#blocks.rangeOf(i);
      const last = groups.at(-1);
      const gap = last === undefined ? Infinity : range.offset - (last.range.offset + last.range.length);
      const length = last === undefined ? Infinity : range.offset + range.length - last.range.offset;
      if (last !== undefined && gap >= 0 && gap <= this.#gapBytes && length <= maxBytes) {
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
    // A copy, because a view in the cache would keep all of the group's bytes in memory.
    return this.#blocks.decode(i, bytes.slice(range.offset - offset, range.offset - offset + range.length));
  }

  /** The controller for a read that only `close` can end. */
  #closingController(): SignalController {
    if (this.#closing === undefined || this.#closingReads === MAX_SHARED_READS) {
      this.#closing = new AbortController();
      this.#closingReads = 0;
    }
    this.#closingReads++;
    return this.#closing;
  }

  /** Starts a read. Without a controller of the caller, only `close` can end it. */
  #start(
    range: ByteRange,
    controller = this.#closingController(),
    decode?: (stored: Uint8Array) => Uint8Array,
    onOver?: () => void,
  ): PendingRead {
    if (this.#closed !== undefined) throw this.#closed;
    const stored = readRange(this.#source, range, controller.signal);
    const read = new PendingRead(decode === undefined ? stored : stored.then(decode), controller, () => {
      this.#pending.delete(read);
      onOver?.();
    });
    this.#pending.add(read);
    return read;
  }
}
