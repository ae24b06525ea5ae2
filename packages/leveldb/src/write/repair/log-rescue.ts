import { CorruptionError } from '@bloom/bytes';
import type { FolderFile } from '../../folder/folder.js';
import { runAsync } from '../../folder/folder-reading.js';
import type { WritableFolder } from '../../folder/writable-folder.js';
import { addBatch, misfitOf } from '../../memtable/batch-entries.js';
import { LogBatches, type LogBatchTarget } from '../../folder/log-batches.js';
import type { Settings } from '../database-options.js';
import type { LostPlaces } from './repair-report.js';
import type { RepairedTables } from './repaired-tables.js';

/** The largest `maxBlockBytes` that can be given. A larger batch cannot be saved. */
const MAX_BLOCK_BYTES = 2 ** 30;

/**
 * Saves the contents of one log in a repair: its operations go to `tables`, including those of damaged batches up to the damage, and the
 * unreadable parts are listed in `lost`.
 *
 * @throws CorruptionError `BLOOM_TOO_LARGE` for a batch that could be saved with a larger `maxBlockBytes`.
 *
 * Source: LevelDB, db/repair.cc, `Repairer::ConvertLogToTable`.
 */
export async function rescueLog(
  folder: WritableFolder,
  name: string,
  file: FolderFile,
  settings: Settings,
  tables: RepairedTables,
  lost: LostPlaces,
): Promise<void> {
  const target: LogBatchTarget = {
    batch(batch, place) {
      const lose = (code: string, reason: string): void => lost.add({ file: name, offset: place.offset, byteLength: batch.bytes.length, reason, code });
      const problem = misfitOf(batch.bytes, settings);
      if (problem !== undefined) {
        const error = new CorruptionError('BLOOM_TOO_LARGE', place, `${problem}: pass a larger maxBlockBytes`);
        // With a larger limit it can be saved, and the folder is still unchanged.
        if (settings.maxBlockBytes < MAX_BLOCK_BYTES) throw error;
        lose(error.code, problem);
        return;
      }
      try {
        addBatch(tables.memtable, batch, place);
      } catch (error) {
        if (!(error instanceof CorruptionError)) throw error;
        lose(error.code, error.problem);
      }
      // A batch may have more operations than its header says. The last sequence includes all of them, so that lookups find them.
      if (batch.found > 0) tables.sawSequence(batch.sequence + BigInt(batch.found) - 1n);
    },
    skip: (damage) => lost.add(damage),
  };
  const batches = new LogBatches(file, name, target, undefined, { resumesInBlock: true });
  for (let isMore = true; isMore; ) {
    isMore = await runAsync(folder, batches.readPiece());
    await tables.flushIfFull();
  }
  tables.sawSequence(batches.lastSequence);
  const { tail } = batches;
  if (tail !== undefined) lost.add({ file: name, offset: tail.offset, byteLength: tail.byteLength, reason: tail.problem, code: 'BLOOM_TRUNCATED' });
}
