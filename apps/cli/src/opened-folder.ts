import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { type Dropped, FolderError, parseFileName, type ReaderOptions, SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy } from '@bloom/policy';
import { CorruptionError, UnsupportedError } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { Failure, failureOf } from './failure.js';
import type { KeyFormOptions } from './opened-table.js';
import { count, counted, note } from './output.js';

/** What the command line says of damage in a folder. */
export interface DamageOptions {
  readonly damage?: 'strict' | 'skip';
}

/** Adds the option that says what to do about damage in a folder. */
export function addDamageOption(command: Command): Command {
  return command.addOption(
    new Option('--damage <how>', 'of a folder: fail at damage, or read the rest (default: strict)').choices(['strict', 'skip']),
  );
}

/** The orders and filters that databases are known to have, for whoever looks at all of them. */
export const databaseOptions = {
  codecs: allCodecs,
  comparators: [idbComparator],
  filterPolicies: [new BloomFilterPolicy(), idbFilterPolicy],
};

/** Places of damage that are named, of each folder. */
const SHOWN_DROPS = 20;

/** Whether the command line names a folder, in which a database is looked for. */
export function isFolder(path: string): boolean {
  try {
    return path !== '' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // Opening it as a file says why it cannot be had.
    return false;
  }
}

/** Opens the database of a folder, does `work` with it, and closes it. What goes wrong with it is told with the file's name. */
export function withFolder<T>(
  path: string,
  options: DamageOptions,
  work: (database: SyncDatabaseReader) => T | Promise<T>,
): Promise<T> {
  return withFolderFailures(path, options, async () => {
    const database = openDatabase(path, { damage: options.damage });
    try {
      return await work(database);
    } finally {
      database.close();
    }
  });
}

/** Does `work` with the files of a folder. What goes wrong is told with the file's name. */
export async function withFolderFailures<T>(path: string, { damage = 'strict' }: DamageOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = folderFailure(path, error);
    const isSkippable = damage === 'strict' && failure instanceof Failure && canBeSkipped(error);
    throw isSkippable ? new Failure(`${failure.message}; --damage skip reads the rest`, { cause: error }) : failure;
  }
}

/** Opens the database of a folder, in the order that it names if that is a known one. */
export function openDatabase(path: string, options: ReaderOptions): SyncDatabaseReader {
  const folder = new SyncNodeFolder(path);
  try {
    return SyncDatabaseReader.open(folder, { codecs: allCodecs, ...options });
  } catch (error) {
    if (!(error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR')) throw error;
    return SyncDatabaseReader.open(folder, {
      codecs: allCodecs,
      comparators: [idbComparator],
      filterPolicies: [idbFilterPolicy],
      ...options,
    });
  }
}

/** What goes wrong with a folder or a file in it, as a line to show. Errors of the program itself stay as they are. */
export function folderFailure(path: string, error: unknown): unknown {
  if (error instanceof FolderError) {
    const problem = error.code === 'BLOOM_FOLDER_BUSY' ? 'another program changes the folder all the time' : 'it was changed while it was read';
    return new Failure(`${fileIn(path, error.file)}: ${problem}: try again`, { cause: error });
  }
  return failureOf(isPlaced(error) ? fileIn(path, error.file) : path, error);
}

/** The path of a file in a folder, or of the folder itself. Errors have the one or the other, or a file's name alone. */
function fileIn(path: string, file: string | undefined): string {
  return file === undefined || file === path ? path : join(path, basename(file));
}

function isPlaced(error: unknown): error is CorruptionError | UnsupportedError {
  return error instanceof CorruptionError || error instanceof UnsupportedError;
}

/** Whether the rest of the database can be read without what is damaged: not without its MANIFEST. */
function canBeSkipped(error: unknown): boolean {
  if (!(error instanceof CorruptionError) || error.code === 'BLOOM_TOO_LARGE') return false;
  const type = parseFileName(basename(error.file ?? ''))?.type;
  return type === 'log' || type === 'table';
}

/** Says on standard error what was left out of a folder. */
export function noteDropped(path: string, dropped: readonly Dropped[]): void {
  for (const drop of dropped.slice(0, SHOWN_DROPS)) note(`${fileIn(path, drop.file)}: ${droppedText(drop)}`);
  if (dropped.length > SHOWN_DROPS) note(`${path}: ${count(dropped.length - SHOWN_DROPS)} more places were left out`);
}

/** What was left out of a file, without the file's name. */
export function droppedText({ offset, byteLength, reason }: Dropped): string {
  const bytes = byteLength === undefined ? '' : `${counted(byteLength, 'byte')} `;
  return `left out ${bytes}at offset ${offset}: ${reason}`;
}

/** @throws Failure for --internal and --no-internal, which say something of a table. */
export function mustNotInsist(path: string, { internal }: KeyFormOptions): void {
  if (internal === undefined) return;
  throw new Failure(`${path}: is a folder, whose keys are always user keys: leave ${internal ? '--internal' : '--no-internal'} out`);
}

/** @throws Failure for an option that only a folder has a use for. */
export function mustBeForFolder(path: string, option: string, value: unknown): void {
  if (value === undefined) return;
  throw new Failure(`${path}: is not a folder: ${option} is for folders`);
}

/** Says that a table is one of a whole database, which has the newest versions. */
export function noteDatabase(path: string): void {
  const folder = dirname(path);
  if (!existsSync(join(folder, 'CURRENT'))) return;
  note(`${path}: one file of the database in ${folder}: newer versions of its keys may be in others; name the folder to read all`);
}
