/**
 * The lock of a database folder, which LevelDB holds too: a write lock by fcntl on the whole of LOCK.
 *
 * fs-native-extensions: prebuilt for the usual platforms, and the only maintained package with such locks: Node has no
 * call for them. On Linux its lock belongs to the open file. LevelDB's own belongs to the process, and the process loses it
 * as soon as it closes any descriptor of LOCK. LevelDB may hold the folder in this very process, through classic-level for
 * example, so no descriptor of LOCK is closed here unless this code holds the lock: then nobody else does.
 *
 * Source: LevelDB, util/env_posix.cc, `PosixEnv::LockFile`.
 */
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';
import { DatabaseError } from '../folder/database-error.js';
import { LOCK } from '../format/file-name.js';
import type { FolderLock } from '../folder/writable-folder.js';
import { type FileLocks, hostLocks } from './host-locks.js';
import { codeOf } from './system-error.js';

/** The LOCK files that this thread has locked, of all databases. Another thread has a set of its own, and is kept out by the lock itself. */
const locked = new Set<string>();

/** Descriptors of LOCK files that somebody else has locked. They stay open, and the next attempt uses them again. */
const refused = new Map<string, number>();

/** How often to try again when LOCK is deleted and made anew at the same moment. */
const MAX_ATTEMPTS = 100;

/** @throws DatabaseError `BLOOM_LOCKED` when the folder is locked, `BLOOM_NO_LOCK` when it cannot be. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const locks = await fileLocks();
  // From here on nothing is awaited: two calls must not open LOCK side by side.
  const file = join(realpathSync(path), LOCK);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const fd = openLock(path, file);
    const id = identityOf(fstatSync(fd, { bigint: true }));
    if (!isLocked(locks, fd, file)) {
      refused.set(id, fd);
      throw new DatabaseError('BLOOM_LOCKED', `${path} is open for writing already, ${ownerOf(id)}`);
    }
    refused.delete(id);
    // Whoever deletes a database deletes LOCK while it is locked. The lock of a deleted file keeps nobody out.
    if (lockIdentity(path) === id) {
      locked.add(id);
      let isHeld = true;
      return {
        release() {
          // By now the descriptor may be another file's, or the lock's next holder's.
          if (!isHeld) return;
          isHeld = false;
          locked.delete(id);
          // This ends the lock too. Were it ended first, LevelDB could lock the file before this call, and lose its lock by it.
          closeSync(fd);
        },
      };
    }
    closeSync(fd);
  }
  throw new DatabaseError('BLOOM_LOCKED', `${path} is being deleted and created again and again`);
}

/** What the LOCK file at `path` is known by while its folder is locked here; undefined where the folder is not. */
export function heldLock(path: string): string | undefined {
  const id = lockIdentity(path);
  return id !== undefined && locked.has(id) ? id : undefined;
}

/** What the file LOCK of the folder is known by; undefined where there is none. */
export function lockIdentity(path: string): string | undefined {
  const stats = lstatSync(join(path, LOCK), { bigint: true, throwIfNoEntry: false });
  return stats && identityOf(stats);
}

/** What a file or a folder is known by as long as it is open. */
export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Opens LOCK, or takes the descriptor that was kept of it. */
function openLock(path: string, file: string): number {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats !== undefined) {
    if (!stats.isFile()) throw new DatabaseError('BLOOM_NO_LOCK', `LOCK in ${path} is a link, a folder or a pipe: a lock needs a file`);
    const id = identityOf(stats);
    const kept = refused.get(id);
    if (kept !== undefined) return kept;
    // The list is slow: the system stops all locking for it. A descriptor that this thread keeps is closed when the thread ends.
    if (locked.has(id) || (!isMainThread && processesThatLock(id).includes(process.pid))) {
      throw new DatabaseError('BLOOM_LOCKED', `${path} is open for writing already, in this process`);
    }
  }
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o644);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw cause;
    throw new DatabaseError('BLOOM_NO_LOCK', `LOCK in ${path} cannot be opened for writing: ${String(cause)}`, { cause });
  }
}

function isLocked(locks: FileLocks, fd: number, file: string): boolean {
  try {
    return locks.tryLock(fd);
  } catch (cause) {
    // Nobody has such a lock where there are none, so that closing the file ends none.
    closeSync(fd);
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError('BLOOM_NO_LOCK', `${file} cannot be locked here: ${String(cause)}`, { cause });
  }
}

function ownerOf(id: string): string {
  const [owner] = processesThatLock(id);
  if (owner === undefined) return isLockedHere(id) ? 'in this process, by another thread' : 'in another process';
  return owner === process.pid ? 'in this process' : `in another process (${owner})`;
}

/**
 * The processes that have a lock of LevelDB's kind on a file, as Linux lists them: a line is, for example,
 * `1: POSIX  ADVISORY  WRITE 3548 08:02:131 0 EOF`, with the numbers of the process, the device in hexadecimal, and the file.
 *
 * @returns an empty array where there is no such list.
 */
function processesThatLock(id: string): number[] {
  return ownersIn(readIfThere('/proc/locks'), ' POSIX ', id);
}

/** Who has locks of a kind on a file, by a list of locks. */
function ownersIn(list: string, kind: string, id: string): number[] {
  if (!list.includes(kind)) return [];
  const [device, file] = id.split(':').map(BigInt) as [bigint, bigint];
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  const owners: number[] = [];
  for (const line of list.split('\n')) {
    const [, owner, listedMajor, listedMinor, listedFile] = / (-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /.exec(line.includes(kind) ? line : '') ?? [];
    if (owner === undefined) continue;
    const isSame = BigInt(`0x${listedMajor!}`) === major && BigInt(`0x${listedMinor!}`) === minor && BigInt(listedFile!) === file;
    if (isSame) owners.push(Number(owner));
  }
  return owners;
}

/** Whether this process has a lock that belongs to an open file: Linux lists those of each descriptor, in the form of {@link processesThatLock}. */
function isLockedHere(id: string): boolean {
  try {
    const descriptors = readdirSync('/proc/self/fdinfo').map((fd) => readIfThere(`/proc/self/fdinfo/${fd}`));
    return descriptors.some((lines) => ownersIn(lines, ' OFDLCK ', id).length > 0);
  } catch {
    return false;
  }
}

/** A file that may be gone by now. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function fileLocks(): Promise<FileLocks> {
  const ofHost = await hostLocks();
  if (ofHost !== undefined) return ofHost;
  try {
    // Node 20 resolves no links on the way to a package when the file that was last asked for by `statSync` or `fstatSync` is a pipe, such
    // as standard input. The package is then not found where pnpm has put it. So another file is asked for.
    statSync(process.execPath, { throwIfNoEntry: false });
    // The package has no types, and packages that compile this source would not see a declaration file here.
    const name = 'fs-native-extensions' as string;
    // A bundler that follows the import would bundle the package without its add-on.
    return ((await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as { readonly default: FileLocks }).default;
  } catch (cause) {
    const problem = "folders are locked with the package fs-native-extensions, which is not there: install it, or make sure that nobody else writes and give lock: 'none'";
    throw new DatabaseError('BLOOM_NO_LOCK', problem, { cause });
  }
}
