import type { Source } from '@bloom/sstable';
import { readRange } from '@bloom/sstable/internal';

/** Bytes of a log, a MANIFEST or a file to be copied that are read at once: a log of LevelDB's usual size whole, and a whole number of its blocks. */
export const PIECE_LENGTH = 4 * 2 ** 20;

/** The contents of a file, piece by piece, up to the end that it had when it was opened. */
export async function* piecesOf(file: Source): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < file.byteLength; offset += PIECE_LENGTH) {
    yield await readRange(file, { offset, length: Math.min(PIECE_LENGTH, file.byteLength - offset) });
  }
}
