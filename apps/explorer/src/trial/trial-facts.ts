/** Filters that a table or database could have, and what they would cost and save. */
import type { Clipped } from '../table/table-facts.js';

export type TriedPolicy = 'leveldb' | 'fitted' | 'blocked' | 'none';

/** Absent keys that are made: stored ones with random bytes after them, or the absent neighbours of stored ones. */
export type AbsentKind = 'random' | 'neighbours';

/** Filters to try. */
export interface FilterChoice {
  readonly policy: TriedPolicy;
  readonly bitsPerKey: number;
  /** How many bytes of the file one filter covers: a power of two. */
  readonly filterRange: number;
}

/** The size and the savings of filters built from all keys. */
export interface TriedFilters {
  /** Undefined: those that are stored. */
  readonly choice: FilterChoice | undefined;
  /** Bytes of all filter blocks. */
  readonly filterBytes: number;
  readonly filters: number;
  /** Keys that are in them: all entries. */
  readonly entries: number;
  /** Blocks that the lookups read. */
  readonly reads: number;
  /** Lookups of keys that were not there for which a filter could be asked, and how many of these answers were a wrong “maybe”. */
  readonly asked: number;
  readonly wrong: number;
  /** Lookups that failed, because damage may hide their keys. */
  readonly failures: number;
}

/** The keys that are looked up. */
export interface AskedKeys {
  readonly count: number;
  /** How many of the reader's own keys are stored, and are not asked for. */
  readonly present: number;
  readonly example: Clipped | undefined;
}

/** What a trial begins with. */
export interface TrialStart {
  readonly keys: AskedKeys;
  readonly stored: TriedFilters;
  readonly without: TriedFilters;
  /** Bytes of the tables without their filter blocks. */
  readonly otherBytes: number;
  /** Tables that are damaged and keep the filters that they have. */
  readonly damagedTables: readonly string[];
}
