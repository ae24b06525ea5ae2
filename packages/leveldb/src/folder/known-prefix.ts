/**
 * The part of a log or MANIFEST that was read. It serves to recognize the file when it has grown.
 *
 * Neither the name nor the last bytes prove that a file is the same: two databases of the same shape can agree in both.
 */
import { crc32c } from '@bloom/crc32c';
import type { FileIdentity } from '@bloom/sstable';
import { PIECE_LENGTH } from './file-pieces.js';
import { type FolderFile, holdsTheSame } from './folder.js';
import { type FolderReading, readBytes } from './folder-reading.js';

/** The start of a file. */
export interface KnownPrefix {
  readonly byteLength: number;
  /** CRC-32C of these bytes. */
  readonly checksum: number;
  /** The identity of the file when it was opened. */
  readonly identity: FileIdentity | undefined;
}

/** Bytes of a file that were read. */
export interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Computes the checksum of a file that is read piece by piece, up to a place that is known only afterwards. */
export class PrefixChecksum {
  byteLength: number;
  checksum: number;

  /** @param before what was read earlier. */
  constructor(before?: KnownPrefix) {
    this.byteLength = before?.byteLength ?? 0;
    this.checksum = before?.checksum ?? 0;
  }

  /**
   * Moves the place to `end`. Bytes before the last piece that was read are read again, which happens only for a record that is
   * longer than a piece.
   *
   * REQUIRES: `end` is not after the end of the last piece.
   */
  *moveTo(end: number, file: FolderFile, { offset, bytes }: Piece): FolderReading<void> {
    while (this.byteLength < end) {
      const start = this.byteLength;
      const part =
        start >= offset
          ? bytes.subarray(start - offset, end - offset)
          : yield* readBytes(file, start, Math.min(PIECE_LENGTH, Math.min(end, offset) - start));
      this.checksum = crc32c(part, this.checksum);
      this.byteLength += part.length;
    }
  }

  /** What was read of `file`, up to that place. */
  prefixOf({ identity }: FolderFile): KnownPrefix {
    return { byteLength: this.byteLength, checksum: this.checksum, identity };
  }
}

/**
 * Whether `file` starts with what was read before. Unless the host knows that the file is unchanged, all of it is read again and
 * compared: a file that has grown may have been overwritten in place.
 */
export function* startsWith(file: FolderFile, { byteLength, checksum, identity }: KnownPrefix): FolderReading<boolean> {
  if (file.byteLength < byteLength) return false;
  if (holdsTheSame(identity, file.identity)) return true;
  let found = 0;
  for (let offset = 0; offset < byteLength; offset += PIECE_LENGTH) {
    found = crc32c(yield* readBytes(file, offset, Math.min(PIECE_LENGTH, byteLength - offset)), found);
  }
  return found === checksum;
}
