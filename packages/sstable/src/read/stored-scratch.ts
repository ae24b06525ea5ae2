import type { Bytes } from '@bloom/bytes';
import { PrefixViews } from '@bloom/bytes/internal';
import { BlockScratch } from './block-scratch.js';
import { AT_ONCE_BYTES } from './source.js';

/**
 * Memory for one stored block at a time that is read and decoded synchronously: a new array of 4 KiB for each takes as long as
 * reading into it.
 */
export class StoredScratch {
  /** For what is decompressed from it. */
  readonly contents = new BlockScratch();
  #views = new PrefixViews(new Uint8Array(0));
  #isTaken = false;

  /**
   * @returns `length` bytes, until `giveBack`; undefined where an array of the caller's own is needed: the block is large, or a codec
   *   that is decoding one looks up a key.
   */
  take(length: number): Bytes | undefined {
    if (this.#isTaken || length > AT_ONCE_BYTES) return undefined;
    if (length > this.#views.bytes.length) this.#views = new PrefixViews(new Uint8Array(Math.min(2 * length, AT_ONCE_BYTES)));
    this.#isTaken = true;
    return this.#views.of(length);
  }

  /** The first `length` of the bytes that are taken. */
  first(length: number): Bytes {
    return this.#views.of(length);
  }

  /** Ends what `take` began. */
  giveBack(): void {
    this.#isTaken = false;
  }
}
