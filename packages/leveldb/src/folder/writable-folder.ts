/** Where the files of a database are written. LevelDB's counterpart is the writing half of `Env` in include/leveldb/env.h. */
import type { Signal } from '@bloom/bytes';
import { mustHaveMethods } from '@bloom/bytes/internal';
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
  /** Fails if appended bytes may be lost, because the file or its folder was deleted or replaced. Called before a database is closed. */
  check?(): void | Promise<void>;
  /** Called after the last `append` and `sync`. */
  close(): void | Promise<void>;
}

/** A lock that is held. */
export interface FolderLock {
  /** Which programs it does not exclude, and why, as a sentence for people; undefined when it excludes every program that locks the folder. */
  readonly limits?: string | undefined;
  /** Releases the lock. Calling it again does nothing, even if somebody else holds the lock by then. */
  release(): void | Promise<void>;
}

/**
 * A folder that a database is written to.
 *
 * ## The laws
 *
 * `folderLaws` of `@bloom/leveldb/contract` checks them, under the same numbers, and those of {@link Folder}, which are 1 to 8.
 *
 * 9. **Appended bytes can be read at once**, in order and complete, before they are synced and while the file is open. The array passed to
 * `append` may be a part of a larger one, and may be empty.
 * 10. **`append` neither keeps nor changes the bytes that it receives**: when it has settled, the caller reuses the array.
 * 11. **A file that is open for reading stays as it was** when it was opened, while the file grows: its length, and the bytes that were and
 * will be read.
 * 12. **`openForAppend` continues a file at its end.** It may return undefined instead, and the caller creates another file.
 * 13. **`create` makes an empty file**, and replaces a file of the same name. Readers of that file read what it held, or get a
 *     `FolderError` `BLOOM_FOLDER_CHANGED`.
 * 14. **`rename` replaces a file of the new name atomically**: at any moment the name has the old file or the new one, complete.
 * 15. **`delete` deletes only that file**, even while it is open: readers continue to read what it held, or get a `FolderError`
 *     `BLOOM_FOLDER_CHANGED`. If the host refuses to delete an open file, the folder hides it and deletes it once it is closed.
 *     Deleting a missing file is no error.
 * 16. **The list follows each change.** An array of names that was returned does not change afterwards.
 * 17. **A missing file is reported as missing**, with the `code` `'ENOENT'`, as in Node: see {@link isMissing}. A call that fails in
 *     this way creates and replaces nothing.
 * 18. **Each name is a file of its own**; names that are not plain file names are refused.
 * 19. **Writing to a file that was deleted, replaced or renamed** changes no other file: the bytes are lost, or the write fails. `check`,
 *     if it exists, reports it.
 * 20. **A written file can be synced again**, closed again, and closed without a sync, and then keeps what was appended.
 * 21. **Simultaneous calls do not disturb each other.** Only calls to the same `WritableFile` never overlap.
 * 22. **`createFolder` leaves an existing folder as it is; `removeFolder` removes an empty one**, and does nothing otherwise.
 *     A missing folder has no files: `open` and `identityOf` return undefined, and `list` returns an empty array, or fails with the
 *     `code` `ENOENT`.
 * 23. **`lostFolder` is a folder of its own**, into which `moveToLost` moves a file.
 * 24. **The lock has one holder** until it is released, whatever else is called. A refused attempt releases nobody's lock.
 * 25. **A pinned folder has the same files as the folder**, and the folder can be pinned again after `unpin`.
 * 26. **A file that has grown or was replaced has another `identity`**, unless the earlier one was not settled.
 * 27. **Another object for the same place sees every change at once**, in the same process or in another.
 * 28. **Synced bytes survive a power cut**, if the name of the file does.
 * 29. **Names survive a power cut once the folder has been synced**: creations, renames and deletions.
 * 30. **A rename has either happened or not happened** after a power cut.
 *
 * The database, in turn, syncs a file before it renames it, and the folder before it relies on a name.
 */
export interface WritableFolder extends Folder {
  list(signal?: Signal): readonly string[] | Promise<readonly string[]>;

  /**
   * Returns the same text for all objects for the same folder, whatever path they were given: for example, the absolute path without links. The
   * folder need not exist. A call that locks the folder waits for earlier calls of the same thread for the same place, or without this method for
   * those of the same `name`.
   */
  place?(): string;

  /** Creates the folder and its parents, unless they exist. Their names survive a power failure from then on. */
  createFolder(): void | Promise<void>;

  /** Removes the folder if it is empty. Does nothing where that is impossible. */
  removeFolder(): void | Promise<void>;

  /** Creates an empty file. A file of the same name is replaced, not emptied: others may have it open. */
  create(name: string): WritableFile | Promise<WritableFile>;

  /** Opens an existing file for appending; undefined when nothing must be appended to it, for example because it is a link. */
  openForAppend(name: string): WritableFile | undefined | Promise<WritableFile | undefined>;

  /** Renames a file. It replaces a file of the new name atomically. */
  rename(from: string, to: string): void | Promise<void>;

  /** Deletes a file. Does nothing when it is missing. */
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
   * Excludes all other writers to the folder, in this process and in others. Omit it where that is impossible: a database can then be opened
   * with `lock: 'none'` only.
   *
   * @throws DatabaseError `BLOOM_LOCKED` when another program holds the lock, `BLOOM_NO_LOCK` when the host has no locks for the folder.
   */
  lock?(): FolderLock | Promise<FolderLock>;

  /**
   * The folder as it is now, for as long as one database is open; called once it is locked. Its operations fail with a `FolderError`
   * `BLOOM_FOLDER_CHANGED` after the folder was deleted, or another folder took its place. Omit it where neither can happen.
   */
  pin?(): PinnedFolder | Promise<PinnedFolder>;

  /**
   * Starts a thread that writes tables into the folder, which keeps the event loop free. Omit it, or return undefined, where there are no
   * threads: tables are then written in short time slices, and this method is called again for the next large table.
   *
   * @param byteLength the size of the work for which the thread is to be started.
   */
  startTableThread?(settings: TableThreadSettings, byteLength?: number): TableThread | undefined;
}

/** A folder that fails once another folder has taken its place: see {@link WritableFolder.pin}. */
export interface PinnedFolder extends WritableFolder {
  /** Ends the use of the folder. */
  unpin(): void | Promise<void>;
}

export function missingFile(problem: string): Error {
  return Object.assign(new Error(`ENOENT: ${problem}`), { code: 'ENOENT' });
}

/** Whether `error` reports a missing file or folder. */
export function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === 'ENOENT';
}

/** The names in a folder; none if it does not exist. */
export async function namesIn(folder: WritableFolder): Promise<readonly string[]> {
  try {
    return await folder.list();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The methods that every {@link WritableFolder} has. */
const METHODS = ['list', 'open', 'create', 'openForAppend', 'rename', 'delete', 'syncFolder', 'createFolder', 'removeFolder', 'lostFolder', 'moveToLost'];

/** @throws TypeError unless `folder` has the methods of a folder that can be written to. */
export function mustBeWritable(folder: unknown): asserts folder is WritableFolder {
  mustHaveMethods('folder', folder, 'a folder that can be written to', METHODS);
}
