import type { Comparator } from '@bloom/sstable';
import type { DamagePolicy } from '../folder/damage.js';
import type { EntryCursor } from '../cursor/entry-cursor.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import { MemtableCursor } from '../memtable/memtable-cursor.js';
import type { ManifestFields } from '../format/manifest.js';
import { MergeCursor } from '../cursor/merge-cursor.js';
import type { ViewTables } from '../table/table-cache.js';
import { LevelEntries } from '../table/table-cursor.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { KeyOrder, Version } from '../format/version.js';
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
   */
  cursor(sequence: bigint, fillsCache: boolean, sampler?: ReadSampler): VisibleCursor {
    return new VisibleCursor(new MergeCursor(this.#sources(fillsCache), this.order.compareInternalKeys), this.order, sequence, this.damage, sampler);
  }

  /** A cursor over the entries of one table. */
  entriesOf(file: FileMetadata, fillsCache = true): EntryCursor {
    const { compareInternalKeys: compare } = this.order;
    const { largest } = file;
    const find = (key: Uint8Array): number => (compare(largest, 0, largest.length, key, 0, key.length) >= 0 ? 0 : 1);
    return new LevelEntries([file], find, this.tables, this.damage, false, fillsCache);
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
}
