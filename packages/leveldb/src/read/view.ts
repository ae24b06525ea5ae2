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
import type { ReadSampler } from '../cursor/read-samples.js';
import { VisibleCursor } from '../cursor/visible-cursor.js';

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
  readonly tables: ViewTables;
  readonly damage: DamagePolicy;
  /** The object that it was read from; another object if the files may be those of another database. Undefined where that is impossible. */
  readonly origin?: object | undefined;
}

/** A database at one moment: its tables and memtables. Its files stay open until the last user unpins it. */
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

  /** Pinned once, by the code that made it. */
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
   * @param prefix of the keys to show: sources that have no such keys are left out; other keys may be shown too.
   * @param bounds the range in which the cursor stays.
   * @throws RangeError when keys with a prefix are not adjacent in the order.
   */
  cursor(sequence: bigint, fillsCache: boolean, sampler?: ReadSampler, prefix?: Uint8Array, bounds?: CursorBounds): VisibleCursor {
    const entries = new MergeCursor(this.#sources(fillsCache, prefix && new Uint8Array(prefix)), this.order.compareInternalKeys);
    if (bounds === undefined) return new VisibleCursor(entries, this.order, sequence, this.damage, sampler);
    return new BoundedCursor(entries, this.order, sequence, this.damage, sampler, bounds);
  }

  /** A cursor over the entries of one table. */
  entriesOf(file: FileMetadata, fillsCache = true, isPassedOver?: (handle: TableHandle) => boolean): EntryCursor {
    return this.#entriesOfAll([file], fillsCache, isPassedOver);
  }

  /** A cursor over the entries of sorted tables that do not overlap. */
  #entriesOfAll(files: readonly FileMetadata[], fillsCache: boolean, isPassedOver: ((handle: TableHandle) => boolean) | undefined): EntryCursor {
    return new LevelEntries(files, (key) => firstAtOrAfter(files, key, this.order), this.tables, this.damage, false, fillsCache, isPassedOver);
  }

  /**
   * Memtables, tables of level 0, and one source for each deeper level: the newest first. Given a prefix, tables without keys that have it are
   * left out, according to the MANIFEST or their filters.
   */
  #sources(fillsCache: boolean, prefix: Uint8Array | undefined): EntryCursor[] {
    const mayHave = prefix && this.#mayHave(prefix);
    const isPassedOver = prefix && (({ table }: TableHandle) => !mayHavePrefix(table, prefix));
    const [newest, ...levels] = [this.version.newestFirst, ...this.version.levels.slice(1)].map((files) => (mayHave === undefined ? files : files.filter(mayHave)));
    const sources: EntryCursor[] = this.newestLogs.map(({ memtable }) => new MemtableCursor(memtable));
    for (const file of newest!) sources.push(this.entriesOf(file, fillsCache, isPassedOver));
    for (const files of levels) if (files.length > 0) sources.push(this.#entriesOfAll(files, fillsCache, isPassedOver));
    return sources;
  }

  /** Whether a table may have keys with the prefix, according to the MANIFEST. */
  #mayHave(prefix: Uint8Array): (file: FileMetadata) => boolean {
    const { compareUserKeys } = this.order;
    mustHavePrefixes(compareUserKeys);
    const after = afterPrefix(prefix);
    const compare = (key: Uint8Array, user: Uint8Array): number => compareUserKeys(key, 0, key.length - INTERNAL_KEY_TRAILER_LENGTH, user, 0, user.length);
    return ({ smallest, largest }) => compare(largest, prefix) >= 0 && (after === undefined || compare(smallest, after) < 0);
  }
}
