/** What `BloomLevel` does with a folder as a whole. */
import { Database, DatabaseError, type RepairOptions, type RepairReport, type WritableFolder } from '@bloom/leveldb';
import { LevelError, levelErrorOf } from './level-error.js';

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
