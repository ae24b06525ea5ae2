import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The other processes that have the file LOCK of a folder open, such as `node (1234)`. Whoever has locked the folder is among
 * them. Empty where the system does not tell: only Linux does, and only of one's own processes.
 */
export function lockHolders(folder: string): string[] {
  const holders: string[] = [];
  try {
    const lock = join(realpathSync(folder), 'LOCK');
    for (const id of readdirSync('/proc')) {
      if (/^\d+$/.test(id) && Number(id) !== process.pid && hasOpen(id, lock)) holders.push(`${nameOf(id)} (${id})`);
    }
  } catch {
    // Without /proc nobody can be named.
  }
  return holders;
}

function hasOpen(id: string, file: string): boolean {
  try {
    const descriptors = join('/proc', id, 'fd');
    return readdirSync(descriptors).some((fd) => linkOf(join(descriptors, fd)) === file);
  } catch {
    // It has ended, or it is another user's.
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
