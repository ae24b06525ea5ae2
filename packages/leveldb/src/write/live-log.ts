import type { Dropped } from '../folder/damage.js';
import { logFileName } from '../format/file-name.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import type { Memtable } from '../memtable/memtable.js';
import type { WritableFile, WritableFolder } from '../folder/writable-folder.js';
import { RecordFile } from '../folder/record-file.js';

/** A log that is being written, or that was replaced and whose memtable is being flushed. */
export class LiveLog extends RecordFile implements ViewLog {
  readonly memtable: Memtable;
  /** Whether the folder was synced since the log was created, so that its name survives a power failure. */
  isNamed = false;
  readonly dropped: readonly Dropped[] = [];
  readonly tail = undefined;
  #lastSync: Promise<void> | undefined;

  /** @param byteLength of the file that is appended to. */
  constructor(number: bigint, file: WritableFile, memtable: Memtable, byteLength = 0) {
    super(number, logFileName(number), file, byteLength);
    this.memtable = memtable;
  }

  /** Creates an empty log. @param memtable an empty one. */
  static async create(folder: WritableFolder, number: bigint, memtable: Memtable): Promise<LiveLog> {
    return new LiveLog(number, await folder.create(logFileName(number)), memtable);
  }

  /** Starts the sync after the last write. */
  beginLastSync(): Promise<void> {
    this.#lastSync = this.isSynced ? Promise.resolve() : this.sync();
    // `lastSynced` and the caller throw the error.
    this.#lastSync.catch(() => undefined);
    return this.#lastSync;
  }

  /** Waits for the last sync, until which the log must not be deleted. */
  async lastSynced(): Promise<void> {
    await this.#lastSync;
  }
}
