/** What the table worker tells the page. */
import type { LabelledRange } from '@bloom/bytes';
import type { Finding } from '@bloom/sstable/inspect';

/** Where a file comes from. */
export type FileOrigin = { readonly kind: 'file'; readonly file: File } | { readonly kind: 'url'; readonly url: string; readonly name: string };

export type FilterState =
  | { readonly state: 'used'; readonly policyName: string }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown-policy'; readonly names: readonly string[] }
  | { readonly state: 'unsupported'; readonly names: readonly string[] }
  | { readonly state: 'corrupt'; readonly problem: string };

export interface TableFacts {
  readonly name: string;
  readonly byteLength: number;
  /** By the numbers of `BLOCK_KINDS`; in the order of the file. */
  readonly kinds: Uint8Array;
  readonly offsets: Float64Array;
  readonly sizes: Float64Array;
  readonly footerBytes: Uint8Array;
  readonly footerLayout: readonly LabelledRange[];
  readonly findings: readonly Finding[];
  readonly filter: FilterState;
  /** Whether the keys are those of a database: with sequence and type. */
  readonly isDatabase: boolean;
  /** Whether they look like those of Chromium's IndexedDB, which have an order of their own. */
  readonly isIndexedDb: boolean;
  readonly isMinecraft: boolean;
  /** Of the first data block. */
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

/** A value or key that may be too long to be sent whole. */
export interface Clipped {
  readonly bytes: Uint8Array;
  readonly byteLength: number;
}

export interface EntryRow {
  readonly number: number;
  readonly offset: number;
  readonly restart: number | undefined;
  readonly shared: number;
  /** Of a database's table: the user key. */
  readonly key: Clipped;
  readonly keyByteLength: number;
  readonly sequence: string | undefined;
  readonly type: number | undefined;
  readonly value: Clipped;
  /** Of index and metaindex entries. */
  readonly handle: { readonly offset: number; readonly size: number } | undefined;
}

export interface FilterRow {
  readonly number: number;
  readonly state: 'filter' | 'empty' | 'damaged';
  /** Within the filter block. */
  readonly offset: number;
  readonly byteLength: number;
  /** The range of the file whose blocks it is for. */
  readonly from: number;
  readonly to: number;
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

/** What a look at every byte found. */
export interface CheckFacts {
  readonly findings: readonly Finding[];
  /** How many more there were. */
  readonly moreFindings: number;
  /** What could not be checked, and why. */
  readonly unchecked: readonly string[];
  readonly entries: number;
  readonly deletions: number;
  readonly dataBlocks: number;
  readonly unreadableBlocks: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** How many data blocks each codec has. */
  readonly codecs: Readonly<Record<string, number>>;
  /** Whether keys of IndexedDB are in another order than theirs. */
  readonly isOrderUnusual: boolean;
  /** The name of the order that the keys were checked against. */
  readonly order: string;
}
