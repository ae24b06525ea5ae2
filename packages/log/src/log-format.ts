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
import { crc32c, maskCrc, maskedCrc32c, unmaskCrc } from '@bloom/crc32c';

/** Bytes of every block but the last. */
export const LOG_BLOCK_LENGTH = 32_768;
/** Bytes of a fragment before its payload. */
export const LOG_HEADER_LENGTH = 7;

/** Space that was allocated ahead and is not written yet. */
const ZERO = 0;
export const FULL = 1;
export const FIRST = 2;
export const MIDDLE = 3;
export const LAST = 4;

/** The names of the types, as in the picture. */
export const TYPE_NAMES: readonly string[] = ['zero', 'FULL', 'FIRST', 'MIDDLE', 'LAST'];

/** The CRC-32C of each type's byte: with it, the checksum needs no view of type and payload. */
const TYPE_CRCS: readonly number[] = [0x527d5351, 0xa016d052, 0xb34623a6, 0x412da0a5, 0x95e7c44e];

/** Why bytes of a log were dropped, in LevelDB's own words, except the last two: LevelDB has no limit for a record, and skips zeros without a report. */
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
  | 'zeros in the middle';

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

export function isZeroFrom(bytes: Uint8Array, start: number): boolean {
  for (let i = start; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** The size of a disk's sectors. Zeros that a power failure leaves begin at a multiple of it, because blocks of file systems are multiples of it too. */
const SECTOR_LENGTH = 512;

/**
 * Whether only zeros are in place of the end of the fragment `bytes[start, end)`, and after it, as a power failure can leave them, or a killed
 * process in space that was allocated ahead. Those of a power failure reach back to a sector's start. Any other zeros can be the record's own, as
 * nearly every edit of a MANIFEST ends with some: if changing one byte or the length would make the checksum right, the record is damaged, and its end is not missing.
 *
 * @param offset of `bytes` in the file.
 */
export function isZeroedEnd(bytes: Uint8Array, start: number, end: number, offset: number): boolean {
  const sector = end - 1 - ((offset + end - 1) % SECTOR_LENGTH);
  if (sector > start && isZeroFrom(bytes, sector)) return !hasChangedLength(bytes, start);
  const isAllocatedAhead = end < bytes.length || (offset + end) % LOG_BLOCK_LENGTH === 0;
  const length = end - start - LOG_HEADER_LENGTH;
  if (!isAllocatedAhead || length === 0 || !isZeroFrom(bytes, end - 1) || hasChangedLength(bytes, start)) return false;
  // The only byte of a payload is always one that can have changed.
  return length === 1 || !hasChangedByte(bytes, start, end);
}

/**
 * Whether a fragment at `start` of the last bytes of a file, which ends past them at `end`, can have been truncated: a block has room for it, and
 * its length was not changed.
 *
 * @param offset of `bytes` in the file.
 */
export function mayBeTruncated(bytes: Uint8Array, start: number, end: number, offset: number): boolean {
  const room = LOG_BLOCK_LENGTH - ((offset + start) % LOG_BLOCK_LENGTH);
  return end - start <= room && !hasChangedLength(bytes, start);
}

/** Whether the checksum of a fragment, which does not cover the length, is right for another length. */
function hasChangedLength(bytes: Uint8Array, start: number): boolean {
  const expected = unmaskCrc(storedCrc(bytes, start));
  const byte = new Uint8Array(1);
  let crc = 0;
  for (let i = start + 6; i < Math.min(bytes.length, start + LOG_BLOCK_LENGTH); i++) {
    byte[0] = bytes[i]!;
    crc = crc32c(byte, crc);
    if (crc === expected) return true;
  }
  return false;
}

/** Whether changing one byte of the fragment `bytes[start, end)`, in the checksum, the type or the payload, would make its checksum right. */
function hasChangedByte(bytes: Uint8Array, start: number, end: number): boolean {
  const stored = storedCrc(bytes, start);
  const crc = crc32c(bytes.subarray(start + 6, end));
  const maskedDifference = stored ^ maskCrc(crc);
  if ([0, 8, 16, 24].some((shift) => (maskedDifference & ~(0xff << shift)) === 0)) return true;
  // What a byte adds to a checksum depends only on how many bytes follow. `difference` is what the wrong bytes add, without the bytes from `i` on.
  const table = byteDifferences();
  let difference = (unmaskCrc(stored) ^ crc) >>> 0;
  for (let i = end - 1; i >= start + 6; i--) {
    const byte = table.byHighest[difference >>> 24]!;
    const rest = (difference ^ table.ofByte[byte]!) >>> 0;
    if (rest === 0) return true;
    difference = ((rest << 8) | byte) >>> 0;
  }
  return false;
}

interface ByteDifferences {
  /** What the bits of a last byte that differ change in a CRC-32C. */
  readonly ofByte: Uint32Array;
  /** Those bits, by the highest byte of what they change. */
  readonly byHighest: Uint8Array;
}

let differences: ByteDifferences | undefined;

function byteDifferences(): ByteDifferences {
  if (differences !== undefined) return differences;
  const ofByte = Uint32Array.from({ length: 256 }, (_, byte) => crc32c(Uint8Array.of(byte)) ^ crc32c(Uint8Array.of(0)));
  const byHighest = new Uint8Array(256);
  ofByte.forEach((difference, byte) => (byHighest[difference >>> 24] = byte));
  return (differences = { ofByte, byHighest });
}

/** The masked checksum that is stored in the header at `start`. */
function storedCrc(bytes: Uint8Array, start: number): number {
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
