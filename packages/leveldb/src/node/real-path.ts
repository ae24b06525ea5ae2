import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The path without links. The native call is faster, but has not been tested on Windows. */
export const realPathOf: (path: string) => string = process.platform === 'win32' ? realpathSync : realpathSync.native;

/** The path without links of a folder that need not exist: then links of its parents are resolved. @param path is absolute. */
export function realPlaceOf(path: string): string {
  try {
    return realPathOf(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPlaceOf(parent), basename(path));
  }
}
