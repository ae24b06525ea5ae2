/** What the worker tells the page about stored data. */
import type { StorageKind } from '@bloom/web-storage';
import type { FailureFacts } from '../worker/failure.js';
import type { StoragePlace } from './storage-place.js';
import type { VersionState } from './version-state.js';

/** A LevelDB folder of the profile. */
export interface FolderFacts {
  readonly path: string;
  readonly title: string;
  readonly byteLength: number;
  /** Undefined for a database that is none of the three. */
  readonly storage: StorageKind | undefined;
}

/** A database, store, index, origin or tab. */
export interface OutlineNode {
  readonly kind: 'database' | 'store' | 'index' | 'origin' | 'tab';
  readonly title: string;
  /** Such as `version 3`. */
  readonly detail: string;
  /** What it shows when it is chosen; undefined for a mere heading. */
  readonly place: StoragePlace | undefined;
  readonly children: readonly OutlineNode[];
}

/** What is known of the folders' contents, by their paths; a folder is read when it is opened in the outline. */
export type Outlines = ReadonlyMap<string, readonly OutlineNode[] | FailureFacts>;

/** A record or an item, or damage in their place. */
export interface RowFacts {
  readonly key: string;
  readonly value: string;
  /** Its store or origin, where rows of several are listed. */
  readonly where: string;
  /** Why it cannot be read. */
  readonly error: string | undefined;
  /** Of a version that is stored: whether it counts. */
  readonly state: VersionState | undefined;
}

/** A list of rows that grows as it is scrolled. */
export interface ListFacts {
  /** Rows that are known so far. */
  readonly rowCount: number;
  /** Records that were read for them. */
  readonly examined: number;
  readonly state: 'more' | 'end' | 'full';
}

/** All about one row. */
export interface RowDetails {
  readonly key: NodeFacts;
  /** The primary key, where the row is of an index. */
  readonly primaryKey: NodeFacts | undefined;
  readonly value: NodeFacts | undefined;
  /** A text that is JSON, as a tree. */
  readonly json: NodeFacts | undefined;
  readonly isComplete: boolean;
  readonly failure: FailureFacts | undefined;
  readonly version: { readonly state: VersionState; readonly sequence: string; readonly file: string } | undefined;
}

/** A part of a value: a line of its tree. */
export interface NodeFacts {
  readonly id: number;
  /** The name of the property, the index, or the key of a Map; undefined at the root. */
  readonly label: string | undefined;
  /** Such as `Array(3)`, `Date` or `string`. */
  readonly type: string;
  readonly text: string;
  /** The length of a text that is longer than `text`, in UTF-16 units. */
  readonly textLength: number | undefined;
  readonly childCount: number;
  /** The place of the same object above or before it in the tree: it is shown there. */
  readonly sameAs: string | undefined;
  /** What can be downloaded: a Blob, a File or bytes. */
  readonly file: { readonly name: string; readonly type: string; readonly size: number | undefined } | undefined;
}
