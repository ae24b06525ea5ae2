/** Where the files of a database are written. */
import type { Signal } from '@bloom/bytes';
import type { Folder } from './folder.js';
import type { TableThread, TableThreadSettings } from './write/table-thread.js';

/** A file that is being written. Calls never overlap, except that `close` may follow a failed call at once. */
export interface WritableFile {
  /**
   * Appends all of the bytes, or fails. Afterwards the bytes survive a crash of the process,
   * and readers that open the file see them.
   *
   * @param bytes must not be kept: they change afterwards.
   */
  append(bytes: Uint8Array): void | Promise<void>;
  /** Makes everything appended so far survive a power failure. The name of a new file need not survive one. */
  sync(): void | Promise<void>;
  close(): void | Promise<void>;
}

/** A lock that is held. */
export interface FolderLock {
  release(): void | Promise<void>;
}

/** A folder that a database is written to. Names are plain file names. */
export interface WritableFolder extends Folder {
  list(signal?: Signal): readonly string[] | Promise<readonly string[]>;

  /** Creates the folder itself unless it is there. */
  createFolder(): void | Promise<void>;

  /** Removes the folder itself, if it is empty; otherwise does nothing. */
  removeFolder(): void | Promise<void>;

  /** Creates an empty file, or truncates the existing one. */
  create(name: string): WritableFile | Promise<WritableFile>;

  /** Opens an existing file for appending. */
  openForAppend(name: string): WritableFile | Promise<WritableFile>;

  /** Renames a file, atomically replacing any file of the new name. */
  rename(from: string, to: string): void | Promise<void>;

  /** Deletes a file; a no-op when there is none. */
  delete(name: string): void | Promise<void>;

  /** Makes all creations, renames and deletions so far survive a power failure. */
  syncFolder(): void | Promise<void>;

  /** The subfolder `lost`, for files that a repair sets aside. It need not exist yet: `createFolder` creates it. */
  lostFolder(): WritableFolder;

  /** Moves a file into `lostFolder()`, which must exist, as `as`, a name that must be free there. */
  moveToLost(name: string, as: string): void | Promise<void>;

  /**
   * Excludes all other writers to the folder, in this process and in others. Omit it where that is impossible: then
   * a database is opened only with `lock: 'none'`.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when another holds the lock, `BLOOM_NO_LOCK` when there are no locks here.
   */
  lock?(): FolderLock | Promise<FolderLock>;

  /**
   * Starts a thread that writes tables into the folder, which keeps the event loop free. Omit it, or return undefined,
   * where there are no threads: tables are then written in short time slices.
   */
  startTableThread?(settings: TableThreadSettings): TableThread | undefined;
}
