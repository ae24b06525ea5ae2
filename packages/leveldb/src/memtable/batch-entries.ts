/**
 * Puts the operations of write batches into a memtable.
 *
 * Source: LevelDB, db/write_batch.cc, `MemTableInserter`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import type { Memtable } from './memtable.js';
import { MemtableFull } from './memtable-full.js';
import { TableBound } from './table-bound.js';
import { WriteBatchReader } from '../format/write-batch.js';

/** A batch below this share of `maxBlockBytes`, less a block, is small. */
const SMALL_BATCH = 1 / 8;

/** The usual and the largest size of tables' blocks: the database's options of these names. */
export interface BlockLimits {
  readonly blockSize: number;
  readonly maxBlockBytes: number;
}

/** Whether a batch of this size fits into a table, whatever its operations. */
export function isSmallBatch(byteLength: number, { blockSize, maxBlockBytes }: BlockLimits): boolean {
  return byteLength <= maxBlockBytes * SMALL_BATCH - blockSize;
}

/** Whether a memtable is to become a table. LevelDB decides by its memory only, and writes an index of any size. */
export function isFull(memtable: Memtable, limits: BlockLimits & { readonly writeBufferSize: number }): boolean {
  return memtable.memoryUsage > limits.writeBufferSize || !hasIndexRoom(memtable, limits);
}

/** Whether the index of a table of the memtable leaves room for another batch. */
export function hasIndexRoom({ tableBound }: Memtable, { blockSize, maxBlockBytes }: BlockLimits): boolean {
  return tableBound.indexBytes(blockSize) <= maxBlockBytes / 2;
}

/** Why the operations of a batch do not fit into a table; undefined when they do. LevelDB has no such limit. */
export function misfitOf(record: Uint8Array, limits: BlockLimits): string | undefined {
  if (isSmallBatch(record.length, limits)) return undefined;
  const { blockSize, maxBlockBytes } = limits;
  const bound = new TableBound();
  for (const batch = new WriteBatchReader(record); batch.next(); ) bound.addUserKey(batch.keyEnd - batch.keyStart, batch.valueEnd - batch.valueStart);
  const blockBytes = bound.blockBytes(blockSize);
  if (blockBytes > maxBlockBytes) return `an entry needs a block of up to ${blockBytes} bytes, maxBlockBytes is ${maxBlockBytes}`;
  const indexBytes = bound.indexBytes(blockSize);
  // Entries that are already in the memtable may take half of it.
  if (indexBytes > maxBlockBytes / 2) return `the keys need an index of up to ${indexBytes} bytes, half of maxBlockBytes is ${maxBlockBytes / 2}`;
  return undefined;
}

/**
 * Adds the operations of a log's batch to a memtable, up to where the batch is damaged.
 *
 * @param place of the batch.
 * @throws CorruptionError `BLOOM_TOO_LARGE` when they need more memory than a memtable can have.
 */
export function addBatch(memtable: Memtable, batch: WriteBatchReader, place: Place): void {
  try {
    for (let sequence = batch.sequence; batch.next(); sequence++) {
      memtable.add(sequence, batch.type, batch.bytes, batch.keyStart, batch.keyEnd, batch.valueStart, batch.valueEnd);
    }
  } catch (error) {
    if (!(error instanceof MemtableFull)) throw error;
    throw new CorruptionError('BLOOM_TOO_LARGE', place, `its operations do not fit into memory: ${error.message}`, { cause: error });
  }
}
