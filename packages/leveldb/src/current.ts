/**
 * CURRENT: the name of the MANIFEST, and a newline.
 *
 * Source: LevelDB, db/version_set.cc, `VersionSet::Recover`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import type { FolderFile } from './folder.js';
import { type FolderReading, readBytes } from './folder-reading.js';

/** More than the name of any file. */
const MAX_CURRENT_LENGTH = 4096;

/**
 * The name of the MANIFEST. It is believed as it is: it may name any file of the folder.
 *
 * @param file CURRENT, or undefined where the folder has none.
 * @throws CorruptionError `BLOOM_NOT_A_DATABASE` or `BLOOM_BAD_CURRENT`.
 */
export function* readCurrent(file: FolderFile | undefined, folderName: string | undefined): FolderReading<string> {
  const place: Place = { structure: 'CURRENT', offset: 0, file: folderName };
  if (file === undefined) {
    const folder: Place = { structure: 'folder', offset: 0, file: folderName };
    throw new CorruptionError('BLOOM_NOT_A_DATABASE', folder, 'it has no CURRENT, so it is not a LevelDB database');
  }
  if (file.byteLength > MAX_CURRENT_LENGTH) {
    throw new CorruptionError('BLOOM_BAD_CURRENT', place, `it has ${file.byteLength} bytes, which is no file name`);
  }
  const bytes = file.byteLength === 0 ? new Uint8Array(0) : yield* readBytes(file, 0, file.byteLength);
  if (bytes.at(-1) !== 0x0a) throw new CorruptionError('BLOOM_BAD_CURRENT', place, 'it does not end with a newline');
  // A byte order mark is part of the name, as it is for LevelDB.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, -1));
}
