import { fstatSync, statSync } from 'node:fs';
import { CorruptionError, SyncTable, type TableOptions } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { SyncDatabaseTable } from '@bloom/sstable/database';
import { SyncFileSource } from '@bloom/sstable/node';
import type { Command } from 'commander';
import { Failure, failureOf } from './failure.js';
import { keyFormOf } from './key-form.js';
import { note } from './output.js';
import { isSameFile } from './same-file.js';

/** What the command line says of a table's keys; undefined where that is to be seen from the keys. */
export interface KeyFormOptions {
  readonly internal?: boolean;
}

/** Adds the options with which to insist on what the keys of a table are. */
export function addKeyFormOptions(command: Command): Command {
  return command
    .option('--internal', "the table is a database's: its keys are user keys with sequence and type")
    .option('--no-internal', 'the keys are plain ones, whatever they look like')
    .addHelpText(
      'after',
      `
Whether a table is a LevelDB database's is seen from its keys, and said on
standard error; --internal and --no-internal insist.`,
    );
}

/** A table that a command reads. */
export interface TableFile {
  readonly path: string;
  readonly source: SyncFileSource;
  /** Whether its keys are to be read as those of a database: because they look like it, or somebody insists. */
  readonly isInternal: boolean;
  /** Whether its keys are in the order of their bytes, as far as it was looked at. */
  readonly isBytewise: boolean;
  /** Whether keys can be looked up by order and filters. Where they cannot, all of the table has to be gone through. */
  readonly isSearchable: boolean;
}

interface OpeningOptions extends KeyFormOptions {
  /** How far into the file to search for keys where index and footer lead to none. Default: not at all. */
  readonly searchBytes?: number;
}

/**
 * Opens the table that the command line names, does `work` with it, and closes it. What goes wrong with it is told with
 * its name.
 */
export async function withTableFile<T>(
  path: string,
  { internal, searchBytes = 0 }: OpeningOptions,
  work: (file: TableFile) => T | Promise<T>,
): Promise<T> {
  let isInternal = internal;
  try {
    mustBeReadable(path);
    const source = SyncFileSource.open(path);
    try {
      const keyForm = await keyFormOf(source, searchBytes);
      isInternal ??= keyForm.isInternal;
      if (internal === true && keyForm.isPlain) {
        throw new Failure(`${path}: its keys are plain ones, without sequence and type: leave --internal out`);
      }
      if (internal === true && !keyForm.isInternal) {
        note(`${path}: its keys do not all look like a database's; --internal reads them as such`);
      }
      const { isBytewise, passesFilters } = isInternal ? keyForm.internal : keyForm.plain;
      // Whoever insists that they are plain has them in the order of a database all the same.
      const isSearchable = isBytewise && passesFilters && (isInternal || !keyForm.isInternal);
      return await work({ path, source, isInternal, isBytewise, isSearchable });
    } finally {
      source.close();
    }
  } catch (error) {
    const failure = failureOf(path, error);
    const wasWrong = internal === undefined && isInternal && isBadInternalKey(error) && failure instanceof Failure;
    throw wasWrong ? new Failure(`${failure.message}; --no-internal reads them as they are stored`, { cause: error }) : failure;
  }
}

/** Opens a file that is not a table, does `work` with it, and closes it. What goes wrong with it is told with its name. */
export async function withFile<T>(path: string, work: (source: SyncFileSource) => T | Promise<T>): Promise<T> {
  try {
    mustBeReadable(path);
    const source = SyncFileSource.open(path);
    try {
      return await work(source);
    } finally {
      source.close();
    }
  } catch (error) {
    throw failureOf(path, error);
  }
}

/** Opens a table, whatever it is compressed with. */
export function openTable({ source }: TableFile, options: TableOptions = {}): SyncTable {
  return SyncTable.open(source, { codecs: allCodecs, ...options });
}

/** Opens a table of a database, whatever it is compressed with. */
export function openDatabaseTable({ source }: TableFile, options: TableOptions = {}): SyncDatabaseTable {
  return SyncDatabaseTable.open(source, { codecs: allCodecs, ...options });
}

/** Says that a table is read as a database's although nobody said that it is one. */
export function noteAssumption({ path, isInternal }: TableFile, { internal }: KeyFormOptions): void {
  if (!isInternal || internal !== undefined) return;
  note(`${path}: read as a database's table, which its keys look like; --no-internal reads them as they are stored`);
}

/** A table is read at any place, not from its start to its end: files can do that. */
function mustBeReadable(path: string): void {
  if (path === '') throw new Failure('the name of the table is empty');
  if (path === '-') {
    throw new Failure('-: a table cannot be read from standard input: name a file (./- for one with this name)');
  }
  const found = statSync(path, { bigint: true });
  if (found.isDirectory()) throw new Failure(`${path}: is a folder`);
  if (!found.isFile()) throw new Failure(`${path}: is not a file, and a table is read at any place in it: copy it to a file first`);
  if (isSameFile(found, fstatSync(1, { bigint: true }))) {
    throw new Failure(`${path}: is standard output too, which would be written over it`);
  }
}

function isBadInternalKey(error: unknown): boolean {
  return error instanceof CorruptionError && error.code === 'BLOOM_BAD_INTERNAL_KEY';
}
