import { growMemory, type Kernel } from '@bloom/bytes/internal';

/** A source has room for a block of at least this many bytes. */
const MIN_BLOCK_ROOM = 2 ** 13;
/** The kernels read and write whole words past the ends of their areas. */
export const SLACK = 64;

/** Where the block of a source and its current key are in a kernel's memory: addresses in bytes. */
export interface BlockRoom {
  readonly block: number;
  readonly byteLength: number;
  readonly key: number;
}

/** The memory of a kernel that merges blocks, from which areas are allocated one after another until it is cleared. */
export class KernelMemory {
  /** The memory. Both views are replaced when it grows. */
  bytes!: Uint8Array;
  words!: Uint32Array;
  readonly #memory: Kernel['memory'];
  /** The first address that can be allocated, and the next one. */
  readonly #start: number;
  #free: number;
  readonly #maxKey: number;

  /**
   * @param start the first address that can be allocated.
   * @param maxKey the longest key that the kernel takes.
   */
  constructor({ memory }: Kernel, start: number, maxKey: number) {
    this.#memory = memory;
    this.#start = this.#free = start;
    this.#maxKey = maxKey;
    this.#makeViews();
  }

  clear(): void {
    this.#free = this.#start;
  }

  /** Allocates an area. @returns its address; undefined when the memory cannot grow. */
  allocate(byteLength: number): number | undefined {
    const start = this.#free;
    const end = start + byteLength + SLACK;
    if (end > this.bytes.length) {
      if (!growMemory(this.#memory, end)) return undefined;
      this.#makeViews();
    }
    this.#free = Math.ceil(end / SLACK) * SLACK;
    return start;
  }

  /** Room for a block of `length` bytes: what the source had, if that is large enough. @returns undefined when the memory cannot grow. */
  roomForBlock(had: BlockRoom | undefined, length: number): BlockRoom | undefined {
    if (had !== undefined && had.byteLength >= length) return had;
    // The old room is lost until the memory is cleared, so the new one is at least twice as large.
    const byteLength = Math.max(MIN_BLOCK_ROOM, length, (had?.byteLength ?? 0) * 2);
    const block = this.allocate(byteLength);
    // No key is longer than its block.
    const key = this.allocate(Math.min(byteLength, this.#maxKey));
    return block === undefined || key === undefined ? undefined : { block, byteLength, key };
  }

  #makeViews(): void {
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.words = new Uint32Array(this.#memory.buffer);
  }
}
