import type { Signal } from '@bloom/bytes';
import type { StoredEntriesOptions } from '@bloom/leveldb/inspect';

/** How to list the stored versions of records or items. All of it has a default. */
export interface StoredVersionsOptions extends StoredEntriesOptions {
  /** Ends the iteration with its reason, at the next version. */
  readonly signal?: Signal | undefined;
}
