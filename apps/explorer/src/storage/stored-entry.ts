import type { IndexedDbKey, WebStorageError } from '@bloom/web-storage';
import type { VersionState } from './version-state.js';
import type { StoragePlace } from './storage-place.js';

/** A record of IndexedDB, or an item of Local or Session Storage. */
export interface StoredEntry {
  /** Undefined if it cannot be read. */
  readonly key: IndexedDbKey | undefined;
  readonly primaryKey: IndexedDbKey | undefined;
  readonly value: unknown;
  readonly isComplete: boolean;
  /** Why it cannot be read; also used for damage of the folder. */
  readonly error: Error | WebStorageError | undefined;
  readonly where: EntryPlace;
  readonly version: { readonly state: VersionState; readonly sequence: bigint; readonly file: string } | undefined;
}

/** The place of an entry. */
export interface EntryPlace extends StoragePlace {
  /** The names of the place for people, from the outside to the inside: origin, database and store, or folder and origin. */
  readonly labels: readonly string[];
  /** The names for programs: the members of an exported line. */
  readonly names: Readonly<Record<string, string | number>>;
}

/** Entries of one kind and place. A walk can be repeated and yields the same entries. */
export interface EntrySource {
  walk(signal: AbortSignal): AsyncGenerator<StoredEntry, void, undefined>;
  /** Reads a record again without a walk. */
  again?(entry: Pick<StoredEntry, 'primaryKey'>): Promise<StoredEntry | undefined>;
}
