import type { Bytes } from '@bloom/bytes';
import type { VisibleKernel } from './visible-kernel.js';

const NO_BYTES = new Uint8Array(0);
const NO_ENDS = new Uint32Array(0);

/** Copies of short entries share an array of this many bytes, so that a program that keeps one copy does not keep much more in memory. */
const SHARED_BYTES = 2 ** 13;
const MAX_SHARED_ENTRY = SHARED_BYTES / 8;

/**
 * User keys and values that a kernel has packed, one after another: (key | value)*
 *
 * The bytes are a copy, so that views of them do not change when another walk gets the kernel. A cursor uses the same run for all its walks,
 * so that a short walk allocates no array.
 */
export class PackedRun {
  /** Valid until the next run. */
  bytes: Uint8Array = NO_BYTES;
  /** Where each key and each value ends in `bytes`: from `endsStart` to `endsEnd`. */
  ends: Uint32Array = NO_ENDS;
  endsStart = 0;
  endsEnd = 0;
  /** Copies of the bytes from `#copiedStart` to `#copiedEnd`. */
  #copied: ArrayBuffer | undefined;
  #copiedStart = 0;
  #copiedEnd = 0;

  fill(kernel: VisibleKernel, entries: number): void {
    const { runAt, runLength, endsAt } = kernel;
    if (runLength > this.bytes.length) this.bytes = new Uint8Array(runLength * 2);
    this.bytes.set(kernel.bytes.subarray(runAt, runAt + runLength));
    this.ends = kernel.words;
    this.endsStart = endsAt;
    this.endsEnd = endsAt + entries * 2;
    this.#copiedEnd = 0;
  }

  /**
   * Copies of the key and the value at `place` of `ends`. Many share memory, as those of a `ByteCopier` do.
   *
   * @returns undefined if they are too long to share memory.
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
    return [new Uint8Array(this.#copied!, keyStart - from, valueStart - keyStart), new Uint8Array(this.#copied!, valueStart - from, valueEnd - valueStart)];
  }
}
