import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The other processes that have locked the file LOCK of a folder, such as `node (1234)`: with LevelDB's lock, this library's or
 * goleveldb's. If the system does not list locks, the processes that have the file open, which include the holder. Empty if
 * the system lists neither: only Linux does, and only for processes of the same user.
 */
export function lockHolders(folder: string): string[] {
  const open: string[] = [];
  const holders: string[] = [];
  try {
    const lock = join(realpathSync(folder), 'LOCK');
    for (const id of readdirSync('/proc')) {
      if (!/^\d+$/.test(id) || Number(id) === process.pid) continue;
      const descriptors = descriptorsOf(id, lock);
      if (descriptors.length === 0) continue;
      const name = `${nameOf(id)} (${id})`;
      open.push(name);
      if (descriptors.some((fd) => hasLock(id, fd))) holders.push(name);
    }
  } catch {
    // Without /proc, processes are unknown.
  }
  return holders.length > 0 ? holders : open;
}

/** The descriptors of a process for a file. */
function descriptorsOf(id: string, file: string): string[] {
  const descriptors = join('/proc', id, 'fd');
  try {
    return readdirSync(descriptors).filter((fd) => linkOf(join(descriptors, fd)) === file);
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
}

/** Whether a lock was taken with a descriptor: Linux lists it in a line such as `lock:	1: FLOCK  ADVISORY  WRITE 1234 08:02:131 0 EOF`. */
function hasLock(id: string, fd: string): boolean {
  try {
    return /^lock:/m.test(readFileSync(join('/proc', id, 'fdinfo', fd), 'latin1'));
  } catch {
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function nameOf(id: string): string {
  return readFileSync(join('/proc', id, 'comm'), 'utf8').trim();
}
