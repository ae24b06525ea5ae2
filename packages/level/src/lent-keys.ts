import { bytesOf, type Stored } from './stored-format.js';
import type { ByteFormats } from './byte-formats.js';

/** Longer keys get memory of their own. From about so many characters on, the encoder of Node is quicker than the loop here. */
const MAX_CHARACTERS = 64;
const LAST_ASCII = 0x7f;

/**
 * Keys as bytes for calls that copy them at once. Short ASCII keys share memory, of which a view for each length is kept: an array for each
 * key took as long as searching a block.
 */
export class LentKeys {
  readonly #formats: ByteFormats;
  readonly #memory = new Uint8Array(MAX_CHARACTERS);
  readonly #views = Array.from({ length: MAX_CHARACTERS + 1 }, (_, length) => this.#memory.subarray(0, length));

  constructor(formats: ByteFormats) {
    this.#formats = formats;
  }

  /** The bytes of a key, valid until the next call. */
  bytesOf(key: Stored): Uint8Array {
    if (typeof key !== 'string' || key.length > MAX_CHARACTERS) return bytesOf(this.#formats, key);
    const { length } = key;
    const memory = this.#memory;
    for (let i = 0; i < length; i++) {
      const unit = key.charCodeAt(i);
      if (unit > LAST_ASCII) return bytesOf(this.#formats, key);
      memory[i] = unit;
    }
    return this.#views[length]!;
  }

  /** Each of `keys` in turn. */
  *each(keys: readonly Stored[]): Generator<Uint8Array, void> {
    for (const key of keys) yield this.bytesOf(key);
  }
}
