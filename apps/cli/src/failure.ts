import { existsSync } from 'node:fs';
import { bucketProblem, httpProblem, isHttpError } from './http-problem.js';
import { withoutAdvice } from './library-advice.js';
import { CorruptionError, UnsupportedError } from '@bloom/sstable';
import type { Finding } from '@bloom/sstable/inspect';

/** Ends the program with one line on standard error. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Turns an error about `file` into a failure with a line to show. Returns other errors unchanged. */
export function failureOf(file: string, error: unknown): unknown {
  if (error instanceof CorruptionError || error instanceof UnsupportedError) {
    return new Failure(`${file}: ${placedProblem(error)}`, { cause: error });
  }
  if (isHttpError(error)) return new Failure(`${file}: ${/^s3:/i.test(file) ? bucketProblem(error) : httpProblem(error)}`, { cause: error });
  if (isSystemError(error)) {
    if (error.code === 'ENOENT' && isUrl(file)) return new Failure(urlProblem(file), { cause: error });
    const problem = error.code === 'ENOTDIR' && existsSync(file) ? 'is a file, not a folder' : systemProblem(error);
    return new Failure(`${file}: ${problem}`, { cause: error });
  }
  return error;
}

/** Whether a path is a URL, which some arguments cannot be. */
export function isUrl(path: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(path);
}

/** A URL in messages. Secrets in it are left out. */
export function shownUrl(url: string): string {
  return url.replace(/(?<=^[^/]*:\/\/)[^/?#]*@|[?#].*$/gs, '');
}

/** The problem of a URL that is given instead of a file. Secrets in the URL are left out. */
export function urlProblem(url: string): string {
  const shown = shownUrl(url);
  if (/^https?:/i.test(url)) return `${shown}: is a URL where a file or a folder of this computer is needed: download it and pass the copy`;
  if (/^s3:/i.test(url)) return `${shown}: is an s3:// address where a file or a folder of this computer is needed: download it and pass the copy`;
  return `${shown}: is not a URL that can be read: use http:// or https://`;
}

/** @throws Failure for a URL as an output: the system would create local folders from it. */
export function mustBeWrittenHere(path: string): void {
  if (isUrl(path)) throw new Failure(`${shownUrl(path)}: is a URL where a local path is needed`);
}

/** A problem and its place in a file, without the name of the file. */
export function placedProblem({ structure, offset, problem: given }: Pick<Finding, 'structure' | 'offset' | 'problem'>): string {
  const problem = withoutAdvice(given);
  if (structure === 'file' || structure === 'folder' || structure === 'MANIFEST') return problem;
  return structure === 'CURRENT' ? `CURRENT: ${problem}` : `${structure} at offset ${offset}: ${problem}`;
}

/** `5 bytes at offset 48207`: no separators in either, since offsets are copied into other programs. */
export function placedBytes(byteLength: number, offset: number): string {
  return `${byteLength} ${byteLength === 1 ? 'byte' : 'bytes'} at offset ${offset}`;
}

const SYSTEM_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'is a folder',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is too large',
  EMFILE: 'too many open files: ulimit -n shows the limit',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EIO: 'the device failed',
  ERR_FS_FILE_TOO_LARGE: 'is too large to be read into memory',
  ERR_STRING_TOO_LONG: 'is too large to be read as text',
  ENXIO: 'no such device, or no program on the other end',
  EBUSY: 'in use by another program',
  EADDRINUSE: 'in use by another program',
};

/** The problem that an error of the operating system reports. A code that is not listed above has the description in Node's message: `EFOO: description, open 'path'`. */
export function systemProblem({ code, message, syscall }: NodeJS.ErrnoException & { readonly code: string }): string {
  if (Object.hasOwn(SYSTEM_PROBLEMS, code)) return SYSTEM_PROBLEMS[code]!;
  const end = syscall === undefined ? -1 : message.indexOf(`, ${syscall}`);
  return end < 0 ? message : `${message.slice(`${code}: `.length, end)} (${code})`;
}

/** Whether the error is one of the operating system: a missing file, or a full disk, for example. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return false;
  return 'syscall' in error || error.code in SYSTEM_PROBLEMS;
}
