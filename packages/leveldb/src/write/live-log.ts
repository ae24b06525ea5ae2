import type { Dropped } from '../folder/damage.js';
import { logFileName } from '../format/file-name.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import type { Memtable } from '../memtable/memtable.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { RecordFile } from '../folder/record-file.js';

/** A log that is being written, or that was replaced and whose memtable is being flushed. */
export class LiveLog implements ViewLog {
  readonly memtable: Memtable;
  readonly file: RecordFile;
  /** Whether the folder was synced since the log was created, so that its name survives a power failure. */
  isNamed = false;
  readonly dropped: readonly Dropped[] = [];
  readonly tail = undefined;
  #lastSync: Promise<void> | undefined;

  constructor(file: RecordFile, memtable: Memtable) {
    this.file = file;
    this.memtable = memtable;
  }

  /** Creates an empty log. @param memtable an empty one. */
  static async create(folder: WritableFolder, number: bigint, memtable: Memtable): Promise<LiveLog> {
    const name = logFileName(number);
    return new LiveLog(new RecordFile(number, name, await folder.create(name)), memtable);
  }

  /** Starts the sync after the last write. */
  beginLastSync(): Promise<void> {
    this.#lastSync = this.file.isSynced ? Promise.resolve() : this.file.sync();
    // `lastSynced` and the caller throw the error.
    this.#lastSync.catch(() => undefined);
    return this.#lastSync;
  }

  /** Waits for the last sync, until which the log must not be deleted. */
  async lastSynced(): Promise<void> {
    await this.#lastSync;
  }

  get number(): bigint {
    return this.file.number;
  }

  get name(): string {
    return this.file.name;
  }

  get byteLength(): number {
    return this.file.byteLength;
  }
}
