import type { Bytes } from './bytes-type.js';
import { undefinedSlots } from './undefined-slots.js';

/** How many views are kept: blocks of a table have some hundred lengths. A power of two. */
const KEPT_VIEWS = 256;
/** How many are kept at first: a program may have hundreds of databases open that write little. A power of two. */
const FIRST_KEPT_VIEWS = 16;

/**
 * Views of the first bytes of an array, for callers that ask for the same lengths again and again: making a view takes ten times as long
 * as finding it here (Node 20), and leaves a hundred bytes of garbage.
 *
 * @example
 * ```ts
 * const views = new PrefixViews(new Uint8Array(8192));
 * views.of(4100) === views.of(4100); // true
 * ```
 */
export class PrefixViews {
  readonly bytes: Bytes;
  /** By the low bits of their lengths. */
  #views = undefinedSlots<Bytes>(FIRST_KEPT_VIEWS);
  #made = 0;

  constructor(bytes: Bytes) {
    this.bytes = bytes;
  }

  /** The first `length` bytes; there must be at least that many. */
  of(length: number): Bytes {
    const kept = this.#views[length & (this.#views.length - 1)];
    return kept?.length === length ? kept : this.#make(length);
  }

  #make(length: number): Bytes {
    if (++this.#made === FIRST_KEPT_VIEWS) this.#views = undefinedSlots(KEPT_VIEWS);
    return (this.#views[length & (this.#views.length - 1)] = this.bytes.subarray(0, length));
  }
}
