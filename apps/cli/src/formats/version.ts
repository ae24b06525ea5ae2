/** Versions of keys in the columns of a format. */
import type { StoredEntry } from '@bloom/leveldb';
import { type DatabaseEntry, encodeInternalKey, typeOfKind } from '@bloom/sstable/database';
import type { FactName } from './format-contract.js';

/** The facts about a version, in the order of the columns. */
export function factsOf(version: DatabaseEntry | StoredEntry, names: readonly FactName[]): string[] {
  return names.map((name) => {
    switch (name) {
      case 'sequence':
        return String(version.sequence);
      case 'type':
        return String(version.kind);
      case 'file':
        return 'file' in version ? version.file : '';
      case 'level':
        return '-';
    }
  });
}

/** The internal key of a version. */
export function storedKey({ key, sequence, kind }: DatabaseEntry | StoredEntry): Uint8Array {
  return encodeInternalKey({ userKey: key, sequence, type: typeOfKind(kind) });
}
