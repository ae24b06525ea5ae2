import type { IndexedDbKey, WebStorageError } from '@bloom/web-storage';
import type { VersionState } from './version-state.js';
import type { StoragePlace } from './storage-place.js';

/** A record of IndexedDB, or an item of Local or Session Storage. */
export interface StoredEntry {
  /** Undefined where it cannot be read. */
  readonly key: IndexedDbKey | undefined;
  readonly primaryKey: IndexedDbKey | undefined;
  readonly value: unknown;
  readonly isComplete: boolean;
  /** Why it cannot be read; also damage of the folder in its place. */
  readonly error: Error | WebStorageError | undefined;
  readonly where: EntryPlace;
  readonly version: { readonly state: VersionState; readonly sequence: bigint; readonly file: string } | undefined;
}

/** Where an entry belongs. */
export interface EntryPlace extends StoragePlace {
  /** What is there in words, from the outside to the inside: the origin, the database, the store; or the folder and the origin. */
  readonly labels: readonly string[];
  /** The same for programs: the members that an exported line has for it. */
  readonly names: Readonly<Record<string, string | number>>;
}

/** Entries of one kind and place. A walk can be taken again, and gives the same. */
export interface EntrySource {
  walk(signal: AbortSignal): AsyncGenerator<StoredEntry, void, undefined>;
  /** Reads a record again without a walk. */
  again?(entry: Pick<StoredEntry, 'primaryKey'>): Promise<StoredEntry | undefined>;
}
