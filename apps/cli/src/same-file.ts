import type { BigIntStats } from 'node:fs';

/** Whether two names lead to one file: by a link of either kind, or because they are the same. */
export function isSameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.isFile() && b.isFile() && a.dev === b.dev && a.ino === b.ino;
}
