/**
 * The lock of a database folder: on its file LOCK, both the lock of LevelDB and, where it is a different one, the lock of goleveldb.
 * Both belong to the open file, and end with it.
 *
 * On Linux and macOS, LevelDB's own lock belongs to the process, and the process loses it as soon as it closes any descriptor of LOCK.
 * LevelDB may hold the folder in this process, for example through classic-level. So no descriptor of LOCK is closed here unless this code
 * holds the lock: in that case no one else does.
 *
 * Source: LevelDB, util/env_posix.cc, `PosixEnv::LockFile`; goleveldb, leveldb/storage/file_storage_unix.go, `setFileLock`.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { DatabaseError } from '../folder/database-error.js';
import { LOCK } from '../format/file-name.js';
import type { FolderLock } from '../folder/writable-folder.js';
import { type FileLocks, type TakenLocks, takeLocks } from './file-locks.js';
import { hostLocks } from './host-locks.js';
import { isLockOfThisProcess, lockOwner } from './lock-owners.js';
import { realPathOf } from './real-path.js';
import { codeOf } from './system-error.js';

/** The LOCK files of all databases that this thread has locked. Each thread has its own set; the lock itself excludes other threads. */
const locked = new Set<string>();

/** Descriptors of LOCK files that someone else has locked. They stay open, and the next attempt reuses them. */
const refused = new Map<string, number>();

/** Why LOCK in particular cannot be opened for writing. Other errors, such as `EMFILE`, are those of the system. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EBUSY', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'EISDIR', 'ENXIO', 'ETXTBSY', 'ERR_ACCESS_DENIED']);

/** The locks of the host, once {@link hostLocks} has loaded them. */
let knownLocks: FileLocks | undefined;

/** How often to retry when LOCK is deleted and recreated at the same moment. */
const MAX_ATTEMPTS = 100;

/** @throws DatabaseError `BLOOM_LOCKED` when the folder is locked, `BLOOM_NO_LOCK` when it cannot be. */
export async function lockFolder(path: string): Promise<FolderLock> {
  // If a thread is terminated while it loads koffi 3.3, the whole process aborts. So a thread that cannot get the lock does not load it.
  if (!isMainThread) refuseIfLockedHere(path);
  const locks = (knownLocks ??= await hostLocks());
  // From here on nothing is awaited: two calls must not open LOCK at the same time.
  const file = join(realPathOf(path), LOCK);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const fd = openLock(path, file);
    const id = identityOf(fstatSync(fd, { bigint: true }));
    const taken = lockFile(locks, fd, file);
    if (!taken.isTaken) {
      if (taken.mayClose) closeRefused(id, fd);
      else refused.set(id, fd);
      const owner = lockOwner(id);
      throw new DatabaseError('BLOOM_LOCKED', `${path} is already open for writing, ${owner.name}`, { heldBy: owner.holder });
    }
    refused.delete(id);
    let named: string | undefined;
    try {
      named = lockIdentity(path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    // A program that deletes a database deletes LOCK while it is locked. The lock of a deleted file excludes no one.
    if (named === id) {
      locked.add(id);
      let isHeld = true;
      return {
        limits: taken.noFlock && `programs that lock with flock, such as those that use goleveldb or rusty-leveldb, are not kept out: ${taken.noFlock}`,
        release() {
          // By now the descriptor may be another file's, or the lock's next holder's.
          if (!isHeld) return;
          isHeld = false;
          locked.delete(id);
          // Closing releases the locks. If they were released first, LevelDB could lock the file before this call, which would then end its lock.
          closeSync(fd);
        },
      };
    }
    closeSync(fd);
  }
  throw new DatabaseError('BLOOM_LOCKED', `${path} is repeatedly deleted and created`);
}

/** @throws DatabaseError `BLOOM_LOCKED` when another thread of this process has locked the folder. Only Linux lists locks. */
function refuseIfLockedHere(path: string): void {
  const id = lockIdentity(path);
  if (id === undefined || locked.has(id)) return;
  const { name, holder } = lockOwner(id);
  if (holder === 'this process') throw new DatabaseError('BLOOM_LOCKED', `${path} is already open for writing, ${name}`, { heldBy: holder });
}

function closeRefused(id: string, fd: number): void {
  refused.delete(id);
  closeSync(fd);
}

/** Whether this thread has locked a folder, whose LOCK has these stats. */
export function holdsLock(stats: BigIntStats): boolean {
  return locked.has(identityOf(stats));
}

/** The identity of the folder's LOCK file; undefined when there is none. */
function lockIdentity(path: string): string | undefined {
  const stats = lstatSync(join(path, LOCK), { bigint: true, throwIfNoEntry: false });
  return stats && identityOf(stats);
}

/** The identity of a file or a folder, which is unique as long as it is open. */
function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Opens LOCK, or returns the descriptor that was kept of it. */
function openLock(path: string, file: string): number {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats !== undefined) {
    if (!stats.isFile()) throw new DatabaseError('BLOOM_NO_LOCK', `LOCK in ${path} is a link, a folder or a pipe: the lock needs a regular file`);
    const id = identityOf(stats);
    const kept = refused.get(id);
    if (kept !== undefined) return kept;
    // The list is slow: the system stops all locking for it. A descriptor that this thread keeps is closed when the thread ends.
    if (locked.has(id) || (!isMainThread && isLockOfThisProcess(id))) {
      const heldBy = locked.has(id) ? 'this thread' : 'this process';
      throw new DatabaseError('BLOOM_LOCKED', `${path} is already open for writing, in this process`, { heldBy });
    }
  }
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
  } catch (cause) {
    // Writing without the lock is no remedy for a system that has no more descriptors or space, or for a disk that fails.
    if (!REFUSALS.has(codeOf(cause))) throw cause;
    // On Windows, goleveldb opens LOCK without sharing it.
    if (codeOf(cause) === 'EBUSY') throw new DatabaseError('BLOOM_LOCKED', `${path} is already open for writing, in another process`, { cause });
    throw new DatabaseError('BLOOM_NO_LOCK', `LOCK in ${path} cannot be opened for writing: ${String(cause)}`, { cause });
  }
}

function lockFile(locks: FileLocks, fd: number, file: string): TakenLocks {
  try {
    return takeLocks(locks, fd);
  } catch (cause) {
    // No one can hold such a lock where files cannot be locked, so closing the file ends no lock.
    closeSync(fd);
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError('BLOOM_NO_LOCK', `${file} cannot be locked: ${String(cause)}`, { cause });
  }
}
