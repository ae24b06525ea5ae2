import { accessSync, type BigIntStats, constants, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, sep } from 'node:path';
import { Failure, failureOf, isSystemError, mustBeWrittenHere } from '../failure.js';
import { isSameFile } from './same-file.js';

/**
 * Checks before long work that the output can be written.
 *
 * @param input undefined if it is not a file.
 * @throws Failure if the output cannot be written, or would overwrite the input.
 */
export function mustBeWritable(output: string, input: BigIntStats | undefined): void {
  if (output === '') throw new Failure('the name of the table to write is empty');
  if (output === '-') {
    throw new Failure(
      '-: a table cannot be written to standard output, because it gets its name only when it is complete: pass a file name (./- for a file named -)',
    );
  }
  if (basename(output) === '' || output.endsWith('/')) throw new Failure(`${output}: names a folder, not a file`);
  mustBeWrittenHere(output);
  let existing: BigIntStats | undefined;
  try {
    accessSync(dirname(output), constants.W_OK);
    existing = statSync(output, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw writingFailure(output, error);
  }
  if (existing === undefined) return;
  if (existing.isDirectory()) throw new Failure(`${output}: is a folder`);
  if (!existing.isFile()) throw new Failure(`${output}: is not a regular file, so it cannot be replaced by a table`);
  if (input !== undefined && isSameFile(existing, input)) throw new Failure(`${output}: is also the input: choose another file`);
}

/**
 * Checks before long work that a command with --max-table-size can write its numbered tables and their list.
 *
 * @param name the name of the input.
 * @throws Failure as {@link mustBeWritable}.
 */
export function mustBeWritableTables(output: string, name: string, input: BigIntStats): void {
  mustBeWritable(output, input);
  mustBeWritable(listName(output), input);
  const extension = extname(output);
  const stem = basename(output, extension);
  const given = basename(name);
  if (!(given.startsWith(stem) && given.endsWith(extension) && /^-\d{6,}$/.test(given.slice(stem.length, given.length - extension.length)))) return;
  const existing = statSync(join(dirname(output), given), { bigint: true, throwIfNoEntry: false });
  if (existing === undefined || !isSameFile(existing, input)) return;
  throw new Failure(`${name}: could be overwritten by one of the numbered tables ${join(dirname(output), `${stem}-…${extension}`)}: choose another output`);
}

/** Turns an error about writing a table into a failure. */
export function writingFailure(output: string, error: unknown): unknown {
  if (isSystemError(error) && error.code === 'ENOENT') return new Failure(`${output}: no such folder`, { cause: error });
  return failureOf(output, error);
}

/** `words.list` for the output `words.ldb`. */
export function listName(path: string): string {
  return join(dirname(path), `${basename(path, extname(path))}.list`);
}

/** @throws Failure when the new table would be a file of the folder. */
export function mustBeOutside(path: string, output: string): void {
  const [folder, target] = [realpathSync(path), realpathSync(dirname(output))];
  if (target === folder || target.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) {
    throw new Failure(`${output}: is inside ${path}, which must not change: choose a file elsewhere`);
  }
}
