import type { Dropped } from '../damage.js';
import { logFileName } from '../file-name.js';
import type { ViewLog } from '../log-memtable.js';
import { Memtable } from '../memtable.js';
import type { KeyOrder } from '../version.js';
import type { WritableFolder } from '../writable-folder.js';
import { RecordFile } from './record-file.js';

/** A log that is being written, or that was replaced and whose memtable is being flushed. */
export class LiveLog implements ViewLog {
  readonly memtable: Memtable;
  readonly file: RecordFile;
  readonly dropped: readonly Dropped[] = [];
  readonly tail = undefined;

  constructor(file: RecordFile, memtable: Memtable) {
    this.file = file;
    this.memtable = memtable;
  }

  /** Creates an empty log, with an empty memtable. */
  static async create(folder: WritableFolder, number: bigint, order: KeyOrder): Promise<LiveLog> {
    const name = logFileName(number);
    return new LiveLog(new RecordFile(number, name, await folder.create(name)), new Memtable(order.compareInternalKeys));
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
