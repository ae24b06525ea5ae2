import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { Failure } from '../failure.js';
import type { KeyFormOptions } from './opened-table.js';
import { note } from '../outputs/output.js';

/** The option about damage in a folder. */
export interface DamageOptions {
  readonly damage?: 'strict' | 'skip' | undefined;
}

/** Adds the option about damage in a folder. */
export function addDamageOption(command: Command): Command {
  return command.addOption(
    new Option('--damage <how>', 'what to do about damage in a folder: strict stops with an error, and skip reads the rest (default: strict)').choices(['strict', 'skip']),
  );
}

/** Whether the path is a folder, which is then opened as a database. */
export function isFolder(path: string): boolean {
  try {
    return path !== '' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // The error is reported when the path is opened as a file.
    return false;
  }
}

/** @throws Failure for --internal and --no-internal, which only apply to tables. */
export function mustNotInsist(path: string, { internal }: KeyFormOptions, kind: 'folder' | 'log' | 'database' | 'published database' = 'folder'): void {
  if (internal === undefined) return;
  throw new Failure(`${path}: is a ${kind}, whose keys are always user keys: omit ${internal ? '--internal' : '--no-internal'}`);
}

/** @throws Failure for an option that only applies to folders, if the path is not a folder. */
export function mustBeForFolder(path: string, option: string, value: unknown): void {
  if (value === undefined) return;
  throw new Failure(`${path}: is not a folder: ${option} is for folders`);
}

/** Warns if a table is part of a database by its name and folder: newer versions of its keys may be elsewhere. */
export function noteDatabase(path: string): void {
  const folder = dirname(path);
  if (!/^\d+\.(?:ldb|sst)$/.test(basename(path)) || !existsSync(join(folder, 'CURRENT'))) return;
  note(`${path}: is one file of the database in ${folder}: newer versions of its keys may be in other files; pass the folder to read all of them`);
}
