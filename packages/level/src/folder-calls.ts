/** The calls of `BloomLevel` about a whole folder. */
import { Database, DatabaseError, DatabaseReader, type Folder, type RepairOptions, type RepairReport, type WritableFolder } from '@bloom/leveldb';
import type { HostFormats } from './host-formats.js';
import { databaseOptionsOf, readerOptionsOf } from './database-options.js';
import { DatabaseStore } from './database-store.js';
import { LevelError, levelErrorOf } from './level-error.js';
import type { OpenOptions } from './level-options.js';
import type { LevelStore } from './level-store.js';

/** Opens the database of a folder. */
export async function openDatabase(folder: WritableFolder, options: OpenOptions, formats: HostFormats): Promise<LevelStore> {
  return new DatabaseStore(await Database.open(folder, databaseOptionsOf(options)), formats, folder);
}

/** Opens the database of a folder for reading only. */
export async function openReader(folder: Folder, options: OpenOptions, formats: HostFormats): Promise<LevelStore> {
  if (options.errorIfExists === true) throw new TypeError('errorIfExists must be false with readOnly, which opens a database that exists');
  return new DatabaseStore(await DatabaseReader.open(folder, readerOptionsOf(options)), formats);
}

/** Deletes the database of a folder. */
export async function destroyFolder(folder: WritableFolder): Promise<void> {
  try {
    await Database.destroy(folder);
  } catch (error) {
    throw levelErrorOf(error);
  }
}

/** Repairs the database of a folder. */
export async function repairFolder(folder: WritableFolder, options: RepairOptions | undefined): Promise<RepairReport> {
  try {
    return await Database.repair(folder, options);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === 'BLOOM_DATABASE_MISSING') throw new LevelError('LEVEL_IO_ERROR', error.message, { cause: error });
    throw levelErrorOf(error);
  }
}
