import { type BigIntStats, closeSync, constants, lstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FolderError } from '../folder/folder.js';
import { LOCK } from '../format/file-name.js';
import { holdsLock } from './folder-lock.js';
import { codeOf } from './system-error.js';

/** The folder that a path led to when a database was opened. It can be sent to a thread. */
export interface FolderPin {
  /** Absolute, so that it does not depend on the current directory of the process. */
  readonly path: string;
  readonly lockPath: string;
  /** Numbers if both are safe integers, otherwise bigints, for which a call takes longer. */
  readonly folder: { readonly dev: number; readonly ino: number } | { readonly dev: bigint; readonly ino: bigint };
  /** The identity of LOCK, if the folder is locked. */
  readonly lock: FolderPin['folder'] | undefined;
}

/** What tells a file or a folder from all others as long as it is open. */
type NodeIdentity = FolderPin['folder'];

const AS_NUMBERS = { throwIfNoEntry: false } as const;
const EXACTLY = { bigint: true, throwIfNoEntry: false } as const;

export function pinFolder(path: string): FolderPin {
  const folder = identityOf(statSync(path, { bigint: true }));
  const lockPath = join(path, LOCK);
  const lock = lstatSync(lockPath, EXACTLY);
  return { path, lockPath, folder, lock: lock && holdsLock(lock) ? identityOf(lock) : undefined };
}

function identityOf({ dev, ino }: BigIntStats): NodeIdentity {
  const numbers = { dev: Number(dev), ino: Number(ino) };
  return Number.isSafeInteger(numbers.dev) && Number.isSafeInteger(numbers.ino) ? numbers : { dev, ino };
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
 * Opening and closing a small database calls this about 15 times, mostly in code that V8 has not optimized. There, comparing numbers takes a third of
 * the time of comparing strings that are made of them.
 *
 * @throws FolderError `BLOOM_FOLDER_CHANGED`.
 */
export function mustBePinned({ path, lockPath, folder, lock }: FolderPin): void {
  let now: NodeIdentity | undefined;
  try {
    now = statSync(path, formOf(folder));
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR') throw error;
  }
  if (!isSame(now, folder)) throw new FolderError('BLOOM_FOLDER_CHANGED', `${path} was deleted, or replaced by another folder, since the database was opened`);
  if (lock !== undefined && !isSame(lstatSync(lockPath, formOf(lock)), lock)) {
    throw new FolderError('BLOOM_FOLDER_CHANGED', `LOCK in ${path} was deleted or replaced since the database was opened, so others may be writing to it`, { file: 'LOCK' });
  }
}

/** Numbers are enough for an identity of safe integers, because a larger value is never rounded to one of these. */
function formOf({ ino }: NodeIdentity): typeof AS_NUMBERS | typeof EXACTLY {
  return typeof ino === 'number' ? AS_NUMBERS : EXACTLY;
}

function isSame(a: NodeIdentity | undefined, b: NodeIdentity): boolean {
  return a?.ino === b.ino && a.dev === b.dev;
}
