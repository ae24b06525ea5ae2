/**
 * Runs a compaction: merges its inputs into new tables.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::DoCompactionWork`.
 */
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { SequenceBound } from '../format/database-key.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import type { CompactedTables, CompactionPlan } from '../folder/table-thread.js';
import { MergeCursor } from '../cursor/merge-cursor.js';
import { LevelEntries } from '../table/table-cursor.js';
import { CompactionWalk } from './compaction-walk.js';
import { LastKey } from './last-key.js';
import { Pacer } from '../folder/pacer.js';
import { ENTRIES_PER_LOOK } from '../table/table-file.js';
import { type CompactionContext, sortedInputs } from './compaction-context.js';
import { kernelWork } from './load-kernel-work.js';
import { OutputTables } from './output-tables.js';
import { sizeOf } from './overlap.js';

/** Merges the inputs of a compaction into new tables. After an error, unreferenced tables may be left in the folder. */
export async function writeCompactedTables(plan: CompactionPlan, context: CompactionContext): Promise<CompactedTables> {
  const inKernel = await kernelWork(context.order, sizeOf(plan.inputs.flat()));
  return (await inKernel?.mergeInKernel(plan, context)) ?? mergeByEntries(plan, context);
}

/** Merges one entry at a time: works for every order of keys, and where blocks are damaged. */
export async function mergeByEntries(plan: CompactionPlan, context: CompactionContext): Promise<CompactedTables> {
  const { order } = context;
  const cursor = new MergeCursor(sourcesOf(plan, context), order.compareInternalKeys);
  const walk = new CompactionWalk(plan, order, context.maxFileSize);
  const oldest = new SequenceBound(context.oldestSequence);
  const outputs = new OutputTables(context, context.onTable);
  const pacer = new Pacer(1);
  let entries = 0;
  let shadowedDropped = 0;
  let deletionsDropped = 0;
  const last = new LastKey();
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
      if (walk.stopsBefore(entry) && outputs.table !== undefined) await outputs.finish(outputs.table);
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
      const table = outputs.table ?? (await outputs.begin());
      table.add(entry);
      const writing = outputs.written(table);
      if (writing !== undefined) await writing;
    }
    return { tables: await outputs.end(), entriesRead: entries, shadowedDropped, deletionsDropped };
  } finally {
    cursor.close();
    await outputs.abandon();
  }
}

function sourcesOf(plan: CompactionPlan, { tables, damage, readsAtOnce }: CompactionContext): EntryCursor[] {
  return sortedInputs(plan).map((files) => new LevelEntries(files, () => 0, tables, damage, readsAtOnce));
}
