/** What a lookup in a database did, step by step, in plain values that can be sent, stored and shown. */
import type { Bytes } from '@bloom/bytes';
import type { LookupFailure, TableSearch } from '@bloom/sstable';

/**
 * What a lookup did, and what came of it. But for keys and values, all of it is JSON: sequences and file numbers, which can be greater than
 * 2^53, are decimal digits.
 */
export interface LookupExplanation {
  /** A copy of the key. */
  readonly key: Bytes;
  /** What was written with a higher sequence was not seen. */
  readonly sequence: string;
  /**
   * Every source of the database, in the order in which they are asked: memtables from the newest to the oldest, the tables of level 0
   * from the newest to the oldest, then one step for each deeper level that has tables.
   */
  readonly steps: readonly LookupStep[];
  /** What `get` gives: a value, nothing, or an error. */
  readonly outcome: LookupOutcome;
}

/** What came of a lookup. `file` is the name of the log or table that decided it. */
export type LookupOutcome =
  | { readonly kind: 'value'; readonly value: Bytes; readonly sequence: string; readonly file: string }
  | { readonly kind: 'deletion'; readonly sequence: string; readonly file: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly error: LookupFailure };

/** What a lookup did with one source; `asked` says whether it was asked at all. */
export type LookupStep = AskedMemtable | PassedMemtable | AskedTable | PassedTable | PassedLevel;

/**
 * Why a source was not asked.
 *
 * - `empty`: the memtable has no entries.
 * - `out-of-range`: the key is outside the range of keys of the table, or of every table of the level.
 * - `not-reached`: the lookup had ended before, because a newer source decided it or because it failed.
 */
export type NotAsked = 'empty' | 'out-of-range' | 'not-reached';

/** What a source has of a key, as far as it was asked. */
export type FoundVersion =
  /** The version that counts. `byteLength`: bytes of the value. */
  | { readonly kind: 'value'; readonly sequence: string; readonly byteLength: number }
  | { readonly kind: 'deletion'; readonly sequence: string }
  /** It has only versions that were written after the sequence that is looked at; `sequence` is the newest's. Of a table, the block that was searched. */
  | { readonly kind: 'newer'; readonly sequence: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failed'; readonly error: LookupFailure };

/** A memtable: what a log holds, in memory. */
interface MemtableSource {
  readonly source: 'memtable';
  /** The name of its log. */
  readonly file: string;
  /** Whether it is that of an older log, to which nothing is added: in a `Database`, the one that is being written to a table. */
  readonly isImmutable: boolean;
  /** How many entries it has. */
  readonly entries: number;
}

/** A memtable that was asked. */
export interface AskedMemtable extends MemtableSource {
  readonly asked: true;
  readonly found: FoundVersion;
}

/** A memtable that was not asked. */
export interface PassedMemtable extends MemtableSource {
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'out-of-range'>;
}

interface TableSource {
  readonly source: 'table';
  readonly level: number;
  readonly number: string;
  /** Its name, as LevelDB writes it now; the file may have the older ending `.sst`. */
  readonly file: string;
  /** Its first and its last user key, as the MANIFEST has them. */
  readonly smallest: Bytes;
  readonly largest: Bytes;
}

/** A table that was asked, because the key is within its range. */
export interface AskedTable extends TableSource {
  readonly asked: true;
  /** How many other tables its level has, which are out of range. 0 in level 0, each of whose tables is a step. */
  readonly otherTables: number;
  /** Whether it was open; otherwise it was opened for the lookup. */
  readonly wasOpen: boolean;
  /** How it was searched, as far as the lookup came. */
  readonly search: TableSearch;
  readonly found: FoundVersion;
}

/** A table of level 0 that was not asked. */
export interface PassedTable extends TableSource {
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'empty'>;
}

/** A level below 0 of which no table was asked. */
export interface PassedLevel {
  readonly source: 'level';
  readonly level: number;
  /** How many tables it has. */
  readonly tables: number;
  readonly asked: false;
  readonly reason: Exclude<NotAsked, 'empty'>;
}
