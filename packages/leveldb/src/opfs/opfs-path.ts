import { isPlainName } from '../folder/folder.js';
import { type DirectoryHandle, nameOf, opfsRoot } from './opfs-host.js';

/** The names of the folders on the way to one, from the root. @throws TypeError or RangeError for a path that names no folder below the root. */
export function namesOfPath(path: string): string[] {
  if (typeof path !== 'string') throw new TypeError(`path must be a string, got ${typeof path}`);
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > 0 && names.every(isPlainName)) return names;
  throw new RangeError(`path must name a folder below the root of the origin private file system, got ${JSON.stringify(path)}`);
}

/** The folder at a path. @param create whether to create it and its parents. @returns undefined when it is missing. */
export async function directoryAt(names: readonly string[], create: boolean): Promise<DirectoryHandle | undefined> {
  let directory = await opfsRoot();
  for (const name of names) {
    try {
      directory = await directory.getDirectoryHandle(name, { create });
    } catch (error) {
      if (!create && ['NotFoundError', 'TypeMismatchError'].includes(nameOf(error))) return undefined;
      throw error;
    }
  }
  return directory;
}
