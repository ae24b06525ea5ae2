import type { Kernel } from '@bloom/bytes/internal';
import { type BlockRoom, type KernelMemory, SLACK } from './kernel-memory.js';

/** A source's first stored blocks have at most this many bytes, and each further ones twice as many, up to what a file reads at once. */
const MIN_STORED_BYTES = 2 ** 13;
const MAX_STORED_BYTES = 2 ** 16;
/** How many of them there are at most. */
const MAX_STORED = 512;

/** Reads blocks as they are stored, as `nextStored` of an `EntryCursor` does. */
export type ReadStored = (into: Uint8Array, take: (start: number, length: number) => void, most: number) => number;

/** A kernel that decompresses blocks itself. */
export interface StoredKernel extends Kernel {
  supplyStored(source: number, stored: number, count: number, slot: number, slotBytes: number): void;
  /** How many stored blocks a source has entered since it got them. */
  enteredOf(source: number): number;
}

/** The stored blocks that come next for a source of a kernel. */
export class StoredBlocks {
  /** The area for them, which their list follows; 0 if there is none yet. */
  #area = 0;
  /** The most bytes to read next time. */
  #byteLength = MIN_STORED_BYTES;
  /** Whether the source was given blocks, the first of which it may have declined. */
  #isOffered = false;

  /**
   * Reads the blocks that come next, and gives them to the source.
   *
   * @param room where the kernel decompresses them.
   * @returns whether it has some.
   */
  offer(kernel: StoredKernel, memory: KernelMemory, source: number, room: BlockRoom, read: ReadStored): boolean {
    // A block that the kernel has declined once would be declined again.
    const wasDeclined = this.#isOffered && kernel.enteredOf(source) === 0;
    this.#isOffered = false;
    kernel.supplyStored(source, 0, 0, 0, 0);
    if (wasDeclined) return false;
    if (this.#area === 0) {
      const area = memory.allocate(MAX_STORED_BYTES + SLACK + MAX_STORED * 8);
      if (area === undefined) return false;
      this.#area = area;
    }
    const area = this.#area;
    const list = area + MAX_STORED_BYTES + SLACK;
    let at = list / 4;
    const take = (start: number, length: number): void => {
      memory.words[at++] = area + start;
      memory.words[at++] = length;
    };
    const count = read(memory.bytes.subarray(area, area + this.#byteLength), take, MAX_STORED);
    if (count === 0) return false;
    this.#byteLength = Math.min(this.#byteLength * 2, MAX_STORED_BYTES);
    this.#isOffered = true;
    kernel.supplyStored(source, list, count, room.block, room.byteLength);
    return true;
  }

  /** Forgets what was given, because the source gets another block. */
  forget(): void {
    this.#isOffered = false;
  }
}
