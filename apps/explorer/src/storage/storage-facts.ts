/** Messages of the worker to the page about stored data. */
import type { StorageKind } from '@bloom/web-storage';
import type { FailureFacts } from '../worker/failure.js';
import type { StoragePlace } from './storage-place.js';
import type { VersionState } from './version-state.js';

/** A LevelDB folder of the profile. */
export interface FolderFacts {
  readonly path: string;
  readonly title: string;
  readonly byteLength: number;
  /** Undefined for a database of another kind. */
  readonly storage: StorageKind | undefined;
}

/** A database, store, index, origin or tab. */
export interface OutlineNode {
  readonly kind: 'database' | 'store' | 'index' | 'origin' | 'tab';
  readonly title: string;
  /** Such as `version 3`. */
  readonly detail: string;
  /** The place that it shows when chosen; undefined for a heading. */
  readonly place: StoragePlace | undefined;
  readonly children: readonly OutlineNode[];
}

/** The contents of folders by their paths. A folder is read when it is opened in the outline. */
export type Outlines = ReadonlyMap<string, readonly OutlineNode[] | FailureFacts>;

/** A record or an item, or damage instead of it. */
export interface RowFacts {
  readonly key: string;
  readonly value: string;
  /** Its store or origin, if the list has rows of several. */
  readonly where: string;
  /** Why it cannot be read. */
  readonly error: string | undefined;
  /** The state of a stored version. */
  readonly state: VersionState | undefined;
}

/** A list of rows that grows as it is scrolled. */
export interface ListFacts {
  /** The number of rows found so far. */
  readonly rowCount: number;
  /** The number of records read so far. */
  readonly examined: number;
  readonly state: 'more' | 'end' | 'full';
}

/** The details of a row. */
export interface RowDetails {
  readonly key: NodeFacts;
  /** The primary key, for a row of an index. */
  readonly primaryKey: NodeFacts | undefined;
  readonly value: NodeFacts | undefined;
  /** The tree of a text that is JSON. */
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
  /** The place in the tree where the same object is already shown. */
  readonly sameAs: string | undefined;
  /** The contents that can be saved: a Blob, a File or bytes. */
  readonly file: { readonly name: string; readonly type: string; readonly size: number | undefined } | undefined;
}
