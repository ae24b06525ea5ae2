import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * How many files of databases a thread keeps open, at most, for reading. The rest is for logs, tables that are written, and
 * whatever else the program opens.
 *
 * Source: LevelDB, util/env_posix.cc, `MaxOpenFiles`, which takes a fifth of what the system allows.
 */
export class OpenFileLimit {
  #limit: number | undefined;
  #count = 0;

  /** Takes room for a file. @returns false if there is none. */
  take(): boolean {
    this.#limit ??= readLimit();
    if (this.#count >= this.#limit) return false;
    this.#count++;
    return true;
  }

  /** Gives the room of a file back. */
  giveBack(): void {
    this.#count--;
  }
}

/** Descriptors that a program has for other things than databases, if it can have half of those that the system allows. */
const OTHERS = 40;

function readLimit(): number {
  const allowed = allowedFiles();
  const fifth = Math.floor(allowed / 5);
  // A thread that compacts opens only the tables that it merges.
  return isMainThread ? Math.max(fifth, Math.floor(allowed / 2) - OTHERS) : fifth;
}

/** How many files the process may have open; Infinity where the system does not say it. Node raises the soft limit to the hard one when it starts. */
function allowedFiles(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
