/** Whether the last bytes of a log, which are not a whole record, are the start of one, or a record that is damaged. */
import { crc32c, maskCrc, unmaskCrc } from '@bloom/crc32c';
import { FIRST, type FragmentReader, FULL, LAST, LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH, MIDDLE, storedCrc, ZERO } from './log-format.js';

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
 * Whether a fragment at `start` of the last bytes of a file, which ends past them, can have been truncated: a block has room for it, its type is
 * one that a writer writes there, and its length was not changed.
 *
 * @param offset of `bytes` in the file.
 * @param isInRecord whether a record is being put together, which the fragment can continue.
 */
export function mayBeTruncated(bytes: Uint8Array, start: number, { type, end }: FragmentReader, offset: number, isInRecord: boolean): boolean {
  const spare = LOG_BLOCK_LENGTH - ((offset + start) % LOG_BLOCK_LENGTH) - (end - start);
  return spare >= 0 && hasPossibleType(bytes, start, type, spare, isInRecord) && !hasChangedLength(bytes, start);
}

/** @param spare how many bytes of the block are left after the fragment: none after one that is continued in the next block. */
function hasPossibleType(bytes: Uint8Array, start: number, type: number, spare: number, isInRecord: boolean): boolean {
  if (type === FIRST || type === MIDDLE) return spare === 0 && (type === FIRST || isInRecord);
  // A power failure can leave zeros from the type on.
  return type === FULL || (type === LAST && isInRecord) || (type === ZERO && isZeroFrom(bytes, start + 6));
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
