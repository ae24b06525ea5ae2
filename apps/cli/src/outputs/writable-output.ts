import { accessSync, type BigIntStats, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { Failure, failureOf, isSystemError, mustBeWrittenHere } from '../failure.js';
import { isSameFile } from './same-file.js';

/**
 * Checks before long work that the output can be written.
 *
 * @param inputs undefined for one that is not a file.
 * @throws Failure if the output cannot be written, or would overwrite an input or a file of a database.
 */
export function mustBeWritable(output: string, ...inputs: readonly (BigIntStats | undefined)[]): void {
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
  if (inputs.some((input) => input !== undefined && isSameFile(existing, input))) throw new Failure(`${output}: is also the input: choose another file`);
  if (isFileOfDatabase(output)) throw new Failure(`${output}: is a file of a database, which would be damaged: choose a file elsewhere`);
}

// LevelDB's file names (db/filename.cc).
const DATABASE_FILE = /^(?:CURRENT|LOCK|MANIFEST-\d+|\d+\.(?:log|ldb|sst))$/;

/** Whether an existing file belongs to a database. */
function isFileOfDatabase(path: string): boolean {
  const real = realpathSync(path);
  const folder = dirname(real);
  return DATABASE_FILE.test(basename(real)) && existsSync(join(folder, 'CURRENT')) && readdirSync(folder).some((name) => /^MANIFEST-\d+$/.test(name));
}

/** An input of a command that writes tables. */
export interface KeptInput {
  /** Its name in messages. */
  readonly name: string;
  /** Undefined if it is not a file. */
  readonly stat: BigIntStats | undefined;
}

/**
 * Checks before long work that a command can write its table or, with --max-table-size, its numbered tables and their list.
 *
 * @throws Failure if a file cannot be written, or if an input would be overwritten.
 */
export function mustBeWritableTables(output: string, maxTableSize: number | undefined, inputs: readonly KeptInput[]): void {
  const stats = inputs.map(({ stat }) => stat);
  mustBeWritable(output, ...stats);
  if (maxTableSize === undefined) return;
  for (const path of numberedTables(output)) {
    const existing = statSync(path, { bigint: true, throwIfNoEntry: false });
    const input = inputs.find(({ stat }) => existing !== undefined && stat !== undefined && isSameFile(existing, stat));
    if (input === undefined) continue;
    const extension = extname(output);
    throw new Failure(`${input.name}: could be overwritten by one of the numbered tables ${join(dirname(output), `${basename(output, extension)}-…${extension}`)}: choose another output`);
  }
  mustBeWritable(listName(output), ...stats);
}

/** The existing files whose names are those of numbered tables. */
function numberedTables(output: string): string[] {
  const extension = extname(output);
  const start = `${basename(output, extension)}-`;
  const folder = dirname(output);
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith(start) && name.endsWith(extension) && /^\d{6,}$/.test(name.slice(start.length, name.length - extension.length)));
    return names.map((name) => join(folder, name));
  } catch (error) {
    throw writingFailure(output, error);
  }
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

/** @throws Failure when the new table, or the new folder, would be in the folder of the input. @param kind what the command makes. */
export function mustBeOutside(path: string, output: string, kind: 'file' | 'folder' = 'file'): void {
  const [folder, target] = [realpathSync(path), realpathSync(dirname(resolve(output)))];
  if (target === folder || target.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) {
    throw new Failure(`${output}: is inside ${path}, which must not change: choose a ${kind} elsewhere`);
  }
}
