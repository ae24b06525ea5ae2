/**
 * The tables that a compaction makes of its inputs.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::DoCompactionWork`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { decodeInternalKey, DELETION, INTERNAL_KEY_TRAILER_LENGTH, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import type { EntryCursor } from '../entry-cursor.js';
import { runAsync } from '../folder-reading.js';
import { MergeCursor } from '../merge.js';
import { LevelEntries } from '../table-entries.js';
import type { FileMetadata } from '../version-edit.js';
import type { KeyOrder } from '../version.js';
import type { View } from '../view.js';
import type { WritableFolder } from '../writable-folder.js';
import { type CompactionPlan, CompactionWalk } from './compaction.js';
import { Pacer } from './pacer.js';
import { ENTRIES_PER_LOOK, TableFile } from './table-file.js';

/** What the tables of a compaction are read and written with. */
export interface CompactionContext extends Pick<View, 'tables' | 'damage'> {
  readonly folder: WritableFolder;
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** Bytes of a table from which on the next one begins. */
  readonly maxFileSize: number;
  /** Whatever a reader at this sequence or a later one can see is kept. */
  readonly oldestSequence: bigint;
  /** Takes the number of the next table. */
  newFileNumber(): bigint | Promise<bigint>;
  /** Called between entries for what must not wait. Throws to cut the compaction off. */
  interlude(): Promise<void> | undefined;
}

/** Merges the inputs of a compaction into new tables. After an error some tables may be left that belong to nothing. */
export async function writeCompactedTables(plan: CompactionPlan, context: CompactionContext): Promise<FileMetadata[]> {
  const { folder, order, oldestSequence } = context;
  const cursor = new MergeCursor(sourcesOf(plan, context), order.compareInternalKeys);
  const walk = new CompactionWalk(plan, order, context.maxFileSize);
  const outputs: FileMetadata[] = [];
  const pacer = new Pacer(ENTRIES_PER_LOOK);
  let table: TableFile | undefined;
  /** The user key of the last entry, and the sequence of that entry. */
  let userKey: Uint8Array | undefined;
  let newer = MAX_SEQUENCE;
  const finish = async (): Promise<void> => {
    outputs.push(await table!.finish());
    table = undefined;
  };
  try {
    for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
      if (!settled) await runAsync(folder, cursor.settle());
      if (!cursor.valid) break;
      if (pacer.isDue()) await pacer.pause();
      const interlude = context.interlude();
      if (interlude !== undefined) await interlude;
      const key = cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd);
      if (walk.stopsBefore(key) && table !== undefined) await finish();
      const internal = decodeInternalKey(key);
      let isDropped = false;
      if (internal === undefined || (internal.type !== VALUE && internal.type !== DELETION)) {
        // It is not for a compaction to hide that the key is damaged.
        userKey = undefined;
        newer = MAX_SEQUENCE;
      } else {
        if (userKey === undefined || order.compareUserKeys(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, userKey, 0, userKey.length) !== 0) {
          userKey = internal.userKey.slice();
          newer = MAX_SEQUENCE;
        }
        isDropped = newer <= oldestSequence || (internal.type === DELETION && internal.sequence <= oldestSequence && walk.isBaseLevelFor(key));
        newer = internal.sequence;
      }
      if (isDropped) continue;
      // The key and the value are lent until the cursor moves.
      table ??= await TableFile.create(folder, await context.newFileNumber(), context.building);
      table.add(key, cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd));
      if (table.byteLength >= context.maxFileSize) await finish();
      else if (table.isFull) await table.drain();
    }
    if (table !== undefined) await finish();
    return outputs;
  } finally {
    cursor.close();
    await table?.abandon();
  }
}

/** The entries of a compaction's inputs. Source: `VersionSet::MakeInputIterator`. */
function sourcesOf({ level, inputs: [upper, lower] }: CompactionPlan, { tables, damage }: CompactionContext): EntryCursor[] {
  const whole = (files: readonly FileMetadata[]): EntryCursor => new LevelEntries(files, () => 0, tables, damage);
  const sources = level === 0 ? upper.map((file) => whole([file])) : [whole(upper)];
  if (lower.length > 0) sources.push(whole(lower));
  return sources;
}
