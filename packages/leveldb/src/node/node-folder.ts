import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { mustBeBoolean, mustBeOptions, mustBePath } from '@bloom/bytes/internal';
import type { FileIdentity } from '@bloom/sstable';
import { fileIdentity, ReadPace } from '@bloom/sstable/node';
import { LOCK } from '../format/file-name.js';
import { type Folder, type FolderFile, isPlainName, type SyncFolder, type SyncFolderFile } from '../folder/folder.js';
import { openForReading, openForReadingSync } from './node-file.js';
import { codeOf } from './system-error.js';

/** How to read a folder of the file system. */
export interface NodeFolderOptions {
  /**
   * Whether short reads from the OS page cache are synchronous instead of on another thread, which takes several times as long. When the
   * event loop has been blocked for two milliseconds, or the disk is slow, they go to a thread. Default: true.
   */
  readonly readsAtOnce?: boolean | undefined;
}

export const NODE_FOLDER_OPTIONS: Record<string, true> = { readsAtOnce: true };

/**
 * A folder of the file system.
 *
 * @example
 * ```ts
 * const database = await DatabaseReader.open(new NodeFolder('path/to/database'));
 * ```
 */
export class NodeFolder implements Folder {
  /** The path, as it was given. */
  readonly name: string;
  /** The absolute path: the current directory of the process may change. */
  readonly path: string;
  /** Shared by all files of the folder, as they are on one disk. */
  readonly #pace: ReadPace | false;

  /** @throws TypeError for a wrong option, or an empty path. */
  constructor(path: string, options: NodeFolderOptions = {}) {
    mustBeOptions('NodeFolder', options, NODE_FOLDER_OPTIONS);
    const { readsAtOnce = true } = options;
    mustBeBoolean('readsAtOnce', readsAtOnce);
    mustBePath('path', path);
    this.name = path;
    this.path = resolve(path);
    this.#pace = readsAtOnce && new ReadPace();
  }

  list(): Promise<string[]> {
    return readdir(this.path);
  }

  /** Synchronous: the system answers in two microseconds, and with a trip to another thread it takes seven times as long (Node 20, Linux). */
  identityOf(name: string): FileIdentity | undefined {
    return isPlainName(name) ? fileIdentity(join(this.path, name)) : undefined;
  }

  async open(name: string): Promise<FolderFile | undefined> {
    if (!isReadable(name)) return undefined;
    try {
      return await openForReading(join(this.path, name), this.#pace);
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/** The synchronous {@link NodeFolder}. */
export class SyncNodeFolder implements SyncFolder {
  /** The path, as it was given. */
  readonly name: string;
  /** The absolute path: the current directory of the process may change. */
  readonly path: string;

  /** @throws TypeError for an empty path. */
  constructor(path: string) {
    mustBePath('path', path);
    this.name = path;
    this.path = resolve(path);
  }

  list(): string[] {
    return readdirSync(this.path);
  }

  identityOf(name: string): FileIdentity | undefined {
    return isPlainName(name) ? fileIdentity(join(this.path, name)) : undefined;
  }

  open(name: string): SyncFolderFile | undefined {
    if (!isReadable(name)) return undefined;
    try {
      return openForReadingSync(join(this.path, name));
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/**
 * Whether a file may be opened. LOCK is never opened, as if there were none: by closing it the process would lose a lock that
 * LevelDB holds in it.
 */
function isReadable(name: string): boolean {
  return isPlainName(name) && name.toUpperCase() !== LOCK;
}

/** Whether the path is not a file: nothing at all, a folder, a pipe, or a dangling link. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'EISDIR', 'ENAMETOOLONG', 'ELOOP', 'ENXIO', 'EINVAL'].includes(codeOf(error) ?? '');
}
