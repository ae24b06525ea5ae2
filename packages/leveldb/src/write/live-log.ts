import type { Dropped } from '../damage.js';
import type { ViewLog } from '../log-memtable.js';
import type { Memtable } from '../memtable.js';
import type { RecordFile } from './record-file.js';

/** A log that is being written, or waits for its memtable to become a table. */
export class LiveLog implements ViewLog {
  readonly memtable: Memtable;
  readonly file: RecordFile;
  readonly dropped: readonly Dropped[] = [];
  readonly tail = undefined;

  constructor(file: RecordFile, memtable: Memtable) {
    this.file = file;
    this.memtable = memtable;
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
