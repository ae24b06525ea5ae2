import type { FilterPolicy } from '@bloom/policy';
import type { Codec, Comparator, ReadingOptions, TableOptions } from '@bloom/sstable';
import type { FileMetadata } from '../format/version-edit.js';

/** What a thread needs in addition to LevelDB's own order, filter and compression. */
export interface ThreadPlugins {
  readonly comparators?: readonly Comparator[] | undefined;
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  readonly codecs?: readonly Codec[] | undefined;
}

/** The {@link ThreadPlugins} that a thread must have, because the database uses them. */
export interface NeededPlugins {
  /** The name of the comparator; undefined for bytewise order. */
  readonly comparator: string | undefined;
  /** The name of the policy of new filters; undefined for none, and for LevelDB's. */
  readonly filterPolicy: string | undefined;
  /** The type of the codec of new blocks; undefined when `compression` determines it. */
  readonly compression: number | undefined;
  /** The types of the codecs of blocks that are read. */
  readonly codecs: readonly number[];
}

/**
 * How a thread reads and writes tables: the database's options that it needs. Comparators, policies and codecs are functions,
 * which cannot be sent to a thread, so a thread must load those that are not LevelDB's itself.
 */
export interface TableThreadSettings extends Pick<TableOptions, 'maxBlockBytes' | 'tailBytes'>, Pick<ReadingOptions, 'readAheadBytes' | 'gapBytes'> {
  readonly maxFileSize: number | undefined;
  readonly blockSize: number | undefined;
  readonly blockRestartInterval: number | undefined;
  readonly filterRange: number | undefined;
  readonly compression: 'none' | 'snappy';
  /** Of LevelDB's Bloom filter, unless a call sets another number; null for tables without filters. */
  readonly bitsPerKey: number | null;
  /** The share of bytes that fitted filters may take in addition to LevelDB's size; undefined if filters are not fitted. */
  readonly extraBytes: number | undefined;
  /** Undefined if LevelDB's own order, filter and compression are enough. */
  readonly plugins: NeededPlugins | undefined;
}

/** A table that was written to disk. */
export interface WrittenTable {
  readonly file: FileMetadata;
  readonly entries: number;
  /** How many filters it has, and the bytes of their block. */
  readonly filters: number;
  readonly filterBytes: number;
}

/** The tables that a compaction made, and the number of entries kept and dropped. */
export interface CompactedTables {
  readonly tables: readonly WrittenTable[];
  /** How many entries the inputs have. */
  readonly entriesRead: number;
  /** Versions that were dropped because a newer one hides them. */
  readonly shadowedDropped: number;
  /** Deletions that were dropped because no older version is left for them to hide. */
  readonly deletionsDropped: number;
}

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

/** A compaction to run. */
export interface CompactionRequest {
  readonly plan: CompactionPlan;
  /** Versions that are visible at this sequence or a later one are kept. */
  readonly oldestSequence: bigint;
  /** For the filters of the new tables; 0 for none, undefined for the setting's value. */
  readonly bitsPerKey: number | undefined;
  /** Allocates the number of the next table. */
  readonly newFileNumber: () => bigint;
}

/**
 * Writes tables of one folder on another thread than the database's.
 *
 * Each call may fail for any reason, including that the thread has ended: the caller then does the work itself. A failed call may leave files
 * behind, which the caller deletes by the numbers that it allocated.
 */
export interface TableThread {
  /** Merges the inputs of a compaction into new tables, which are on disk when the promise resolves. */
  compact(request: CompactionRequest): Promise<CompactedTables>;
  /** Writes a memtable that is not empty as a table, which is on disk when the promise resolves. @param bitsPerKey as in {@link CompactionRequest}. */
  flush(memtable: MemtableArrays, number: bigint, bitsPerKey: number | undefined): Promise<WrittenTable>;
  /** The arrays of a memtable that was flushed, if the thread gives them back: for the next one. */
  takeSpare?(): MemtableArrays | undefined;
  /** Whether the thread has ended, so that every call fails. */
  readonly hasEnded: boolean;
  /** Ends the work for the database, and the thread if no other database can use it. Calls that have not settled fail. */
  close(): Promise<void>;
}

/** A memtable as two arrays that can be sent to a thread. Their layout is private to this version of the package. */
export interface MemtableArrays {
  /** Keys and values. */
  readonly arena: Uint8Array;
  /** The skip list. */
  readonly nodes: Uint32Array;
}
