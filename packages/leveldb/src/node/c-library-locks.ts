/**
 * Locks files with the C library of Linux: with a write lock on the whole file that belongs to the open file (F_OFD_SETLK), which excludes
 * LevelDB's own lock and those of fs-native-extensions, and with flock.
 *
 * `struct flock`, in the byte order of the processor:
 *
 *     +-------------+---------------+---+--------------+------------+------------+---+
 *     | l_type (2)  | l_whence (2)  | 4 | l_start (8)  | l_len (8)  | l_pid (4)  | 4 |
 *     +-------------+---------------+---+--------------+------------+------------+---+
 *
 * Source: Linux, include/uapi/asm-generic/fcntl.h; the same for x64 and arm64, in glibc and in musl.
 */
import { DatabaseError } from '../folder/database-error.js';
import type { FileLocks, Flock } from './file-locks.js';

/** The functions of the C library, until it is closed. */
export interface CLibrary {
  readonly symbols: {
    readonly fcntl: (fd: number, command: number, lock: Uint8Array) => number;
    readonly flock: (fd: number, operation: number) => number;
  };
  close(): void;
}

const F_OFD_GETLK = 36;
const F_OFD_SETLK = 37;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FLOCK_LENGTH = 32;

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

export class CLibraryLocks implements FileLocks {
  readonly flock: Flock = {
    tryLock: (fd) => this.#withLibrary(({ flock }) => flock(fd, LOCK_EX | LOCK_NB)) === 0,
    unlock: (fd) => this.#withLibrary(({ flock }) => flock(fd, LOCK_UN)) === 0,
  };
  readonly #openLibrary: () => CLibrary;
  readonly #otherwise: string;

  /**
   * @param openLibrary opens the C library for each call, because Deno reports a library that stays open as a leak.
   * @param otherwise advice for when files cannot be locked.
   */
  constructor(openLibrary: () => CLibrary, otherwise: string) {
    this.#openLibrary = openLibrary;
    this.#otherwise = otherwise;
  }

  tryLock(fd: number): boolean {
    // The reason for a failure is in errno, which the host may have overwritten. A query for the lock's holder distinguishes a lock that is held
    // from a file system without locks. Between the two calls, the lock may be released and taken again.
    for (let tries = 0; tries < 3; tries++) {
      if (this.#fcntl(fd, F_OFD_SETLK, F_WRLCK).succeeded) return true;
      const holder = this.#fcntl(fd, F_OFD_GETLK, F_WRLCK);
      if (!holder.succeeded) throw new DatabaseError('BLOOM_NO_LOCK', `the file system of the folder does not lock files: use another one, ${this.#otherwise}`);
      if (holder.type !== F_UNLCK) break;
    }
    return false;
  }

  unlock(fd: number): void {
    this.#fcntl(fd, F_OFD_SETLK, F_UNLCK);
  }

  #fcntl(fd: number, command: number, type: number): { readonly succeeded: boolean; readonly type: number } {
    // Zeros mean: from the start of the file to its end, wherever that is later.
    const lock = new Uint8Array(FLOCK_LENGTH);
    const view = new DataView(lock.buffer);
    view.setInt16(0, type, true);
    const succeeded = this.#withLibrary(({ fcntl }) => fcntl(fd, command, lock)) === 0;
    return { succeeded, type: view.getInt16(0, true) };
  }

  #withLibrary<T>(call: (symbols: CLibrary['symbols']) => T): T {
    const library = this.#openLibrary();
    try {
      return call(library.symbols);
    } finally {
      library.close();
    }
  }
}
