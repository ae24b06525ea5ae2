import type { KeyList } from './policy.js';

const INITIAL_BYTES = 1024;
const INITIAL_KEYS = 64;

/**
 * A {@link KeyList} that grows: keys are copied into one flat buffer, which is kept when the list is cleared.
 *
 * Total length of the keys: less than 4 GiB.
 */
export class KeyBuffer implements KeyList {
  bytes = new Uint8Array(INITIAL_BYTES);
  offsets = new Uint32Array(INITIAL_KEYS);
  length = 0;

  /** A list of copies of `keys`. */
  static from(keys: Iterable<Uint8Array>): KeyBuffer {
    const buffer = new KeyBuffer();
    for (const key of keys) buffer.push(key);
    return buffer;
  }

  /**
   * Appends a copy of `key`.
   *
   * @throws TypeError when `key` is no array of bytes: a string would be taken for zeros.
   * @throws RangeError when the keys together would reach 4 GiB.
   */
  push(key: Uint8Array): void {
    if (!ArrayBuffer.isView(key)) throw new TypeError(`key must be a Uint8Array, got ${typeof key}`);
    this.#append(key, 0, key.length);
  }

  /**
   * Appends a copy of `from[start, end)`, without a view of it.
   *
   * @throws RangeError when that is no range of `from`, or when the keys together would reach 4 GiB.
   */
  pushRange(from: Uint8Array, start: number, end: number): void {
    if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= from.length)) {
      throw new RangeError(`start and end must lie in order inside the ${from.length} bytes, got ${start} and ${end}`);
    }
    this.#append(from, start, end);
  }

  at(i: number): Uint8Array {
    if (!(Number.isInteger(i) && i >= 0 && i < this.length)) {
      throw new RangeError(`i must be the number of one of ${this.length} keys, got ${i}`);
    }
    return this.bytes.subarray(this.offsets[i], this.offsets[i + 1]);
  }

  /** Forgets all keys. */
  clear(): void {
    this.length = 0;
  }

  *[Symbol.iterator](): Iterator<Uint8Array> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  #append(from: Uint8Array, start: number, end: number): void {
    const newStart = this.offsets[this.length]!;
    const newEnd = newStart + end - start;
    if (newEnd > this.bytes.length) this.#growBytes(newEnd);
    if (this.length + 2 > this.offsets.length) this.#growOffsets();
    // For a short key a loop is faster than the call of set().
    if (end - start <= 32) for (let i = start, to = newStart, { bytes } = this; i < end; i++) bytes[to++] = from[i]!;
    else this.bytes.set(start === 0 && end === from.length ? from : from.subarray(start, end), newStart);
    this.offsets[++this.length] = newEnd;
  }

  #growBytes(needed: number): void {
    if (needed > 0xffffffff) throw new RangeError('keys must be less than 4 GiB in total');
    const grown = new Uint8Array(Math.min(Math.max(needed, this.bytes.length * 2), 0xffffffff));
    grown.set(this.bytes.subarray(0, this.offsets[this.length]));
    this.bytes = grown;
  }

  #growOffsets(): void {
    const grown = new Uint32Array(this.offsets.length * 2);
    grown.set(this.offsets);
    this.offsets = grown;
  }
}
