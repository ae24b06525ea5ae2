/** What the worker tells the page of a log or a MANIFEST. */
import type { LabelledRange } from '@bloom/bytes';
import type { Clipped } from '../table/table-facts.js';

export interface LogFileFacts {
  readonly name: string;
  readonly byteLength: number;
  /** What its records are: batches of writes, or edits of the version. */
  readonly holds: 'batches' | 'edits';
  readonly records: number;
  readonly fragments: number;
  readonly operations: number;
  /** What is no record, in the order of the file. */
  readonly damage: readonly { readonly offset: number; readonly byteLength: number; readonly reason: string }[];
  /** What the file ends in, where that is no record: the writer ended there, or still writes. */
  readonly tail: { readonly offset: number; readonly byteLength: number; readonly problem: string } | undefined;
  readonly isIndexedDb: boolean;
  readonly isMinecraft: boolean;
}

/** A write of a batch. */
export interface OperationFacts {
  readonly kind: 'put' | 'delete';
  readonly sequence: string;
  readonly key: Clipped;
  readonly value: Clipped | undefined;
}

export interface RecordRow {
  readonly number: number;
  readonly offset: number;
  readonly byteLength: number;
  readonly fragments: number;
  /** Of a batch. */
  readonly operations: readonly OperationFacts[];
  readonly operationCount: number;
  /** Of an edit, in words. */
  readonly changes: readonly string[];
  /** Why it cannot be decoded. */
  readonly problem: string | undefined;
}

/** What each byte of a record is, its fragments' headers too. */
export type RecordLayout = readonly LabelledRange[];
