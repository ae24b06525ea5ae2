/**
 * Room for a record: writes wait here while the memtable is full and the one before it is not yet a table, or while level 0 has too many tables.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::MakeRoomForWrite`.
 */
import { attempt } from '../folder/closing-files.js';
import { delay } from '../folder/pacer.js';
import { isProcessEnding } from '../folder/process-end.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { hasIndexRoom, isFull } from '../memtable/batch-entries.js';
import type { BackgroundWork } from './background-work.js';
import type { Settings } from './database-options.js';
import type { DatabaseState } from './database-state.js';
import { LiveLog } from './live-log.js';

/** The number of tables in level 0 from which each write is delayed by a millisecond, and from which it waits for a compaction. */
const SLOWDOWN_TABLES = 8;
const STOP_TABLES = 12;

/** Makes writes wait until there is room for them, and switches to a new log and memtable when the memtable is full. */
export class RoomForWrites {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #state: DatabaseState;
  readonly #background: BackgroundWork;

  constructor(folder: WritableFolder, settings: Settings, state: DatabaseState, background: BackgroundWork) {
    this.#folder = folder;
    this.#settings = settings;
    this.#state = state;
    this.#background = background;
  }

  /** Whether a record can be appended now. */
  get isFree(): boolean {
    const { failure, log } = this.#state;
    if (failure !== undefined) return false;
    // The next opening makes tables of a log of any size.
    if (isProcessEnding()) return hasIndexRoom(log.memtable, this.#settings);
    return !isFull(log.memtable, this.#settings) && this.#level0Length < SLOWDOWN_TABLES;
  }

  /** Waits until there is room for a record. @param force makes a table of the memtable first. */
  async make(force: boolean): Promise<void> {
    const state = this.#state;
    let mayDelay = !force;
    for (;;) {
      state.mustWrite();
      if (mayDelay && this.#level0Length >= SLOWDOWN_TABLES) {
        // Delaying each write a little avoids delaying a single one for long.
        await delay(1);
        mayDelay = false;
      } else if (!force && !isFull(state.log.memtable, this.#settings)) {
        return;
      } else if (state.flushing !== undefined || this.#level0Length >= STOP_TABLES) {
        const { cannotMerge } = this.#background;
        if (state.flushing === undefined && cannotMerge !== undefined) throw state.fail(cannotMerge, 'level 0 is full, and its tables cannot be merged');
        await this.#background.progress();
      } else {
        await this.#switchLogs();
        force = false;
      }
    }
  }

  get #level0Length(): number {
    return this.#state.versions.current.levels[0]!.length;
  }

  async #switchLogs(): Promise<void> {
    const { log: before, versions } = this.#state;
    const number = versions.newFileNumber();
    // The memtable is already made into a table while the system syncs the log.
    const syncing = before.beginLastSync();
    let log: LiveLog;
    try {
      log = await LiveLog.create(this.#folder, number, this.#state.nextMemtable());
    } catch (error) {
      await attempt(() => syncing);
      versions.reuseFileNumber(number);
      throw this.#state.fail(error);
    }
    this.#state.replaceLog(log);
    const { count: entries, memoryUsage } = before.memtable;
    this.#settings.onEvent?.({ kind: 'memtable-switched', log: before.name, nextLog: log.name, entries, memoryUsage });
    this.#background.schedule();
    try {
      // A record in the new log must not survive a power failure that loses an earlier one.
      await syncing;
      if (!before.isNamed) {
        await this.#folder.syncFolder();
        log.isNamed = true;
      }
    } catch (error) {
      throw this.#state.fail(error);
    } finally {
      // Its contents are synced already, or writing has ended.
      await attempt(() => before.close());
    }
  }
}
