import { basename, join } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { comparatorNameSync, type Dropped, FolderError, parseFileName, type ReaderOptions, SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy } from '@bloom/policy';
import { quotedName } from '@bloom/bytes';
import { count } from '@bloom/report';
import { CorruptionError, UnsupportedError } from '@bloom/sstable';
import { Failure, failureOf, placedBytes } from './failure.js';
import type { DamageOptions } from './folder-argument.js';
import { note } from './output.js';

/** All known comparators and filter policies of databases. */
export const databaseOptions = {
  codecs: allCodecs,
  comparators: [idbComparator],
  filterPolicies: [new BloomFilterPolicy(), idbFilterPolicy],
};

/** How many places of damage to name per folder. */
const SHOWN_DROPS = 20;

/** Opens the database in a folder, does `work` with it, and closes it. Failures name the file. */
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

/** Does `work` with the files of a folder. Failures name the file. */
export async function withFolderFailures<T>(path: string, { damage = 'strict' }: DamageOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = folderFailure(path, error);
    const advice = failure instanceof Failure ? adviceFor(path, damage, error) : undefined;
    throw advice === undefined ? failure : new Failure(`${(failure as Failure).message}; ${advice}`, { cause: error });
  }
}

/** Opens the database in a folder, with the comparator that it names if that is known. */
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

/** Turns an error about a folder or a file in it into a failure with a line to show. Returns other errors unchanged. */
export function folderFailure(path: string, error: unknown): unknown {
  if (error instanceof FolderError) {
    const problem = error.code === 'BLOOM_FOLDER_BUSY' ? 'another program keeps changing the folder' : 'it was changed while it was read';
    return new Failure(`${fileIn(path, error.file)}: ${problem}: try again`, { cause: error });
  }
  if (error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR') {
    const advice = 'scan --all-versions, without bounds, prints what each file stores, and verify --any-order checks everything but the order';
    return new Failure(`${fileIn(path, error.file)}: ${unknownOrderText(comparatorNameSync(new SyncNodeFolder(path)))}; ${advice}`, { cause: error });
  }
  if (error instanceof CorruptionError && error.code === 'BLOOM_NOT_A_DATABASE' && hasLogsOrTables(path)) {
    return new Failure(`${path}: it has no CURRENT, so it cannot be opened as a database`, { cause: error });
  }
  return failureOf(isPlaced(error) ? fileIn(path, error.file) : path, error);
}

/** The path of a file in a folder, or of the folder itself. @param file a path or only a name, as errors have it. */
function fileIn(path: string, file: string | undefined): string {
  return file === undefined || file === path ? path : join(path, basename(file));
}

function isPlaced(error: unknown): error is CorruptionError | UnsupportedError {
  return error instanceof CorruptionError || error instanceof UnsupportedError;
}

/** That `bloom` does not know the order of a database's keys. @param name the name of the comparator, if that is known. */
export function unknownOrderText(name: string | undefined): string {
  return `its keys are in the order of ${name === undefined ? 'a comparator' : `the comparator ${quotedName(name)}`}, which bloom does not know`;
}

/** Whether logs or tables are in a folder, by their names. */
export function hasLogsOrTables(path: string): boolean {
  return new SyncNodeFolder(path).list().some((name) => {
    const type = parseFileName(name)?.type;
    return type === 'log' || type === 'table';
  });
}

const READ_FILES = 'bloom salvage reads its logs and tables';

/** What can be done about damage in a folder; undefined if nothing can. */
function adviceFor(path: string, damage: 'strict' | 'skip', error: unknown): string | undefined {
  if (!(error instanceof CorruptionError) || error.code === 'BLOOM_TOO_LARGE') return undefined;
  if (error.code === 'BLOOM_NOT_A_DATABASE') return hasLogsOrTables(path) ? READ_FILES : undefined;
  const type = parseFileName(basename(error.file ?? ''))?.type;
  // CURRENT may name a log or a table as the MANIFEST.
  const isOfManifest = ['CURRENT', 'MANIFEST', 'version edit'].includes(error.structure);
  if (isOfManifest || (type !== 'log' && type !== 'table')) return READ_FILES;
  return damage === 'strict' ? '--damage skip reads the rest' : 'bloom salvage copies what can still be read';
}

/** Prints to standard error what was left out of a folder. */
export function noteDropped(path: string, dropped: readonly Dropped[]): void {
  for (const drop of dropped.slice(0, SHOWN_DROPS)) note(`${fileIn(path, drop.file)}: ${droppedText(drop)}`);
  if (dropped.length > SHOWN_DROPS) note(`${path}: ${count(dropped.length - SHOWN_DROPS)} more places were left out`);
}

/** What was left out of a file, without the name of the file. */
export function droppedText({ offset, byteLength, reason }: Dropped): string {
  return `left out ${byteLength === undefined ? `at offset ${offset}` : placedBytes(byteLength, offset)}: ${reason}`;
}
