/**
 * A log file: the form of LevelDB's write-ahead logs and of its MANIFESTs.
 *
 *     file    block* ; each has 32,768 bytes, the last one may be shorter
 *     block   fragment* trailer ; the trailer is the 0 to 6 bytes that are too few for a header, zeros
 *
 *     fragment:  masked crc32c (u32) | length (u16) | type (u8) | payload
 *
 * The checksum covers type and payload. A record that fits into the rest of a block is one FULL fragment; any other is
 * FIRST, MIDDLE…, LAST, each up to the end of its block. All integers are little-endian.
 *
 * Source: LevelDB, db/log_format.h and doc/log_format.md.
 */
import { copyBytes } from '@bloom/bytes/internal';
import { crc32c, maskCrc, maskedCrc32c } from '@bloom/crc32c';

/** Bytes of every block but the last. */
export const LOG_BLOCK_LENGTH = 32_768;
/** Bytes of a fragment before its payload. */
export const LOG_HEADER_LENGTH = 7;

/** Space that was allocated ahead and is not written yet. */
export const ZERO = 0;
export const FULL = 1;
export const FIRST = 2;
export const MIDDLE = 3;
export const LAST = 4;

/** The names of the types, as in the picture. */
export const TYPE_NAMES: readonly string[] = ['zero', 'FULL', 'FIRST', 'MIDDLE', 'LAST'];

/** The CRC-32C of each type's byte: with it, the checksum needs no view of type and payload. */
const TYPE_CRCS: readonly number[] = [0x527d5351, 0xa016d052, 0xb34623a6, 0x412da0a5, 0x95e7c44e];

/** Why bytes of a log were dropped, in LevelDB's own words, except the last three: LevelDB has no limit for a record, and skips zeros and Git LFS pointers without reporting them. */
export type LogDropReason =
  | 'bad record length'
  | 'checksum mismatch'
  | 'error in middle of record'
  | 'partial record without end(1)'
  | 'partial record without end(2)'
  | 'missing start of fragmented record(1)'
  | 'missing start of fragmented record(2)'
  | `unknown record type ${number}`
  | 'record too large'
  | 'zeros in the middle'
  | 'a Git LFS pointer, not the file itself: run git lfs pull';

/** Writes a fragment at `position`. @returns the position after it. */
export function putFragment(
  bytes: Uint8Array,
  position: number,
  type: number,
  payload: Uint8Array,
  start: number,
  end: number,
): number {
  const length = end - start;
  const after = position + LOG_HEADER_LENGTH + length;
  bytes[position + 4] = length;
  bytes[position + 5] = length >>> 8;
  bytes[position + 6] = type;
  copyBytes(payload, start, end, bytes, position + LOG_HEADER_LENGTH);
  const typeCrc = TYPE_CRCS[type] ?? crc32c(Uint8Array.of(type));
  const crc = maskCrc(crc32c(start === 0 ? payload : payload.subarray(start, end), typeCrc, length));
  bytes[position] = crc;
  bytes[position + 1] = crc >>> 8;
  bytes[position + 2] = crc >>> 16;
  bytes[position + 3] = crc >>> 24;
  return after;
}

/** What {@link FragmentReader.read} found. */
export type FragmentState =
  /** A fragment whose checksum is right. */
  | 'fragment'
  /** The bytes are too few for a header. */
  | 'trailer'
  /** The payload runs past the end of the block. */
  | 'bad length'
  /** The rest of the block was allocated ahead and not written. */
  | 'zeros'
  /** The bytes are not those that were written, so the length cannot be trusted. */
  | 'bad checksum';

/** The masked checksum that is stored in the header at `start`. */
export function storedCrc(bytes: Uint8Array, start: number): number {
  return (bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16) | (bytes[start + 3]! << 24)) >>> 0;
}

/** Takes the fragments of a block apart. */
export class FragmentReader {
  type = 0;
  /** The payload of the fragment is `bytes[start, end)` of the block. */
  start = 0;
  end = 0;

  /** Reads what starts at `position` of a block that ends at `blockEnd`. */
  read(block: Uint8Array, position: number, blockEnd: number): FragmentState {
    if (blockEnd - position < LOG_HEADER_LENGTH) return 'trailer';
    this.type = block[position + 6]!;
    this.start = position + LOG_HEADER_LENGTH;
    const length = block[position + 4]! | (block[position + 5]! << 8);
    this.end = this.start + length;
    if (this.end > blockEnd) return 'bad length';
    if (this.type === ZERO && length === 0) return 'zeros';
    return maskedCrc32c(block.subarray(position + 6, this.end)) === storedCrc(block, position) ? 'fragment' : 'bad checksum';
  }
}
