/** Trials of other filters for a table or database: their size and savings. */
import type { Clipped } from '../table/table-facts.js';

export type TriedPolicy = 'leveldb' | 'fitted' | 'blocked' | 'none';

/** The kind of generated absent keys: stored keys with random bytes after them, or absent neighbours of stored keys. */
export type AbsentKind = 'random' | 'neighbours';

/** Filters to try. */
export interface FilterChoice {
  readonly policy: TriedPolicy;
  readonly bitsPerKey: number;
  /** The number of bytes of the file that one filter covers: a power of two. */
  readonly filterRange: number;
}

/** The size and the savings of filters built from all keys. */
export interface TriedFilters {
  /** Bytes of all filter blocks. */
  readonly filterBytes: number;
  readonly filters: number;
  /** The number of keys in the filters: all entries. */
  readonly entries: number;
  /** The number of blocks that the lookups read. */
  readonly reads: number;
  /** The number of lookups of absent keys for which a filter was used, and the number of wrong “maybe”s among them. */
  readonly asked: number;
  readonly wrong: number;
  /** The number of lookups that failed because damage may hide their keys. */
  readonly failures: number;
}

/** The keys to look up. */
export interface AskedKeys {
  readonly count: number;
  /** The number of the user's own keys that are stored, and therefore not looked up. */
  readonly present: number;
  readonly example: Clipped | undefined;
}

/** The start of a trial. */
export interface TrialStart {
  readonly keys: AskedKeys;
  readonly stored: TriedFilters;
  readonly without: TriedFilters;
  /** Bytes of the tables without their filter blocks. */
  readonly otherBytes: number;
  /** Damaged tables, which keep their filters. */
  readonly damagedTables: readonly string[];
}
