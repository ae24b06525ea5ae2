/** Where the files of a database are. */
import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeBytes, mustHaveMethods } from '@bloom/bytes/internal';
import type { FileIdentity, Source, SyncSource } from '@bloom/sstable';

/** A file of a folder, opened for reading. It has the length that it had when it was opened, even if it grows. */
export interface FolderFile extends Source {
  /**
   * The synchronous `read`, if `read` returns a promise and the host can read synchronously.
   *
   * @param into memory of `length` bytes. The file may read into it and return it, or return other memory.
   */
  readonly readSync?: ((offset: number, length: number, into?: Bytes) => Uint8Array) | undefined;
  /** Whether the file was written to since it was opened, if the host can tell synchronously. Called after each read of a table. */
  hasChanged?(): boolean;
  /** Called when the file is no longer read. */
  close?(): void | Promise<void>;
}

/** A file of a {@link SyncFolder}. */
export interface SyncFolderFile extends SyncSource {
  /** See {@link FolderFile}. */
  hasChanged?(): boolean;
  /** See {@link FolderFile}. */
  close?(): void;
}

/**
 * A folder that is read. Nothing in it is ever changed.
 *
 * ## The laws
 *
 * `readFolderLaws` of `@bloom/leveldb/contract` checks them, under the same numbers.
 *
 * 1. **A file has the length that it reports, and can be read in pieces** at any offset. A range past its end fails, or returns the bytes that
 * the file has of it.
 * 2. **Bytes that were read never change.** They may be views of the folder's own memory: a reader does not write to them.
 * 3. **Opening a missing file gives undefined, not an error**, and so does a name that is not a plain file name, such as `../CURRENT`:
 *    CURRENT may be damaged, and the reader opens the file that it names.
 * 4. **The list has the name of each file once.**
 * 5. **Closing a file closes only that file**, not others that were opened under the same name. Closing it again does nothing.
 * 6. **Simultaneous reads do not disturb each other**, in one file and in several.
 * 7. **Synchronous reads return the same bytes**: `readSync`, `readAtOnce`, `openSync` and `readInto`, if they exist.
 * 8. **`identityOf`, if it exists, returns the identity of the file that `open` returns.**
 */
export interface Folder {
  /** Names the folder in errors. */
  readonly name?: string | undefined;
  /**
   * Whether opening a file takes a round trip, as over HTTP. If so, a reader opens tables when they are first needed, unless its option
   * `openTables` says otherwise.
   */
  readonly isRemote?: boolean | undefined;
  /**
   * Whether only CURRENT is ever replaced: there are no logs, every other file was written once and completely before CURRENT led to it, and
   * its name is never used again. `@bloom/bulk` publishes databases in this way. A reader then does not look for logs, reads a MANIFEST once,
   * keeps its tables open when CURRENT names another MANIFEST, and calls neither `list` nor `identityOf`. If a MANIFEST's number is derived
   * from its SHA-256, as `@bloom/bulk` numbers them, the reader rejects other bytes, and tables whose keys differ from those that the MANIFEST
   * lists.
   */
  readonly isPublished?: boolean | undefined;

  /**
   * The names of the files, in any order. Omitted where a folder cannot be listed, as on a web server: logs are then found by their numbers.
   */
  list?(signal?: Signal): readonly string[] | Promise<readonly string[]>;

  /**
   * Opens a file; undefined when there is no file of that name, or the name is not a plain file name.
   *
   * Reads return the bytes that the file had when it was opened. If they are no longer available because the file was changed, the read fails
   * with a {@link FolderError} `BLOOM_FOLDER_CHANGED`.
   */
  open(name: string, signal?: Signal): FolderFile | undefined | Promise<FolderFile | undefined>;

  /**
   * The identity of a file, without opening it; undefined when there is no file of that name. If a folder has this method, each `refresh`
   * checks whether the tables are still the same files. It must agree with the `identity` of the file that `open` returns.
   */
  identityOf?(name: string, signal?: Signal): FileIdentity | undefined | Promise<FileIdentity | undefined>;

  /** The synchronous `open`, if `open` returns a promise and the host can open files synchronously: for `Database.getSync`. */
  openSync?(name: string): SyncFolderFile | undefined;
}

/** A folder whose methods are synchronous. */
export interface SyncFolder extends Folder {
  list(): readonly string[];
  open(name: string): SyncFolderFile | undefined;
  identityOf?(name: string): FileIdentity | undefined;
}

/** @throws TypeError unless `folder` has the methods of a folder. */
export function mustBeFolder(folder: unknown, methods: readonly string[] = ['open']): void {
  mustHaveMethods('folder', folder, 'a folder, such as a NodeFolder', methods);
}

/**
 * Why a folder cannot be read or written although its bytes are sound: another process writes to it, or it is full. The codes are stable.
 *
 * - `BLOOM_FOLDER_BUSY`: the folder changed each time that it was read. Try again when the writer is less busy, or allow
 *   more `maxRestarts`.
 * - `BLOOM_FOLDER_CHANGED`: a file that is being read was deleted or replaced. Call `refresh`.
 * - `BLOOM_FOLDER_FULL`: nothing more can be written, because the quota of the origin, or the disk, is used up. Everything written before is
 *   intact. Free some space, close the database and open it again.
 */
export type FolderErrorCode = 'BLOOM_FOLDER_BUSY' | 'BLOOM_FOLDER_CHANGED' | 'BLOOM_FOLDER_FULL';

/** The folder was changed while it was read, or is full; its bytes are sound. */
export class FolderError extends Error {
  override readonly name = 'FolderError';
  readonly code: FolderErrorCode;
  /** The file in question, if there is one. */
  readonly file: string | undefined;

  constructor(code: FolderErrorCode, problem: string, options: { readonly cause?: unknown; readonly file?: string } = {}) {
    super(problem, options);
    this.code = code;
    this.file = options.file;
  }
}

/** Whether two files of one name are the same file in the same state, as far as the host can tell at one moment. */
export function isSameState(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && Object.is(a.file, b.file) && Object.is(a.state, b.state);
}

/** Whether two files of one name hold the same bytes. @param before the one that was opened first. */
export function holdsTheSame(before: FileIdentity | undefined, now: FileIdentity | undefined): boolean {
  return before?.isSettled === true && isSameState(before, now);
}

/** Whether `name` is the name of a file within a folder, and leads nowhere else. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/** @throws RangeError for a name that is not the name of a file within a folder. */
export function mustBePlainName(name: string): void {
  if (!isPlainName(name)) throw new RangeError(`name must be the name of a file within the folder, got ${JSON.stringify(name)}`);
}

/** The source as a synchronous one. If it returns a promise nevertheless, reading it fails. */
export function withoutPromises(source: FolderFile): SyncSource {
  if (source.readSync === undefined) return source as SyncSource;
  return {
    byteLength: source.byteLength,
    name: source.name,
    read: (offset, length) => source.readSync!(offset, length),
    readInto(offset, into: Bytes) {
      const bytes = source.readSync!(offset, into.length, into);
      mustBeBytes('the result of readSync', bytes);
      if (bytes !== into) into.set(bytes.subarray(0, into.length));
      return bytes.length;
    },
  };
}
