import type { FileMetadata } from './version-edit.js';

/** The tables that a compaction merges, and what it must know of the levels below. Plain data, so that it can be sent to a thread. */
export interface CompactionPlan {
  readonly level: number;
  /** The tables of the level and of the next level, each in the order of the level. */
  readonly inputs: readonly [readonly FileMetadata[], readonly FileMetadata[]];
  /** The tables that are not inputs and may hold older versions of the inputs' keys: those of the output level, then those of each level below. */
  readonly below: readonly (readonly FileMetadata[])[];
  /** The tables two levels below that overlap. */
  readonly grandparents: readonly FileMetadata[];
}
