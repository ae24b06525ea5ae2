/**
 * Why a database cannot be opened for writing, or is no longer written. The codes are stable.
 *
 * - `BLOOM_DATABASE_MISSING`: there is no database in the folder, and `createIfMissing` is false; or there is no folder to
 *   repair.
 * - `BLOOM_DATABASE_EXISTS`: there is one, and `errorIfExists` is true.
 * - `BLOOM_LOCKED`: it is already open for writing, in this process or in another.
 * - `BLOOM_NO_LOCK`: the folder cannot be locked. Do what the message says: for example, install the package that it names, or make sure that
 *   no other program writes to the folder and pass `lock: 'none'`.
 * - `BLOOM_NO_ROOM`: the sequences or the file numbers of the database are used up, or its tables need too large a MANIFEST, so the write or the
 *   opening was refused; other databases are not affected.
 *   A batch with fewer operations may still fit. The database can still be read, and copied to a new one.
 * - `BLOOM_NOT_A_FOLDER`: `lost`, into which files are moved, is a link or a file. Rename it.
 * - `BLOOM_NOT_LOADED`: code that is loaded on demand could not be: a page is offline, or its site was replaced. Try again, or load the page again.
 * - `BLOOM_WRITING_ENDED`: nothing more is written, for the reason in `cause`: a write to the folder failed, a table that is merged is damaged,
 *   a comparator, a policy or a codec threw, or level 0 is full and cannot be merged because a codec is missing. The database can still be
 *   read. Close it and open it again.
 */
export type DatabaseErrorCode =
  | 'BLOOM_DATABASE_MISSING'
  | 'BLOOM_DATABASE_EXISTS'
  | 'BLOOM_LOCKED'
  | 'BLOOM_NO_LOCK'
  | 'BLOOM_NO_ROOM'
  | 'BLOOM_NOT_A_FOLDER'
  | 'BLOOM_NOT_LOADED'
  | 'BLOOM_WRITING_ENDED';

/** Who holds the lock of a folder: this thread, a thread of this process, which may be this one, or another process. */
export type LockHolder = 'this thread' | 'this process' | 'another process';

/** A database cannot be opened for writing, or is no longer written; its bytes are sound. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;
  /** For `BLOOM_LOCKED`: who holds the lock; undefined if the host does not report it. */
  readonly heldBy: LockHolder | undefined;

  constructor(code: DatabaseErrorCode, problem: string, options?: { readonly cause?: unknown; readonly heldBy?: LockHolder | undefined }) {
    super(problem, options);
    this.code = code;
    this.heldBy = options?.heldBy;
  }
}
