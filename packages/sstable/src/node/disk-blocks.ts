import { existsSync } from 'node:fs';

/** Linux has this file where it counts, per process, what it reads from disks. */
const COUNTS = '/proc/self/io';

let isCounted: boolean | undefined;

/**
 * How many blocks the system has read from disks for this process, by whichever thread; undefined where it does not say. It takes a few
 * microseconds.
 */
export function diskBlocksRead(): number | undefined {
  if (isCounted === false) return undefined;
  try {
    // Looked up at first use, so that nothing is done at import.
    isCounted ??= process.platform === 'linux' && existsSync(COUNTS);
    return isCounted ? process.resourceUsage().fsRead : undefined;
  } catch {
    // Not every host of Node.js's modules has `resourceUsage`, and Deno lets only a program with all permissions look into /proc.
    isCounted = false;
    return undefined;
  }
}
