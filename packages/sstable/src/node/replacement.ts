import type { Signal } from '@bloom/bytes';
import { throwIfAborted } from '@bloom/bytes/internal';
// Its `promises` are loaded when they are first used. A program that only reads tables starts a millisecond sooner so.
import { constants, promises, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/**
 * The new file is in place, and its contents are on disk, but the system failed to sync the folder: after a power loss
 * the name may refer to the old file again, which is also complete. `cause` is the system's error.
 */
export class FolderSyncError extends Error {
  override readonly name = 'FolderSyncError';
  readonly code = 'BLOOM_FOLDER_NOT_SYNCED';
  /** The new file. */
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`${path} is in place, but its folder could not be synced: a power loss may bring the old file back`, { cause });
    this.path = path;
  }
}

/**
 * A file that is written under a temporary name and takes the place of another once it is complete and on disk.
 *
 * Call order: begin (write to handle)* (finish | abandon).
 */
export class Replacement {
  /** The new file, open for writing. */
  readonly handle: FileHandle;
  readonly #target: string;
  readonly #temporary: string;
  /** Opened before anything is written, so that only its sync can fail after the rename. Undefined on Windows. */
  readonly #folder: FileHandle | undefined;
  #isPlaced = false;

  private constructor(target: string, temporary: string, handle: FileHandle, folder: FileHandle | undefined) {
    this.#target = target;
    this.#temporary = temporary;
    this.handle = handle;
    this.#folder = folder;
  }

  /**
   * Creates the temporary file, in the same folder as the file that `path` leads to.
   *
   * It gets the permissions of that file, and its owner and group where the system permits.
   */
  static async begin(path: string): Promise<Replacement> {
    const { folder, name, stats } = await followLinks(path);
    const target = join(folder, name);
    mustBeReplaceable(target, stats);
    const folderHandle = await openFolder(folder);
    try {
      const temporary = join(folder, temporaryName(name));
      // 'wx' never opens a file that exists already.
      const handle = await promises.open(temporary, 'wx', stats === undefined ? 0o666 : stats.mode & 0o777);
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
   * Syncs the new file and renames it to its final name, unless the signal is aborted before the rename.
   *
   * @throws FolderSyncError when the file was renamed but the rename may not survive a power loss. After any other error
   *   the old file is unchanged: call {@link abandon}.
   */
  async finish(signal: Signal | undefined): Promise<void> {
    await this.handle.sync();
    await this.handle.close();
    throwIfAborted(signal);
    await promises.rename(this.#temporary, this.#target);
    this.#isPlaced = true;
    try {
      await this.#folder?.sync();
    } catch (error) {
      if (!FOLDERS_DO_NOT_SYNC.has((error as NodeJS.ErrnoException).code)) throw new FolderSyncError(this.#target, error);
    } finally {
      await this.#folder?.close();
    }
  }

  /** Removes the temporary file. A no-op once the new file is in place. */
  async abandon(): Promise<void> {
    if (this.#isPlaced) return;
    // The caller is about to report the first error; failures to clean up would only hide it.
    await this.handle.close().catch(() => undefined);
    await promises.rm(this.#temporary, { force: true }).catch(() => undefined);
    await this.#folder?.close().catch(() => undefined);
  }
}

/** The errors of file systems that do not support syncing a folder at all. PostgreSQL ignores them too. */
const FOLDERS_DO_NOT_SYNC: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS']);

/** Characters of the target's name to keep in the temporary name: all of a long one would exceed the limit of 255 bytes. */
const MAX_NAME_CHARACTERS = 24;

function temporaryName(name: string): string {
  const start = Array.from(name).slice(0, MAX_NAME_CHARACTERS).join('');
  // Not imported: a program that only reads would load node:crypto and node:process for eight milliseconds.
  const random = globalThis.crypto.getRandomValues(new Uint8Array(6));
  return `.${start}.${Buffer.from(random).toString('hex')}.tmp`;
}

/** Windows cannot sync folders, and does not need to. */
async function openFolder(folder: string): Promise<FileHandle | undefined> {
  return process.platform === 'win32' ? undefined : promises.open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
}

/** Linux gives up after as many symbolic links too. */
const MAX_LINKS = 40;

interface Target {
  /** Absolute and free of links, so that later changes of a link or of the working directory make no difference. */
  readonly folder: string;
  readonly name: string;
  /** Undefined when there is no file yet. */
  readonly stats: Stats | undefined;
}

/**
 * Resolves symbolic links as open(2) does: in `link/../name`, `..` is the parent of the folder that the link points to.
 * Path functions that work on the text alone would drop `link/..`, so the system resolves the folder first.
 */
async function followLinks(path: string): Promise<Target> {
  let target = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const name = basename(target);
    if (path === '') throw systemError('ENOENT', 'no such file or directory', path);
    if (name === '' || name === '.' || name === '..' || target.endsWith('/') || target.endsWith(sep)) throw systemError('EISDIR', 'is a directory', path);
    const folder = await promises.realpath(dirname(target));
    const file = join(folder, name);
    const stats = await promises.lstat(file).catch(undefinedIfAbsent);
    if (stats?.isSymbolicLink() !== true) return { folder, name, stats };
    const next = await promises.readlink(file);
    target = isAbsolute(next) ? next : folder + sep + next;
  }
  throw systemError('ELOOP', 'too many symbolic links', path);
}

/** ENOTDIR means that the folder is a file: the error for opening the folder says so more clearly. */
function undefinedIfAbsent(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

/** Renaming over a device or a pipe would remove it. */
function mustBeReplaceable(target: string, stats: Stats | undefined): void {
  if (stats === undefined || stats.isFile()) return;
  if (stats.isDirectory()) throw systemError('EISDIR', 'is a directory', target);
  throw systemError('EINVAL', 'is not a regular file', target);
}

/** An error like those of Node's file system functions. */
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
    // The group permissions were meant for the old file's group, not for this one.
    if (!isGroupKept) mode &= ~0o070;
  }
  if ((own.mode & 0o777) !== mode) await handle.chmod(mode);
}

/** Only root may change the owner; other users may only choose among their own groups. */
async function changesOwner(handle: FileHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await handle.chown(uid, gid);
    return true;
  } catch {
    return false;
  }
}
