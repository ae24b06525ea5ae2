/** The steps and the outcome of a lookup in a database, as plain values that can be sent, stored and displayed. */
import type { Bytes } from '@bloom/bytes';
import type { LookupFailure, TableSearch } from '@bloom/sstable';

/**
 * The steps and the outcome of a lookup. Except for keys and values, all of it is JSON: sequences and file numbers, which can exceed 2^53, are
 * strings of decimal digits.
 */
export interface LookupExplanation {
  /** A copy of the key. */
  readonly key: Bytes;
  /** Versions with a higher sequence were ignored. */
  readonly sequence: string;
  /**
   * Every source of the database, in the order in which they are searched: memtables from the newest to the oldest, the tables of level 0 from
   * the newest to the oldest, then one step for each deeper level that has tables.
   */
  readonly steps: readonly LookupStep[];
  /** The result of `get`: a value, nothing, or an error. */
  readonly outcome: LookupOutcome;
}

/** The outcome of a lookup. `file` is the name of the log or table that decided it. */
export type LookupOutcome =
  | { readonly kind: 'value'; readonly value: Bytes; readonly sequence: string; readonly file: string }
  | { readonly kind: 'deletion'; readonly sequence: string; readonly file: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly error: LookupFailure };

/** The step of a lookup in one source; `asked` says whether the source was searched at all. */
export type LookupStep = AskedMemtable | PassedMemtable | AskedTable | PassedTable | PassedLevel;

/**
 * Why a source was not searched.
 *
 * - `empty`: the memtable has no entries.
 * - `out-of-range`: the key is outside the range of keys of the table, or of every table of the level.
 * - `newer`: a table of the level ends with a version of the key that was written after the sequence of the lookup, and none has an older one.
 * - `not-reached`: the lookup had already ended, because a newer source decided it or because it failed.
 */
export type NotAsked = 'empty' | 'out-of-range' | 'newer' | 'not-reached';

/** What a source holds for a key, as far as it was searched. */
export type FoundVersion =
  /** The version that counts. `byteLength`: the length of the value. */
  | { readonly kind: 'value'; readonly sequence: string; readonly byteLength: number }
  | { readonly kind: 'deletion'; readonly sequence: string }
  /**
   * It has only versions that were written after the sequence of the lookup; `sequence` is that of the newest. For a table, this is about the
   * searched block only.
   */
  | { readonly kind: 'newer'; readonly sequence: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly error: LookupFailure };

/** A memtable: the entries of a log, in memory. */
interface MemtableSource {
  readonly source: 'memtable';
  /** The name of its log. */
  readonly file: string;
  /** Whether it belongs to an older log, to which nothing is added: in a `Database`, the one that is being written to a table. */
  readonly isImmutable: boolean;
  /** The number of its entries. */
  readonly entries: number;
}

/** A memtable that was searched. */
export interface AskedMemtable extends MemtableSource {
  readonly asked: true;
  readonly found: FoundVersion;
}

/** A memtable that was not searched. */
export interface PassedMemtable extends MemtableSource {
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'out-of-range' | 'newer'>;
}

interface TableSource {
  readonly source: 'table';
  readonly level: number;
  readonly number: string;
  /** Its name, as LevelDB writes it now; the file may have the older extension `.sst`. */
  readonly file: string;
  /** Its first and its last user key, according to the MANIFEST. */
  readonly smallest: Bytes;
  readonly largest: Bytes;
}

/** A table that was searched, because the key is within its range. */
export interface AskedTable extends TableSource {
  readonly asked: true;
  /** The number of other tables of its level, which are out of range. 0 in level 0, each of whose tables is a step. */
  readonly otherTables: number;
  /** Whether it was open already; otherwise it was opened for the lookup. */
  readonly wasOpen: boolean;
  /** How it was searched, as far as the lookup went. */
  readonly search: TableSearch;
  readonly found: FoundVersion;
}

/** A table of level 0 that was not searched. */
export interface PassedTable extends TableSource {
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'empty' | 'newer'>;
}

/** A level below 0 of which no table was searched. */
export interface PassedLevel {
  readonly source: 'level';
  readonly level: number;
  /** The number of its tables. */
  readonly tables: number;
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'empty'>;
}
