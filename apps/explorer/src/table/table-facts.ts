/** Messages of the table worker to the page. */
import type { LabelledRange } from '@bloom/bytes';
import type { Finding, TableProfile } from '@bloom/sstable/inspect';

export type FilterState =
  | { readonly state: 'used'; readonly policyName: string }
  | { readonly state: 'absent' }
  /** The footer or the metaindex cannot be read. */
  | { readonly state: 'unread' }
  | { readonly state: 'unknown-policy'; readonly names: readonly string[] }
  | { readonly state: 'unsupported'; readonly names: readonly string[] }
  | { readonly state: 'corrupt'; readonly problem: string };

export interface TableFacts {
  readonly name: string;
  readonly byteLength: number;
  /** The kind of each block as an index of `BLOCK_KINDS`, in the order of the file. */
  readonly kinds: Uint8Array;
  readonly offsets: Float64Array;
  readonly sizes: Float64Array;
  readonly footerBytes: Uint8Array;
  readonly footerLayout: readonly LabelledRange[];
  readonly findings: readonly Finding[];
  readonly filter: FilterState;
  /** Whether the index could be read. If not, nothing is known of the data blocks. */
  readonly isIndexRead: boolean;
  /** Whether the keys are internal keys of a database. */
  readonly isDatabase: boolean;
  /** Whether they look like keys of Chromium's IndexedDB, which have their own order. */
  readonly isIndexedDb: boolean;
  readonly isMinecraft: boolean;
  /** The codec of the first data block. */
  readonly codecName: string | undefined;
}

export interface BlockFacts {
  /** Its number among all blocks. */
  readonly number: number;
  readonly kind: string;
  readonly offset: number;
  readonly size: number;
  readonly compressionType: number;
  readonly codecName: string | undefined;
  readonly contentBytes: number | undefined;
  readonly entryCount: number;
  readonly restartCount: number;
  readonly problem: Finding | undefined;
  readonly entryProblem: Finding | undefined;
}

/** The start of a value or key, which may be too long to send. */
export interface Clipped {
  readonly bytes: Uint8Array;
  readonly byteLength: number;
}

export interface EntryRow {
  readonly number: number;
  readonly offset: number;
  readonly restart: number | undefined;
  readonly shared: number;
  /** In a database's table, the user key. */
  readonly key: Clipped;
  readonly keyByteLength: number;
  readonly sequence: string | undefined;
  readonly type: number | undefined;
  readonly value: Clipped;
  /** For entries of index and metaindex. */
  readonly handle: { readonly offset: number; readonly size: number } | undefined;
}

export interface FilterRow {
  readonly number: number;
  readonly state: 'filter' | 'empty' | 'damaged';
  /** The offset in the filter block. */
  readonly offset: number;
  readonly byteLength: number;
  /** The start of the range of the file whose blocks it is for. */
  readonly from: number;
  readonly blocks: number;
  readonly probes: number | undefined;
  readonly setBits: number | undefined;
}

export interface FilterBlockFacts {
  readonly filterCount: number;
  readonly base: number;
  readonly emptyCount: number;
  readonly damagedCount: number;
  readonly policyName: string | undefined;
}

/** One filter of a table. */
export interface StoredFilter {
  readonly number: number;
  /** Undefined if it is damaged. The last byte is the number of probes of a key. */
  readonly bytes: Uint8Array | undefined;
  /** The distinct keys of these blocks; in a database's table, user keys. */
  readonly keys: readonly Uint8Array[];
  readonly keyCount: number;
  /** Whether `keys` holds every key. */
  readonly isEveryKey: boolean;
}

/** The size of the largest table whose filters are measured, which happens in memory. */
export const MOST_MEASURED_BYTES = 64 * 2 ** 20;

/** The result of checking every byte. */
export interface CheckFacts {
  readonly findings: readonly Finding[];
  /** Number of further findings. */
  readonly moreFindings: number;
  /** What could not be checked, and why. */
  readonly unchecked: readonly string[];
  /** The readable contents of the table. */
  readonly profile: TableProfile;
  /** Whether the table has no findings. Only then are sizes and filters those that `bloom stat` reports. */
  readonly isSound: boolean;
  /** Whether keys of IndexedDB are not in IndexedDB's order. */
  readonly isOrderUnusual: boolean;
  /** The name of the order that the keys were checked against. */
  readonly order: string;
}
