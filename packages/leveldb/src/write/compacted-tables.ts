/**
 * The tables that a compaction makes of its inputs.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::DoCompactionWork`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { copyBytes, decodeInternalKey, DELETION, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
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

/** How the tables of a compaction are read and written. */
export interface CompactionContext extends Pick<View, 'tables' | 'damage'> {
  readonly folder: WritableFolder;
  readonly order: KeyOrder;
  readonly building: TableBuilderOptions;
  /** The size in bytes at which a table is finished and the next one begun. */
  readonly maxFileSize: number;
  /** Everything visible to readers at this sequence or a later one is kept. */
  readonly oldestSequence: bigint;
  /** Allocates the number of the next table. */
  newFileNumber(): bigint | Promise<bigint>;
  /** Called between entries, for work that must not wait. It throws to stop the compaction. */
  interlude(): Promise<void> | undefined;
}

/** Merges the inputs of a compaction into new tables. After an error, unreferenced tables may be left in the folder. */
export async function writeCompactedTables(plan: CompactionPlan, context: CompactionContext): Promise<FileMetadata[]> {
  const { folder, order, oldestSequence } = context;
  const cursor = new MergeCursor(sourcesOf(plan, context), order.compareInternalKeys);
  const walk = new CompactionWalk(plan, order, context.maxFileSize);
  const outputs: FileMetadata[] = [];
  const pacer = new Pacer(ENTRIES_PER_LOOK);
  let table: TableFile | undefined;
  const last = new LastKey();
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
      const type = key.length < INTERNAL_KEY_TRAILER_LENGTH ? undefined : key[key.length - INTERNAL_KEY_TRAILER_LENGTH];
      let isDropped = false;
      if (type !== VALUE && type !== DELETION) {
        // A damaged key is kept, so that the damage stays visible.
        last.clear();
      } else {
        // Decoding a sequence makes a bigint, which is slow, and most entries are kept regardless of theirs.
        const isOlder = last.hasUserKeyOf(key, order);
        isDropped =
          (isOlder && last.sequence <= oldestSequence) ||
          (type === DELETION && sequenceOf(key) <= oldestSequence && walk.isBaseLevelFor(key));
        last.set(key);
      }
      if (isDropped) continue;
      // Key and value are views that are valid until the cursor moves.
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

/** The internal key of the last entry, if it is not damaged, in a buffer that is reused. */
class LastKey {
  #bytes = new Uint8Array(64);
  #length = 0;

  get sequence(): bigint {
    return sequenceOf(this.#bytes.subarray(0, this.#length));
  }

  hasUserKeyOf(key: Uint8Array, { compareUserKeys }: KeyOrder): boolean {
    if (this.#length === 0) return false;
    return compareUserKeys(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, this.#bytes, 0, this.#length - INTERNAL_KEY_TRAILER_LENGTH) === 0;
  }

  set(key: Uint8Array): void {
    if (key.length > this.#bytes.length) this.#bytes = new Uint8Array(key.length * 2);
    copyBytes(key, 0, key.length, this.#bytes, 0);
    this.#length = key.length;
  }

  clear(): void {
    this.#length = 0;
  }
}

function sequenceOf(key: Uint8Array): bigint {
  return decodeInternalKey(key)!.sequence;
}

/** The entries of a compaction's inputs. Source: `VersionSet::MakeInputIterator`. */
function sourcesOf({ level, inputs: [upper, lower] }: CompactionPlan, { tables, damage }: CompactionContext): EntryCursor[] {
  const whole = (files: readonly FileMetadata[]): EntryCursor => new LevelEntries(files, () => 0, tables, damage);
  const sources = level === 0 ? upper.map((file) => whole([file])) : [whole(upper)];
  if (lower.length > 0) sources.push(whole(lower));
  return sources;
}
