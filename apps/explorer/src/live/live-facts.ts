/** Messages of the live worker to the page. */
import type { DatabaseEvent, TableMade } from '@bloom/leveldb';
import type { DatabaseFacts, DatabaseRow, LookupTrace, VersionFacts } from '../database/database-facts.js';
import type { PaceName } from './pace.js';

/** A file, and the number of bytes that would survive a power failure. */
export interface FileState {
  readonly name: string;
  readonly byteLength: number;
  readonly syncedBytes: number;
  /** Whether its name would survive too. */
  readonly isNamed: boolean;
}

/** Events of the database, and actions on it. */
export type LiveEvent =
  | DatabaseEvent
  | { readonly kind: 'crashed'; readonly how: Crash; readonly lastSequence: string }
  /** @see LostWrites, which counts what is lost. */
  | { readonly kind: 'reopened'; readonly lost: number };

/** Only the program, or the whole machine. */
export type Crash = 'program' | 'power';

export interface NumberedEvent {
  readonly id: number;
  readonly event: LiveEvent;
}

export interface MemtableState {
  readonly log: string;
  readonly entries: number;
  /** In bytes, as LevelDB counts them. */
  readonly memoryUsage: number;
  /** Whether it is being written as a table. */
  readonly isFlushing: boolean;
}

/** A filter of a table, and the number of its bits that are 1. It has no bits if no block begins in its range. */
export interface FilterFill {
  readonly byteLength: number;
  readonly setBits: number;
}

/** A table and its filters. */
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
  /** The number of changes. A later state has a higher number. */
  readonly number: number;
  /** Undefined while the database is being opened. */
  readonly facts: DatabaseFacts | undefined;
  /** Why the database cannot be opened, or why writing has ended. */
  readonly problem: string | undefined;
  readonly memtables: readonly MemtableState[];
  /** The size at which a memtable becomes a table, in bytes. */
  readonly writeBufferSize: number;
  readonly files: readonly FileState[];
  readonly tables: readonly LiveTable[];
  readonly making: Making | undefined;
  readonly snapshots: readonly SnapshotState[];
  /** The newest events, without those that the page already has. */
  readonly events: readonly NumberedEvent[];
  readonly pace: PaceName;
  /** The steps that wait for their turn. */
  readonly waiting: readonly string[];
  /** Calls that have not ended. */
  readonly running: number;
  /** The number of installed versions. */
  readonly versions: number;
  /** The stored versions of the watched key. */
  readonly watched: readonly VersionFacts[];
}

/** The result of a lookup. */
export interface LiveLookup {
  readonly key: Uint8Array;
  readonly sequence: string | undefined;
  readonly trace: LookupTrace;
  /** {@link LiveState.versions} at that time. */
  readonly versions: number;
}

/** The position of a cursor. */
export interface LiveSeek {
  readonly rows: readonly DatabaseRow[];
  readonly hasMore: boolean;
}
