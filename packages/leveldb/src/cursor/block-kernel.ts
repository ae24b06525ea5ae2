import { type BlockRoom, KernelMemory } from './kernel-memory.js';
import { type ReadStored, StoredBlocks, type StoredKernel } from './stored-blocks.js';

export interface Constant {
  readonly value: number;
}

/** What the kernels that merge the entries of blocks export. */
export interface BlockKernelExports extends StoredKernel {
  readonly MAX_KEY: Constant;
  readonly MAX_SOURCES: Constant;
  readonly RESULT_AT: Constant;
  readonly SLOTS_AT: Constant;
  supply(source: number, block: number, length: number, key: number): number;
  first(): number;
  leave(): void;
}

/** A kernel with sources, each of which is given its blocks one after another: copies. */
export class BlockKernel<Exports extends BlockKernelExports> {
  protected readonly kernel: Exports;
  protected readonly memory: KernelMemory;
  /** An index of the memory's words. It is kept here because reading an export of the kernel takes longer. */
  protected readonly resultAt: number;
  readonly #maxBlockBytes: number;
  #sources: ({ room: BlockRoom; readonly stored: StoredBlocks } | undefined)[] = [];

  /** @param maxBlockBytes the largest block that is given to the kernel. */
  protected constructor(kernel: Exports, maxBlockBytes: number) {
    this.kernel = kernel;
    this.memory = new KernelMemory(kernel, kernel.SLOTS_AT.value, kernel.MAX_KEY.value);
    this.resultAt = kernel.RESULT_AT.value / 4;
    this.#maxBlockBytes = maxBlockBytes;
  }

  get maxSources(): number {
    return this.kernel.MAX_SOURCES.value;
  }

  protected clearSources(): void {
    this.#sources = [];
    this.memory.clear();
  }

  /** Gives a source its next block. @returns false when the kernel declines it. */
  supply(source: number, contents: Uint8Array): boolean {
    const had = this.#sources[source];
    const room = contents.length > this.#maxBlockBytes ? undefined : this.memory.roomForBlock(had?.room, contents.length);
    if (room === undefined) {
      this.#sources[source] = undefined;
      return this.kernel.supply(source, 0, 0, 0) !== 0;
    }
    if (had === undefined) {
      this.#sources[source] = { room, stored: new StoredBlocks() };
    } else {
      had.room = room;
      had.stored.forget();
    }
    this.memory.bytes.set(contents, room.block);
    return this.kernel.supply(source, room.block, contents.length, room.key) !== 0;
  }

  /** Whether a source has a block; false when it was declined because of its length. */
  protected hasBlock(source: number): boolean {
    return this.#sources[source] !== undefined;
  }

  /** The source that needs a block. */
  get first(): number {
    return this.kernel.first();
  }

  /** Ends the source that needs a block. */
  leave(): void {
    this.kernel.leave();
  }

  /** The number of stored blocks that a source has entered since it got them. */
  enteredOf(source: number): number {
    return this.kernel.enteredOf(source);
  }

  /**
   * Reads the stored blocks that come next for the source that needs a block, and gives them to it.
   *
   * @param read reads blocks, as `nextStored` of an `EntryCursor` does.
   * @returns whether it has some.
   */
  offerStored(read: ReadStored): boolean {
    const source = this.kernel.first();
    const had = this.#sources[source];
    return had?.stored.offer(this.kernel, this.memory, source, had.room, read) ?? false;
  }
}
