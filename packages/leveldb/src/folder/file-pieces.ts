import type { Source } from '@bloom/sstable';
import { readRange } from '@bloom/sstable/internal';

/**
 * The number of bytes of a log, a MANIFEST or a file to be copied that are read at once: a log of LevelDB's usual size in one piece, and a whole
 * number of blocks.
 */
export const PIECE_LENGTH = 4 * 2 ** 20;

/** The contents of a file, piece by piece, up to the end that it had when it was opened. */
export async function* piecesOf(file: Source): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < file.byteLength; offset += PIECE_LENGTH) {
    yield await readRange(file, { offset, length: Math.min(PIECE_LENGTH, file.byteLength - offset) });
  }
}
