/**
 * The same search as `block-search.ts` for blocks in bytewise order, without assembling keys.
 *
 * Source: LevelDB, table/block.cc, `Block::Iter::Seek`.
 */
import { VarintReader } from '@bloom/bytes';
import { uint32At } from './block-walk.js';
import { compareBytes, compareInternalBytes, type CompareRange, compareTrailers, INTERNAL_KEY_TRAILER_LENGTH } from './bytewise-order.js';

// What a search finds out about the first entry at or after a key.
/** There is none. */
export const PAST = 0;
/** Its user key is another one. */
export const OTHER = 1;
/** Its user key is the same. */
export const SAME = 2;
/** Only a walk can tell: keys must be assembled, they are in another order, or the block has RocksDB's hash index or is damaged. */
export const UNKNOWN = 3;

/**
 * Searches blocks whose keys, or whose user keys, are in bytewise order. It assembles no keys and reports no damage. Where
 * either is needed, the outcome is {@link UNKNOWN}.
 *
 * What it reads of an entry stays in local variables until the search ends. With a walk, which keeps them in fields and
 * assembles the key that it lands on, a lookup of a cached key takes 1.3 times as long.
 */
export class BytewiseSearch {
  /** The entry that was found, unless the outcome is {@link PAST} or {@link UNKNOWN}. */
  entryStart = 0;
  shared = 0;
  unsharedStart = 0;
  /** Where its key ends and its value starts. */
  valueStart = 0;
  valueEnd = 0;
  /** A restart at or before it: the last whose key is before the target, or the first. */
  restart = 0;

  /** How many bytes at the end of each key are not in bytewise order; -1 if keys are in another order. */
  readonly #trailerLength: number;
  readonly #reader = new VarintReader(new Uint8Array(0));

  constructor(compare: CompareRange) {
    this.#trailerLength = compare === compareBytes ? 0 : compare === compareInternalBytes ? INTERNAL_KEY_TRAILER_LENGTH : -1;
  }

  /**
   * Finds the first entry whose key is at or after `key[start, end)`.
   *
   * @param contents of the block.
   * @returns {@link PAST}, {@link OTHER}, {@link SAME} or {@link UNKNOWN}.
   */
  search(contents: Uint8Array, key: Uint8Array, start: number, end: number): number {
    const userKeyEnd = end - this.#trailerLength;
    const { length } = contents;
    if (this.#trailerLength < 0 || userKeyEnd < start || length < 8) return UNKNOWN;
    const restartCount = uint32At(contents, length - 4);
    if (restartCount === 0 || restartCount > (length - 4) / 4) return UNKNOWN;
    const entriesEnd = length - 4 - restartCount * 4;
    if (uint32At(contents, entriesEnd) !== 0) return UNKNOWN;
    const restart = this.#restartBefore(contents, entriesEnd, restartCount, key, start, userKeyEnd);
    if (restart < 0) return UNKNOWN;
    this.restart = restart;
    return this.#searchFrom(uint32At(contents, entriesEnd + restart * 4), contents, entriesEnd, key, start, userKeyEnd);
  }

  /**
   * The last restart whose entry is before the user key `key[start, end)` and the trailer after it, or the first restart; -1 when one of the
   * entries is damaged.
   */
  #restartBefore(bytes: Uint8Array, entriesEnd: number, restartCount: number, key: Uint8Array, start: number, end: number): number {
    const trailerLength = this.#trailerLength;
    let left = 0;
    let right = restartCount - 1;
    while (left < right) {
      const middle = (left + right + 1) >>> 1;
      const position = uint32At(bytes, entriesEnd + middle * 4);
      if (entriesEnd - position < 3) return -1;
      let unsharedStart = position + 3;
      let valueStart = unsharedStart + bytes[position + 1]!;
      let valueEnd = valueStart + bytes[position + 2]!;
      // Where each length takes a byte, as in `#searchFrom`, nothing is called: V8 compiles less, and a search takes less time.
      if ((bytes[position]! | bytes[position + 1]! | bytes[position + 2]!) >= 0x80) {
        if (!this.#parse(bytes, position, entriesEnd)) return -1;
        ({ unsharedStart, valueStart, valueEnd } = this);
        if (this.shared !== 0) return -1;
      } else if (bytes[position] !== 0) return -1;
      const userKeyEnd = valueStart - trailerLength;
      if (valueEnd > entriesEnd || userKeyEnd < unsharedStart) return -1;
      const order = compareBytes(bytes, unsharedStart, userKeyEnd, key, start, end);
      if (order < 0 || (order === 0 && trailerLength > 0 && compareTrailers(bytes, userKeyEnd, key, end) < 0)) left = middle;
      else right = middle - 1;
    }
    return left;
  }

  /**
   * Searches from the restart at `nextEntry` on, for the user key `target[start, end)` and the trailer after it.
   *
   * An entry that shares more bytes with its predecessor than the predecessor has in common with the target compares with
   * the target as its predecessor did. Of other entries only the unshared bytes are compared.
   */
  #searchFrom(nextEntry: number, bytes: Uint8Array, entriesEnd: number, target: Uint8Array, start: number, end: number): number {
    const trailerLength = this.#trailerLength;
    if (nextEntry >= entriesEnd) return UNKNOWN;
    /** The length of the previous key. An entry cannot share more bytes than that. */
    let keyLength = 0;
    /** The length of the common prefix of the entry's user key and the target's. */
    let common = 0;
    /** Whether the entry's user key is a prefix of the target's. Its trailer then follows, and the next entry may share bytes of that. */
    let isPrefix = false;
    while (nextEntry < entriesEnd) {
      const entryStart = nextEntry;
      let shared = bytes[entryStart]!;
      let valueLength = bytes[entryStart + 2]!;
      let unsharedStart = entryStart + 3;
      let valueStart = unsharedStart + bytes[entryStart + 1]!;
      if ((shared | bytes[entryStart + 1]! | valueLength) >= 0x80) {
        if (!this.#parse(bytes, entryStart, entriesEnd)) return UNKNOWN;
        ({ shared, unsharedStart, valueStart } = this);
        valueLength = this.valueEnd - valueStart;
      }
      nextEntry = valueStart + valueLength;
      if (nextEntry > entriesEnd || shared > keyLength) return UNKNOWN;
      keyLength = shared + valueStart - unsharedStart;
      if (shared > common) {
        if (isPrefix) return UNKNOWN;
        continue;
      }
      const userKeyEnd = valueStart - trailerLength;
      if (userKeyEnd < unsharedStart) return UNKNOWN;
      let position = unsharedStart;
      let at = start + shared;
      const stop = Math.min(userKeyEnd, position + end - at);
      while (position < stop && bytes[position] === target[at]) {
        position++;
        at++;
      }
      common = at - start;
      isPrefix = trailerLength > 0 && position === userKeyEnd;
      let outcome = OTHER;
      if (position === userKeyEnd) {
        if (at < end) continue;
        if (isPrefix && compareTrailers(bytes, position, target, at) < 0) continue;
        outcome = SAME;
      } else if (at < end && bytes[position]! < target[at]!) {
        continue;
      }
      this.entryStart = entryStart;
      this.shared = shared;
      this.unsharedStart = unsharedStart;
      this.valueStart = valueStart;
      this.valueEnd = nextEntry;
      return outcome;
    }
    return PAST;
  }

  /** Reads the lengths of the entry at `position`. @returns whether the entry is sound. */
  #parse(bytes: Uint8Array, position: number, entriesEnd: number): boolean {
    const reader = this.#reader;
    reader.bytes = bytes;
    reader.position = position;
    reader.end = entriesEnd;
    this.shared = reader.varint32();
    const unshared = this.shared < 0 ? -1 : reader.varint32();
    const valueLength = unshared < 0 ? -1 : reader.varint32();
    this.unsharedStart = reader.position;
    this.valueStart = this.unsharedStart + unshared;
    this.valueEnd = this.valueStart + valueLength;
    return valueLength >= 0 && this.valueEnd <= entriesEnd;
  }
}
