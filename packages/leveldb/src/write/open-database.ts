import type { TableStats } from '@bloom/sstable';
import { boundsOfUserKeys } from '../compact/pick-compaction.js';
import { overlapsLevel } from '../compact/overlap.js';
import { allDone, attempt, runEnding } from '../folder/closing-files.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { TableFiles } from '../read/base-reader.js';
import { BackgroundWork } from './background-work.js';
import { versionInstalled } from './database-event.js';
import type { Settings } from './database-options.js';
import type { RangeClearing } from './clear-range.js';
import { DatabaseState } from './database-state.js';
import { type FolderHold, inCallOrder } from './folder-hold.js';
import { mustNotLookForeign, openingFailure } from './refuse-foreign-folder.js';
import { holdDatabaseFolder, type OpenedVersions, openVersions } from './recovery.js';
import { RoomForWrites } from './room-for-writes.js';
import { WritePath } from './write-path.js';
import { WriteQueue } from './write-queue.js';

/**
 * The most entries and bytes of a memtable that is cleared by one record of the log. With 1,000 entries that took 0.6 ms of processor time,
 * and a new log with a record of the MANIFEST, which need three syncs, took 0.8 ms.
 */
const FEW_ENTRIES = 1000;
const FEW_BYTES = 256 * 2 ** 10;

/** The parts of a database that is open for writing, from its opening to its closing. */
export class OpenDatabase implements TableFiles {
  readonly settings: Settings;
  readonly restarts = 0;
  readonly state: DatabaseState;
  readonly writes: WriteQueue;
  readonly background: BackgroundWork;
  readonly #hold: FolderHold;

  private constructor(hold: FolderHold, { settings, versions, files, log, change }: OpenedVersions) {
    this.settings = settings;
    this.#hold = hold;
    this.state = new DatabaseState(versions, files, log, settings.onEvent);
    this.background = new BackgroundWork(hold.folder, settings, this.state);
    const room = new RoomForWrites(hold.folder, settings, this.state, this.background);
    this.writes = new WriteQueue(new WritePath(hold.folder, settings, this.state, room));
    for (const { level, file } of change?.newFiles ?? []) this.background.stats.add(level, { milliseconds: 0, bytesRead: 0, bytesWritten: file.size });
  }

  static async open(folder: WritableFolder, given: Settings | (() => Promise<Settings>)): Promise<OpenDatabase> {
    // Until it is open, not only until it is locked: `destroy` would not yet find the files of a new database, and so no reason to fail.
    return inCallOrder(folder, async (earlier) => {
      if (earlier !== undefined) await earlier;
      const settings = typeof given === 'function' ? await given() : given;
      // Before the first `await`: with classic-level, a program can write a file into the folder as soon as it has called `open`.
      if (settings.createIfMissing) await folder.createFolder();
      const names = await mustNotLookForeign(folder, settings);
      const hold = await holdDatabaseFolder(folder, settings, names);
      try {
        const opened = await openVersions(hold.folder, settings);
        const database = new OpenDatabase(hold, opened);
        await database.#start(opened);
        return database;
      } catch (error) {
        const failure = await openingFailure(hold.folder, error);
        await attempt(() => hold.release());
        throw failure;
      }
    });
  }

  /** Writes the changes that opening made, and starts the background work. */
  async #start({ change, names }: OpenedVersions): Promise<void> {
    const { versions, files, log } = this.state;
    try {
      if (change !== undefined) {
        await versions.apply(change);
        this.state.show();
      }
      const obsolete = files.obsoleteOf(versions, names);
      // With nothing to write and nothing to delete, nothing has to be synced yet: the first synced write syncs the folder.
      if (change === undefined && obsolete.length > 0) await versions.syncReused();
      // Both have synced the folder.
      log.isNamed = change !== undefined || obsolete.length > 0;
      this.settings.onEvent?.(versionInstalled(versions.manifestName, undefined, versions.current, versions.lastSequence));
      // Every file that was made since then is in use.
      if (obsolete.length > 0) await this.background.removeObsoleteFiles(obsolete);
      this.background.schedule();
    } catch (error) {
      await attempt(() => allDone([() => versions.close(), () => log.close(), () => files.close()]));
      throw error;
    }
  }

  /** The folder, as long as it is held. */
  get folder(): WritableFolder {
    return this.#hold.folder;
  }

  get counts(): TableStats {
    return this.state.files.counts;
  }

  /** Makes a table of the memtable, and waits for it. */
  async flush(): Promise<void> {
    await this.writes.push(undefined, false);
    while (this.state.flushing !== undefined) {
      this.state.mustWrite();
      await this.background.progress();
    }
  }

  /** Deletes entries: all of them at once, unless a snapshot needs them or there are few; those of a range one by one. */
  clear(clearing: RangeClearing): Promise<void> {
    return this.writes.between(async (write) => {
      await clearing.settle();
      const isSmall = clearing.isOfAll && clearing.mayBeUnsynced && this.#isSmall;
      if (clearing.isOfAll && !isSmall && (await this.background.clear())) return;
      this.state.mustWrite();
      // The few are deleted with one write, so that after a crash either all entries or none are left.
      await clearing.run(this.state.view, this.folder, write, isSmall ? Infinity : undefined);
    });
  }

  /** Whether all entries are in one small memtable: then clearing reads no table, which might be damaged. */
  get #isSmall(): boolean {
    const { log, flushing, versions } = this.state;
    const { count, memoryUsage } = log.memtable;
    return flushing === undefined && versions.current.files.length === 0 && count <= FEW_ENTRIES && memoryUsage <= FEW_BYTES;
  }

  /** Source: `DBImpl::CompactRange`. */
  async compactRange(begin: Uint8Array | undefined, end: Uint8Array | undefined): Promise<void> {
    const bounds = boundsOfUserKeys(begin, end);
    const { current, order } = this.state.versions;
    let deepest = 1;
    for (let level = 1; level < current.levels.length; level++) if (overlapsLevel(current, level, order, bounds)) deepest = level;
    await this.flush();
    for (let level = 0; level < deepest; level++) await this.background.compactLevel(level, bounds);
  }

  /** Waits for pending writes, stops the background work, and closes all files. */
  close(): Promise<void> {
    return this.#hold.end(async () => {
      await this.writes.settled();
      this.state.isClosing = true;
      await this.background.close();
      const { versions, files, log, failure } = this.state;
      // A repair would treat their entries as present, even those that were deleted since.
      if (files.endViews()) await this.background.removeObsoleteFiles();
      await runEnding(
        async () => {
          // Once writing has ended, its callers know the reason.
          if (failure === undefined) await log.check();
        },
        () => allDone([() => log.close(), () => versions.close(), () => files.close()]),
      );
    });
  }
}
