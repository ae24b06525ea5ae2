import { constants } from 'node:fs';
import { mkdir, open, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { mustBeOptions } from '@bloom/bytes';
import { LOST } from '../file-name.js';
import { isPlainName, type SyncFolderFile } from '../folder.js';
import type { FolderLock, WritableFile, WritableFolder } from '../writable-folder.js';
import type { TableThread, TableThreadSettings } from '../write/table-thread.js';
import { BackgroundThread, ownThread } from './background-thread.js';
import { lockFolder } from './folder-lock.js';
import { NodeFolder, SyncNodeFolder } from './node-folder.js';
import { NodeWritableFile } from './node-writable-file.js';

/** How to write to a folder of the file system. */
export interface WritableNodeFolderOptions {
  /**
   * Where the database flushes and compacts. With `true`, on a worker thread of its own, which is started when there is a
   * megabyte to write. With a {@link BackgroundThread}, on that thread, which several databases can share. With `false`, on
   * the event loop in slices, as databases with a comparator, a policy or a codec of the caller's always do. Default: true.
   */
  readonly thread?: boolean | BackgroundThread | undefined;
}

/**
 * A folder of the file system that a database can be written to.
 *
 * Its lock keeps out LevelDB and all that is built on it, and needs the package `fs-native-extensions`.
 *
 * @example
 * ```ts
 * const database = await Database.open(new WritableNodeFolder('path/to/database'));
 * ```
 */
export class WritableNodeFolder extends NodeFolder implements WritableFolder {
  readonly #thread: boolean | BackgroundThread;

  /** @throws TypeError for an option that is wrong. */
  constructor(path: string, options: WritableNodeFolderOptions = {}) {
    super(path);
    mustBeOptions('WritableNodeFolder', options, { thread: true });
    const { thread = true } = options;
    if (typeof thread !== 'boolean' && !(thread instanceof BackgroundThread)) throw new TypeError('thread must be a boolean or a BackgroundThread');
    this.#thread = thread;
  }

  async createFolder(): Promise<void> {
    try {
      // Only the last part of the path, as LevelDB does.
      await mkdir(this.name);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }

  async removeFolder(): Promise<void> {
    try {
      await rmdir(this.name);
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
    }
  }

  /** Opened synchronously, so asynchronous callers of this file read it synchronously too: an asynchronous handle cannot be opened without a promise. */
  openSync(name: string): SyncFolderFile | undefined {
    return new SyncNodeFolder(this.name).open(name);
  }

  async create(name: string): Promise<WritableFile> {
    return new NodeWritableFile(await open(this.#path(name), 'w'));
  }

  async openForAppend(name: string): Promise<WritableFile> {
    return new NodeWritableFile(await open(this.#path(name), constants.O_WRONLY | constants.O_APPEND));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.#path(from), this.#path(to));
  }

  async delete(name: string): Promise<void> {
    try {
      await unlink(this.#path(name));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }

  async syncFolder(): Promise<void> {
    // Windows cannot sync folders, and does not need to.
    if (process.platform === 'win32') return;
    const handle = await open(this.name, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } catch (error) {
      if (!FOLDERS_DO_NOT_SYNC.has(codeOf(error))) throw error;
    } finally {
      await handle.close();
    }
  }

  lostFolder(): WritableNodeFolder {
    return new WritableNodeFolder(join(this.name, LOST));
  }

  async moveToLost(name: string, as: string): Promise<void> {
    await rename(this.#path(name), this.lostFolder().#path(as));
  }

  lock(): Promise<FolderLock> {
    return lockFolder(this.name);
  }

  startTableThread(settings: TableThreadSettings): TableThread | undefined {
    if (this.#thread instanceof BackgroundThread) return this.#thread.attach(this.name, settings);
    return this.#thread ? ownThread(this.name, settings) : undefined;
  }

  #path(name: string): string {
    if (!isPlainName(name)) throw new RangeError(`name must be that of a file within the folder, got ${JSON.stringify(name)}`);
    return join(this.name, name);
  }
}

/** The errors of file systems that do not support syncing a folder at all. */
const FOLDERS_DO_NOT_SYNC: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS']);

function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
