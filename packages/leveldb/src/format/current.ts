/**
 * CURRENT: the name of the MANIFEST, and a newline.
 *
 * Source: LevelDB, db/version_set.cc, `VersionSet::Recover`, and db/filename.cc, `SetCurrentFile`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { GIT_LFS_POINTER, isGitLfsPointer } from '@bloom/bytes/internal';

/** More bytes than the name of any file. */
export const MAX_CURRENT_LENGTH = 4096;

export function encodeCurrent(manifest: string): Uint8Array {
  return new TextEncoder().encode(`${manifest}\n`);
}

/**
 * The name of the MANIFEST. It is not checked: it may name any file of the folder.
 *
 * @throws CorruptionError `BLOOM_BAD_CURRENT` when it does not end with a newline.
 */
export function decodeCurrent(bytes: Uint8Array, place: Place): string {
  if (isGitLfsPointer(bytes)) throw new CorruptionError('BLOOM_BAD_CURRENT', place, `it is ${GIT_LFS_POINTER}`);
  if (bytes.at(-1) !== 0x0a) throw new CorruptionError('BLOOM_BAD_CURRENT', place, 'it does not end with a newline');
  // A byte order mark is part of the name, as it is for LevelDB.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, -1));
}
