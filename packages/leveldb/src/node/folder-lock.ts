/**
 * The lock of a database folder, which LevelDB holds too: a write lock by fcntl on the whole of LOCK.
 *
 * fs-native-extensions: prebuilt for the usual platforms, and the only maintained package with such locks: Node has no
 * call for them. On Linux its lock belongs to the open file, so that, unlike LevelDB's own, it is not lost when LOCK is
 * opened a second time.
 *
 * Source: LevelDB, util/env_posix.cc, `PosixEnv::LockFile`.
 */
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseError } from '../database-error.js';
import type { FolderLock } from '../writable-folder.js';

/** The functions of fs-native-extensions that are used. */
interface FileLocks {
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

/** The folders that this process has locked. There is one set per process, as in LevelDB, because locks belong to processes. */
const lockedHere = new Set<string>();

/** @throws DatabaseError `BLOOM_LOCKED` when the folder is locked, `BLOOM_NO_LOCK` when it cannot be. */
export async function lockFolder(path: string): Promise<FolderLock> {
  const locks = await fileLocks();
  const folder = await realpath(path);
  if (lockedHere.has(folder)) throw new DatabaseError('BLOOM_LOCKED', `${path} is open for writing already, in this process`);
  lockedHere.add(folder);
  let handle: FileHandle | undefined;
  try {
    handle = await open(join(folder, 'LOCK'), 'a+');
    if (!locks.tryLock(handle.fd)) throw new DatabaseError('BLOOM_LOCKED', `${path} is open for writing already, in another process`);
  } catch (error) {
    lockedHere.delete(folder);
    await handle?.close();
    throw error;
  }
  const { fd } = handle;
  return {
    async release() {
      try {
        locks.unlock(fd);
      } finally {
        await handle.close();
        lockedHere.delete(folder);
      }
    },
  };
}

async function fileLocks(): Promise<FileLocks> {
  try {
    // The package has no types, and packages that compile this source would not see a declaration file here.
    const name = 'fs-native-extensions' as string;
    return ((await import(name)) as { readonly default: FileLocks }).default;
  } catch (cause) {
    const problem = "folders are locked with the package fs-native-extensions, which is not there: install it, or make sure that nobody else writes and give lock: 'none'";
    throw new DatabaseError('BLOOM_NO_LOCK', problem, { cause });
  }
}
