import { CorruptionError, DatabaseError, FolderError } from '@bloom/leveldb';

/**
 * The codes of a level's errors in addition to those of abstract-level. They are stable, and are those of classic-level where it has them.
 *
 * - `LEVEL_LOCKED`: another process or another level has the folder open for writing.
 * - `LEVEL_CORRUPTION`: bytes of the database are not those that were written.
 * - `LEVEL_IO_ERROR`: the folder failed to read or to write.
 * - `LEVEL_NO_SPACE`: the quota of the origin, in a browser, is used up. Earlier writes are intact. Once there is space, the level can be
 *   written to again after one of the pages that use it has closed and opened it.
 * - `LEVEL_DATABASE_NOT_OPEN`: the database is closed, or `getSync` was called while it is opened again after a failed write.
 * - `LEVEL_ABORTED`: the signal of an iterator was aborted.
 * - `LEVEL_READONLY`: a write to a level that was opened with `readOnly`.
 * - `LEVEL_SNAPSHOT_LOST`: the page or thread that had the database open for this one ended, after writes that the iterator or snapshot does
 *   not include, or a page or thread opened it again after a write had failed.
 * - `LEVEL_NOT_SUPPORTED`: a level that was opened with `readOnly` does not have the method, or a level that was opened without it has no
 *   `refresh`; or a string does not name a folder on this host.
 */
export type LevelErrorCode =
  | 'LEVEL_LOCKED'
  | 'LEVEL_CORRUPTION'
  | 'LEVEL_IO_ERROR'
  | 'LEVEL_NO_SPACE'
  | 'LEVEL_DATABASE_NOT_OPEN'
  | 'LEVEL_ABORTED'
  | 'LEVEL_READONLY'
  | 'LEVEL_SNAPSHOT_LOST'
  | 'LEVEL_NOT_SUPPORTED';

/** An error with a code of abstract-level; its `cause` is the error of the folder or the database, if there is one. */
export class LevelError extends Error {
  readonly code: LevelErrorCode;

  constructor(code: LevelErrorCode, problem: string, options?: { readonly cause?: unknown }) {
    super(problem, options);
    this.name = code === 'LEVEL_ABORTED' ? 'AbortError' : 'LevelError';
    this.code = code;
  }
}

/** The error of a call that needs an open level. @param cause why it could not be opened; undefined if that was not tried, or it is closed. */
export function notOpen(cause: unknown, call?: string): LevelError {
  const problem = call === undefined ? 'Database is not open' : `Database is not open: cannot call ${call}`;
  return new LevelError('LEVEL_DATABASE_NOT_OPEN', problem, cause === undefined ? undefined : { cause });
}

/** The error of a synchronous call, which cannot wait, while a failed write makes a thread open the database again. */
export function openingAgain(): LevelError {
  return new LevelError('LEVEL_DATABASE_NOT_OPEN', 'Database is being opened again after a failed write: unlike other calls, getSync() and getProperty() cannot wait for it');
}

/** The error of a walk or snapshot whose state no longer exists. */
export function lost(): LevelError {
  const problem = 'this iterator or snapshot has ended, because the database was opened again after a write failed, or after the page or thread that had it open ended: create a new one';
  return new LevelError('LEVEL_SNAPSHOT_LOST', problem);
}

/** The error with classic-level's code for it. An error without such a code, such as a caller's mistake, is returned unchanged. */
export function levelErrorOf(error: unknown): unknown {
  const code = codeOf(error);
  return code === undefined ? error : new LevelError(code, (error as Error).message, { cause: error });
}

function codeOf(error: unknown): LevelErrorCode | undefined {
  if (error instanceof CorruptionError) return 'LEVEL_CORRUPTION';
  if (error instanceof FolderError) return error.code === 'BLOOM_FOLDER_FULL' ? 'LEVEL_NO_SPACE' : 'LEVEL_IO_ERROR';
  if (error instanceof DatabaseError) {
    switch (error.code) {
      case 'BLOOM_LOCKED':
        return 'LEVEL_LOCKED';
      case 'BLOOM_WRITING_ENDED':
        return codeOf(error.cause) ?? 'LEVEL_IO_ERROR';
      case 'BLOOM_NO_LOCK':
      case 'BLOOM_NOT_A_FOLDER':
      case 'BLOOM_NOT_LOADED':
        return 'LEVEL_IO_ERROR';
      default:
        return undefined;
    }
  }
  if (isBrowserError(error)) return error.name === 'QuotaExceededError' ? 'LEVEL_NO_SPACE' : 'LEVEL_IO_ERROR';
  // Node marks errors of the system in this way. In Jest, they are no instances of the program's `Error`.
  return typeof error === 'object' && error !== null && 'syscall' in error ? 'LEVEL_IO_ERROR' : undefined;
}

/** Whether a browser's storage failed. An abort was requested by the caller. */
function isBrowserError(error: unknown): error is Error {
  const { DOMException } = globalThis as unknown as { readonly DOMException?: new () => Error };
  return DOMException !== undefined && error instanceof DOMException && error.name !== 'AbortError';
}
