/**
 * The tables that a compaction makes of its inputs.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::DoCompactionWork`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { SequenceBound } from '../format/database-key.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { CompactedTables, WrittenTable } from '../folder/table-thread.js';
import { MergeCursor } from '../cursor/merge-cursor.js';
import type { DamagePolicy } from '../folder/damage.js';
import type { CompactionPlan } from '../format/compaction-plan.js';
import type { ViewTables } from '../table/table-cache.js';
import { LevelEntries } from '../table/table-cursor.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { KeyOrder } from '../format/version.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { CompactionWalk } from './compaction.js';
import { LastKey } from './last-key.js';
import { Pacer } from '../folder/pacer.js';
import { ENTRIES_PER_LOOK, TableFile } from '../table/table-file.js';

/** How the tables of a compaction are read and written. */
export interface CompactionContext {
  /** The inputs. */
  readonly tables: ViewTables;
  readonly damage: DamagePolicy;
  readonly folder: Pick<WritableFolder, 'create'>;
  /** Runs a reading of the inputs, synchronously or not. */
  readonly read: (reading: FolderReading<void>) => void | Promise<void>;
  /** Whether the inputs are read synchronously. */
  readonly readsAtOnce: boolean;
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** The size in bytes at which a table is finished and the next one begun. */
  readonly maxFileSize: number;
  /** Everything visible to readers at this sequence or a later one is kept. */
  readonly oldestSequence: bigint;
  /** Allocates the number of the next table. */
  newFileNumber(): bigint | Promise<bigint>;
  /** Called with each table as soon as it is on disk. */
  readonly onTable?: ((table: WrittenTable) => void) | undefined;
  /** Called every few entries, for work that must not wait. It throws to stop the compaction. */
  interlude(): Promise<void> | undefined;
}

/** Merges the inputs of a compaction into new tables. After an error, unreferenced tables may be left in the folder. */
export async function writeCompactedTables(plan: CompactionPlan, context: CompactionContext): Promise<CompactedTables> {
  const { folder, order } = context;
  const cursor = new MergeCursor(sourcesOf(plan, context), order.compareInternalKeys);
  const walk = new CompactionWalk(plan, order, context.maxFileSize);
  const oldest = new SequenceBound(context.oldestSequence);
  const outputs: WrittenTable[] = [];
  const pacer = new Pacer(1);
  let entries = 0;
  let shadowedDropped = 0;
  let deletionsDropped = 0;
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
      const written = await finished.finish();
      outputs.push(written);
      context.onTable?.(written);
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
        if (last.isEqual(order.compareUserKeys, entry, INTERNAL_KEY_TRAILER_LENGTH) && oldest.admits(last.bytes, last.length)) {
          isDropped = true;
          shadowedDropped++;
        } else if (type === DELETION && oldest.admits(keyBytes, keyEnd) && walk.isBaseLevelFor(entry)) {
          isDropped = true;
          deletionsDropped++;
        }
        last.set(entry);
      }
      if (isDropped) continue;
      // Key and value are views that are valid until the cursor moves.
      table ??= await TableFile.create(folder, await context.newFileNumber(), context.building);
      table.add(entry);
      if (table.byteLength >= context.maxFileSize || table.isCrowded) await finish();
      else if (table.isFull) await table.drain();
    }
    if (table !== undefined) await finish();
    await finishing;
    return { tables: outputs, entriesRead: entries, shadowedDropped, deletionsDropped };
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
