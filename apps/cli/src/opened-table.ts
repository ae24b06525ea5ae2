import { fstatSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { CorruptionError, SyncTable, type TableOptions } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { SyncDatabaseTable } from '@bloom/sstable/database';
import { SyncFileSource } from '@bloom/sstable/node';
import type { Command } from 'commander';
import { Failure, failureOf } from './failure.js';
import { keyFormOf, undamaged } from './key-form.js';
import { note } from './output.js';
import { isSameFile } from './same-file.js';

/** The options about a table's keys; undefined if it is up to the keys themselves. */
export interface KeyFormOptions {
  readonly internal?: boolean;
}

/** Adds the options that override what the keys of a table look like. */
export function addKeyFormOptions(command: Command): Command {
  // Commander's conflicts() cannot tell the two apart, because both set the same property.
  const given = new Set<string>();
  for (const flag of ['internal', 'no-internal']) {
    command.on(`option:${flag}`, () => {
      given.add(flag);
      if (given.size > 1) command.error("error: option '--internal' cannot be used with option '--no-internal'");
    });
  }
  return command
    .option('--internal', "read the table as a database's: its keys are user keys with sequence and type")
    .option('--no-internal', 'read the keys as plain keys, whatever they look like')
    .addHelpText(
      'after',
      `
Whether a table belongs to a LevelDB database is detected from its keys, and
reported on standard error; --internal and --no-internal override it.`,
    );
}

/** A table that a command reads. */
export interface TableFile {
  readonly path: string;
  readonly source: SyncFileSource;
  /** The table with plain keys; undefined when it cannot be opened. */
  readonly table: SyncTable | undefined;
  /** Whether to read its keys as internal keys, because they look like it or because of the option. */
  readonly isInternal: boolean;
  /** Whether the sampled keys are in bytewise order. */
  readonly isBytewise: boolean;
  /** Whether keys can be looked up by order and filters. Otherwise the whole table has to be read. */
  readonly isSearchable: boolean;
}

/** Tables are opened whatever they are compressed with, and without a cache, as commands read few blocks more than once. */
const OPENING = { codecs: allCodecs, cache: null } as const;

interface OpeningOptions extends KeyFormOptions {
  /** How far into the file to search for keys if footer and index do not lead to any. Default: not at all. */
  readonly searchBytes?: number;
}

/**
 * Opens the table that the command line names, does `work` with it, and closes it. Failures name the table.
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
      const table = undamaged(() => SyncTable.open(source, OPENING));
      if (table === undefined) await mustNotBeOtherFile(path);
      const keyForm = await keyFormOf(source, table, searchBytes);
      isInternal ??= keyForm.isInternal;
      if (internal === true && keyForm.isPlain) {
        throw new Failure(`${path}: its keys are plain keys, without sequence and type: omit --internal`);
      }
      if (internal === true && !keyForm.isInternal) {
        note(`${path}: not all of its keys look like a database's, but --internal reads them as such`);
      }
      const { isBytewise, passesFilters } = isInternal ? keyForm.internal : keyForm.plain;
      // Internal keys that are read as plain keys because of the option are still in the order of the database.
      const isSearchable = isBytewise && passesFilters && (isInternal || !keyForm.isInternal);
      return await work({ path, source, table, isInternal, isBytewise, isSearchable });
    } finally {
      source.close();
    }
  } catch (error) {
    const failure = failureOf(path, error);
    if (!(failure instanceof Failure && error instanceof CorruptionError)) throw failure;
    throw new Failure(`${failure.message}; ${adviceFor(error, isInternal === true)}`, { cause: error });
  }
}

/** Opens a file that is not a table, does `work` with it, and closes it. Failures name the file. */
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

/** The table with plain keys. It is opened again only when there are options for it, or when it could not be opened: that throws why. */
export function openTable({ source, table }: TableFile, options?: TableOptions): SyncTable {
  return options === undefined && table !== undefined ? table : SyncTable.open(source, { ...OPENING, ...options });
}

/** Opens a table of a database, whatever it is compressed with. */
export function openDatabaseTable({ source }: TableFile, options: TableOptions = {}): SyncDatabaseTable {
  return SyncDatabaseTable.open(source, { codecs: allCodecs, ...options });
}

/** Reports that a table is read as a database's because its keys look like it. */
export function noteAssumption({ path, isInternal }: TableFile, { internal }: KeyFormOptions): void {
  if (!isInternal || internal !== undefined) return;
  note(`${path}: its keys look like a database's, and are read as such; --no-internal reads them as stored`);
}

/** Tables need random access, so they must be regular files. */
function mustBeReadable(path: string): void {
  if (path === '') throw new Failure('the name of the table is empty');
  if (path === '-') {
    throw new Failure('-: a table cannot be read from standard input: name a file (./- for one with this name)');
  }
  const found = statSync(path, { bigint: true });
  if (found.isDirectory()) throw new Failure(`${path}: is a folder`);
  if (!found.isFile()) throw new Failure(`${path}: is not a regular file, but tables need random access: copy it to a file first`);
  if (isSameFile(found, fstatSync(1, { bigint: true }))) {
    throw new Failure(`${path}: is also standard output, which would overwrite it`);
  }
}

/** What can be done about a damaged table. */
function adviceFor({ code }: CorruptionError, isInternal: boolean): string {
  if (isInternal && code === 'BLOOM_BAD_INTERNAL_KEY') return '--no-internal reads them as stored';
  return code === 'BLOOM_NOT_A_TABLE' ? 'if it is a part of one, bloom salvage copies what can still be read' : 'bloom salvage copies what can still be read';
}

const OTHER_FILES: Readonly<Record<string, string>> = {
  log: 'a log of write batches: bloom layout prints its records; name the folder to read its entries',
  manifest: 'a MANIFEST: bloom layout prints its records; name the folder to read the database',
  current: 'CURRENT, which names the MANIFEST: name the folder to read the database',
};

/** @throws Failure when a file that cannot be opened as a table has the name of another file of a database. */
async function mustNotBeOtherFile(path: string): Promise<void> {
  // Loaded only here, as most runs of `bloom` for a table do not need it.
  const { parseFileName } = await import('./database-file.js');
  const other = OTHER_FILES[parseFileName(basename(path))?.type ?? ''];
  if (other !== undefined) throw new Failure(`${path}: not a LevelDB table, but by its name ${other}`);
}
