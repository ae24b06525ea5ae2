/**
 * The tables that a compaction makes of its inputs.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::DoCompactionWork`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { SequenceBound } from '../database-key.js';
import type { EntryCursor } from '../entry-cursor.js';
import type { FolderReading } from '../folder-reading.js';
import { MergeCursor } from '../merge.js';
import { LevelEntries } from '../table-entries.js';
import type { FileMetadata } from '../version-edit.js';
import type { KeyOrder } from '../version.js';
import type { View } from '../view.js';
import type { WritableFolder } from '../writable-folder.js';
import { type CompactionPlan, CompactionWalk } from './compaction.js';
import { LastKey } from './last-key.js';
import { Pacer } from './pacer.js';
import { ENTRIES_PER_LOOK, TableFile } from './table-file.js';

/** How the tables of a compaction are read and written. */
export interface CompactionContext extends Pick<View, 'tables' | 'damage'> {
  readonly folder: Pick<WritableFolder, 'create'>;
  /** Runs a reading of the inputs, with or without a promise. */
  readonly read: (reading: FolderReading<void>) => void | Promise<void>;
  /** Whether the inputs are read without promises. */
  readonly readsAtOnce: boolean;
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** The size in bytes at which a table is finished and the next one begun. */
  readonly maxFileSize: number;
  /** Everything visible to readers at this sequence or a later one is kept. */
  readonly oldestSequence: bigint;
  /** Allocates the number of the next table. */
  newFileNumber(): bigint | Promise<bigint>;
  /** Called every few entries, for work that must not wait. It throws to stop the compaction. */
  interlude(): Promise<void> | undefined;
}

/** Merges the inputs of a compaction into new tables. After an error, unreferenced tables may be left in the folder. */
export async function writeCompactedTables(plan: CompactionPlan, context: CompactionContext): Promise<FileMetadata[]> {
  const { folder, order } = context;
  const cursor = new MergeCursor(sourcesOf(plan, context), order.compareInternalKeys);
  const walk = new CompactionWalk(plan, order, context.maxFileSize);
  const oldest = new SequenceBound(context.oldestSequence);
  const outputs: FileMetadata[] = [];
  const pacer = new Pacer(1);
  let entries = 0;
  let table: TableFile | undefined;
  const last = new LastKey();
  /** Settles when the previous table is on disk: the disk syncs it while the next one is written. */
  let finishing: Promise<void> | undefined;
  const finish = async (): Promise<void> => {
    await finishing;
    finishing = end(table!);
    table = undefined;
    // A failure is thrown where the promise is awaited; until then it must not count as unhandled.
    finishing.catch(() => undefined);
  };
  const end = async (finished: TableFile): Promise<void> => {
    try {
      outputs.push(await finished.finish());
    } catch (error) {
      await finished.abandon();
      throw error;
    }
  };
  try {
    for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
      if (!settled) {
        const settling = context.read(cursor.settle());
        if (settling !== undefined) await settling;
      }
      if (!cursor.valid) break;
      if (++entries % ENTRIES_PER_LOOK === 0) {
        if (pacer.isDue()) await pacer.pause();
        const interlude = context.interlude();
        if (interlude !== undefined) await interlude;
      }
      const { entry } = cursor;
      if (walk.stopsBefore(entry) && table !== undefined) await finish();
      const { keyBytes, keyStart, keyEnd } = entry;
      const type = keyEnd - keyStart < INTERNAL_KEY_TRAILER_LENGTH ? undefined : keyBytes[keyEnd - INTERNAL_KEY_TRAILER_LENGTH];
      let isDropped = false;
      if (type !== VALUE && type !== DELETION) {
        // A damaged key is kept, so that the damage stays visible.
        last.clear();
      } else {
        isDropped =
          (last.isEqual(order.compareUserKeys, entry, INTERNAL_KEY_TRAILER_LENGTH) && oldest.admits(last.bytes, last.length)) ||
          (type === DELETION && oldest.admits(keyBytes, keyEnd) && walk.isBaseLevelFor(entry));
        last.set(entry);
      }
      if (isDropped) continue;
      // Key and value are views that are valid until the cursor moves.
      table ??= await TableFile.create(folder, await context.newFileNumber(), context.building);
      table.add(entry);
      if (table.byteLength >= context.maxFileSize) await finish();
      else if (table.isFull) await table.drain();
    }
    if (table !== undefined) await finish();
    await finishing;
    return outputs;
  } finally {
    cursor.close();
    await finishing?.catch(() => undefined);
    await table?.abandon();
  }
}

/** The entries of a compaction's inputs. Source: `VersionSet::MakeInputIterator`. */
function sourcesOf({ level, inputs: [upper, lower] }: CompactionPlan, { tables, damage, readsAtOnce }: CompactionContext): EntryCursor[] {
  const whole = (files: readonly FileMetadata[]): EntryCursor => new LevelEntries(files, () => 0, tables, damage, readsAtOnce);
  const sources = level === 0 ? upper.map((file) => whole([file])) : [whole(upper)];
  if (lower.length > 0) sources.push(whole(lower));
  return sources;
}
