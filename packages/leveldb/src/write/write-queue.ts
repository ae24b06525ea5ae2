import { WriteBatch } from '../write-batch.js';

/** What a merged record may have at most, and what is added at most to a small first batch so that it is not held up. */
const MAX_GROUP_BYTES = 2 ** 20;
const SMALL_BATCH_BYTES = 128 * 2 ** 10;

/** A call that waits to be written. */
export interface Writer {
  /** Undefined: nothing is written, the memtable is to become a table. */
  readonly batch: WriteBatch | undefined;
  readonly sync: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * How many of the first writers are merged into one record. A write that is to be synced does not follow one that is not:
 * it would be acknowledged without.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::BuildBatchGroup`.
 */
export function groupLength(writers: readonly Writer[]): number {
  const [first] = writers;
  if (first?.batch === undefined) return 1;
  let size = first.batch.byteLength;
  const maxSize = size <= SMALL_BATCH_BYTES ? size + SMALL_BATCH_BYTES : MAX_GROUP_BYTES;
  for (let i = 1; i < writers.length; i++) {
    const { batch, sync } = writers[i]!;
    if (batch === undefined || (sync && !first.sync)) return i;
    size += batch.byteLength;
    if (size > maxSize) return i;
  }
  return writers.length;
}

/** The batches of some writers as one. */
export function merged(writers: readonly Writer[]): WriteBatch {
  const [first] = writers;
  if (writers.length === 1) return first!.batch!;
  const all = new WriteBatch();
  for (const { batch } of writers) all.append(batch!);
  return all;
}
