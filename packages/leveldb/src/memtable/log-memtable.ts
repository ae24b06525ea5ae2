import { CorruptionError } from '@bloom/bytes';
import type { LogTail } from '@bloom/log';
import { addBatch } from './batch-entries.js';
import type { Dropped } from '../folder/damage.js';
import { logFileName } from '../format/file-name.js';
import { PIECE_LENGTH } from '../folder/file-pieces.js';
import type { FolderFile } from '../folder/folder.js';
import type { FolderReading } from '../folder/folder-reading.js';
import { type KnownPrefix, PrefixChecksum } from '../folder/known-prefix.js';
import { type DamagedPart, LogBatches, type SkippedDamage } from '../folder/log-batches.js';
import { Memtable } from './memtable.js';
import type { KeyOrder } from '../format/version.js';

/**
 * Room in the memtable for each byte of the log. Besides key and value, an entry takes eight bytes in a memtable, and three or more in a log,
 * or two for a deletion. Entries of 22 bytes and more therefore fit; for smaller ones the memtable grows.
 */
const ARENA_PER_LOG = 1.25;
/**
 * LevelDB switches logs after the batch that passes the size of the write buffer, which is at most 1 GiB. There is a limit only here, because a
 * view has a whole log in memory. Other callers empty their memory between two pieces.
 */
const MAX_LOG_LENGTH = 2 ** 31;

/** A log of a view, and the memtable of its operations. */
export interface ViewLog {
  readonly number: bigint;
  readonly name: string;
  readonly memtable: Memtable;
  /** The length of the file when it was read, or its length so far if it is being written. */
  readonly byteLength: number;
  readonly dropped: readonly Dropped[];
  readonly tail: LogTail | undefined;
}

/** A log, replayed into one memtable. */
export interface LogMemtable extends ViewLog {
  /** The sequence of the last operation, according to the batches' headers; 0 for none. */
  readonly lastSequence: bigint;
  /** The number of items in `dropped` that will be found again when the reading of the log continues. */
  readonly finalDrops: number;
  /** What was read, up to the end of the last whole record. */
  readonly prefix: KnownPrefix;
}

/**
 * Replays a log into a memtable.
 *
 * @param isStrict whether damage is an error.
 * @param previous the same log as it was read before, with which `file` starts; its memtable is added to.
 * @param visible the entries of that memtable that are visible at or below this sequence must not change.
 * @throws CorruptionError `BLOOM_BAD_LOG`, `BLOOM_TOO_LARGE` or `BLOOM_BAD_WRITE_BATCH`.
 */
export function* replayLog(
  number: bigint,
  file: FolderFile,
  order: KeyOrder,
  isStrict: boolean,
  previous: LogMemtable | undefined,
  visible: bigint,
): FolderReading<LogMemtable> {
  const { byteLength } = file;
  const name = file.name ?? logFileName(number);
  if (byteLength > MAX_LOG_LENGTH) {
    const problem = `it has ${byteLength} bytes, but a log can be at most ${MAX_LOG_LENGTH} bytes`;
    throw new CorruptionError('BLOOM_TOO_LARGE', { structure: 'file', offset: 0, file: name }, problem);
  }
  // A log of the same length may still have new records if its writer had allocated space for them as zeros.
  if (previous?.byteLength === byteLength && previous.prefix.byteLength === byteLength) return { ...previous, prefix: { ...previous.prefix, identity: file.identity } };
  const memtable = previous?.memtable ?? new Memtable(order.compareInternalKeys, Math.min(Math.ceil(byteLength * ARENA_PER_LOG), PIECE_LENGTH));
  const dropped: Dropped[] = previous?.dropped.slice(0, previous.finalDrops) ?? [];
  let finalDrops = dropped.length;
  /** Whether a record changes what is visible, so that the whole log must be replayed into another memtable. */
  let isMisplaced = false as boolean;

  function skip(damage: SkippedDamage, part: DamagedPart): void {
    dropped.push(damage);
    // The record is whole, and reading continues from its end.
    if (part === 'write batch') finalDrops = dropped.length;
  }

  const checksum = new PrefixChecksum(previous?.prefix);
  const batches = new LogBatches(
    file,
    name,
    {
      batch(batch, place) {
        finalDrops = dropped.length;
        // Entries that others can see must not change.
        if (previous !== undefined && batch.sequence <= visible) isMisplaced = true;
        if (!isMisplaced) addBatch(memtable, batch, place);
      },
      skip: isStrict ? undefined : skip,
    },
    checksum,
  );
  yield* batches.readAll();
  if (isMisplaced) return yield* replayLog(number, file, order, isStrict, undefined, visible);
  const before = previous?.lastSequence ?? 0n;
  const lastSequence = batches.lastSequence > before ? batches.lastSequence : before;
  return { number, name: logFileName(number), memtable, byteLength, lastSequence, dropped, finalDrops, tail: batches.tail, prefix: checksum.prefixOf(file) };
}
