import { existsSync } from 'node:fs';
import process from 'node:process';

/** Linux has this file where it counts, per process, what it reads from disks. */
const COUNTS = '/proc/self/io';

let isCounted: boolean | undefined;

/**
 * How many blocks the system has read from disks for this process, by whichever thread; undefined where it does not say. It takes a few
 * microseconds.
 */
export function blocksRead(): number | undefined {
  // Looked up at first use, so that nothing is done at import.
  isCounted ??= process.platform === 'linux' && existsSync(COUNTS);
  if (!isCounted) return undefined;
  try {
    return process.resourceUsage().fsRead;
  } catch {
    // Not every host of Node's modules has it.
    isCounted = false;
    return undefined;
  }
}
