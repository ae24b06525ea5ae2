/**
 * The inner loop of walks in WebAssembly, `assembly/visible-kernel.ts`: it merges the entries of blocks, leaves out what is not
 * visible, and packs the user keys and values of the others in the order of the walk.
 *
 * It returns to its caller whenever a source needs another block. It declines what it cannot do and what is damaged: the caller then
 * continues from there entry by entry, and gets the entries or the error of that path.
 */
import type { Bytes } from '@bloom/bytes';
import { instantiateKernel } from '@bloom/bytes/internal';
import { BlockKernel, type BlockKernelExports, type Constant } from './block-kernel.js';
import type { ReadSamples } from './read-samples.js';
import { VISIBLE_KERNEL } from './visible-kernel.wasm.js';

// Why the kernel returns an empty run: numbers of `assembly/visible-kernel.ts`. Any other number means that it declines the current entry.
/** There are no further entries. */
export const DONE = 0;
/** The first source has no further entry in its block. */
export const NEEDS_BLOCK = 2;
/** A sample is due at the current entry. In this case the run need not be empty. */
export const AT_SAMPLE = 3;

/** Larger blocks are not given to the kernel. */
const MAX_BLOCK_BYTES = 2 ** 18;

/** The most walks that have a kernel at the same time. Others go entry by entry. */
const MAX_TAKEN = 8;
/** The most kernels to keep for later walks. */
const MAX_IDLE = 2;
/** A kernel whose memory has grown further is not kept. */
const KEPT_BYTES = 2 ** 20;

interface KernelExports extends BlockKernelExports {
  readonly ENDS_AT: Constant;
  readonly HIDDEN_AT: Constant;
  readonly INDEX_BYTES: Constant;
  readonly RUN_AT: Constant;
  startForward(sequence: bigint, hiddenLength: number, samples: number, unsampled: number): void;
  startBackward(sequence: bigint, samples: number, unsampled: number): void;
  supplyIndex(source: number, index: number): number;
  contentsStart(source: number): number;
  contentsEnd(source: number): number;
  place(source: number, position: number): number;
  enter(): number;
  movesOf(source: number): number;
  sampled(unsampled: number): void;
  clear(): void;
  fill(): number;
}

/** Whether the host has refused a kernel. */
let isRefused = false;
/** Kernels that no walk uses. */
const idle: VisibleKernel[] = [];
/** Kernels in use. If a walk is garbage-collected without being closed, another walk gets its kernel. */
const taken: { readonly kernel: VisibleKernel; readonly walk: WeakRef<object> }[] = [];

/** A kernel, for one walk at a time. */
export class VisibleKernel extends BlockKernel<KernelExports> {
  /** Where each key and each value of the run ends, from its start: from this index of `words` on. */
  readonly endsAt: number;
  /** Where in `bytes` the run is. */
  readonly runAt: number;
  /** Backward: memory for the index of entries of each source. */
  #indexes: (number | undefined)[] = [];
  #isBackward = false;

  private constructor(kernel: KernelExports) {
    super(kernel, MAX_BLOCK_BYTES);
    this.endsAt = kernel.ENDS_AT.value / 4;
    this.runAt = kernel.RUN_AT.value;
  }

  /** A kernel, which the walk must return; undefined if there is none now. */
  static take(walk: object): VisibleKernel | undefined {
    if (isRefused) return undefined;
    const kernel = idle.pop() ?? unusedKernel() ?? VisibleKernel.#create();
    if (kernel !== undefined) taken.push({ kernel, walk: new WeakRef(walk) });
    return kernel;
  }

  static #create(): VisibleKernel | undefined {
    if (taken.length >= MAX_TAKEN) return undefined;
    const exports = instantiateKernel<KernelExports>(VISIBLE_KERNEL);
    isRefused = exports === undefined && taken.length === 0;
    return exports && new VisibleKernel(exports);
  }

  /** Keeps the kernel for later walks, unless its memory has grown. */
  giveBack(): void {
    const i = taken.findIndex(({ kernel }) => kernel === this);
    if (i < 0) return;
    taken.splice(i, 1);
    if (idle.length < MAX_IDLE && this.bytes.length <= KEPT_BYTES) idle.push(this);
  }

  /** The kernel's memory, in bytes and in words of 32 bits. */
  get bytes(): Uint8Array {
    return this.memory.bytes;
  }

  get words(): Uint32Array {
    return this.memory.words;
  }

  /**
   * Starts a walk forward over what is visible at `sequence`, after the user key in the first `keyLength` bytes of `key`.
   *
   * @param unsampled the number of bytes of keys and values before the next sample; undefined for no samples.
   * @returns false when the key is too long.
   */
  startForward(sequence: bigint, key: Uint8Array, keyLength: number, unsampled: number | undefined): boolean {
    if (keyLength > this.kernel.MAX_KEY.value) return false;
    this.bytes.set(key.subarray(0, keyLength), this.kernel.HIDDEN_AT.value);
    this.#clear(false);
    this.kernel.startForward(sequence, keyLength, Number(unsampled !== undefined), unsampled ?? 0);
    return true;
  }

  /** Starts a walk backward. Parameters as those of {@link startForward}. */
  startBackward(sequence: bigint, unsampled: number | undefined): void {
    this.#clear(true);
    this.kernel.startBackward(sequence, Number(unsampled !== undefined), unsampled ?? 0);
  }

  #clear(isBackward: boolean): void {
    this.#isBackward = isBackward;
    this.#indexes = [];
    this.clearSources();
  }

  /** Adds a source that is on the entry at `position` of a block, which is copied. @returns false when the kernel declines it. */
  place(source: number, contents: Uint8Array, position: number): boolean {
    return this.#supply(source, contents) && this.kernel.place(source, position) !== 0;
  }

  /** Gives the source that needs a block its next one, and moves it to the first entry, or backward to the last. @returns false when the kernel declines it. */
  enter(contents: Uint8Array): boolean {
    return this.#supply(this.first, contents) && this.kernel.enter() !== 0;
  }

  /** The number of entries by which a source has moved since it got its block. */
  movesOf(source: number): number {
    return this.kernel.movesOf(source);
  }

  /** A copy of the block that a source is in; undefined when the kernel declined it because of its length. */
  contentsOf(source: number): Uint8Array | undefined {
    if (!this.hasBlock(source)) return undefined;
    return this.bytes.slice(this.kernel.contentsStart(source), this.kernel.contentsEnd(source));
  }

  /** Starts an empty run. */
  clear(): void {
    this.kernel.clear();
  }

  /** Adds entries to the run. @returns why it stops. */
  fill(): number {
    return this.kernel.fill();
  }

  get entries(): number {
    return this.words[this.resultAt]!;
  }

  /** Bytes of the run. */
  get runLength(): number {
    return this.words[this.resultAt + 1]!;
  }

  /** The user key whose older versions are hidden: a view that is valid until the next call. */
  get hiddenKey(): Uint8Array {
    const start = this.words[this.resultAt + 2]!;
    return this.bytes.subarray(start, start + this.words[this.resultAt + 3]!);
  }

  /** Backward: copies of the newest version of a user key so far, of which a newer one may follow; undefined if there is none. */
  get found(): { readonly key: Bytes; readonly value: Bytes } | undefined {
    const at = this.resultAt;
    if (this.words[at + 8] === 0) return undefined;
    const keyStart = this.runAt + this.runLength;
    const valueStart = keyStart + this.words[at + 9]!;
    return { key: this.bytes.slice(keyStart, valueStart), value: this.bytes.slice(valueStart, valueStart + this.words[at + 10]!) };
  }

  /** Takes the samples that are due at the current entry. */
  sample(samples: ReadSamples): void {
    const at = this.resultAt;
    const keyStart = this.words[at + 5]!;
    const keyEnd = keyStart + this.words[at + 6]!;
    samples.unsampled = this.words[at + 4]!;
    samples.count(this.bytes, keyStart, keyEnd, this.words[at + 7]!);
    this.kernel.sampled(samples.unsampled);
  }

  /** Bytes until the next sample. */
  get unsampled(): number {
    return this.words[this.resultAt + 4]!;
  }

  #supply(source: number, contents: Uint8Array): boolean {
    if (!this.supply(source, contents)) return false;
    if (!this.#isBackward) return true;
    const index = (this.#indexes[source] ??= this.memory.allocate(this.kernel.INDEX_BYTES.value));
    return index !== undefined && this.kernel.supplyIndex(source, index) !== 0;
  }
}

/** The kernel of a walk that was garbage-collected. */
function unusedKernel(): VisibleKernel | undefined {
  const i = taken.length < MAX_TAKEN ? -1 : taken.findIndex(({ walk }) => walk.deref() === undefined);
  return i < 0 ? undefined : taken.splice(i, 1)[0]!.kernel;
}
