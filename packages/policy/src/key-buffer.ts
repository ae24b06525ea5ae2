import { mustBeBytes, mustBeWhole, numberOf, RangeCopier, shownValue } from '@bloom/bytes/internal';
import { mustAscend } from './key-list-order.js';
import type { KeyList } from './policy.js';

const INITIAL_BYTES = 1024;
const INITIAL_KEYS = 63;
/** Offsets are uint32. */
const MAX_BYTES = 0xffffffff;

/**
 * A {@link KeyList} that grows: keys are copied into one flat buffer, which `clear` keeps for reuse.
 *
 * The keys must have less than 4 GiB in total.
 */
export class KeyBuffer implements KeyList {
  bytes: Uint8Array;
  offsets: Uint32Array;
  length = 0;
  readonly #copier = new RangeCopier();

  /**
   * An empty list.
   *
   * @param byteLength initial room for keys, in bytes.
   * @param count initial room for keys, in keys.
   * @throws RangeError when one of them is not a whole number from 0 to 2^32 - 1.
   */
  constructor(byteLength = INITIAL_BYTES, count = INITIAL_KEYS) {
    mustBeWhole('byteLength', byteLength, 0, MAX_BYTES);
    mustBeWhole('count', count, 0, MAX_BYTES);
    this.bytes = new Uint8Array(byteLength);
    this.offsets = new Uint32Array(count + 1);
  }

  /** A list of copies of `keys`. */
  static from(keys: Iterable<Uint8Array>): KeyBuffer {
    const buffer = Array.isArray(keys) ? KeyBuffer.#withRoomFor(keys as readonly Uint8Array[]) : new KeyBuffer();
    for (const key of keys) buffer.push(key);
    return buffer;
  }

  static #withRoomFor(keys: readonly Uint8Array[]): KeyBuffer {
    let byteLength = 0;
    for (let i = 0; i < keys.length; i++) {
      mustBeBytes('key', keys[i]);
      byteLength += keys[i]!.length;
    }
    return new KeyBuffer(Math.min(byteLength, MAX_BYTES), keys.length);
  }

  /**
   * Appends a copy of `key`.
   *
   * @throws TypeError when `key` is not a `Uint8Array`, or is detached.
   * @throws RangeError when the keys would have 4 GiB or more in total.
   */
  push(key: Uint8Array): void {
    mustBeBytes('key', key);
    this.#append(key, 0, key.length);
  }

  /**
   * Appends a copy of `from[start, end)`, without making a view of it.
   *
   * @throws TypeError when `from` is not a `Uint8Array`, or is detached.
   * @throws RangeError when that is not a range of `from`, or when the keys would have 4 GiB or more in total.
   */
  pushRange(from: Uint8Array, start: number, end: number): void {
    mustBeBytes('from', from);
    if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= from.length)) {
      throw new RangeError(`start and end must be in order and within the ${numberOf(from.length, 'byte')}, got ${shownValue(start)} and ${shownValue(end)}`);
    }
    this.#append(from, start, end);
  }

  /**
   * Appends copies of the keys of another list.
   *
   * @throws TypeError when its bytes are not a `Uint8Array`, or are detached.
   * @throws RangeError when its offsets do not ascend or leave its bytes, or when the keys would have 4 GiB or more in total.
   */
  pushAll(keys: Pick<KeyList, 'bytes' | 'offsets' | 'length'>): void {
    const { bytes, offsets, length } = keys;
    mustBeBytes('keys.bytes', bytes);
    mustAscend(keys, 0, length);
    if (length === 0) return;
    const from = offsets[0]!;
    const end = offsets[length]!;
    const start = this.offsets[this.length]!;
    if (start + end - from > this.bytes.length) this.#growBytes(start + end - from);
    while (this.length + length + 1 > this.offsets.length) this.#growOffsets();
    this.bytes.set(bytes.subarray(from, end), start);
    const own = this.offsets;
    const first = this.length;
    const distance = start - from;
    for (let i = 1; i <= length; i++) own[first + i] = offsets[i]! + distance;
    this.length += length;
  }

  at(i: number): Uint8Array {
    if (!(Number.isInteger(i) && i >= 0 && i < this.length)) {
      throw new RangeError(`i must be a whole number below ${this.length}, the number of keys, got ${shownValue(i)}`);
    }
    return this.bytes.subarray(this.offsets[i], this.offsets[i + 1]);
  }

  /** Removes all keys. */
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
    this.#copier.copy(from, start, end, this.bytes, newStart);
    this.offsets[++this.length] = newEnd;
  }

  #growBytes(needed: number): void {
    if (needed > MAX_BYTES) throw new RangeError('keys must be less than 4 GiB in total');
    const grown = new Uint8Array(Math.min(Math.max(needed, this.bytes.length * 2), MAX_BYTES));
    grown.set(this.bytes.subarray(0, this.offsets[this.length]));
    this.bytes = grown;
  }

  #growOffsets(): void {
    const grown = new Uint32Array(this.offsets.length * 2);
    grown.set(this.offsets);
    this.offsets = grown;
  }
}
