import { close, closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmdirSync, statSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mustBeOptions, mustHaveAtMost } from '@bloom/bytes/internal';
import * as inKernel from '../compact/in-kernel.js';
import { provideKernelWork } from '../compact/load-kernel-work.js';
import { PackedWalk } from '../cursor/packed-walk.js';
import { providePackedWalk } from '../cursor/load-packed-walk.js';
import { attempt } from '../folder/closing-files.js';
import { DatabaseError } from '../folder/database-error.js';
import { LOST } from '../format/file-name.js';
import { mustBePlainName, type SyncFolderFile } from '../folder/folder.js';
import type { FolderLock, PinnedFolder, WritableFile, WritableFolder } from '../folder/writable-folder.js';
import type { TableThread, TableThreadSettings } from '../folder/table-thread.js';
import { BackgroundThread, ownThread } from './background-thread.js';
import { lockFolder } from './folder-lock.js';
import { OpenFolder, pinFolder } from './folder-pin.js';
import { NODE_FOLDER_OPTIONS, NodeFolder, type NodeFolderOptions, SyncNodeFolder } from './node-folder.js';
import { createFile, openFileForAppend } from './node-writable-file.js';
import { PinnedNodeFolder } from './pinned-node-folder.js';
import { realPlaceOf } from './real-path.js';
import { codeOf } from './system-error.js';

/** How to write to a folder of the file system. */
export interface WritableNodeFolderOptions extends NodeFolderOptions {
  /**
   * Where the database flushes and compacts. With `true`, on its own worker thread, which starts after 8 MiB of flushes and compactions;
   * earlier work is done on the event loop in slices. With a {@link BackgroundThread}, on that thread, which several databases can share. With
   * `false`, on the event loop in slices. A flush or compaction of less than 1 MiB always runs there, and does not count towards the 8 MiB. A database with a
   * comparator, a policy or a codec of the caller's also works on the event loop, unless the thread has them too. Default: true.
   */
  readonly thread?: boolean | BackgroundThread | undefined;
}

/**
 * The amount of work on tables after which a folder starts its own thread. Starting it takes 100 ms, in which some megabytes are written: a
 * program with a small database would wait for that in its first `compactRange`.
 */
const BYTES_BEFORE_THREAD = 8 * 2 ** 20;

/** A folder that had at most this many names is listed synchronously: that takes 0.1 ms, less than handing it to another thread and back. */
const FEW_NAMES = 256;

/** A folder of at most this size has few names: on ext4, about 200. */
const FEW_NAMES_BYTES = 4096;

/**
 * A folder of the file system that a database can be written to.
 *
 * Its lock excludes LevelDB, goleveldb and everything that is built on them. It is taken by an optional dependency with native code,
 * `@koromix/koffi-linux-x64` or `-arm64` on Linux and `fs-native-extensions` elsewhere.
 *
 * A relative path is resolved here, so that changing the current directory later has no effect. Nothing is written through a link: `create`
 * makes a new file, and `openForAppend` refuses links.
 *
 * Changes to the folder are not passed to another thread, because the folder could be replaced in the meantime. They block the event loop for
 * about ten microseconds each.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableNodeFolder('path/to/database'));
 * ```
 */
export class WritableNodeFolder extends NodeFolder implements WritableFolder {
  readonly #thread: boolean | BackgroundThread;
  /** The amount of work that could have gone to the folder's own thread before one was started. */
  #bytesInSlices = 0;
  /** The number of names when the folder was listed last; Infinity before that. */
  #nameCount = Infinity;

  /** @throws TypeError for an invalid option. */
  constructor(path: string, options: WritableNodeFolderOptions = {}) {
    mustBeOptions('WritableNodeFolder', options, { thread: true, ...NODE_FOLDER_OPTIONS });
    const { thread = true, readsAtOnce } = options;
    super(path, { readsAtOnce });
    // The synchronous walks of a database give the program no time to load the code.
    providePackedWalk(PackedWalk);
    provideKernelWork(inKernel);
    if (typeof thread !== 'boolean' && !(thread instanceof BackgroundThread)) throw new TypeError('thread must be a boolean or a BackgroundThread');
    this.#thread = thread;
  }

  place(): string {
    return realPlaceOf(this.path);
  }

  override async list(): Promise<string[]> {
    const names = this.#mayHaveMany() ? await super.list() : readdirSync(this.path);
    this.#nameCount = names.length;
    return names;
  }

  #mayHaveMany(): boolean {
    if (this.#nameCount !== Infinity) return this.#nameCount > FEW_NAMES;
    // A missing folder has no names.
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    return size > FEW_NAMES_BYTES;
  }

  async createFolder(): Promise<void> {
    for (const made of this.makeFolders()) {
      try {
        await syncFolderAt(dirname(made));
      } catch (error) {
        // A folder without read permission cannot be synced, and one that was deleted meanwhile need not be.
        if (!['EACCES', 'EPERM', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
      }
    }
  }

  async removeFolder(): Promise<void> {
    mustHaveAtMost('WritableNodeFolder.removeFolder', 'no arguments', 0, arguments.length);
    // It may have other files, or be a link or a mount point, or its parent must not be changed. LevelDB ignores this too.
    await attempt(() => rmdirSync(this.path));
  }

  /** Asynchronous reads of this file are also synchronous, because Node cannot open a `FileHandle` synchronously. */
  openSync(name: string): SyncFolderFile | undefined {
    return new SyncNodeFolder(this.path).open(name);
  }

  create(name: string): WritableFile {
    return createFile(this.pathOf(name));
  }

  openForAppend(name: string): WritableFile | undefined {
    return openFileForAppend(this.pathOf(name));
  }

  rename(from: string, to: string): void {
    renameSync(this.pathOf(from), this.pathOf(to));
  }

  delete(name: string): void | Promise<void> {
    mustHaveAtMost('WritableNodeFolder.delete', 'a name', 1, arguments.length);
    const path = this.pathOf(name);
    const fd = holdOpen(path);
    try {
      unlinkSync(path);
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      if (codeOf(error) !== 'ENOENT') throw error;
      return;
    }
    // Callers that delete many files await this, so that they keep only one file open, and only one of Node's few I/O threads busy.
    if (fd !== undefined) return closeLater(fd);
  }

  syncFolder(): Promise<void> {
    return syncFolderAt(this.path);
  }

  lostFolder(): WritableFolder {
    return new LostNodeFolder(join(this.path, LOST));
  }

  moveToLost(name: string, as: string): void {
    const lost = new LostNodeFolder(join(this.path, LOST));
    renameSync(this.pathOf(name), lost.pathOf(as));
  }

  lock(): Promise<FolderLock> {
    return lockFolder(this.path);
  }

  pin(): PinnedFolder {
    const isOverridden = this.syncFolder !== WritableNodeFolder.prototype.syncFolder;
    return new PinnedNodeFolder(this, this.path, isOverridden ? () => this.syncFolder() : undefined);
  }

  startTableThread(settings: TableThreadSettings, byteLength = Infinity): TableThread | undefined {
    if (this.#thread instanceof BackgroundThread) return this.#thread.attach(pinFolder(this.path), settings);
    if (!this.#thread) return undefined;
    this.#bytesInSlices += byteLength;
    return this.#bytesInSlices > BYTES_BEFORE_THREAD ? ownThread(pinFolder(this.path), settings) : undefined;
  }

  /** Creates the folder and its parents, unless they exist. @returns the paths of those that were created. */
  protected makeFolders(): string[] {
    return makeFolders(this.path);
  }

  /** The path of a file in the folder. @throws RangeError for a name that leads elsewhere. */
  protected pathOf(name: string): string {
    mustBePlainName(name);
    return join(this.path, name);
  }
}

/** The folder `lost`. It must not be a link, through which files would be moved out of the database. */
class LostNodeFolder extends WritableNodeFolder {
  override async createFolder(): Promise<void> {
    await super.createFolder();
    this.#mustBeFolder();
  }

  /** Does not create the parent: if the database was deleted, `lost` would belong to another folder. */
  protected override makeFolders(): string[] {
    return makeFolder(this.path);
  }

  override pathOf(name: string): string {
    this.#mustBeFolder();
    return super.pathOf(name);
  }

  #mustBeFolder(): void {
    if (lstatSync(this.path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    throw new DatabaseError('BLOOM_NOT_A_FOLDER', `${this.path} is a link or a file, but must be a folder, because files are moved into it`);
  }
}

/** Freeing the space of a file of this size takes up to a millisecond (ext4). */
const LARGE_BYTES = 512 * 2 ** 10;

/**
 * Opens a large file that is about to be deleted. The system frees its space when it is closed, which takes milliseconds for a log of 4 MB and
 * can be done on another thread.
 *
 * @returns undefined for a small file, and for one that cannot be opened.
 */
function holdOpen(path: string): number | undefined {
  // On Windows, an open file keeps its name.
  if (process.platform === 'win32') return undefined;
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.size >= LARGE_BYTES ? openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) : undefined;
  } catch {
    return undefined;
  }
}

/** Creates a folder, unless something with its name exists. @returns its path, if it was created. */
function makeFolder(path: string): string[] {
  // Most folders exist already, and `mkdirSync` then takes four times as long to fail as this check takes.
  if (existsSync(path)) return [];
  try {
    mkdirSync(path);
    return [path];
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return [];
    throw error;
  }
}

/** Also creates its parents. Node's own recursive call fails when the folder is deleted at the same moment. */
function makeFolders(path: string): string[] {
  try {
    return makeFolder(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    const parents = makeFolders(dirname(path));
    return [...parents, ...makeFolder(path)];
  }
}

const closeLater = promisify(close);

async function syncFolderAt(path: string): Promise<void> {
  const folder = new OpenFolder(path);
  try {
    await folder.sync();
  } finally {
    folder.close();
  }
}
