import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Failure, failureOf } from '../failure.js';
import { mustBeOutside } from './writable-output.js';

/**
 * Creates a folder completely or not at all: `fill` writes to a temporary folder next to it, which is then renamed.
 *
 * @param inputs the folders that are read, which must not change.
 * @throws Failure when the folder exists, would be inside an input, or cannot be created; errors of `fill`.
 */
export async function makeFolder<T>(target: string, inputs: readonly string[], signal: AbortSignal, fill: (temporary: string) => Promise<T>): Promise<T> {
  if (target === '') throw new Failure('the name of the new folder is empty');
  const place = resolve(target);
  if (existsSync(place)) throw new Failure(`${target}: already exists: choose a new folder`);
  const temporary = join(dirname(place), `.${basename(place).slice(0, 24)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    // An input that is gone or cannot be reached cannot contain the new folder.
    for (const input of inputs) if (existsSync(input)) mustBeOutside(input, target, 'folder');
    mkdirSync(temporary);
  } catch (error) {
    throw failureOf(target, error);
  }
  try {
    const result = await fill(temporary);
    signal.throwIfAborted();
    if (existsSync(place)) throw new Failure(`${target}: another program created it in the meantime`);
    renameSync(temporary, place);
    return result;
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
}
