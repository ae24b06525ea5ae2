import { CorruptionError, UnsupportedError } from '@bloom/sstable';
import type { Finding } from '@bloom/sstable/inspect';

/** The exit codes of `bloom`. */
export const EXIT = {
  ok: 0,
  /** A key that was asked for is absent, or a table is damaged. */
  absent: 1,
  /** Bad input, a bad command line, or a file that cannot be read or written. */
  failure: 2,
} as const;

/** Ends the program with one line on standard error. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** What goes wrong with `file`, as a line to show. Errors of the program itself stay as they are. */
export function failureOf(file: string, error: unknown): unknown {
  if (error instanceof CorruptionError || error instanceof UnsupportedError) {
    return new Failure(`${file}: ${placedProblem(error)}`, { cause: error });
  }
  if (isSystemError(error)) {
    return new Failure(`${file}: ${SYSTEM_PROBLEMS[error.code] ?? error.message}`, { cause: error });
  }
  return error;
}

/** What is wrong in a table, and where, without the table's name. */
export function placedProblem({ structure, offset, problem }: Pick<Finding, 'structure' | 'offset' | 'problem'>): string {
  return structure === 'file' ? problem : `${structure} at offset ${offset}: ${problem}`;
}

const SYSTEM_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be too large',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EIO: 'the device failed',
};

/** Whether the system refused something: a file that is not there, a full disk. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return false;
  return 'syscall' in error || error.code in SYSTEM_PROBLEMS;
}
