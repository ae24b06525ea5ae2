import type { BigIntStats } from 'node:fs';

/** Whether two paths lead to the same file, directly or through links of any kind. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.isFile() && b.isFile() && a.dev === b.dev && a.ino === b.ino;
}
