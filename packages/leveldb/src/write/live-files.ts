import type { TableStats } from '@bloom/sstable';
import { DamagePolicy, type Dropped } from '../damage.js';
import { parseFileName } from '../file-name.js';
import { all, runAsync } from '../folder-reading.js';
import type { ViewLog } from '../log-memtable.js';
import { TableCache, ViewTables } from '../table-cache.js';
import type { FileMetadata } from '../version-edit.js';
import type { Version } from '../version.js';
import { View } from '../view.js';
import type { WritableFolder } from '../writable-folder.js';
import type { Settings } from './database-options.js';
import type { VersionSet } from './version-set.js';

/** Keeps the tables that are in use open, and deletes the files that nothing needs any more. */
export class LiveFiles {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #tables: TableCache;
  readonly #damage = new DamagePolicy(true);
  /** Views that may still be in use, whose files must stay. */
  readonly #views = new Set<View>();
  /** The numbers of tables that are being written. */
  readonly #pending = new Set<bigint>();

  /** @param dropped what was left out when the database was opened. */
  constructor(folder: WritableFolder, settings: Settings, dropped: readonly Dropped[]) {
    this.#folder = folder;
    this.#settings = settings;
    this.#tables = new TableCache(settings.maxOpenTables, settings.reading, settings.opening, settings.cache);
    for (const one of dropped) this.#damage.add(one);
  }

  /** What all tables did so far. */
  get counts(): TableStats {
    return this.#tables.counts();
  }

  /** What can be read now. The files of its version stay until it is released. */
  viewOf(versions: VersionSet, logs: readonly ViewLog[]): View {
    const { current: version, order } = versions;
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
    this.#views.add(view);
    return view;
  }

  /** Protects a table that is not part of any version yet from deletion. */
  keep(number: bigint): void {
    this.#pending.add(number);
  }

  /** Ends the protection by `keep`. */
  unkeep(number: bigint): void {
    this.#pending.delete(number);
  }

  /** Opens newly written tables, which verifies that they can be read, and keeps them open. */
  async openTables(files: readonly FileMetadata[]): Promise<void> {
    await runAsync(this.#folder, all(files.map((file) => this.#tables.openAtFirst(file))));
  }

  /** Deletes the files that are no longer needed. Source: LevelDB, db/db_impl.cc, `DBImpl::RemoveObsoleteFiles`. */
  async removeObsolete({ logNumber, previousLogNumber, manifestNumber, current }: VersionSet): Promise<void> {
    const names = await this.#folder.list();
    const versions: Version[] = [current];
    for (const view of this.#views) {
      if (view.isReleased) this.#views.delete(view);
      else versions.push(view.version);
    }
    const tables = versions.flatMap((version) => version.files);
    this.#tables.keepOnly(tables);
    const live = new Set([...this.#pending, ...tables.map(({ number }) => number)]);
    for (const name of names) {
      const file = parseFileName(name);
      if (file === undefined || !('number' in file)) continue;
      const { type, number } = file;
      const isKept =
        type === 'log'
          ? number >= logNumber || number === previousLogNumber
          : type === 'manifest'
            ? number >= manifestNumber
            : live.has(number);
      if (!isKept) await this.#folder.delete(name);
    }
  }

  /** Closes all tables. */
  close(): Promise<void> {
    return this.#tables.close();
  }
}
