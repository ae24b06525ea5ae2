import { readSync } from 'node:fs';
import { type Comparator, type SyncSource, TableBuilder, type TableSink } from '@bloom/sstable';
import { EntryBatch } from '../formats/entry-batch.js';
import type { SortedEntries } from './sorted-entries.js';
import type { AppendedFile } from './temporary-file.js';

/** The block size of a run in bytes. Runs are only read from start to end. */
const BLOCK_BYTES = 64 * 2 ** 10;

/** The number of bytes of entries that are copied at a time: they fit into the processor's cache. */
const BATCH_BYTES = 64 * 2 ** 10;

/** Sorts entries, and writes them to a table in a file. @throws the system's error when it cannot be written. */
export function writeSortedRun(file: AppendedFile, entries: SortedEntries, comparator: Comparator): void {
  entries.sort();
  const sink: TableSink = {
    append(bytes) {
      file.append(bytes);
    },
  };
  const builder = new TableBuilder(sink, { comparator, filterPolicy: null, blockSize: BLOCK_BYTES, compression: 'snappy' });
  const batch = new EntryBatch(BATCH_BYTES);
  for (let next = 0; next < entries.sortedLength; ) {
    batch.clear();
    next = entries.fill(batch, next, BATCH_BYTES);
    const { bytes, length } = batch;
    for (let i = 0; i < length; i++) builder.addRange(bytes, batch.keyStart(i), batch.keyEnd(i), bytes, batch.keyEnd(i), batch.valueEnd(i));
  }
  builder.finish();
}

/** The bytes of a file that this or another thread has opened. */
export class DescriptorSource implements SyncSource {
  constructor(
    readonly fd: number,
    readonly byteLength: number,
  ) {}

  read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    if (this.readInto(offset, bytes) < length) throw Object.assign(new Error('EIO: the file ends too early, read'), { code: 'EIO', syscall: 'read' });
    return bytes;
  }

  readInto(offset: number, bytes: Uint8Array): number {
    let filled = 0;
    while (filled < bytes.length) {
      const read = readSync(this.fd, bytes, filled, bytes.length - filled, offset + filled);
      if (read === 0) break;
      filled += read;
    }
    return filled;
  }
}
