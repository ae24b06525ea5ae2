import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import process from 'node:process';

/**
 * The new file is in place, whole and on disk, but the system failed to sync its folder: a loss of power may bring back
 * the file that had the name before, also whole. `cause` is the system's error.
 */
export class FolderSyncError extends Error {
  override readonly name = 'FolderSyncError';
  readonly code = 'BLOOM_FOLDER_NOT_SYNCED';
  /** The new file. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`${path} is written, but its folder could not be synced: a loss of power may bring back what it replaced`, { cause });
    this.path = path;
  }
}

/**
 * A file that grows under a temporary name beside another, and takes that one's place once it is whole and on disk.
 *
 * Call order: begin (write to handle)* (finish | abandon).
 */
export class Replacement {
  /** What the new file is written through. */
  readonly handle: FileHandle;
  readonly #target: string;
  readonly #temporary: string;
  /** Opened before anything is written, so that only syncing it can still fail behind the rename. None on Windows. */
  readonly #folder: FileHandle | undefined;
  #isPlaced = false;

  private constructor(target: string, temporary: string, handle: FileHandle, folder: FileHandle | undefined) {
    this.#target = target;
    this.#temporary = temporary;
    this.handle = handle;
    this.#folder = folder;
  }

  /**
   * Makes the temporary file, in the folder of the file that `path` leads to.
   *
   * It has the permissions of the file it is to replace, and its owner and group where the system permits.
   */
  static async begin(path: string): Promise<Replacement> {
    const { folder, name, stats } = await followLinks(path);
    const target = join(folder, name);
    mustBeReplaceable(target, stats);
    const folderHandle = await openFolder(folder);
    try {
      const temporary = join(folder, temporaryName(name));
      // 'wx': never a file that is somebody else's.
      const handle = await open(temporary, 'wx', stats === undefined ? 0o666 : stats.mode & 0o777);
      const replacement = new Replacement(target, temporary, handle, folderHandle);
      try {
        if (stats !== undefined) await keepAccess(handle, stats);
      } catch (error) {
        await replacement.abandon();
        throw error;
      }
      return replacement;
    } catch (error) {
      await folderHandle?.close();
      throw error;
    }
  }

  /**
   * Puts the new file in place, once all of it is on disk, unless the signal is aborted before.
   *
   * @throws FolderSyncError when the new file is in place and may not outlast a loss of power. After any other error the
   *   old file is as it was, and the replacement is to be abandoned.
   */
  async finish(signal: AbortSignal | undefined): Promise<void> {
    await this.handle.sync();
    await this.handle.close();
    signal?.throwIfAborted();
    await rename(this.#temporary, this.#target);
    this.#isPlaced = true;
    try {
      await this.#folder?.sync();
    } catch (error) {
      if (!FOLDERS_DO_NOT_SYNC.has((error as NodeJS.ErrnoException).code)) throw new FolderSyncError(this.#target, error);
    } finally {
      await this.#folder?.close();
    }
  }

  /** Removes the temporary file. Does nothing once the new file is in place. */
  async abandon(): Promise<void> {
    if (this.#isPlaced) return;
    // What went wrong before is told; that it cannot be cleared away either is not.
    await this.handle.close().catch(() => undefined);
    await rm(this.#temporary, { force: true }).catch(() => undefined);
    await this.#folder?.close().catch(() => undefined);
  }
}

/** How file systems that cannot sync a folder say it. PostgreSQL goes on after these too. */
const FOLDERS_DO_NOT_SYNC: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS']);

/** Characters of the old name that a temporary one begins with. All of it would not fit behind a long one. */
const MAX_NAME_CHARACTERS = 24;

function temporaryName(name: string): string {
  const start = Array.from(name).slice(0, MAX_NAME_CHARACTERS).join('');
  return `.${start}.${randomBytes(6).toString('hex')}.tmp`;
}

/** Windows has no handles of folders to sync, and needs none. */
async function openFolder(folder: string): Promise<FileHandle | undefined> {
  return process.platform === 'win32' ? undefined : open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
}

/** More links than this in a row are taken for a circle, as Linux takes them. */
const MAX_LINKS = 40;

interface Target {
  /** Absolute, and free of links: it stays the same folder whatever becomes of links and of the working directory. */
  readonly folder: string;
  readonly name: string;
  /** Undefined where there is no file yet. */
  readonly stats: Stats | undefined;
}

/**
 * Where `path` leads, by the rules of open(2): `..` leaves the folder that a link leads to, not the one it lies in. So
 * no path is put together by its text before the system has resolved its folder.
 */
async function followLinks(path: string): Promise<Target> {
  let target = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const name = basename(target);
    if (path === '') throw systemError('ENOENT', 'no such file or directory', path);
    if (name === '' || name === '.' || name === '..' || target.endsWith('/') || target.endsWith(sep)) throw systemError('EISDIR', 'is a directory', path);
    const folder = await realpath(dirname(target));
    const file = join(folder, name);
    const stats = await lstat(file).catch(undefinedIfAbsent);
    if (stats?.isSymbolicLink() !== true) return { folder, name, stats };
    const next = await readlink(file);
    target = isAbsolute(next) ? next : folder + sep + next;
  }
  throw systemError('ELOOP', 'too many symbolic links', path);
}

/** ENOTDIR: the folder is none, which opening it says better. */
function undefinedIfAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** Only a file is replaced by a file: to rename over a device or a pipe would do away with it. */
function mustBeReplaceable(target: string, stats: Stats | undefined): void {
  if (stats === undefined || stats.isFile()) return;
  if (stats.isDirectory()) throw systemError('EISDIR', 'is a directory', target);
  throw systemError('EINVAL', 'is not a regular file', target);
}

/** An error like the one that open(2) would give. */
function systemError(code: string, problem: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${problem}, open '${path}'`), { code, path, syscall: 'open' });
}

/** Gives a new file the permissions of an old one, and its owner and group where the system permits. */
async function keepAccess(handle: FileHandle, old: Stats): Promise<void> {
  if (process.platform === 'win32') return;
  const own = await handle.stat();
  let mode = old.mode & 0o777;
  if (own.uid !== old.uid || own.gid !== old.gid) {
    const isGroupKept = (await changesOwner(handle, old.uid, old.gid)) || (await changesOwner(handle, own.uid, old.gid));
    // What the old file's group was permitted, another group was not.
    if (!isGroupKept) mode &= ~0o070;
  }
  if ((own.mode & 0o777) !== mode) await handle.chmod(mode);
}

/** Only root may give files away, and others may only choose among their groups. */
async function changesOwner(handle: FileHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await handle.chown(uid, gid);
    return true;
  } catch {
    return false;
  }
}
