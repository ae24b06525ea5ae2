import type { DamagePolicy } from '../folder/damage.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { CompactionPlan, WrittenTable } from '../folder/table-thread.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { KeyOrder } from '../format/version.js';
import type { ViewTables } from '../table/table-cache.js';
import type { OutputSettings } from './output-tables.js';

/** How the tables of a compaction are read and written. */
export interface CompactionContext extends OutputSettings {
  /** The inputs. */
  readonly tables: ViewTables;
  readonly damage: DamagePolicy;
  /** Runs a reading of the inputs, synchronously or not. */
  readonly read: (reading: FolderReading<void>) => void | Promise<void>;
  /** Whether the inputs are read synchronously. */
  readonly readsAtOnce: boolean;
  readonly order: KeyOrder;
  /** Versions that are visible at this sequence or a later one are kept. */
  readonly oldestSequence: bigint;
  /** Called with each table on disk: as soon as it is complete, or once all are. */
  readonly onTable?: ((table: WrittenTable) => void) | undefined;
  /** Called every few entries, for work that must not wait. It throws to stop the compaction. */
  readonly interlude: () => Promise<void> | undefined;
}

/** The inputs of a compaction, those with newer entries first: each is a level or a table of level 0. Source: `VersionSet::MakeInputIterator`. */
export function sortedInputs({ level, inputs: [upper, lower] }: CompactionPlan): (readonly FileMetadata[])[] {
  const inputs = level === 0 ? upper.map((file) => [file]) : [upper];
  return lower.length > 0 ? [...inputs, lower] : inputs;
}
