import type { Memtable } from '../memtable.js';
import type { ReaderOptions } from '../reader-options.js';
import type { FileMetadata } from '../version-edit.js';
import type { CompactionPlan } from './compaction.js';
import type { Pacer } from './pacer.js';

/**
 * How a thread reads and writes tables: the database's options that it needs. Comparators, policies and codecs are
 * functions, which no thread can be sent, so only those that it can make by itself are possible.
 */
export interface TableThreadSettings extends Pick<ReaderOptions, 'tailBytes' | 'readAheadBytes' | 'gapBytes'> {
  readonly maxFileSize: number | undefined;
  readonly blockSize: number | undefined;
  readonly blockRestartInterval: number | undefined;
  readonly filterRange: number | undefined;
  readonly compression: 'none' | 'snappy';
  /** Of LevelDB's Bloom filter; null for tables without filters. */
  readonly bitsPerKey: number | null;
}

/** What is asked for while a compaction runs. */
export interface CompactionRequest {
  readonly plan: CompactionPlan;
  /** Everything visible to readers at this sequence or a later one is kept. */
  readonly oldestSequence: bigint;
  /** Allocates the number of the next table. */
  readonly newFileNumber: () => bigint;
}

/**
 * Writes tables of one folder beside the thread that the database runs in.
 *
 * Each call may fail for whatever reason, including that the thread has ended: the caller then does the work itself.
 * Files may be left that belong to nothing.
 */
export interface TableThread {
  /** Merges the inputs of a compaction into new tables, which are on disk when the promise settles. */
  compact(request: CompactionRequest): Promise<FileMetadata[]>;
  /** Writes a memtable that is not empty as a table, which is on disk when the promise settles. */
  flush(entries: PackedEntries, number: bigint): Promise<FileMetadata>;
  /** Whether the thread has ended, so that every call fails. */
  readonly hasEnded: boolean;
  /** Ends the work for the database, and the thread if no other database can use it. Calls that have not settled fail. */
  close(): Promise<void>;
}

/** The entries of a memtable in their order, as two arrays that can be sent to a thread. */
export interface PackedEntries {
  /** Key and value of each entry, adjacent. */
  readonly bytes: Uint8Array;
  /** Of each entry in order: where its key starts, the length of the key, the length of the value. */
  readonly places: Uint32Array;
}

/** Copies the entries of a memtable that nothing is added to any more. */
export async function packedEntries(memtable: Memtable, pacer: Pacer): Promise<PackedEntries> {
  const places = new Uint32Array(3 * memtable.count);
  let end = 0;
  let i = 0;
  for (let node = memtable.first; node !== 0; node = memtable.after(node)) {
    if (memtable.isCopy(node)) continue;
    const start = memtable.keyStart(node);
    const keyLength = memtable.keyLength(node);
    const valueLength = memtable.valueLength(node);
    places[i++] = start;
    places[i++] = keyLength;
    places[i++] = valueLength;
    end = Math.max(end, start + keyLength + valueLength);
    if (pacer.isDue()) await pacer.pause();
  }
  const bytes = new Uint8Array(end);
  bytes.set(memtable.arena.subarray(0, end));
  return { bytes, places: places.slice(0, i) };
}
