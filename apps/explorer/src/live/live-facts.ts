/** Messages of the live worker to the page. */
import type { DatabaseEvent, TableMade } from '@bloom/leveldb';
import type { DatabaseFacts, DatabaseRow, LookupTrace, VersionFacts } from '../database/database-facts.js';
import type { PaceName } from './pace.js';

/** A file, and how much of it would survive a power failure. */
export interface FileState {
  readonly name: string;
  readonly byteLength: number;
  readonly syncedBytes: number;
  /** Whether its name would survive too. */
  readonly isNamed: boolean;
}

/** What the database tells, and what is done to it. */
export type LiveEvent =
  | DatabaseEvent
  | { readonly kind: 'crashed'; readonly how: Crash; readonly lastSequence: string }
  /** @see LostWrites, which counts what is lost. */
  | { readonly kind: 'reopened'; readonly lost: number };

/** The program alone, or all of the machine. */
export type Crash = 'program' | 'power';

export interface NumberedEvent {
  readonly id: number;
  readonly event: LiveEvent;
}

export interface MemtableState {
  readonly log: string;
  readonly entries: number;
  /** Bytes, as LevelDB counts them. */
  readonly memoryUsage: number;
  /** Whether it is being made a table. */
  readonly isFlushing: boolean;
}

/** A filter of a table: how many of its bits are 1. Without bits where no key begins in its range. */
export interface FilterFill {
  readonly byteLength: number;
  readonly setBits: number;
}

/** A table as it was made. */
export interface LiveTable extends TableMade {
  /** Its filters in the order of the file. */
  readonly fills: readonly FilterFill[];
}

/** What the background works on. */
export type Making =
  | { readonly kind: 'flush'; readonly log: string; readonly table: string }
  | { readonly kind: 'compaction'; readonly level: number; readonly inputs: readonly string[]; readonly outputs: readonly string[] };

export interface SnapshotState {
  readonly id: number;
  readonly sequence: string;
}

export interface LiveState {
  /** Counts the changes: a state with a higher number is a later one. */
  readonly number: number;
  /** Without: the database is being opened. */
  readonly facts: DatabaseFacts | undefined;
  /** Why it cannot be opened, or why nothing more is written. */
  readonly problem: string | undefined;
  readonly memtables: readonly MemtableState[];
  /** At which a memtable becomes a table. */
  readonly writeBufferSize: number;
  readonly files: readonly FileState[];
  readonly tables: readonly LiveTable[];
  readonly making: Making | undefined;
  readonly snapshots: readonly SnapshotState[];
  /** The newest events; those that the page has are left out. */
  readonly events: readonly NumberedEvent[];
  readonly pace: PaceName;
  /** What waits for its turn. */
  readonly waiting: readonly string[];
  /** Calls that have not ended. */
  readonly running: number;
  /** How often a version was installed. */
  readonly versions: number;
  /** What is stored of the key that is watched. */
  readonly watched: readonly VersionFacts[];
}

/** What was looked up. */
export interface LiveLookup {
  readonly key: Uint8Array;
  readonly sequence: string | undefined;
  readonly trace: LookupTrace;
  /** {@link LiveState.versions} at that time. */
  readonly versions: number;
}

/** Where a cursor stopped. */
export interface LiveSeek {
  readonly rows: readonly DatabaseRow[];
  readonly hasMore: boolean;
}
