/** The parts of a folder that were read, which the next reading reuses while the MANIFEST is the same. */
import type { Comparator, FileIdentity } from '@bloom/sstable';
import type { DamagePolicy } from '../folder/damage.js';
import { isSameState } from '../folder/folder.js';
import type { ManifestFields } from '../format/manifest.js';
import { hasSameBounds } from '../format/version-edit.js';
import type { KeyOrder, Version } from '../format/version.js';
import type { LogMemtable } from '../memtable/log-memtable.js';
import type { TableCache } from '../table/table-cache.js';
import type { ManifestState } from './folder-manifest.js';

/** A database as far as it was read. */
export interface KnownDatabase {
  readonly comparator: Comparator;
  readonly order: KeyOrder;
  readonly tables: TableCache;
  readonly logs: Map<bigint, LogMemtable>;
  /** What its views have left out so far. */
  readonly damage: DamagePolicy;
  manifest: ManifestState;
  /** The highest sequence that a view shows: entries that are visible at it must not change. */
  visible: bigint;
  /** An object that its views share. */
  origin: object;
  /** The files of the last view. */
  shown: Shown | undefined;
}

export interface Shown {
  /** The name of the MANIFEST. */
  readonly manifest: string;
  readonly version: Version;
  readonly logs: readonly LogMemtable[];
  readonly fields: ManifestFields;
  /** The identity of LOCK. */
  readonly lock: FileIdentity | undefined;
}

/**
 * Whether a MANIFEST belongs to the database that was shown before. LevelDB writes a new MANIFEST at each opening, and turns logs into tables.
 * All numbers and files must agree, and a table or the file LOCK must still be the same file.
 */
export function isSameDatabase(before: KnownDatabase, now: KnownDatabase): boolean {
  if (before.shown === undefined || now.shown === undefined) return false;
  const { version, logs, fields, lock } = before.shown;
  const files = new Map(version.files.map((file) => [file.number, file]));
  let isKnown = isSameState(lock, now.shown.lock);
  for (const file of now.shown.version.files) {
    const old = files.get(file.number);
    if (old === undefined ? file.number < fields.nextFileNumber : old.size !== file.size || !hasSameBounds(old, file)) return false;
    if (old !== undefined) isKnown = true;
  }
  for (const { number, prefix } of now.shown.logs) {
    const old = logs.find((log) => log.number === number)?.prefix;
    if (old === undefined ? number < fields.nextFileNumber : old.byteLength !== prefix.byteLength || old.checksum !== prefix.checksum) return false;
  }
  return isKnown && now.shown.fields.nextFileNumber >= fields.nextFileNumber && before.tables.mayBe(now.tables);
}
