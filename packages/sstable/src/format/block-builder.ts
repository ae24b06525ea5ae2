/**
 * Writes blocks of sorted entries; `block.ts` has a picture of their bytes.
 *
 * Source: LevelDB, table/block_builder.cc.
 */
import { type Bytes, putVarint, varintLength } from '@bloom/bytes';
import { copyBytes, RangeCopier } from '@bloom/bytes/internal';
import type { CompareRange } from './bytewise-order.js';

/** Three varint32. */
const MAX_ENTRY_HEADER_LENGTH = 15;

/** The most bytes that an entry adds to a block besides key and value: its lengths, and a restart. */
export const MAX_ENTRY_OVERHEAD = MAX_ENTRY_HEADER_LENGTH + 4;

/** Builds consecutive blocks of ascending entries. The caller checks that each stays below `MAX_BLOCK_BYTES`. */
export class BlockBuilder {
  /** Entries from one restart to the next. */
  readonly #restartInterval: number;
  #bytes = new Uint8Array(8192);
  #length = 0;
  #restarts = new Uint32Array(64);
  #restartCount = 1;
  /** Entries since the last restart. */
  #sinceRestart = 0;
  #lastKey = new Uint8Array(64);
  readonly #keys = new RangeCopier();
  readonly #values = new RangeCopier();
  #lastKeyLength = 0;

  constructor(restartInterval: number) {
    this.#restartInterval = restartInterval;
  }

  /** Bytes of the block if it were finished now. */
  get byteLength(): number {
    return this.#length + this.#restartCount * 4 + 4;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** The last key added, even after `finish`: a view that is valid until the next `add`. */
  get lastKey(): Bytes {
    return this.#lastKey.subarray(0, this.#lastKeyLength);
  }

  /**
   * Bytes of the block if this entry were added and the block then finished.
   *
   * @param common what `commonWithLast` returns for the key.
   */
  byteLengthWith(keyLength: number, valueLength: number, common: number): number {
    const restarts = this.#sinceRestart >= this.#restartInterval;
    const shared = this.#length === 0 || restarts ? 0 : common;
    const unshared = keyLength - shared;
    const header = varintLength(shared) + varintLength(unshared) + varintLength(valueLength);
    return this.byteLength + header + unshared + valueLength + (restarts ? 4 : 0);
  }

  /** Compares the last key added with `bytes[start, end)`. */
  compareLast(compare: CompareRange, bytes: Uint8Array, start: number, end: number): number {
    return compare(this.#lastKey, 0, this.#lastKeyLength, bytes, start, end);
  }

  /** The length of the common prefix of the key `bytes[start, end)` and the last key added. */
  commonWithLast(bytes: Uint8Array, start: number, end: number): number {
    const lastKey = this.#lastKey;
    const most = Math.min(this.#lastKeyLength, end - start);
    let common = 0;
    while (common < most && lastKey[common] === bytes[start + common]) common++;
    return common;
  }

  /**
   * Whether the key `bytes[start, end)` is after the last key added, in bytewise order of both without their last `trailer`
   * bytes. False also if that does not decide it: then `compareLast` does.
   *
   * @param common what `commonWithLast` returns for the key.
   */
  isAfterLast(bytes: Uint8Array, start: number, end: number, common: number, trailer: number): boolean {
    if (common >= end - start - trailer) return false;
    return common >= this.#lastKeyLength - trailer || this.#lastKey[common]! < bytes[start + common]!;
  }

  /** Adds an entry. The caller has checked the order. */
  add(key: Uint8Array, value: Uint8Array): void {
    this.addRange(key, 0, key.length, value, 0, value.length, this.commonWithLast(key, 0, key.length));
  }

  /**
   * Adds the entry of the key `keyBytes[keyStart, keyEnd)` and the value `valueBytes[valueStart, valueEnd)`.
   *
   * @param common what `commonWithLast` returns for the key.
   */
  addRange(
    keyBytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueBytes: Uint8Array,
    valueStart: number,
    valueEnd: number,
    common: number,
  ): void {
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    let shared = common;
    if (this.#length === 0) shared = 0;
    else if (this.#sinceRestart >= this.#restartInterval) {
      this.#restart();
      shared = 0;
    }
    const unshared = keyLength - shared;
    const needed = this.#length + MAX_ENTRY_HEADER_LENGTH + unshared + valueLength;
    if (needed > this.#bytes.length) this.#grow(needed);
    const bytes = this.#bytes;
    let position = this.#length;
    if ((shared | unshared | valueLength) < 0x80) {
      bytes[position] = shared;
      bytes[position + 1] = unshared;
      bytes[position + 2] = valueLength;
      position += 3;
    } else {
      position = putVarint(bytes, position, shared);
      position = putVarint(bytes, position, unshared);
      position = putVarint(bytes, position, valueLength);
    }
    this.#keys.copy(keyBytes, keyStart + shared, keyEnd, bytes, position);
    position += unshared;
    this.#values.copy(valueBytes, valueStart, valueEnd, bytes, position);
    this.#length = position + valueLength;
    this.#sinceRestart++;

    if (keyLength > this.#lastKey.length) {
      const grown = new Uint8Array(keyLength * 2);
      grown.set(this.#lastKey.subarray(0, common));
      this.#lastKey = grown;
    }
    copyBytes(keyBytes, keyStart + common, keyEnd, this.#lastKey, common);
    this.#lastKeyLength = keyLength;
  }

  /** Makes `bytes[start, end)` the last key added, where another builder has added the entries. */
  setLastKey(bytes: Uint8Array, start: number, end: number): void {
    this.#lastKeyLength = end - start;
    if (this.#lastKeyLength > this.#lastKey.length) this.#lastKey = new Uint8Array(this.#lastKeyLength * 2);
    copyBytes(bytes, start, end, this.#lastKey, 0);
  }

  /** Ends the block and starts the next. @returns a view of the contents that is valid until the next `add`. */
  finish(): Uint8Array {
    const length = this.byteLength;
    if (length > this.#bytes.length) this.#grow(length);
    const view = new DataView(this.#bytes.buffer);
    let position = this.#length;
    for (let i = 0; i < this.#restartCount; i++, position += 4) view.setUint32(position, this.#restarts[i]!, true);
    view.setUint32(position, this.#restartCount, true);
    this.#length = 0;
    this.#restartCount = 1;
    this.#sinceRestart = 0;
    return this.#bytes.subarray(0, length);
  }

  #restart(): void {
    if (this.#restartCount === this.#restarts.length) {
      const grown = new Uint32Array(this.#restarts.length * 2);
      grown.set(this.#restarts);
      this.#restarts = grown;
    }
    this.#restarts[this.#restartCount++] = this.#length;
    this.#sinceRestart = 0;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
