import { CorruptionError, type Place, type Signal } from '@bloom/bytes';
import { mustBeSignal, mustHaveMethods, throwIfAborted } from '@bloom/bytes/internal';
import type { BlockHandle } from '../format/block-handle.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';
import { readRange } from '../read/reading.js';
import { decodingFor, type TableOptions } from '../read/options.js';
import type { Source } from '../read/source.js';
import { untilAborted } from '../read/until-aborted.js';

// Taken at load: test suites replace the host's functions with fake ones.
const startTimer = setTimeout;

/** Options of every inspection, all with defaults. */
export interface InspectionOptions extends Pick<TableOptions, 'codecs' | 'maxBlockBytes'> {
  /** Ends the inspection early: it rejects with the signal's reason. */
  readonly signal?: Signal | undefined;
}

/** The names of {@link InspectionOptions}. */
export const INSPECTION_OPTIONS = { codecs: true, maxBlockBytes: true, signal: true } as const;

/** How many entries to look at between two checks whether it is time to pause. */
export const ENTRIES_PER_PAUSE = 4096;

/** Milliseconds of work after which timers and other tasks of the host may run. */
const WORK_MS = 50;

/** The most bytes that are read together because blocks are asked for in the order of the file. */
const MAX_WINDOW_BYTES = 2 ** 20;

/**
 * Reads the stored blocks of a file that may be damaged or crafted.
 *
 * A block that starts where the last one ended is read together with those that follow. Each of these reads has up to twice the
 * bytes of the one before it, and at most 1 MiB and `maxBlockBytes` unless the block itself is larger, so that even crafted handles
 * make it read no more than about three times the bytes of the blocks.
 */
export class StoredBlocks {
  readonly source: Source;
  readonly decoding: BlockDecoding;
  readonly #signal: Signal | undefined;
  #overlapBytes: number;
  #pausedAt = Date.now();
  /** The bytes that were read together last, from `#windowOffset`. */
  #window: Uint8Array = new Uint8Array(0);
  #windowOffset = 0;
  /** How many bytes to read together next, if the next block starts at `#lastEnd`. */
  #nextBytes = 0;
  /** Where the block that was asked for last ends. */
  #lastEnd = -1;
  /** Where the bytes end that could not be read together. Up to there, blocks are read one by one. */
  #unreadableEnd = 0;

  /** @throws TypeError or RangeError, which names the argument, for an invalid one. */
  constructor(source: Source, options: InspectionOptions) {
    mustHaveMethods('source', source, 'a source', ['read']);
    if (options.signal !== undefined) mustBeSignal('signal', options.signal);
    this.source = source;
    this.decoding = decodingFor(options);
    this.#signal = options.signal;
    this.#overlapBytes = 8 * source.byteLength + 2 ** 20;
  }

  /**
   * Reads bytes of the file.
   *
   * @throws CorruptionError `BLOOM_TRUNCATED` when the source has fewer.
   */
  async bytes(offset: number, length: number): Promise<Uint8Array> {
    await this.pause();
    const read = readRange(this.source, { offset, length }, this.#signal);
    return this.#signal === undefined ? read : untilAborted(read, this.#signal);
  }

  /**
   * Reads a block as stored, including the trailer. It must be inside the file.
   *
   * @throws CorruptionError `BLOOM_TOO_LARGE`, without reading, for a block of more than `maxBlockBytes`, and when the blocks
   *   read so far have many times the bytes of the file: crafted handles can all lead to the same large block.
   */
  async stored({ offset, size }: BlockHandle, place: Omit<Place, 'offset'>): Promise<Uint8Array> {
    const { maxBlockBytes } = this.decoding;
    if (size > maxBlockBytes) {
      throw new CorruptionError('BLOOM_TOO_LARGE', { ...place, offset }, `it has ${size} bytes, the limit is ${maxBlockBytes}`);
    }
    this.#overlapBytes -= size;
    if (this.#overlapBytes < 0) {
      throw new CorruptionError('BLOOM_TOO_LARGE', { ...place, offset }, 'it was not read, because too many blocks overlap');
    }
    return this.#inOrder(offset, size + BLOCK_TRAILER_LENGTH);
  }

  /** As `bytes`, for ranges that are mostly adjacent. */
  async #inOrder(offset: number, length: number): Promise<Uint8Array> {
    throwIfAborted(this.#signal);
    if (offset !== this.#lastEnd || offset < this.#unreadableEnd) this.#nextBytes = 0;
    this.#lastEnd = offset + length;
    const start = offset - this.#windowOffset;
    if (start >= 0 && start + length <= this.#window.length) {
      const held = this.#window.subarray(start, start + length);
      await this.pause();
      return held;
    }
    const most = Math.max(length, Math.min(this.#nextBytes, this.source.byteLength - offset));
    this.#nextBytes = Math.min(2 * most, MAX_WINDOW_BYTES, this.decoding.maxBlockBytes);
    if (most === length) return this.bytes(offset, length);
    try {
      const window = await this.bytes(offset, most);
      this.#window = window;
      this.#windowOffset = offset;
      return window.subarray(0, length);
    } catch {
      throwIfAborted(this.#signal);
      // Perhaps only what follows cannot be read.
      this.#unreadableEnd = offset + most;
      return this.bytes(offset, length);
    }
  }

  /** Reads and verifies the contents of a block. @throws the errors of `stored` and `decodeStoredBlock`. */
  async contents(handle: BlockHandle, place: Omit<Place, 'offset'>): Promise<Uint8Array> {
    const stored = await this.stored(handle, place);
    return decodeStoredBlock(stored, { ...place, offset: handle.offset }, this.decoding);
  }

  /**
   * Lets other tasks of the host run if it is time. With a source in memory, timers, and signals that they abort, would
   * otherwise wait until the end.
   */
  async pause(): Promise<void> {
    if (Date.now() - this.#pausedAt < WORK_MS) return;
    await new Promise<void>((resolve) => startTimer(resolve, 0));
    throwIfAborted(this.#signal);
    this.#pausedAt = Date.now();
  }
}
