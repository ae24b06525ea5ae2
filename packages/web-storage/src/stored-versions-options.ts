import type { Signal } from '@bloom/bytes';
import { copiedOptions } from '@bloom/bytes/internal';
import type { StoredEntriesOptions } from '@bloom/leveldb/inspect';

/** How to list the stored versions of records or items. All of it has a default. */
export interface StoredVersionsOptions extends StoredEntriesOptions {
  /** Ends the iteration with its reason, at the next version. */
  readonly signal?: Signal | undefined;
}

/** The names of {@link StoredVersionsOptions}. */
export const STORED_VERSIONS_OPTIONS: Record<keyof StoredVersionsOptions, true> = {
  codecs: true,
  maxBlockBytes: true,
  damage: true,
  onDropped: true,
  signal: true,
};

/** The options of `call`, which skips damage by default. @throws TypeError for an unknown option. */
export function storedVersionsOptions(call: string, options: StoredVersionsOptions): StoredVersionsOptions {
  const { damage = 'skip', ...own } = copiedOptions(call, options, STORED_VERSIONS_OPTIONS);
  return { ...own, damage };
}
