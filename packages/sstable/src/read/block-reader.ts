import type { Bytes, Signal } from '@bloom/bytes';
import { type SignalController, throwIfAborted } from '@bloom/bytes/internal';
import type { DataBlocks } from './data-blocks.js';
import { type BlockGroup, BlockQueue, type GroupReads } from './block-queue.js';
import { ReadGate } from './read-gate.js';
import { onAbort } from './on-abort.js';
import { PendingRead } from './pending-read.js';
import { ReadAhead } from './read-ahead.js';
import { type ByteRange, readRange, readRangeAtOnce, runAsync } from './reading.js';
import { isRequestBound } from './request-bound.js';
import type { Source } from './source.js';
import { StoredScratch } from './stored-scratch.js';

/** The most simultaneous reads of one call of `each`. */
const PARALLEL_READS = 8;
/** The same where a read takes a round trip. */
const PARALLEL_REMOTE_READS = 16;
/** The most bytes of one read for several blocks in `each`. */
const MAX_GROUP_BYTES = 2 ** 20;
/** The most bytes of all simultaneous reads of one call of `each`, unless a single block is larger. */
const MAX_PARALLEL_BYTES = PARALLEL_READS * MAX_GROUP_BYTES;
/** The most reads with one signal. From the eleventh listener on a signal, Node warns of a memory leak. */
const MAX_SHARED_READS = 8;

const NO_BYTES = new Uint8Array(0);

type TakeBlock = Parameters<BlockReader['each']>[1];

/** Reads data blocks from a source that may return promises. No read is larger than the limit for one block. */
export class BlockReader {
  private readonly blocks: DataBlocks;
  private readonly source: Source;
  private readonly readAheadBytes: number;
  private readonly gapBytes: number;
  private readonly scratch: StoredScratch;
  /**
   * Single blocks that are being read. Simultaneous calls for the same block share its read; where reads are bound to a
   * request, only calls of the same turn.
   */
  private readonly shared = new Map<number, PendingRead>();
  private readonly isRequestBound = isRequestBound();
  /** All reads under way, which `close` ends. */
  private readonly pending = new Set<PendingRead>();
  /** Aborts reads that only `close` can end. Several share it, because making a controller takes Node three microseconds. */
  private closing: SignalController | undefined;
  /** The reads that share `closing`. A source may leave a listener on its signal for each. */
  private closingReads = 0;
  private closed: Error | undefined;
  /** Where reads are slow. */
  private readonly queue: BlockQueue | undefined;
  /** Bounds the reads of the queue, and those of groups of blocks. */
  private readonly gate: ReadGate | undefined;
  private filterRead: PendingRead | undefined;

  /**
   * @param gate bounds the simultaneous reads of lookups from a remote source.
   * @param scratch may be shared by the readers of many tables.
   */
  constructor(blocks: DataBlocks, source: Source, readAheadBytes: number, gapBytes: number, gate?: ReadGate, scratch = new StoredScratch()) {
    this.blocks = blocks;
    this.source = source;
    this.readAheadBytes = readAheadBytes;
    this.gapBytes = gapBytes;
    this.scratch = scratch;
    // A queue starts reads for whoever waits, also for other requests.
    if (source.isRemote !== true || this.isRequestBound) return;
    const reads: GroupReads = {
      group: (wanted) => this.#group(wanted),
      read: ({ range }, signal) => readRange(source, range, signal),
      decode: (i, bytes, { blocks: { length }, range }) => (length === 1 ? blocks.decode(i, bytes) : this.#decodePart(i, bytes, range)),
    };
    this.gate = gate ?? new ReadGate(PARALLEL_REMOTE_READS);
    this.queue = new BlockQueue(reads, this.gate);
  }

  /**
   * Reads the filter that has not been read, if that is due. Simultaneous calls share its reads.
   *
   * If the source fails to read it, the lookup goes on without it: what it then reads fails too if the source has failed for good.
   *
   * @param signal ends the wait, and also the read if no other call waits for it.
   */
  async readFilterIfDue(signal?: Signal): Promise<void> {
    const { unread } = this.blocks;
    if (unread?.isDue !== true) return;
    if (this.closed !== undefined) throw this.closed;
    if (this.filterRead === undefined) {
      const controller = new AbortController();
      const reading = runAsync(this.source, this.blocks.readFilter(unread), controller.signal).then(
        () => NO_BYTES,
        (error: unknown) => {
          if (!controller.signal.aborted) this.blocks.filterFailed(unread, error as Error);
          return NO_BYTES;
        },
      );
      const unshare = (): void => {
        if (this.filterRead === read) this.filterRead = undefined;
      };
      const read = (this.filterRead = this.#pendingRead(reading, controller, unshare));
      if (this.isRequestBound) void Promise.resolve().then(unshare);
    }
    await this.filterRead.wait(signal);
  }

  /**
   * The contents of data block `i`, which is not in the cache; without a promise where the source has its bytes at hand.
   *
   * @param signal ends the wait, and also the read if no other call waits for it.
   * @param fillsCache whether the cache keeps it; a read that other calls share may have been begun with another answer.
   */
  read(i: number, signal?: Signal, fillsCache = true): Uint8Array | Promise<Uint8Array> {
    const shared = this.shared.get(i);
    if (shared !== undefined) return shared.wait(signal);
    return this.#decodeAtOnce(i, signal, fillsCache, false) ?? this.#readLater(i, signal, fillsCache);
  }

  /**
   * As {@link read}, only where the source has the block's bytes at hand, otherwise undefined: for callers like those of
   * `DataBlocks.borrowed`.
   */
  borrowAtOnce(i: number, signal?: Signal): Uint8Array | undefined {
    return this.shared.has(i) ? undefined : this.#decodeAtOnce(i, signal, true, true);
  }

  /** As {@link read}, where {@link borrowAtOnce} has given nothing. */
  readLater(i: number, signal?: Signal): Promise<Uint8Array> {
    return this.shared.get(i)?.wait(signal) ?? this.#readLater(i, signal, true);
  }

  #decodeAtOnce(i: number, signal: Signal | undefined, fillsCache: boolean, isBorrowed: boolean): Uint8Array | undefined {
    const range = this.blocks.rangeOf(i);
    const into = this.source.readAtOnce === undefined ? undefined : this.scratch.take(range.length);
    try {
      const stored = this.#readAtOnce(range, signal, into);
      if (stored === undefined) return undefined;
      const isLent = into !== undefined && (stored === into || stored.buffer === into.buffer);
      const contents =
        isBorrowed && into !== undefined
          ? this.blocks.decodeBorrowed(i, stored, isLent, this.scratch, signal === undefined)
          : this.blocks.decode(i, stored, isLent, fillsCache);
      // A codec is a function of the caller's, as the source is.
      this.#mustBeWanted(signal);
      return contents;
    } finally {
      if (into !== undefined) this.scratch.giveBack();
    }
  }

  #readLater(i: number, signal: Signal | undefined, fillsCache: boolean): Promise<Uint8Array> {
    if (this.queue !== undefined) return this.#readQueued(i, this.queue).wait(signal);
    const controller = signal && new AbortController();
    const unshare = (): void => {
      if (this.shared.get(i) === read) this.shared.delete(i);
    };
    const read = this.#start(this.blocks.rangeOf(i), controller, (stored) => this.blocks.decode(i, stored, false, fillsCache), unshare);
    this.shared.set(i, read);
    if (this.isRequestBound) void Promise.resolve().then(unshare);
    return read.wait(signal);
  }

  /**
   * Passes the contents of each of `blocks` to `take`, in any order, and whether they were read. Blocks that are close to each other share a read.
   *
   * When a read fails, or `signal` is aborted, no further read is started.
   *
   * @param blocks block numbers, ascending and without duplicates.
   * @param isOver whether to start no further read; blocks that were not read by then are not passed.
   */
  async each(
    blocks: readonly number[],
    take: (i: number, contents: Uint8Array, isRead: boolean) => void,
    signal?: Signal,
    isOver: () => boolean = () => false,
  ): Promise<void> {
    const missing: number[] = [];
    for (const i of blocks) {
      const cached = this.blocks.borrowed(i);
      if (cached !== undefined) {
        take(i, cached, false);
        continue;
      }
      const contents = missing.length > 0 || isOver() ? undefined : this.#decodeAtOnce(i, signal, true, true);
      if (contents === undefined) missing.push(i);
      else take(i, contents, true);
    }
    if (missing.length === 0) return;
    const call = new AbortController();
    const endWait = signal && onAbort(signal, () => call.abort(signal.reason));
    try {
      await this.#readGroups(this.#group(missing), take, call, signal !== undefined, isOver);
    } finally {
      endWait?.();
    }
  }

  /**
   * Makes the read-ahead of one walk through the table.
   *
   * @param isLent whether the contents of a block are only needed until the next one is asked for.
   * @param fillsCache whether the cache keeps the blocks.
   */
  ahead(reverse: boolean, isLent: boolean, fillsCache: boolean, signal?: Signal): ReadAhead {
    const reads = {
      block: (i: number, waiting: Signal | undefined) => this.read(i, waiting, fillsCache),
      takesMemory: this.source.readAtOnce !== undefined,
      rangeAtOnce: (range: ByteRange, into: Bytes | undefined) => this.#readAtOnce(range, signal, into),
      range: (range: ByteRange, controller: SignalController) => this.#start(range, controller),
    };
    const maxBytes = Math.min(this.readAheadBytes, this.blocks.maxBytes);
    return new ReadAhead(this.blocks, reads, reverse ? -1 : 1, maxBytes, isLent, fillsCache, signal);
  }

  /** Ends all reads under way. Calls that wait for them are rejected with `reason`. */
  close(reason: Error): void {
    this.closed = reason;
    // Where they are bound to other requests, which cannot be ended from here, they fail when their bytes are there.
    if (this.isRequestBound) return;
    for (const read of this.pending) read.abort(reason);
  }

  /** @param isAbortable whether an abort of the call also ends its wait for single reads, which other calls may share. */
  #readGroups(groups: readonly BlockGroup[], take: TakeBlock, call: SignalController, isAbortable: boolean, isOver: () => boolean): Promise<void> {
    const parallelReads = this.source.isRemote === true ? PARALLEL_REMOTE_READS : PARALLEL_READS;
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
        const end = isOver() ? next : groups.length;
        while (next < end && reads < parallelReads && !call.signal.aborted) {
          const group = groups[next]!;
          const { length } = group.range;
          if (reads > 0 && bytes + length > MAX_PARALLEL_BYTES) return;
          next++;
          reads++;
          bytes += length;
          this.#readGroup(group, take, call.signal, isAbortable).then(() => {
            reads--;
            bytes -= length;
            start();
          }, fail);
        }
        if (reads === 0 && next === end) resolve();
      };
      start();
    });
  }

  async #readGroup({ blocks, range }: BlockGroup, take: TakeBlock, signal: Signal, isAbortable: boolean): Promise<void> {
    if (blocks.length === 1) {
      const i = blocks[0]!;
      take(i, await this.read(i, isAbortable ? signal : undefined), true);
      return;
    }
    // One of its own, as a source may leave a listener on its signal: see `MAX_SHARED_READS`.
    const controller = new AbortController();
    const endWait = onAbort(signal, () => controller.abort(signal.reason));
    try {
      const bytes = await this.#start(range, controller, undefined, undefined, this.gate).wait();
      for (const i of blocks) take(i, this.#decodePart(i, bytes, range), true);
    } finally {
      endWait();
    }
  }

  #group(blocks: readonly number[]): BlockGroup[] {
    const groups: BlockGroup[] = [];
    const maxBytes = Math.min(MAX_GROUP_BYTES, this.blocks.maxBytes);
    for (const i of blocks) {
      const range = this.blocks.rangeOf(i);
      const last = groups.at(-1);
      const gap = last === undefined ? Infinity : range.offset - (last.range.offset + last.range.length);
      const length = last === undefined ? Infinity : range.offset + range.length - last.range.offset;
      if (last !== undefined && gap >= 0 && gap <= this.gapBytes && length <= maxBytes) {
        last.blocks.push(i);
        last.range = { offset: last.range.offset, length };
      } else {
        groups.push({ blocks: [i], range });
      }
    }
    return groups;
  }

  #decodePart(i: number, bytes: Uint8Array, { offset }: ByteRange): Uint8Array {
    const range = this.blocks.rangeOf(i);
    // A copy, because a view in the cache would keep all of the group's bytes in memory.
    return this.blocks.decode(i, bytes.slice(range.offset - offset, range.offset - offset + range.length));
  }

  /** The bytes of a range if the source has them at hand. */
  #readAtOnce(range: ByteRange, signal: Signal | undefined, into?: Bytes): Uint8Array | undefined {
    this.#mustBeWanted(signal);
    const stored = readRangeAtOnce(this.source, range, into);
    // The source may have called its caller, which has closed the table or aborted the call.
    this.#mustBeWanted(signal);
    return stored;
  }

  /** @throws the reason why the call has ended. */
  #mustBeWanted(signal: Signal | undefined): void {
    if (this.closed !== undefined) throw this.closed;
    throwIfAborted(signal);
  }

  /** The controller for a read that only `close` can end. */
  #closingController(): SignalController {
    if (this.closing === undefined || this.closingReads === MAX_SHARED_READS || this.isRequestBound) {
      this.closing = new AbortController();
      this.closingReads = 0;
    }
    this.closingReads++;
    return this.closing;
  }

  #readQueued(i: number, queue: BlockQueue): PendingRead {
    if (this.closed !== undefined) throw this.closed;
    // Throws for a block that cannot be read.
    this.blocks.rangeOf(i);
    const controller = new AbortController();
    const read = this.#pendingRead(queue.read(i, controller.signal), controller, () => this.shared.delete(i));
    this.shared.set(i, read);
    return read;
  }

  /** Starts a read, as soon as a gate has room if there is one. Without a controller of the caller, only `close` can end it. */
  #start(
    range: ByteRange,
    controller = this.#closingController(),
    decode?: (stored: Uint8Array) => Uint8Array,
    onOver?: () => void,
    gate?: ReadGate,
  ): PendingRead {
    if (this.closed !== undefined) throw this.closed;
    const stored = gate === undefined ? readRange(this.source, range, controller.signal) : this.#readInGate(gate, range, controller.signal);
    const wanted = this.isRequestBound ? stored.then((bytes) => this.#unlessClosed(bytes)) : stored;
    return this.#pendingRead(decode === undefined ? wanted : wanted.then(decode), controller, onOver);
  }

  /** A read under way, which `close` ends. */
  #pendingRead(bytes: Promise<Uint8Array>, controller: SignalController, onOver?: () => void): PendingRead {
    const read: PendingRead = new PendingRead(bytes, controller, () => {
      this.pending.delete(read);
      onOver?.();
    });
    this.pending.add(read);
    return read;
  }

  async #readInGate(gate: ReadGate, range: ByteRange, signal: Signal): Promise<Uint8Array> {
    await gate.entered(signal);
    try {
      return await readRange(this.source, range, signal);
    } finally {
      gate.leave();
    }
  }

  #unlessClosed(bytes: Uint8Array): Uint8Array {
    if (this.closed !== undefined) throw this.closed;
    return bytes;
  }
}
