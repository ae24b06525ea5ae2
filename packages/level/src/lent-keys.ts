import { putAscii } from './ascii-text.js';
import type { HostFormats } from './host-formats.js';
import { bytesOf, type Stored } from './encoding-formats.js';

/**
 * The length of the memory that keys share. At 16 characters, the loop takes 0.3 of the time of `Buffer.from`, at 32 0.8, and at 64 1.7, which is
 * half the time of a `TextEncoder` (Node 20).
 */
const MAX_CHARACTERS = 64;

/** Keys as bytes, for calls that copy them synchronously. Short ASCII keys share memory, so that nothing is allocated for them. */
export class LentKeys {
  readonly #formats: HostFormats;
  readonly #memory = new Uint8Array(MAX_CHARACTERS);
  /** Views of the start of the memory, by their lengths. */
  readonly #views: Uint8Array[] = [];

  constructor(formats: HostFormats) {
    this.#formats = formats;
  }

  /** The bytes of a key, valid until the next call. */
  bytesOf(key: Stored): Uint8Array {
    if (typeof key === 'string' && key.length <= MAX_CHARACTERS && putAscii(key, this.#memory)) return (this.#views[key.length] ??= this.#memory.subarray(0, key.length));
    return bytesOf(this.#formats, key);
  }

  /** The bytes of each of `keys`, valid until the next one is taken. */
  *each(keys: readonly Stored[]): Generator<Uint8Array, void> {
    for (const key of keys) yield this.bytesOf(key);
  }
}
