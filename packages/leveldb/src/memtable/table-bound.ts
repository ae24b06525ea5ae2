/**
 * How large the index of a table can get, and whether its largest entry fits into a block: known before the table is written,
 * and so before its entries are acknowledged.
 *
 * The index has the last key of each block. A block ends with the entry that makes it as large as `blockSize`.
 */
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';

/** More than the bytes that a block needs for an entry besides its key and value, and an index for a block besides its key. */
const OVERHEAD = 64;
/** Keys of this length and more are counted one by one: each may be the last of its block. */
const LONG_KEY = 1024;

/** The sizes of a table's entries, as far as they limit its size. */
export class TableBound {
  #entries = 0;
  #keyBytes = 0;
  #valueBytes = 0;
  #longKeys = 0;
  #longKeyBytes = 0;
  #longestShortKey = 0;
  /** Key and value of the largest entry, in bytes. */
  #largestEntry = 0;

  add(internalKeyLength: number, valueLength: number): void {
    this.#entries++;
    this.#keyBytes += internalKeyLength;
    this.#valueBytes += valueLength;
    if (internalKeyLength >= LONG_KEY) {
      this.#longKeys++;
      this.#longKeyBytes += internalKeyLength;
    } else if (internalKeyLength > this.#longestShortKey) {
      this.#longestShortKey = internalKeyLength;
    }
    if (internalKeyLength + valueLength > this.#largestEntry) this.#largestEntry = internalKeyLength + valueLength;
  }

  addUserKey(length: number, valueLength: number): void {
    this.add(length + INTERNAL_KEY_TRAILER_LENGTH, valueLength);
  }

  /** The largest block that an entry can require, in bytes. */
  blockBytes(blockSize: number): number {
    return blockSize + this.#largestEntry + OVERHEAD;
  }

  /** The largest index, in bytes. */
  indexBytes(blockSize: number): number {
    const ofAllKeys = this.#keyBytes + OVERHEAD * this.#entries;
    const blocks = 1 + (this.#keyBytes + this.#valueBytes + OVERHEAD * this.#entries) / blockSize;
    const byBlocks = blocks * (this.#longestShortKey + OVERHEAD) + this.#longKeyBytes + OVERHEAD * this.#longKeys;
    return Math.min(ofAllKeys, byBlocks);
  }
}
