import type { TableStats } from '@bloom/sstable';
import { DamagePolicy, type Dropped } from '../folder/damage.js';
import { all, type FolderReading, runAsync } from '../folder/folder-reading.js';
import type { Memtable } from '../memtable/memtable.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import { TableCache, ViewTables } from '../table/table-cache.js';
import type { FilteredTable } from '../compact/new-table-bits.js';
import type { FileMetadata } from '../format/version-edit.js';
import { View } from '../read/view.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { Settings } from './database-options.js';
import { LiveTables } from './live-tables.js';
import { deleteFiles, obsoleteFiles } from './obsolete-files.js';
import type { VersionSet } from './version-set.js';

/** Keeps the tables that are in use open, and deletes the files that are no longer needed. */
export class LiveFiles {
  /** The numbers of tables that are being written. They are not deleted although no version has them yet. */
  readonly pending = new Set<bigint>();
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #tables: TableCache;
  readonly #damage = new DamagePolicy(true);
  readonly #live = new LiveTables();

  constructor(folder: WritableFolder, settings: Settings) {
    this.#folder = folder;
    this.#settings = settings;
    this.#tables = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, settings.cache);
  }

  /** Records what was left out when the database was opened. */
  addDropped(dropped: readonly Dropped[]): void {
    for (const one of dropped) this.#damage.add(one);
  }

  get counts(): TableStats {
    return this.#tables.counts();
  }

  /** A view of the current state. The files of its version are kept until it is released. */
  viewOf(versions: VersionSet, logs: readonly ViewLog[], version = versions.current): View {
    const { order } = versions;
    const { files } = version;
    const areAllOpen = files.length <= this.#settings.maxOpenTables;
    const pinned = areAllOpen ? files.flatMap((file) => this.#tables.get(file) ?? []) : [];
    for (const handle of pinned) this.#tables.pin(handle);
    const view = new View({
      comparator: this.#settings.comparator,
      order,
      fields: versions,
      manifest: versions.manifestName,
      version,
      logs,
      lastSequence: versions.lastSequence,
      tables: new ViewTables(this.#tables, files, pinned, areAllOpen),
      damage: this.#damage,
    });
    this.#live.add(view);
    return view;
  }

  shows(memtable: Memtable): boolean {
    return this.#live.shows(memtable);
  }

  /** Opens newly written tables, which verifies that they can be read, and keeps them open. */
  async openTables(files: readonly FileMetadata[]): Promise<void> {
    await runAsync(this.#folder, all(files.map((file) => this.#tables.openAtFirst(file))));
  }

  /** The keys and filters of tables, in their order; undefined for a table that cannot be read. */
  filteredTables(files: readonly FileMetadata[]): Promise<(FilteredTable | undefined)[]> {
    return runAsync(this.#folder, all(files.map((file) => this.#filteredTable(file))));
  }

  *#filteredTable(file: FileMetadata): FolderReading<FilteredTable | undefined> {
    try {
      const handle = yield* this.#tables.openAtFirst(file);
      this.#tables.pin(handle);
      try {
        return { keys: yield* handle.entries(), filterBits: handle.filters?.bits };
      } finally {
        this.#tables.unpin(handle);
      }
    } catch {
      // A reader of the table gets the error.
      return undefined;
    }
  }

  /** The files among `names` that are no longer needed. */
  obsoleteOf(versions: VersionSet, names: readonly string[]): string[] {
    this.#live.forgetReleased();
    return obsoleteFiles(versions, names, (table) => this.#live.has(table) || this.pending.has(table));
  }

  /**
   * Deletes the files that are no longer needed. A file that cannot be deleted, such as a folder with the name of a log, is
   * tried again the next time.
   *
   * @param known the names of the files; if omitted, the folder is listed.
   * @returns the names of those that are deleted.
   */
  async removeObsolete(versions: VersionSet, known?: readonly string[]): Promise<string[]> {
    const obsolete = this.obsoleteOf(versions, known ?? (await this.#folder.list()));
    this.#tables.closeUnless((number) => this.#live.has(number));
    return deleteFiles(this.#folder, obsolete);
  }

  /** Stops keeping the tables that only views need. @returns whether there were any. */
  endViews(): boolean {
    return this.#live.forgetDropped();
  }

  close(): Promise<void> {
    return this.#tables.close();
  }
}
