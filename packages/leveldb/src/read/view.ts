import type { Comparator } from '@bloom/sstable';
import { INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { afterPrefix, type CursorBounds, mayHavePrefix, mustHavePrefixes } from '@bloom/sstable/internal';
import { BoundedCursor } from '../cursor/bounded-cursor.js';
import type { DamagePolicy } from '../folder/damage.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import { MemtableCursor } from '../memtable/memtable-cursor.js';
import type { ManifestFields } from '../format/manifest.js';
import { MergeCursor } from '../cursor/merge-cursor.js';
import type { ViewTables } from '../table/table-cache.js';
import { LevelEntries } from '../table/table-cursor.js';
import type { TableHandle } from '../table/table-handle.js';
import type { FileMetadata } from '../format/version-edit.js';
import { firstAtOrAfter, type KeyOrder, type Version } from '../format/version.js';
import { type ReadSampler, VisibleCursor } from '../cursor/visible-cursor.js';

/** What a view is made of. */
export interface ViewParts {
  readonly comparator: Comparator;
  readonly order: KeyOrder;
  readonly fields: ManifestFields;
  /** The name of the MANIFEST. */
  readonly manifest: string;
  readonly version: Version;
  /** The logs that are part of the database, the oldest first. */
  readonly logs: readonly ViewLog[];
  readonly lastSequence: bigint;
  /** Where they are all open, pinned until nobody uses the view. */
  readonly tables: ViewTables;
  readonly damage: DamagePolicy;
  /** What it was read from; another where the files may be those of another database. Undefined where that cannot be. */
  readonly origin?: object | undefined;
}

/** A database at one moment: its tables and memtables. Its files stay open until the last who uses it unpins it. */
export class View implements ViewParts {
  readonly comparator: Comparator;
  readonly order: KeyOrder;
  readonly fields: ManifestFields;
  /** The name of the MANIFEST. */
  readonly manifest: string;
  readonly version: Version;
  readonly logs: readonly ViewLog[];
  /** The sequence of the last visible write. It grows while the newest log is being written. */
  lastSequence: bigint;
  readonly tables: ViewTables;
  readonly damage: DamagePolicy;
  readonly origin: object | undefined;
  /** The logs from the newest to the oldest. */
  readonly newestLogs: readonly ViewLog[];
  #pins = 1;

  /** Pinned once, by its maker. */
  constructor(parts: ViewParts) {
    this.comparator = parts.comparator;
    this.order = parts.order;
    this.fields = parts.fields;
    this.manifest = parts.manifest;
    this.version = parts.version;
    this.logs = parts.logs;
    this.lastSequence = parts.lastSequence;
    this.tables = parts.tables;
    this.damage = parts.damage;
    this.origin = parts.origin;
    this.newestLogs = [...parts.logs].reverse();
  }

  pin(): void {
    this.#pins++;
  }

  unpin(): void {
    if (--this.#pins === 0) this.tables.release();
  }

  /** Whether the view is no longer in use. */
  get isReleased(): boolean {
    return this.#pins === 0;
  }

  /**
   * A cursor over the entries that are visible at `sequence`. The caller pins the view while it uses it.
   *
   * @param fillsCache whether the cache keeps the blocks that are read.
   * @param prefix of the keys to see: what can have none is left out; other keys may be seen too.
   * @param bounds between which the cursor stays.
   * @throws RangeError when the keys with a prefix may be anywhere.
   */
  cursor(sequence: bigint, fillsCache: boolean, sampler?: ReadSampler, prefix?: Uint8Array, bounds?: CursorBounds): VisibleCursor {
    const sources = prefix === undefined ? this.#sources(fillsCache) : this.#sourcesWith(new Uint8Array(prefix), fillsCache);
    const entries = new MergeCursor(sources, this.order.compareInternalKeys);
    if (bounds === undefined) return new VisibleCursor(entries, this.order, sequence, this.damage, sampler);
    return new BoundedCursor(entries, this.order, sequence, this.damage, sampler, bounds);
  }

  /** A cursor over the entries of one table. */
  entriesOf(file: FileMetadata, fillsCache = true, isPassedOver?: (handle: TableHandle) => boolean): EntryCursor {
    return new LevelEntries([file], this.#finder([file]), this.tables, this.damage, false, fillsCache, isPassedOver);
  }

  /** Memtables, tables of level 0, and deeper levels as one each: the newest first. */
  #sources(fillsCache: boolean): EntryCursor[] {
    const { version } = this;
    const sources: EntryCursor[] = this.newestLogs.map(({ memtable }) => new MemtableCursor(memtable));
    for (const file of version.newestFirst) sources.push(this.entriesOf(file, fillsCache));
    for (const [level, files] of version.levels.entries()) {
      if (level === 0 || files.length === 0) continue;
      sources.push(new LevelEntries(files, (key) => version.findFile(level, key), this.tables, this.damage, false, fillsCache));
    }
    return sources;
  }

  /** {@link #sources} without the tables that have no keys with the prefix, as the MANIFEST or their filters say. */
  #sourcesWith(prefix: Uint8Array, fillsCache: boolean): EntryCursor[] {
    const { version, order } = this;
    mustHavePrefixes(order.compareUserKeys);
    const after = afterPrefix(prefix);
    const compare = (key: Uint8Array, user: Uint8Array): number => order.compareUserKeys(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, user, 0, user.length);
    const mayHave = ({ smallest, largest }: FileMetadata): boolean => compare(largest, prefix) >= 0 && (after === undefined || compare(smallest, after) < 0);
    const isPassedOver = ({ table }: TableHandle): boolean => !mayHavePrefix(table, prefix);
    const sources: EntryCursor[] = this.newestLogs.map(({ memtable }) => new MemtableCursor(memtable));
    for (const file of version.newestFirst) if (mayHave(file)) sources.push(this.entriesOf(file, fillsCache, isPassedOver));
    for (const all of version.levels.slice(1)) {
      const files = all.filter(mayHave);
      if (files.length > 0) sources.push(new LevelEntries(files, this.#finder(files), this.tables, this.damage, false, fillsCache, isPassedOver));
    }
    return sources;
  }

  /** Finds in sorted tables the first whose largest key is at or after a key. */
  #finder(files: readonly FileMetadata[]): (key: Uint8Array) => number {
    return (key) => firstAtOrAfter(files, key, this.order);
  }
}
