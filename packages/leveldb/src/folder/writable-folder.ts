/** Where the files of a database are written. */
import { mustHaveMethods, type Signal } from '@bloom/bytes';
import type { Folder } from './folder.js';
import type { TableThread, TableThreadSettings } from './table-thread.js';

/** A file that is being written. The database makes one call at a time, except that `close` may follow a failed call at once. */
export interface WritableFile {
  /**
   * Appends all of the bytes, or fails. Afterwards the bytes survive a crash of the process,
   * and readers that open the file see them.
   *
   * @param bytes may change once the call has settled: they must not be kept.
   */
  append(bytes: Uint8Array): void | Promise<void>;
  /** Makes everything appended so far survive a power failure. The name of a new file need not survive one. */
  sync(): void | Promise<void>;
  /** Fails if what was appended may be lost, because the file or its folder was deleted or replaced. Called before a database is closed. */
  check?(): void | Promise<void>;
  /** Called after the last call of `append` and `sync`. */
  close(): void | Promise<void>;
}

/** A lock that is held. */
export interface FolderLock {
  /** Which programs it does not keep out, and why, for a person to read; undefined where it keeps out all that lock the folder. */
  readonly limits?: string | undefined;
  /** Ends the lock. Called again, it does nothing, even if somebody else holds the lock by then. */
  release(): void | Promise<void>;
}

/**
 * A folder that a database is written to.
 *
 * ## The laws
 *
 * `folderLaws` of `@bloom/leveldb/contract` checks them, under the same numbers, and those of {@link Folder}, which are 1 to 8.
 *
 * 9. **What was appended can be read at once**, in order and whole, before it is synced and while the file is open. An array
 *    that is lent may be a part of a larger one, and may be empty.
 * 10. **`append` keeps nothing that it was lent**, and does not change it: when it has settled, the array gets other bytes.
 * 11. **A file that is open for reading stays as it was** when it was opened, while it grows: its length, what is read of it,
 *     and what was read.
 * 12. **`openForAppend` continues a file at its end.** It may return undefined instead, and another file is begun.
 * 13. **`create` gives an empty file**, and replaces one that has the name. Whoever has that open reads what it held, or gets a
 *     `FolderError` `BLOOM_FOLDER_CHANGED`.
 * 14. **`rename` replaces a file of the new name at once**: at any moment there is the old file or the new one, whole.
 * 15. **`delete` deletes that file alone**, also while it is open: whoever reads it goes on to read what it held, or gets a
 *     `FolderError` `BLOOM_FOLDER_CHANGED`. Where the host refuses to delete an open file, the folder hides it and deletes it once it is
 *     closed. Deleting what is not there is no error.
 * 16. **The list follows each change.** An array of names that was returned does not change afterwards.
 * 17. **What is missing is reported as missing**, with the `code` `'ENOENT'`, as in Node: see {@link isMissing}. Nothing is
 *     created or replaced by a call that fails so.
 * 18. **Each name is a file of its own**, and a name that is no plain file name is refused.
 * 19. **A file that was deleted, replaced or renamed while it was written** takes no other file with it: what is appended
 *     afterwards is lost, or fails. `check`, where there is one, says so.
 * 20. **A file that is written can be synced again**, closed again, and closed without being synced, and then keeps what was
 *     appended.
 * 21. **Calls at the same time do not disturb each other.** Only those of one file that is written never overlap.
 * 22. **`createFolder` leaves a folder that is there as it is; `removeFolder` removes an empty one**, and does nothing otherwise.
 *     A folder that is missing has no files: `open` and `identityOf` give undefined, and `list` gives an empty array, or fails with
 *     the `code` `ENOENT`.
 * 23. **`lostFolder` is a folder of its own**, into which `moveToLost` moves a file.
 * 24. **The lock has one holder**, whatever else is called, until it is released. An attempt that is refused ends nobody's lock.
 * 25. **A pinned folder has the files of the folder**, and it can be pinned again after `unpin`.
 * 26. **A file that has grown or was replaced has another `identity`**, unless the earlier one was not settled.
 * 27. **Another object for the same place sees every change at once**, in the same process or in another.
 * 28. **What was synced survives a power cut**, if the name of the file does.
 * 29. **Names survive a power cut once the folder was synced**: creations, renames and deletions.
 * 30. **A rename has happened or not**, after a power cut.
 *
 * The database on its part syncs a file before it renames it, and the folder before it relies on a name.
 */
export interface WritableFolder extends Folder {
  list(signal?: Signal): readonly string[] | Promise<readonly string[]>;

  /** Creates the folder itself, and those that it is in, unless they are there. Their names survive a power failure from then on. */
  createFolder(): void | Promise<void>;

  /** Removes the folder itself, if it is empty. Where that is impossible, it does nothing. */
  removeFolder(): void | Promise<void>;

  /** Creates an empty file. A file of the same name is replaced, not emptied: others may have it open. */
  create(name: string): WritableFile | Promise<WritableFile>;

  /** Opens an existing file for appending; undefined where nothing must be appended to it, because it is a link, for example. */
  openForAppend(name: string): WritableFile | undefined | Promise<WritableFile | undefined>;

  /** Renames a file. It replaces a file of the new name atomically. */
  rename(from: string, to: string): void | Promise<void>;

  /** Deletes a file. Does nothing when there is none. */
  delete(name: string): void | Promise<void>;

  /** Makes all creations, renames and deletions so far survive a power failure. */
  syncFolder(): void | Promise<void>;

  /** The subfolder `lost`, for files that a repair sets aside. It need not exist yet: `createFolder` creates it. */
  lostFolder(): WritableFolder;

  /**
   * Moves a file into `lostFolder()`, where it gets the name `as`.
   *
   * REQUIRES: `lostFolder()` exists, and has no file `as`.
   */
  moveToLost(name: string, as: string): void | Promise<void>;

  /**
   * Excludes all other writers to the folder, in this process and in others. Omit it where that is impossible: then
   * a database is opened only with `lock: 'none'`.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when another holds the lock, `BLOOM_NO_LOCK` when there are no locks here.
   */
  lock?(): FolderLock | Promise<FolderLock>;

  /**
   * The folder as it is now, for as long as one database is open; called once it is locked. Its operations fail with a
   * `FolderError` `BLOOM_FOLDER_CHANGED` after the folder was deleted, or another folder took its place. Omit it where that cannot be.
   */
  pin?(): PinnedFolder | Promise<PinnedFolder>;

  /**
   * Starts a thread that writes tables into the folder, which keeps the event loop free. Omit it, or return undefined,
   * where there are no threads: tables are then written in short time slices.
   */
  startTableThread?(settings: TableThreadSettings): TableThread | undefined;
}

/** A folder that fails once another folder has taken its place: see {@link WritableFolder.pin}. */
export interface PinnedFolder extends WritableFolder {
  /** Ends the use of the folder. */
  unpin(): void | Promise<void>;
}

/** An error that says that a file or the folder is not there. */
export function missingFile(problem: string): Error {
  return Object.assign(new Error(`ENOENT: ${problem}`), { code: 'ENOENT' });
}

/** Whether `error` says that a file or the folder is not there. */
export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === 'ENOENT';
}

/** The methods that every {@link WritableFolder} has. */
const METHODS = ['list', 'open', 'create', 'openForAppend', 'rename', 'delete', 'syncFolder', 'createFolder', 'removeFolder', 'lostFolder', 'moveToLost'];

/** @throws TypeError unless `folder` has the methods of a folder that can be written to. */
export function mustBeWritable(folder: unknown): asserts folder is WritableFolder {
  mustHaveMethods('folder', folder, 'a folder that can be written to', METHODS);
}
