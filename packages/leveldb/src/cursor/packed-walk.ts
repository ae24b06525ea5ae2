import { type FolderReading, othersTurn } from '../folder/folder-reading.js';
import type { EntryCursor } from './entry-cursor.js';
import type { MergeCursor } from './merge-cursor.js';
import { PackedRun } from './packed-run.js';
import type { ReadSamples } from './read-samples.js';
import { AT_SAMPLE, DONE, NEEDS_BLOCK, VisibleKernel } from './visible-kernel.js';

/**
 * The outcome of `fill`. `filled`: the run has entries. `ended`: there are no further entries. `unsettled`: something must be read, or other work
 * should run, first; `settle` does that, and then `fill` is called again. `declined`: the kernel declines the next entry, or a block; the walk
 * calls `end` and continues without it.
 */
export type Filling = 'filled' | 'ended' | 'unsettled' | 'declined';

/** How often the kernel finds no visible entry in some blocks before other work runs. */
const RUNS_AT_ONCE = 64;

/**
 * A walk over the visible entries of a merge, in runs that a kernel packs in the order of the walk.
 *
 * A run ends where a source needs another block. So a walk in runs reads blocks no earlier than a walk entry by entry, and fails at the same
 * entry. While the kernel is within a block, the source stays on the entry at which the kernel got the block; `end` moves it to where the
 * kernel is.
 */
export class PackedWalk {
  readonly run: PackedRun;
  readonly #kernel: VisibleKernel;
  readonly #merge: MergeCursor;
  readonly #samples: ReadSamples | undefined;
  /** Bytes of the blocks to which the sources have moved one by one. */
  #readBytes = 0;
  /** The source that moves to its next block. */
  #moving: EntryCursor | undefined;
  /** How often the kernel may run before other work does. */
  #runsLeft = RUNS_AT_ONCE;
  #isOver = false;

  private constructor(run: PackedRun, kernel: VisibleKernel, merge: MergeCursor, samples: ReadSamples | undefined) {
    this.run = run;
    this.#kernel = kernel;
    this.#merge = merge;
    this.#samples = samples;
  }

  /**
   * Begins a walk forward where the sources of a merge are.
   *
   * @param run one that no other walk uses any more; by default a new one.
   * @param sequence at which entries are visible.
   * @param keyLength of the user key, at the start of `keyBytes`, whose versions are skipped.
   * @returns undefined when there is no kernel, or it declines.
   */
  static forward(run: PackedRun | undefined, merge: MergeCursor, sequence: bigint, keyBytes: Uint8Array, keyLength: number, samples: ReadSamples | undefined): PackedWalk | undefined {
    return PackedWalk.#begin(run, merge, samples, (kernel) => kernel.startForward(sequence, keyBytes, keyLength, samples?.unsampled));
  }

  /** Begins a walk backward where the sources of a merge are. Parameters and result as those of {@link forward}. */
  static backward(run: PackedRun | undefined, merge: MergeCursor, sequence: bigint, samples: ReadSamples | undefined): PackedWalk | undefined {
    return PackedWalk.#begin(run, merge, samples, (kernel) => {
      kernel.startBackward(sequence, samples?.unsampled);
      return true;
    });
  }

  static #begin(run: PackedRun | undefined, merge: MergeCursor, samples: ReadSamples | undefined, start: (kernel: VisibleKernel) => boolean): PackedWalk | undefined {
    const kernel = VisibleKernel.take(merge);
    if (kernel === undefined) return undefined;
    const walk = new PackedWalk(run ?? new PackedRun(), kernel, merge, samples);
    if (merge.sources.length <= kernel.maxSources && start(kernel) && walk.#placeAll()) return walk;
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

  fill(): Filling {
    const kernel = this.#kernel;
    kernel.clear();
    while (this.#runsLeft > 0) {
      this.#runsLeft--;
      const why = kernel.fill();
      if (why === AT_SAMPLE) {
        kernel.sample(this.#samples!);
        continue;
      }
      const { entries } = kernel;
      if (entries > 0) {
        this.#runsLeft = RUNS_AT_ONCE;
        this.run.fill(kernel, entries);
        return 'filled';
      }
      if (why !== NEEDS_BLOCK) return why === DONE ? 'ended' : 'declined';
      const { first } = kernel;
      const source = this.#merge.sources[first]!;
      const entered = kernel.enteredOf(first);
      if (entered > 0) source.passStored(entered);
      if (kernel.offerStored((into, take, most) => source.nextStored(into, take, most, this.#readBytes))) continue;
      if (!source.nextBlock()) {
        this.#moving = source;
        return 'unsettled';
      }
      if (!this.#enter(source)) return 'declined';
    }
    return 'unsettled';
  }

  /** Reads what `fill` waits for. @returns whether the kernel takes the block. */
  *settle(): FolderReading<boolean> {
    const moving = this.#moving;
    if (moving === undefined) {
      this.#runsLeft = RUNS_AT_ONCE;
      yield* othersTurn();
      return true;
    }
    this.#moving = undefined;
    yield* moving.settle();
    // The walk may have been abandoned meanwhile, and another one may have its kernel.
    return this.#isOver || this.#enter(moving);
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

  /** Forward: the user key whose older versions are skipped, a view that is valid until the next call. */
  get hiddenKey(): Uint8Array {
    return this.#kernel.hiddenKey;
  }

  /** Backward: copies of the newest version of a user key so far; undefined if there is none. */
  get found(): VisibleKernel['found'] {
    return this.#kernel.found;
  }

  /** Moves the sources to where the kernel is, so that the walk can continue without it, and returns the kernel. */
  end(): void {
    const kernel = this.#kernel;
    if (this.#samples !== undefined) this.#samples.unsampled = kernel.unsampled;
    for (const [i, source] of this.#merge.sources.entries()) {
      const entered = source.valid ? kernel.enteredOf(i) : 0;
      if (entered > 0) source.passStored(entered);
      if (source.valid) source.skip(kernel.movesOf(i), () => kernel.contentsOf(i) ?? source.block!.contents.slice());
    }
    this.#merge.lineUp();
    this.#isOver = true;
    kernel.giveBack();
  }

  /** Returns the kernel without moving the sources, because the walk continues somewhere else. */
  abandon(): void {
    this.#isOver = true;
    if (this.#samples !== undefined) this.#samples.unsampled = this.#kernel.unsampled;
    this.#kernel.giveBack();
  }
}
