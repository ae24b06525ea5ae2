import { CorruptionError, type Structure } from '@bloom/bytes';
import { LogReader, type LogTail } from '@bloom/log';
import type { Dropped } from './damage.js';
import { logFileName } from './file-name.js';
import type { FolderFile } from './folder.js';
import { type FolderReading, readBytes } from './folder-reading.js';
import { Memtable } from './memtable.js';
import type { KeyOrder } from './version.js';
import { WriteBatchReader } from './write-batch.js';

/** Bytes of a log or MANIFEST that are read at once: a log of LevelDB's usual size whole, and a whole number of blocks. */
const CHUNK_LENGTH = 4 * 2 ** 20;
/**
 * Room in the memtable for each byte of the log. Besides key and value, an entry takes eight bytes in a memtable, and in a
 * log three or more, or two for a deletion: entries of 22 bytes and more fit, and for smaller ones the memtable grows.
 */
const ARENA_PER_LOG = 1.25;
/** LevelDB switches logs at 1 GiB at the latest, and after the batch that passes it. */
const MAX_LOG_LENGTH = 2 ** 31;
/** How many bytes before the place where reading goes on must be the same as before. */
const FINGERPRINT_LENGTH = 64;

/** A log of a view, and the memtable of its operations. */
export interface ViewLog {
  readonly number: bigint;
  readonly name: string;
  readonly memtable: Memtable;
  /** Bytes of the file when it was read, or so far where it is being written. */
  readonly byteLength: number;
  readonly dropped: readonly Dropped[];
  readonly tail: LogTail | undefined;
}

/** A log, replayed. */
export interface LogMemtable extends ViewLog {
  /** The sequence of the last operation, by the batches' headers; 0 for none. */
  readonly lastSequence: bigint;
  /** How many of `dropped` will be there again when the log is read on. */
  readonly finalDrops: number;
  /** Where to read on, and the bytes before that. */
  readonly resumeOffset: number;
  readonly fingerprint: Uint8Array;
}

/**
 * Replays a log.
 *
 * @param isStrict whether damage is an error.
 * @param previous the same log as it was read before; its memtable is added to, unless the file is another by now.
 * @param visible what of that memtable is visible at or below this sequence must stay as it is.
 * @throws CorruptionError `BLOOM_BAD_LOG` or `BLOOM_BAD_WRITE_BATCH`.
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
    const problem = `it has ${byteLength} bytes, a log has at most ${MAX_LOG_LENGTH}`;
    throw new CorruptionError('BLOOM_TOO_LARGE', { structure: 'file', offset: 0, file: name }, problem);
  }
  if (previous !== undefined && !(yield* isContinued(file, previous))) previous = undefined;
  // A log of the same length may still have new records, where its writer had allocated room for them as zeros.
  if (previous?.byteLength === byteLength && previous.resumeOffset === byteLength) return previous;
  const memtable = previous?.memtable ?? new Memtable(order.compareInternalKeys, Math.min(Math.ceil(byteLength * ARENA_PER_LOG), CHUNK_LENGTH));
  let lastSequence = previous?.lastSequence ?? 0n;
  const dropped = previous?.dropped.slice(0, previous.finalDrops) ?? [];
  let finalDrops = dropped.length;
  /** Whether a record changes what is visible, so that all is to be replayed into another memtable. */
  let isMisplaced = false as boolean;

  function drop(code: 'BLOOM_BAD_LOG' | 'BLOOM_BAD_WRITE_BATCH', structure: Structure, offset: number, length: number, reason: string): void {
    if (isStrict) throw new CorruptionError(code, { structure, offset, file: name }, `${reason} (${length} bytes)`);
    dropped.push({ file: name, offset, byteLength: length, reason, code });
  }

  const reader = new LogReader(
    {
      drop: ({ offset, byteLength: length, reason }) => drop('BLOOM_BAD_LOG', 'log record', offset, length, reason),
      record(record, offset) {
        const batch = new WriteBatchReader(record);
        const { sequence } = batch;
        // Of what is visible nothing may change under those who look at it.
        if (previous !== undefined && sequence <= visible) isMisplaced = true;
        if (isMisplaced) return;
        for (let next = sequence; batch.next(); next++) {
          memtable.add(next, batch.type, batch.bytes, batch.keyStart, batch.keyEnd, batch.valueStart, batch.valueEnd);
        }
        if (batch.problem !== undefined) drop('BLOOM_BAD_WRITE_BATCH', 'write batch', offset, record.length, batch.problem);
        if (batch.problem !== 'log record too small') {
          const last = BigInt.asUintN(64, sequence + BigInt(batch.count) - 1n);
          if (last > lastSequence) lastSequence = last;
        }
        finalDrops = dropped.length;
      },
    },
    previous?.resumeOffset ?? 0,
  );
  const piece = yield* pushAll(reader, file, previous?.resumeOffset ?? 0);
  const tail = reader.finish();
  if (isMisplaced) return yield* replayLog(number, file, order, isStrict, undefined, visible);
  const { resumeOffset } = reader;
  const fingerprint = yield* fingerprintOf(file, resumeOffset, piece);
  return { number, name: logFileName(number), memtable, byteLength, lastSequence, dropped, finalDrops, tail, resumeOffset, fingerprint };
}

/** Bytes of a file that were read. */
interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Pushes a file into `reader`, from `start` to the end that the file had when it was opened. @returns the last piece. */
export function* pushAll(reader: LogReader, file: FolderFile, start: number): FolderReading<Piece> {
  let piece: Piece = { offset: start, bytes: new Uint8Array(0) };
  for (let offset = start; offset < file.byteLength; offset += CHUNK_LENGTH) {
    piece = { offset, bytes: yield* readBytes(file, offset, Math.min(CHUNK_LENGTH, file.byteLength - offset)) };
    reader.push(piece.bytes);
  }
  return piece;
}

/** The bytes before the place where a log or MANIFEST will be read on. @param piece where they may be already. */
export function* fingerprintOf(file: FolderFile, resumeOffset: number, piece?: Piece): FolderReading<Uint8Array> {
  const length = Math.min(FINGERPRINT_LENGTH, resumeOffset);
  const offset = resumeOffset - length;
  if (piece !== undefined && offset >= piece.offset && resumeOffset <= piece.offset + piece.bytes.length) {
    return piece.bytes.slice(offset - piece.offset, resumeOffset - piece.offset);
  }
  return length === 0 ? new Uint8Array(0) : (yield* readBytes(file, offset, length)).slice();
}

/** Whether `file` is what was read before, perhaps with more behind it. */
export function* isContinued(
  file: FolderFile,
  { resumeOffset, fingerprint }: { readonly resumeOffset: number; readonly fingerprint: Uint8Array },
): FolderReading<boolean> {
  if (file.byteLength < resumeOffset) return false;
  const bytes = yield* fingerprintOf(file, resumeOffset);
  return bytes.every((byte, i) => byte === fingerprint[i]);
}
