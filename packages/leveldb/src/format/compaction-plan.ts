import type { FileMetadata } from './version-edit.js';

/** The tables that a compaction merges, and what it has to know of the levels below: data alone, so that it can be sent to a thread. */
export interface CompactionPlan {
  readonly level: number;
  /** The tables of the level, and those of the next, each in the order of the level. */
  readonly inputs: readonly [readonly FileMetadata[], readonly FileMetadata[]];
  /** The tables that are no inputs and may hold older versions of the inputs' keys: of the level of the outputs, then of each level below. */
  readonly below: readonly (readonly FileMetadata[])[];
  /** The tables two levels below that overlap. */
  readonly grandparents: readonly FileMetadata[];
}
