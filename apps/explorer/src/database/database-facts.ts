/** Messages of the database worker to the page. */
import type { Clipped } from '../table/table-facts.js';
import type { FailureFacts } from '../worker/failure.js';

export interface LevelTableFacts {
  readonly number: string;
  readonly name: string;
  readonly byteLength: number;
  /** The first and the last user key. */
  readonly smallest: Clipped;
  readonly largest: Clipped;
  /** The status of the filter: used, absent, … */
  readonly filter: string;
}

export interface LogFacts {
  readonly name: string;
  readonly byteLength: number;
  readonly entries: number;
  /** The incomplete record at the end of the file, if there is one. */
  readonly tail: string | undefined;
}

export interface DroppedFacts {
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number | undefined;
  readonly reason: string;
  readonly code: string;
}

export interface DatabaseFacts {
  readonly name: string;
  readonly comparator: string;
  readonly lastSequence: string;
  readonly manifest: string;
  readonly nextFileNumber: string;
  readonly levels: readonly (readonly LevelTableFacts[])[];
  readonly logs: readonly LogFacts[];
  readonly dropped: readonly DroppedFacts[];
  readonly byteLength: number;
  /** The first visible key. */
  readonly firstKey: Clipped | undefined;
  readonly lastKey: Clipped | undefined;
  readonly isIndexedDb: boolean;
  readonly isMinecraft: boolean;
}

export interface DatabaseRow {
  readonly key: Clipped;
  readonly value: Clipped;
}

/** A page of entries. */
export interface DatabasePage {
  readonly rows: readonly DatabaseRow[];
  /** Whether there are more after this page. */
  readonly hasMore: boolean;
}

/** A range of entries. Keys are bytes. */
export interface EntryRange {
  readonly gte?: Uint8Array | undefined;
  readonly gt?: Uint8Array | undefined;
  readonly lt?: Uint8Array | undefined;
  readonly lte?: Uint8Array | undefined;
  readonly reverse?: boolean | undefined;
}

export interface VersionFacts {
  readonly kind: 'value' | 'deletion';
  readonly sequence: string;
  readonly value: Clipped;
  readonly file: string;
  readonly level: number | undefined;
}

export type FilterAnswer = 'no' | 'maybe' | 'no filter' | 'damaged';

/** The search of one table. */
export interface TableTrace {
  readonly file: string;
  readonly level: number;
  /** The search of the index: the entries that the key was compared with, and the block that it led to. */
  readonly index: {
    readonly entries: number;
    readonly compared: readonly { readonly entry: number; readonly key: Clipped; readonly order: 'before' | 'at or after' }[];
    /** Undefined if the key is after all blocks. */
    readonly block: { readonly number: number; readonly offset: number; readonly size: number } | undefined;
  };
  readonly filter: { readonly answer: FilterAnswer; readonly number: number; readonly from: number; readonly byteLength: number } | undefined;
  /** The search of the block, if it was read. */
  readonly block:
    | {
        readonly restarts: number;
        readonly compared: readonly { readonly restart: number; readonly key: Clipped; readonly order: 'before' | 'at or after' }[];
        readonly walked: readonly Clipped[];
      }
    | undefined;
  readonly outcome: 'found' | 'deleted' | 'nothing' | 'skipped';
  readonly sequence: string | undefined;
  readonly failure: FailureFacts | undefined;
}

/** A step of a lookup. */
export type TraceStep =
  | { readonly kind: 'log'; readonly file: string; readonly entries: number; readonly outcome: 'found' | 'deleted' | 'nothing'; readonly sequence: string | undefined }
  | { readonly kind: 'level'; readonly level: number; readonly tables: number; readonly outcome: 'no table' }
  | ({ readonly kind: 'table' } & TableTrace)
  | { readonly kind: 'rest'; readonly sources: readonly string[] };

export interface LookupTrace {
  readonly steps: readonly TraceStep[];
  readonly outcome: 'found' | 'deleted' | 'absent' | 'unknown';
  readonly value: Clipped | undefined;
  /** Blocks that were read, that filters saved, and that would have been read without filters. */
  readonly reads: number;
  readonly saved: number;
}

/** The cost of many lookups of absent keys. */
export interface AbsentLookups {
  readonly lookups: number;
  readonly readsWithFilters: number;
  readonly readsWithoutFilters: number;
  readonly falsePositives: number;
  /** Lookups that failed because damage may hide their keys: fewer if filters exclude the damaged blocks. */
  readonly failuresWithFilters: number;
  readonly failuresWithoutFilters: number;
  /** One of the keys. */
  readonly example: Clipped | undefined;
}
