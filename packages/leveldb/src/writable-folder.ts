/** Where the files of a database are written. */
import type { Signal } from '@bloom/bytes';
import type { Folder } from './folder.js';
import type { TableThread, TableThreadSettings } from './write/table-thread.js';

/** A file that is being written. Calls are not made at the same time, except for `close` after a failure. */
export interface WritableFile {
  /**
   * Adds bytes to the end of the file, all of them or it fails. Once it is over, the bytes survive the end of the process,
   * and readers that open the file see them.
   */
  append(bytes: Uint8Array): void | Promise<void>;
  /** When it is over, what was appended survives the loss of power. The name of a new file need not. */
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

  /** Opens a new, empty file; one that is there is emptied. */
  create(name: string): WritableFile | Promise<WritableFile>;

  /** Opens a file to add to its end. */
  openForAppend(name: string): WritableFile | Promise<WritableFile>;

  /** Gives a file another name, in place of the file that has it. Nobody ever sees neither. */
  rename(from: string, to: string): void | Promise<void>;

  /** Deletes a file; a no-op when there is none. */
  delete(name: string): void | Promise<void>;

  /** When it is over, the files that were created, renamed and deleted so far stay so after the loss of power. */
  syncFolder(): void | Promise<void>;

  /** The folder `lost` within this one, for files that a repair sets aside. It need not exist: `createFolder` makes it. */
  lostFolder(): WritableFolder;

  /** Moves a file to `lostFolder()`, which exists, under the name `as`, which is free there. */
  moveToLost(name: string, as: string): void | Promise<void>;

  /**
   * Keeps out all others that write to the folder, in this process and in others. Left out where that cannot be done: then
   * a database is opened only with `lock: 'none'`.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when another holds the lock, `BLOOM_NO_LOCK` when there are no locks here.
   */
  lock?(): FolderLock | Promise<FolderLock>;

  /**
   * Starts a thread that writes tables into the folder, so that the event loop stays free. Left out where there are none,
   * or undefined: then tables are written in short turns between everything else.
   */
  startTableThread?(settings: TableThreadSettings): TableThread | undefined;
}
