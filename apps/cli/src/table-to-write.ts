import { accessSync, type BigIntStats, constants, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure, failureOf, isSystemError } from './failure.js';
import { isSameFile } from './same-file.js';

/** Says before long work what would fail or do harm at its end. @throws Failure when no table should be written there. */
export function mustBeWritable(output: string, input: BigIntStats): void {
  if (output === '') throw new Failure('the name of the table to write is empty');
  if (output === '-') {
    throw new Failure(
      '-: a table takes its name once all of it is on disk, so it cannot go to standard output: name a file (./- for one with this name)',
    );
  }
  if (basename(output) === '' || output.endsWith('/')) throw new Failure(`${output}: names a folder, not a file`);
  let existing: BigIntStats | undefined;
  try {
    accessSync(dirname(output), constants.W_OK);
    existing = statSync(output, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw writingFailure(output, error);
  }
  if (existing === undefined) return;
  if (existing.isDirectory()) throw new Failure(`${output}: is a folder`);
  if (!existing.isFile()) throw new Failure(`${output}: is not a file that a table can take the place of`);
  if (isSameFile(existing, input)) throw new Failure(`${output}: is the input too: name another file`);
}

/** What goes wrong where a table is written. */
export function writingFailure(output: string, error: unknown): unknown {
  if (isSystemError(error) && error.code === 'ENOENT') return new Failure(`${output}: no such folder`, { cause: error });
  return failureOf(output, error);
}
