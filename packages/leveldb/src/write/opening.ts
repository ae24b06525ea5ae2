/**
 * Opens a folder for writing: takes the lock, reads CURRENT and the MANIFEST, and replays the logs.
 *
 * Source: LevelDB, db/db_impl.cc, `DB::Open` and `DBImpl::Recover`.
 */
import { CorruptionError } from '@bloom/bytes';
import type { Dropped } from '../damage.js';
import { DatabaseError } from '../database-error.js';
import { keyOrderOf } from '../database-key.js';
import { CURRENT, parseFileName } from '../file-name.js';
import type { VersionEdit } from '../version-edit.js';
import type { FolderLock, WritableFolder } from '../writable-folder.js';
import type { Settings } from './database-options.js';
import { LiveLog } from './live-log.js';
import { mustHaveTables, recoverLogs } from './recovery.js';
import { createDatabase, VersionSet } from './version-set.js';

/** Locks a folder. */
export async function lockOf(folder: WritableFolder): Promise<FolderLock> {
  if (folder.lock === undefined) throw new DatabaseError('BLOOM_NO_LOCK', "the folder cannot be locked: make sure that nobody else writes to it, and give lock: 'none'");
  return folder.lock();
}

/** @throws DatabaseError `BLOOM_DATABASE_MISSING` unless the folder has a database. Nothing is written, not even the file LOCK. */
export async function mustHaveDatabase(folder: WritableFolder): Promise<void> {
  let names: readonly string[];
  try {
    names = await folder.list();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ENOENT') throw error;
    throw missingDatabase(folder, error);
  }
  if (!names.includes(CURRENT)) throw missingDatabase(folder);
}

function missingDatabase({ name = 'the folder' }: WritableFolder, cause?: unknown): DatabaseError {
  return new DatabaseError('BLOOM_DATABASE_MISSING', `${name} has no database, and createIfMissing is false`, { cause });
}

/** The state of a database that was opened for writing. */
export interface OpenedVersions {
  readonly versions: VersionSet;
  /** The log for the next writes. */
  readonly log: LiveLog;
  readonly isLogReused: boolean;
  /** The edit that must be written to the MANIFEST first; undefined if the MANIFEST is reused unchanged. */
  readonly change: VersionEdit | undefined;
  /** What was left out of logs because it is damaged. */
  readonly dropped: readonly Dropped[];
}

/** Reads the database of a folder, or creates one, and makes tables of what its logs hold. */
export async function openVersions(folder: WritableFolder, settings: Settings): Promise<OpenedVersions> {
  const where = folder.name ?? 'the folder';
  let names = await folder.list();
  if (!names.includes(CURRENT)) {
    if (!settings.createIfMissing) throw missingDatabase(folder);
    mustBeNew(names, folder.name);
    await createDatabase(folder, settings.comparator);
  } else if (settings.errorIfExists) {
    throw new DatabaseError('BLOOM_DATABASE_EXISTS', `${where} has a database, and errorIfExists is true`);
  }
  const order = keyOrderOf(settings.comparator);
  const versions = await VersionSet.read(folder, settings.comparator, order, settings.reuseLogs ? settings.maxFileSize : undefined);
  try {
    names = await folder.list();
    mustHaveTables(versions.current, names, folder.name);
    const { files, isChanged, log: reused, dropped } = await recoverLogs(folder, names, versions, settings);
    const log = reused ?? (await LiveLog.create(folder, versions.newFileNumber(), order));
    const change: VersionEdit = { previousLogNumber: 0n, logNumber: log.number, newFiles: files.map((file) => ({ level: 0, file })) };
    return { versions, log, isLogReused: reused !== undefined, change: isChanged || !versions.isManifestReused ? change : undefined, dropped };
  } catch (error) {
    await Promise.allSettled([versions.close()]);
    throw error;
  }
}

/**
 * LevelDB creates a new database in a folder without CURRENT, and deletes what is left of the old one.
 *
 * @throws CorruptionError `BLOOM_NOT_A_DATABASE` when there are logs or tables.
 */
function mustBeNew(names: readonly string[], folder: string | undefined): void {
  const kept = names.find((name) => ['log', 'table'].includes(parseFileName(name)?.type ?? ''));
  if (kept === undefined) return;
  const problem = `it has no CURRENT, and has ${kept}: a new database would take the place of one that is damaged`;
  throw new CorruptionError('BLOOM_NOT_A_DATABASE', { structure: 'folder', offset: 0, file: folder }, problem);
}
