import { copyBytes, shownValue } from '@bloom/bytes/internal';
import type { BlockWalk } from '../format/block-walk.js';

/** The most entries of a batch. */
const MAX_ENTRIES = 1024;
/** A batch is full when its keys have this many bytes: in a crafted block, entries can share megabytes each. */
const MAX_KEY_BYTES = 64 * 2 ** 10;

/**
 * Entries of one data block, as views. Key and value are made when they are asked for.
 *
 * A walk fills the same batch again and again: the batch, and all keys and values that it gave, are valid until the walk's
 * next step. Values must not be written to.
 */
export class EntryBatch implements Iterable<[key: Uint8Array, value: Uint8Array]> {
  #length = 0;
  /** The keys, one after another. The end of key i is `#keyEnds[i + 1]`. */
  #keys = new Uint8Array(4096);
  #keyBuffer: ArrayBufferLike = this.#keys.buffer;
  readonly #keyEnds = new Int32Array(MAX_ENTRIES + 1);
  /** The block's buffer, where the block starts in it, and where the values are in the block. A block has at most 1 GiB. */
  #valueBuffer: ArrayBufferLike = this.#keyBuffer;
  readonly #valueStarts = new Int32Array(MAX_ENTRIES);
  readonly #valueLengths = new Int32Array(MAX_ENTRIES);
  #blockOffset = 0;

  /** How many entries there are: at least one. */
  get length(): number {
    return this.#length;
  }

  /** The key of entry `i`. @throws RangeError when there is no such entry. */
  key(i: number): Uint8Array {
    this.#mustHave(i);
    const start = this.#keyEnds[i]!;
    return new Uint8Array(this.#keyBuffer, start, this.#keyEnds[i + 1]! - start);
  }

  /** The value of entry `i`. @throws RangeError when there is no such entry. */
  value(i: number): Uint8Array {
    this.#mustHave(i);
    return new Uint8Array(this.#valueBuffer, this.#blockOffset + this.#valueStarts[i]!, this.#valueLengths[i]);
  }

  /** Keys and values, in order. */
  *[Symbol.iterator](): Generator<[key: Uint8Array, value: Uint8Array], void, undefined> {
    for (let i = 0; i < this.#length; i++) yield [this.key(i), this.value(i)];
  }

  /** @internal Empties the batch, for entries of `block`. */
  start({ bytes }: BlockWalk): void {
    this.#length = 0;
    this.#valueBuffer = bytes.buffer;
    this.#blockOffset = bytes.byteOffset;
  }

  /** @internal Adds the entry that `block` is on. @returns whether there is room for another. */
  push({ keyBytes, keyLength, valueStart, valueEnd }: BlockWalk): boolean {
    const i = this.#length++;
    const start = this.#keyEnds[i]!;
    const end = start + keyLength;
    if (end > this.#keys.length) this.#grow(start, end);
    copyBytes(keyBytes, 0, keyLength, this.#keys, start);
    this.#keyEnds[i + 1] = end;
    this.#valueStarts[i] = valueStart;
    this.#valueLengths[i] = valueEnd - valueStart;
    return i + 1 < MAX_ENTRIES && end < MAX_KEY_BYTES;
  }

  #grow(used: number, needed: number): void {
    const grown = new Uint8Array(needed * 2);
    grown.set(this.#keys.subarray(0, used));
    this.#keys = grown;
    this.#keyBuffer = grown.buffer;
  }

  #mustHave(i: number): void {
    if (Number.isInteger(i) && i >= 0 && i < this.#length) return;
    throw new RangeError(`i must be a whole number below ${this.#length}, the number of entries, got ${shownValue(i)}`);
  }
}
