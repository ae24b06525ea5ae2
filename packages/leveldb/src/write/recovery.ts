/**
 * Recovers a database when it is opened for writing: locks the folder, reads CURRENT and the MANIFEST, and turns the logs into tables.
 *
 * Source: LevelDB, db/db_impl.cc, `DB::Open` and `DBImpl::Recover`.
 */
import { CorruptionError } from '@bloom/bytes';
import { Memtable } from '../memtable/memtable.js';
import { allDone, attempt } from '../folder/closing-files.js';
import { DatabaseError } from '../folder/database-error.js';
import { keyOrderOf } from '../format/database-key.js';
import { CURRENT, oldTableFileName, parseFileName, tableFileName } from '../format/file-name.js';
import { missingFiles, missingTables } from '../format/needed-files.js';
import type { Version } from '../format/version.js';
import { Pacer } from '../folder/pacer.js';
import { ENTRIES_PER_LOOK } from '../table/table-file.js';
import type { FileMetadata, VersionEdit } from '../format/version-edit.js';
import { isMissing, namesIn, type WritableFolder } from '../folder/writable-folder.js';
import type { Settings } from './database-options.js';
import { type FolderHold, holdFolder } from './folder-hold.js';
import { mustBeLevelDb } from './refuse-foreign-folder.js';
import { LiveFiles } from './live-files.js';
import { deleteIfPossible } from './obsolete-files.js';
import { LiveLog } from './live-log.js';
import { recoverLogs } from './log-recovery.js';
import { settingsForTables } from './inherited-compression.js';
import { FIRST_MANIFEST, VersionSet } from './version-set.js';

/** How often to retry when the folder is deleted before it is locked. */
const MAX_ATTEMPTS = 100;

/**
 * Locks the folder, which is created again if that is allowed and another program has deleted it.
 *
 * What the names in the folder forbid is refused before that, so that no file LOCK is left behind, and again once it is locked. After any other
 * refusal LOCK stays, as in LevelDB: another program may have opened it by then, and would lock a file that is deleted.
 *
 * @param folder was created before, if that is allowed.
 * @param names those that the folder had just now; none if it does not exist.
 */
export async function holdDatabaseFolder(folder: WritableFolder, settings: Settings, names: readonly string[]): Promise<FolderHold> {
  for (let attempt = 1, found = names; ; attempt++) {
    mustAdmit(found, folder, settings);
    if (attempt > 1 && settings.createIfMissing && found.length === 0) await folder.createFolder();
    try {
      return await holdFolder(folder, settings);
    } catch (error) {
      // Another program has just deleted the database, and its folder.
      if (!isMissing(error) || attempt === MAX_ATTEMPTS) throw error;
    }
    found = await namesIn(folder);
  }
}

/**
 * Checks that a folder has a database of LevelDB, and writes nothing, not even the file LOCK.
 *
 * @throws DatabaseError `BLOOM_DATABASE_MISSING` with this problem unless the folder has a database; UnsupportedError
 *   `BLOOM_UNSUPPORTED_FORMAT` when it is another engine's.
 */
export async function mustHaveDatabase(folder: WritableFolder, problem: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await folder.list();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new DatabaseError('BLOOM_DATABASE_MISSING', problem, { cause: error });
  }
  await mustBeLevelDb(folder, names);
  if (!names.includes(CURRENT)) throw new DatabaseError('BLOOM_DATABASE_MISSING', problem);
}

/** @throws DatabaseError or CorruptionError when the names in a folder show that it is not to be opened. */
function mustAdmit(names: readonly string[], folder: WritableFolder, { createIfMissing, errorIfExists }: Settings): void {
  if (names.includes(CURRENT)) {
    if (errorIfExists) throw new DatabaseError('BLOOM_DATABASE_EXISTS', `the database of ${folder.name ?? 'the folder'} exists, and errorIfExists is true`);
    return;
  }
  if (!createIfMissing) throw new DatabaseError('BLOOM_DATABASE_MISSING', `the database of ${folder.name ?? 'the folder'} does not exist, and createIfMissing is false`);
  mustBeNew(names, folder.name);
}

/** The state of a database that was opened for writing. */
export interface OpenedVersions {
  /** The given settings, with the compression of the database's tables. */
  readonly settings: Settings;
  readonly versions: VersionSet;
  readonly files: LiveFiles;
  /** The log for the next writes. */
  readonly log: LiveLog;
  /** The edit that must be written to the MANIFEST first; undefined if the MANIFEST is reused unchanged. */
  readonly change: VersionEdit | undefined;
  /** The files that the folder had. */
  readonly names: readonly string[];
}

/** Reads the database of a folder, or creates one, and turns its logs into tables. */
export async function openVersions(folder: WritableFolder, given: Settings): Promise<OpenedVersions> {
  let names = await namesIn(folder);
  mustAdmit(names, folder, given);
  const order = keyOrderOf(given.comparator);
  let versions: VersionSet | undefined;
  if (!names.includes(CURRENT)) {
    // Where the lock is not a file of the folder, another program may have deleted the folder before it was locked.
    if (names.length === 0) await folder.createFolder();
    versions = await VersionSet.create(folder, given.comparator, order, given.reusedManifestBytes);
    names = [...new Set([...names, FIRST_MANIFEST, CURRENT])];
  } else if (logOrTable(names) === undefined) {
    // Creating it may have been interrupted before CURRENT was synced. After a power failure, a log without CURRENT would look like a damaged database.
    await folder.syncFolder();
  }
  versions ??= await VersionSet.read(folder, given.comparator, order, given.reusedManifestBytes);
  let files: LiveFiles | undefined;
  let made: readonly FileMetadata[] = [];
  try {
    await mustHaveTables(versions.current, names, folder);
    const settings = await settingsForTables(versions.current, folder, given);
    files = new LiveFiles(folder, settings);
    const { files: recovered, isChanged, log: reused, dropped } = await recoverLogs(folder, names, versions, settings);
    made = recovered;
    const log = reused ?? (await LiveLog.create(folder, versions.newFileNumber(), new Memtable(order.compareInternalKeys)));
    const change: VersionEdit = { previousLogNumber: 0n, logNumber: log.number, newFiles: recovered.map((file) => ({ level: 0, file })) };
    files.addDropped(dropped);
    return { settings, versions, files, log, names, change: isChanged || !versions.isManifestReused ? change : undefined };
  } catch (error) {
    await attempt(() => allDone([() => versions.close(), () => files?.close()]));
    // No edit lists them yet.
    for (const { number } of made) await deleteIfPossible(folder, tableFileName(number));
    throw error;
  }
}

/**
 * Refuses a folder that lacks tables. Something with the name of a table must be a file, if the host can tell without opening it.
 *
 * @throws CorruptionError `BLOOM_MISSING_FILE`.
 */
export async function mustHaveTables({ files }: Version, names: readonly string[], folder: WritableFolder): Promise<void> {
  let missing = missingTables(files, names);
  if (files.length > 0 && missing.length === 0 && folder.identityOf !== undefined) {
    const pacer = new Pacer(ENTRIES_PER_LOOK);
    const unreadable: FileMetadata[] = [];
    for (const file of files) {
      const { number } = file;
      const identity = (await folder.identityOf(tableFileName(number))) ?? (await folder.identityOf(oldTableFileName(number)));
      if (identity === undefined) unreadable.push(file);
      if (pacer.isDue()) await pacer.pause();
    }
    missing = unreadable;
  }
  if (missing.length > 0) throw missingFiles(missing, { file: folder.name });
}

/**
 * LevelDB creates a new database in a folder without CURRENT, and deletes the remains of the old one.
 *
 * @throws CorruptionError `BLOOM_NOT_A_DATABASE` when there are logs or tables.
 */
function mustBeNew(names: readonly string[], folder: string | undefined): void {
  const kept = logOrTable(names);
  if (kept === undefined) return;
  const problem = `it has no CURRENT but has ${kept}, so it is a damaged database, which a new one would replace: Database.repair makes a database of the readable entries`;
  throw new CorruptionError('BLOOM_NOT_A_DATABASE', { structure: 'folder', offset: 0, file: folder }, problem);
}

function logOrTable(names: readonly string[]): string | undefined {
  return names.find((name) => ['log', 'table'].includes(parseFileName(name)?.type ?? ''));
}
