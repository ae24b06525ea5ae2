/**
 * The two locks of a file. LevelDB, Pebble and iq80 lock with fcntl, goleveldb and rusty-leveldb with flock, and on Linux neither lock
 * conflicts with the other, so both are taken. Network file systems may turn both into byte-range locks: see {@link takeLocks}.
 *
 * macOS and the BSDs keep one list for both, and Windows has no flock: there, one lock excludes both kinds of program.
 *
 * Source: Linux, fs/locks.c; flock(2), under "NFS details" and "CIFS details"; fcntl(2) of FreeBSD and macOS.
 */

/** The locks that a host can take. Each belongs to the open file, and ends when its last descriptor is closed. */
export interface FileLocks {
  /**
   * Locks the whole file against LevelDB.
   *
   * @returns false if another holds the lock.
   * @throws where files cannot be locked.
   */
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
  /** The lock of goleveldb, if it is a separate one and the host can take it. */
  readonly flock?: Flock | undefined;
  /** Why there is no `flock`, if it is a separate lock. */
  readonly noFlock?: string | undefined;
}

export interface Flock {
  /** @returns false if another holds the lock, or flock fails for another reason. */
  tryLock(fd: number): boolean;
  /** @returns false if flock fails. It does not fail where nothing was locked. */
  unlock(fd: number): boolean;
}

/** The outcome of an attempt to take both locks. */
export type TakenLocks =
  | {
      readonly isTaken: true;
      /** Why programs that lock with flock are not excluded; undefined when they are. */
      readonly noFlock: string | undefined;
    }
  | {
      readonly isTaken: false;
      /** Whether fcntl's lock is held here nevertheless. If so, closing the file releases no one else's lock. */
      readonly mayClose: boolean;
    };

/** How often the two locks must exclude each other before they count as one. If a holder releases one of them in between, it looks the same. */
const TRIES = 3;

/**
 * Takes both locks, fcntl's first.
 *
 * If flock is refused while fcntl's lock is held here, either another program holds it, or the file system maps both to the same kind of lock,
 * so that ours conflict with each other. Releasing fcntl's lock shows which is the case. If they exclude each other, fcntl's lock alone
 * excludes both kinds of program.
 *
 * @throws where files cannot be locked.
 */
export function takeLocks(locks: FileLocks, fd: number): TakenLocks {
  const { flock, noFlock } = locks;
  if (flock === undefined) return locks.tryLock(fd) ? taken(noFlock) : refused(false);
  for (let tries = 0; tries < TRIES; tries++) {
    if (!locks.tryLock(fd)) return refused(false);
    if (flock.tryLock(fd)) return taken();
    locks.unlock(fd);
    if (!flock.tryLock(fd)) {
      // Unlocking what is not locked here changes nothing, and fails only where flock does not work.
      const isHeldByAnother = flock.unlock(fd);
      if (!locks.tryLock(fd)) return refused(false);
      return isHeldByAnother ? refused(true) : taken('the file system does not support flock');
    }
    if (locks.tryLock(fd)) return taken();
    flock.unlock(fd);
  }
  return locks.tryLock(fd) ? taken() : refused(false);
}

function taken(noFlock?: string): TakenLocks {
  return { isTaken: true, noFlock };
}

function refused(mayClose: boolean): TakenLocks {
  return { isTaken: false, mayClose };
}
