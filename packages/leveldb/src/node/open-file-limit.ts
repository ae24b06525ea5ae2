import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * The most database files that a thread keeps open for reading. The remaining descriptors are for logs, for tables being written, and for other
 * files of the program.
 *
 * Source: LevelDB, util/env_posix.cc, `MaxOpenFiles`, which takes a fifth of what the system allows.
 */
let limit: number | undefined;
let count = 0;

/** Reserves a descriptor. @returns false if there is none left. */
export function takeDescriptor(): boolean {
  limit ??= readLimit();
  if (count >= limit) return false;
  count++;
  return true;
}

export function giveBackDescriptor(): void {
  count--;
}

/** The descriptors that are left to the program in addition to half of those that the system allows. */
const OTHERS = 40;

function readLimit(): number {
  const allowed = allowedFiles();
  const fifth = Math.floor(allowed / 5);
  // A thread that compacts opens only the tables that it merges.
  return isMainThread ? Math.max(fifth, Math.floor(allowed / 2) - OTHERS) : fifth;
}

/**
 * The most files that the process may have open; Infinity when the system does not report it. Node raises the soft limit to the hard one at
 * startup.
 */
function allowedFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
