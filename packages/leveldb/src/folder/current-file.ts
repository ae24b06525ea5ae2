import { CorruptionError, type Place } from '@bloom/bytes';
import { quotedName } from '@bloom/bytes/internal';
import { decodeCurrent, MAX_CURRENT_LENGTH } from '../format/current.js';
import { CURRENT } from '../format/file-name.js';
import { type ClosingFiles, useFile } from './closing-files.js';
import type { FolderFile } from './folder.js';
import { type FolderReading, readBytes } from './folder-reading.js';

/**
 * The name of the MANIFEST.
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
    throw new CorruptionError('BLOOM_BAD_CURRENT', place, `its ${file.byteLength} bytes are not a file name`);
  }
  return decodeCurrent(file.byteLength === 0 ? new Uint8Array(0) : yield* readBytes(file, 0, file.byteLength), place);
}

/** The name of the MANIFEST; undefined when CURRENT is missing or damaged. */
export function* readManifestName(folderName: string | undefined, closing: ClosingFiles): FolderReading<string | undefined> {
  return yield* useFile(CURRENT, closing, function* (file) {
    try {
      return yield* readCurrent(file, folderName);
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      return undefined;
    }
  });
}

export function missingManifest(name: string, folderName: string | undefined): CorruptionError {
  return new CorruptionError('BLOOM_BAD_CURRENT', { structure: 'CURRENT', offset: 0, file: folderName }, `it names ${quotedName(name)}, which is missing`);
}
