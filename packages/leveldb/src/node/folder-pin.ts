import { closeSync, constants, openSync, statSync } from 'node:fs';
import { FolderError } from '../folder/folder.js';
import { heldLock, identityOf, lockIdentity } from './folder-lock.js';
import { codeOf } from './system-error.js';

/** The folder that a path led to when a database was opened. It can be sent to a thread. */
export interface FolderPin {
  /** Absolute, so that it does not depend on the current directory of the process. */
  readonly path: string;
  readonly folder: string;
  /** The identity of LOCK, if the folder is locked. */
  readonly lock: string | undefined;
}

export function pinFolder(path: string): FolderPin {
  return { path, folder: identityOf(statSync(path, { bigint: true })), lock: heldLock(path) };
}

/**
 * Keeps a folder open, so that no other folder gets its number even if it is deleted.
 *
 * @returns a function that closes it.
 */
export function keepFolderOpen(path: string): () => void {
  // Windows cannot open folders. It does not give a number to another folder that soon.
  if (process.platform === 'win32') return () => undefined;
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  return () => closeSync(fd);
}

/**
 * Checks that a path still leads to the folder that was pinned: a database that took its place must not be written to.
 *
 * @throws FolderError `BLOOM_FOLDER_CHANGED`.
 */
export function mustBePinned({ path, folder, lock }: FolderPin): void {
  let now: string | undefined;
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    now = stats && identityOf(stats);
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR') throw error;
  }
  if (now !== folder) throw new FolderError('BLOOM_FOLDER_CHANGED', `${path} was deleted, or replaced by another folder, since the database was opened`);
  if (lock !== undefined && lockIdentity(path) !== lock) {
    throw new FolderError('BLOOM_FOLDER_CHANGED', `LOCK in ${path} was deleted or replaced since the database was opened, so others may be writing to it`, { file: 'LOCK' });
  }
}
