/**
 * The batches of a log, in order. Opening, readers, repair and inspection all read logs with it.
 *
 * All of them get the same codes for damage, and each decides whether damage ends the reading.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::RecoverLogFile`.
 */
import { type CorruptionCode, CorruptionError, type Place } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import { LogReader, type LogReaderOptions } from '@bloom/log';
import { hasSequences, mayBeginBatch, WriteBatchReader } from '../format/write-batch.js';
import { type Dropped, logDropCode } from './damage.js';
import type { FolderFile } from './folder.js';
import type { PrefixChecksum } from './known-prefix.js';
import { StoredRecords } from './stored-records.js';

/** Damage that is skipped. */
export interface SkippedDamage extends Dropped {
  readonly byteLength: number;
  readonly code: CorruptionCode;
}

/** The parts of a log that can be damaged. */
export type DamagedPart = 'log record' | 'write batch';

/** Receives what a {@link LogBatches} finds. */
export interface LogBatchTarget {
  /**
   * Receives a batch whose sequences are valid for a database. Operations that it does not read are skipped. A damaged batch has the operations
   * before the damage, and the damage is reported afterwards.
   */
  batch?(batch: WriteBatchReader, place: Place): void;
  /** Receives damage, which is skipped. Without this method, damage ends the reading with an error. */
  skip?: ((damage: SkippedDamage, part: DamagedPart) => void) | undefined;
}

/** Reads the batches of one log, a piece of the file at a time, so that its target can empty its memory in between. */
export class LogBatches extends StoredRecords {
  /** The sequence of the last operation, according to the batches' headers; 0 for none. */
  lastSequence = 0n;
  readonly #name: string;
  readonly #target: LogBatchTarget;

  /**
   * @param name of the file, in errors and damage.
   * @param checksum of the part that was read before. Reading starts at its end.
   * @param options of the reader of its records.
   */
  constructor(file: FolderFile, name: string, target: LogBatchTarget, checksum?: PrefixChecksum, options?: LogReaderOptions) {
    const reader = new LogReader(
      {
        record: (record, offset) => this.#giveBatch(record, offset),
        drop: ({ offset, byteLength, reason, isInterrupted }) => {
          if (isInterrupted !== true) this.#damaged('log record', logDropCode(reason), offset, byteLength, reason);
        },
        mayBegin: mayBeginBatch,
      },
      checksum?.byteLength,
      options,
    );
    super(reader, file, checksum);
    this.#name = name;
    this.#target = target;
  }

  #giveBatch(record: Uint8Array, offset: number): void {
    const batch = new WriteBatchReader(record);
    if (!hasSequences(batch)) {
      this.#damaged('write batch', 'BLOOM_BAD_WRITE_BATCH', offset, record.length, 'its sequence is too high');
      return;
    }
    this.#target.batch?.(batch, { structure: 'write batch', offset, file: this.#name });
    while (batch.next());
    // For a record without a header, sequence and count are 0.
    const last = batch.sequence + BigInt(batch.count) - 1n;
    if (last > this.lastSequence) this.lastSequence = last;
    if (batch.problem !== undefined) this.#damaged('write batch', 'BLOOM_BAD_WRITE_BATCH', offset, record.length, batch.problem);
  }

  #damaged(part: DamagedPart, code: CorruptionCode, offset: number, byteLength: number, reason: string): void {
    const file = this.#name;
    if (this.#target.skip === undefined) throw new CorruptionError(code, { structure: part, offset, file }, `${reason} (${numberOf(byteLength, 'byte')})`);
    this.#target.skip({ file, offset, byteLength, reason, code }, part);
  }
}
