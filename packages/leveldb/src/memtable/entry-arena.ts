/**
 * The keys and values of a memtable's entries, one after another:
 *
 *     arena:  (user key | sequence << 8 | type (u64, little-endian) | value)*
 */
import { RangeCopier } from '@bloom/bytes/internal';
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { grown } from './memtable-full.js';

const MIN_LENGTH = 1024;

/** A growing array for the bytes of entries. */
export class EntryArena {
  /** Views of the bytes stay valid, even when later entries move the bytes to a larger array. */
  bytes: Uint8Array;
  #length = 0;
  readonly #copier = new RangeCopier();

  /** The bytes that the entries take. */
  get length(): number {
    return this.#length;
  }

  /** @param expectedBytes the initial capacity, for keys and values. */
  constructor(expectedBytes: number) {
    this.bytes = new Uint8Array(Math.max(MIN_LENGTH, expectedBytes));
  }

  /**
   * Adds an entry.
   *
   * @param bytes hold the user key at `[keyStart, keyEnd)` and the value at `[valueStart, valueEnd)`.
   * @returns where its internal key starts.
   * @throws MemtableFull when there is no room.
   */
  add(sequence: bigint, type: number, bytes: Uint8Array, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): number {
    const start = this.#length;
    const trailer = start + keyEnd - keyStart;
    const value = trailer + INTERNAL_KEY_TRAILER_LENGTH;
    const end = value + valueEnd - valueStart;
    if (end > this.bytes.length) this.bytes = grown(this.bytes, end, (length) => new Uint8Array(length));
    this.#length = end;
    const arena = this.bytes;
    this.#copier.copy(bytes, keyStart, keyEnd, arena, start);
    putTrailer(arena, trailer, sequence, type);
    this.#copier.copy(bytes, valueStart, valueEnd, arena, value);
    return start;
  }
}

/** Writes the sequence and the type, as at the end of an internal key. */
function putTrailer(bytes: Uint8Array, position: number, sequence: bigint, type: number): void {
  // Nearly all sequences are exact as a number, which is faster to split.
  const number = Number(sequence);
  const low = number <= Number.MAX_SAFE_INTEGER ? number >>> 0 : Number(sequence & 0xffff_ffffn);
  const high = number <= Number.MAX_SAFE_INTEGER ? (number - low) / 2 ** 32 : Number(sequence >> 32n);
  bytes[position] = type;
  bytes[position + 1] = low;
  bytes[position + 2] = low >>> 8;
  bytes[position + 3] = low >>> 16;
  bytes[position + 4] = low >>> 24;
  bytes[position + 5] = high;
  bytes[position + 6] = high >>> 8;
  bytes[position + 7] = high >>> 16;
}
