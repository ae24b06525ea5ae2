/** Messages of the worker to the page about a log or a MANIFEST. */
import type { Clipped } from '../table/table-facts.js';

export interface LogFileFacts {
  readonly byteLength: number;
  /** The type of its records: batches of writes, or version edits. */
  readonly holds: 'batches' | 'edits';
  readonly records: number;
  readonly fragments: number;
  readonly operations: number;
  /** Parts that are not records, in the order of the file. */
  readonly damage: readonly { readonly offset: number; readonly byteLength: number; readonly reason: string }[];
  /** The incomplete record at the end of the file, if there is one: the writer stopped there, or is still writing. */
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
  /** For a batch. */
  readonly operations: readonly OperationFacts[];
  readonly operationCount: number;
  /** For an edit, as text. */
  readonly changes: readonly string[];
  /** The reason why it cannot be decoded. */
  readonly problem: string | undefined;
}
