import { type BigIntStats, type Stats, closeSync, constants, fsync, lstatSync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

/** The folder that a path leads to, kept open, so that no other folder gets its number even if it is deleted. */
export class OpenFolder {
  readonly #path: string;
  /** Undefined on Windows, which cannot open folders. It does not give a number to another folder that soon. */
  readonly #fd: number | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#fd = process.platform === 'win32' ? undefined : openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** Makes the names of its files survive a power failure. Windows cannot sync folders, and does not need to. */
  async sync(): Promise<void> {
    if (this.#fd === undefined) return;
    try {
      // Only this takes so long that it is passed to another thread.
      await syncLater(this.#fd);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ERR_ACCESS_DENIED') await syncByHandle(this.#path);
      else if (!FOLDERS_DO_NOT_SYNC.has(code)) throw error;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** The errors of file systems that do not support syncing a folder at all. */
const FOLDERS_DO_NOT_SYNC: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS']);

const syncLater = promisify(fsync);

/** For Node's permission model, which forbids `fsync` on a descriptor. */
async function syncByHandle(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Checks that a path still leads to the folder that was pinned: a database that took its place must not be written to.
 *
 * Opening and closing a small database calls this about 15 times, mostly in code that V8 has not optimized. So if LOCK has a single name, it alone is
 * checked, because it can then be only in the folder in which it was locked. Numbers are compared, which takes a third of the time of comparing
 * strings that are made of them.
 *
 * @throws FolderError `BLOOM_FOLDER_CHANGED`.
 */
export function mustBePinned({ path, lockPath, folder, lock }: FolderPin): void {
  if (lock !== undefined && isOnlyName(statsOf(lockPath, lock, lstatSync), lock)) return;
  if (!isSame(statsOf(path, folder, statSync), folder)) {
    throw new FolderError('BLOOM_FOLDER_CHANGED', `${path} was deleted, or replaced by another folder, since the database was opened`);
  }
  if (lock !== undefined && !isSame(statsOf(lockPath, lock, lstatSync), lock)) {
    throw new FolderError('BLOOM_FOLDER_CHANGED', `LOCK in ${path} was deleted or replaced since the database was opened, so others may be writing to it`, { file: 'LOCK' });
  }
}

/** Undefined for what is not there. */
function statsOf(path: string, { ino }: NodeIdentity, stat: typeof statSync): Stats | BigIntStats | undefined {
  try {
    // Numbers are enough for an identity of safe integers, because a larger value is never rounded to one of these.
    return stat(path, typeof ino === 'number' ? AS_NUMBERS : EXACTLY);
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR') throw error;
    return undefined;
  }
}

/** A copy of a folder may share its files, by hard links, so that LOCK is in both of them. */
function isOnlyName(now: Stats | BigIntStats | undefined, lock: NodeIdentity): boolean {
  return isSame(now, lock) && Number(now?.nlink) === 1;
}

function isSame(a: NodeIdentity | undefined, b: NodeIdentity): boolean {
  return a?.ino === b.ino && a.dev === b.dev;
}
