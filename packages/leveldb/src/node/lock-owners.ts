/**
 * The processes that have locked a file, as Linux lists them. A line of the list is, for example,
 * `1: POSIX  ADVISORY  WRITE 3548 08:02:131 0 EOF`: the kind of lock, the number of the process, the device in hexadecimal, and
 * the file. POSIX is the lock of LevelDB, OFDLCK that of this library, and FLOCK that of both this library and goleveldb.
 * A lock of the kind OFDLCK belongs to no process: its number is -1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { LockHolder } from '../folder/database-error.js';

/** Whether a lock of LevelDB's own kind on the file belongs to this process, and would end when any descriptor of the file is closed. */
export function isLockOfThisProcess(id: string): boolean {
  return ownersIn(systemList(), ' POSIX ', id).includes(process.pid);
}

/** Who has locked a file. */
interface LockOwner {
  /** For messages. */
  readonly name: string;
  /** Undefined where the host does not list locks. */
  readonly holder: LockHolder | undefined;
}

/** @param id `device:inode`, in decimal. */
export function lockOwner(id: string): LockOwner {
  const list = systemList();
  const [leveldb] = ownersIn(list, ' POSIX ', id);
  const owner = leveldb ?? ownersIn(list, ' FLOCK ', id).find((process) => process > 0);
  if (owner === process.pid) return { name: leveldb === undefined ? 'in this process, by another thread' : 'in this process', holder: 'this process' };
  if (owner !== undefined) return { name: `in another process (${owner})`, holder: 'another process' };
  if (isLockedHere(id)) return { name: 'in this process, by another thread', holder: 'this process' };
  return { name: 'in another process', holder: list === '' ? undefined : 'another process' };
}

/** The list of locks; empty if there is none. */
function systemList(): string {
  return readIfThere('/proc/locks');
}

/** The processes that hold a kind of lock on a file, according to a list of locks. */
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

/** Whether this process has a lock that belongs to an open file: Linux lists those of each descriptor, in the same form. */
function isLockedHere(id: string): boolean {
  try {
    const descriptors = readdirSync('/proc/self/fdinfo').map((fd) => readIfThere(`/proc/self/fdinfo/${fd}`));
    return descriptors.some((lines) => ownersIn(lines, ' OFDLCK ', id).length > 0);
  } catch {
    return false;
  }
}

/** A file that may have been deleted. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
