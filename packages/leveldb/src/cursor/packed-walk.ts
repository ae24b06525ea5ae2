import type { Bytes } from '@bloom/bytes';
import type { FolderReading } from '../folder/folder-reading.js';
import type { EntryCursor } from './entry-cursor.js';
import type { MergeCursor } from './merge-cursor.js';
import type { ReadSamples } from './read-samples.js';
import { AT_SAMPLE, DONE, NEEDS_BLOCK, VisibleKernel } from './visible-kernel.js';

// What filling a run comes to.
/** The run has entries. */
export const FILLED = 0;
/** There are no further entries. */
export const ENDED = 1;
/** Something must be read first: `settle` does that, and then the run can be filled. */
export const UNSETTLED = 2;
/** The kernel declines the next entry, or a block: `end` is called, and the walk goes on without it. */
export const DECLINED = 3;

/** Copies of entries share this many bytes, except those of long entries, so that keeping one does not keep much more in memory. */
const SHARED_BYTES = 2 ** 13;
const MAX_SHARED_ENTRY = SHARED_BYTES / 8;

/** A run is copied into at least this many bytes. */
const MIN_RUN_BYTES = 2 ** 13;

/**
 * A walk forward over the visible entries of a merge, in runs that a kernel packs.
 *
 * A run ends where a source needs another block, so that a walk reads no earlier than one that goes entry by entry, and fails at the same
 * entry. In each block, the sources of the merge stay on the entry that they were on when the kernel got the block; `end` moves them to
 * where the kernel is.
 */
export class PackedWalk {
  /** The user keys and values of the run, one after another: valid until the next run. */
  bytes: Uint8Array = new Uint8Array(MIN_RUN_BYTES);
  /** Where each of them ends in `bytes`: from `endsStart` to `endsEnd`. */
  ends: Uint32Array = new Uint32Array(0);
  endsStart = 0;
  endsEnd = 0;
  readonly #kernel: VisibleKernel;
  readonly #merge: MergeCursor;
  readonly #samples: ReadSamples | undefined;
  /** Copies of the run's bytes from `#copiedStart` to `#copiedEnd`. */
  #copied = new ArrayBuffer(0);
  #copiedStart = 0;
  #copiedEnd = 0;
  /** Bytes of the blocks to which the sources have moved one by one. */
  #readBytes = 0;
  /** The source that moves to its next block. */
  #moving: EntryCursor | undefined;

  private constructor(kernel: VisibleKernel, merge: MergeCursor, samples: ReadSamples | undefined) {
    this.#kernel = kernel;
    this.#merge = merge;
    this.#samples = samples;
  }

  /**
   * Begins a walk where the sources of a merge are.
   *
   * @param sequence at which entries are visible.
   * @param keyLength of the user key, at the start of `keyBytes`, whose versions are passed over.
   * @returns undefined when there is no kernel, or it declines.
   */
  static begin(merge: MergeCursor, sequence: bigint, keyBytes: Uint8Array, keyLength: number, samples: ReadSamples | undefined): PackedWalk | undefined {
    const { sources } = merge;
    const kernel = VisibleKernel.take(merge);
    if (kernel === undefined) return undefined;
    const walk = new PackedWalk(kernel, merge, samples);
    if (sources.length <= kernel.maxSources && kernel.start(sequence, keyBytes, keyLength, samples?.unsampled) && walk.#placeAll()) return walk;
    kernel.giveBack();
    return undefined;
  }

  #placeAll(): boolean {
    return this.#merge.sources.every((source, i) => {
      if (!source.valid) return true;
      const { block } = source;
      return block !== undefined && this.#kernel.place(i, block.contents, block.position);
    });
  }

  /** Fills the next run. */
  fill(): number {
    const kernel = this.#kernel;
    kernel.clear();
    for (;;) {
      const why = kernel.fill();
      if (why === AT_SAMPLE) {
        kernel.sample(this.#samples!);
        continue;
      }
      const { entries } = kernel;
      if (entries > 0) {
        this.#copyRun(entries);
        return FILLED;
      }
      if (why !== NEEDS_BLOCK) return why === DONE ? ENDED : DECLINED;
      const { first } = kernel;
      const source = this.#merge.sources[first]!;
      const entered = kernel.enteredOf(first);
      if (entered > 0) source.passStored(entered);
      if (kernel.offerStored((into, take, most) => source.nextStored(into, take, most, this.#readBytes))) continue;
      if (!source.nextBlock()) {
        this.#moving = source;
        return UNSETTLED;
      }
      if (!this.#enter(source)) return DECLINED;
    }
  }

  /** Completes what filling a run waits for. @returns whether the kernel takes the block. */
  *settle(): FolderReading<boolean> {
    const moving = this.#moving!;
    this.#moving = undefined;
    yield* moving.settle();
    return this.#enter(moving);
  }

  /** Gives the kernel the block that a source has moved to. @returns whether it takes it. */
  #enter(source: EntryCursor): boolean {
    if (source.valid) {
      const { contents } = source.block!;
      this.#readBytes += contents.length;
      return this.#kernel.enter(contents);
    }
    this.#kernel.leave();
    return true;
  }

  /**
   * Copies of the key and the value at `place` of `ends`. Many share memory, as those of a `ByteCopier` do.
   *
   * @returns undefined when they are too long for that.
   */
  pairAt(place: number, keyStart: number): [Bytes, Bytes] | undefined {
    const { ends } = this;
    const valueStart = ends[place]!;
    const valueEnd = ends[place + 1]!;
    if (valueEnd - keyStart > MAX_SHARED_ENTRY) return undefined;
    if (valueEnd > this.#copiedEnd || keyStart < this.#copiedStart) {
      let last = place + 2;
      while (last < this.endsEnd && ends[last + 1]! - keyStart <= SHARED_BYTES) last += 2;
      this.#copiedStart = keyStart;
      this.#copiedEnd = ends[last - 1]!;
      this.#copied = this.bytes.slice(keyStart, this.#copiedEnd).buffer;
    }
    const from = this.#copiedStart;
    return [new Uint8Array(this.#copied, keyStart - from, valueStart - keyStart), new Uint8Array(this.#copied, valueStart - from, valueEnd - valueStart)];
  }

  #copyRun(entries: number): void {
    this.#copiedEnd = 0;
    const { runAt, runLength, endsAt, words } = this.#kernel;
    if (runLength > this.bytes.length) this.bytes = new Uint8Array(runLength * 2);
    this.bytes.set(this.#kernel.bytes.subarray(runAt, runAt + runLength));
    this.ends = words;
    this.endsStart = endsAt;
    this.endsEnd = endsAt + entries * 2;
  }

  /** The user key whose further versions are passed over: a view that is valid until the next call. */
  get hiddenKey(): Uint8Array {
    return this.#kernel.hiddenKey;
  }

  /** Moves the sources to where the kernel is, for a walk without it, and lets it go. */
  end(): void {
    const kernel = this.#kernel;
    if (this.#samples !== undefined) this.#samples.unsampled = kernel.unsampled;
    for (const [i, source] of this.#merge.sources.entries()) {
      const entered = source.valid ? kernel.enteredOf(i) : 0;
      if (entered > 0) source.passStored(entered);
      if (source.valid) source.skip(kernel.movesOf(i), () => kernel.contentsOf(i) ?? source.block!.contents.slice());
    }
    this.#merge.lineUp();
    kernel.giveBack();
  }

  /** Lets the kernel go, for a walk that goes elsewhere. */
  abandon(): void {
    if (this.#samples !== undefined) this.#samples.unsampled = this.#kernel.unsampled;
    this.#kernel.giveBack();
  }
}
