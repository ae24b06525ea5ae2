import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Comparator, type SyncSource, TableBuilder, type TableSink } from '@bloom/sstable';
import type { SortedEntries } from './sorted-entries.js';

/** Bytes of a block of a run. Runs are only read from start to end. */
const BLOCK_BYTES = 64 * 2 ** 10;

/**
 * Sorted entries in a temporary table. Its file has no name any more once it is open, so that the system removes it however
 * the process ends. Windows cannot do that: there it is removed when the run is closed.
 */
export class SortedRun {
  readonly fd: number;
  byteLength = 0;
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    this.fd = openSync(path, 'wx+', 0o600);
    if (process.platform !== 'win32') rmSync(path);
  }

  /** Writes sorted entries to a run in a folder. @throws the system's error when the file cannot be written. */
  static write(folder: string, entries: SortedEntries, comparator: Comparator): SortedRun {
    const run = new SortedRun(join(folder, `.bloom-sort.${randomBytes(6).toString('hex')}.tmp`));
    try {
      const sink: TableSink = { append: (bytes) => run.#append(bytes) };
      const builder = new TableBuilder(sink, { comparator, filterPolicy: null, blockSize: BLOCK_BYTES, compression: 'snappy' });
      entries.give(0, (bytes, start, keyEnd, end) => {
        builder.addRange(bytes, start, keyEnd, bytes, keyEnd, end);
        return true;
      });
      builder.finish();
      return run;
    } catch (error) {
      run.close();
      throw error;
    }
  }

  close(): void {
    closeSync(this.fd);
    if (process.platform === 'win32') rmSync(this.#path, { force: true });
  }

  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.fd, bytes, at, bytes.length - at);
      at += written;
      this.byteLength += written;
    }
  }
}

/** The bytes of a file that is open already, in this thread or another. */
export class DescriptorSource implements SyncSource {
  constructor(
    readonly fd: number,
    readonly byteLength: number,
  ) {}

  read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const read = readSync(this.fd, bytes, at, length - at, offset + at);
      if (read === 0) throw Object.assign(new Error('EIO: the file ends too early, read'), { code: 'EIO', syscall: 'read' });
      at += read;
    }
    return bytes;
  }
}
