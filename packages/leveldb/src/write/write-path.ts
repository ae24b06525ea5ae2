/**
 * The path of a record into the database: it is appended to the log and inserted into the memtable.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Write`.
 */
import { numberOf } from '@bloom/bytes/internal';
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import { compareInternalBytes } from '@bloom/sstable/internal';
import { DatabaseError } from '../folder/database-error.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { WriteBatch } from '../format/write-batch.js';
import { Pacer } from '../folder/pacer.js';
import { BatchOrder } from '../memtable/batch-order.js';
import { ENTRIES_PER_LOOK } from '../table/table-file.js';
import type { Settings } from './database-options.js';
import type { DatabaseState } from './database-state.js';
import { WRITING_END } from './file-numbers.js';
import type { RoomForWrites } from './room-for-writes.js';
import { noManifestRoom } from './version-set.js';

/** Any batch fits after a sequence below this one: its count is a uint32. The comparison saves making a bigint of the count for each write. */
const ROOMY_SEQUENCE = MAX_SEQUENCE - 2n ** 32n;

/** The most bytes of the batches that are merged into one record. */
export const MAX_GROUP_BYTES = 2 ** 20;

/** Why a batch was not appended. Nothing of it was written, and its writer gets `reason`. */
export class RefusedBatch extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('the batch was refused', { cause: reason });
    this.reason = reason;
  }
}

export class WritePath {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #state: DatabaseState;
  readonly #room: RoomForWrites;

  constructor(folder: WritableFolder, settings: Settings, state: DatabaseState, room: RoomForWrites) {
    this.#folder = folder;
    this.#settings = settings;
    this.#state = state;
    this.#room = room;
  }

  /** The sequence of the last operation that was applied. */
  get lastSequence(): bigint {
    return this.#state.versions.lastSequence;
  }

  /** Whether a record can be appended now. */
  get hasRoom(): boolean {
    return this.#room.isFree;
  }

  /** Waits until there is room for a record. @param force makes a table of the memtable first. */
  makeRoom(force: boolean): Promise<void> {
    return this.#room.make(force);
  }

  /** Whether there are sequences for a batch, and numbers and room in the MANIFEST for more files. */
  hasNumbers({ count }: WriteBatch): boolean {
    const { lastSequence, nextFileNumber, hasManifestRoom } = this.#state.versions;
    return hasManifestRoom && (lastSequence < ROOMY_SEQUENCE || lastSequence + BigInt(count) < MAX_SEQUENCE) && nextFileNumber < WRITING_END;
  }

  /**
   * Appends one record, and then inserts it into the memtable. @throws DatabaseError `BLOOM_NO_ROOM`, or {@link RefusedBatch} with the comparator's
   * error. In both cases nothing has changed.
   */
  append(batch: WriteBatch, sync: boolean): Promise<void> | undefined {
    const { versions, log } = this.#state;
    if (!this.hasNumbers(batch)) throw versions.hasManifestRoom ? noRoom(batch.count) : noManifestRoom('more than half of');
    if (versions.order.compareInternalKeys === compareInternalBytes) return this.#append(batch, sync);
    const memtable = this.#settings.comparator.keyEquivalence === undefined ? log.memtable : undefined;
    const keys = new BatchOrder(memtable, versions.order, batch.encode(0n));
    if (batch.byteLength > MAX_GROUP_BYTES) return this.#mustBeOrdered(keys).then(() => this.#append(batch, sync));
    try {
      while (keys.next());
    } catch (error) {
      throw new RefusedBatch(error);
    }
    return this.#append(batch, sync);
  }

  /** Skips the sequences of a batch of `count` operations that `append` has just refused. */
  skip(count: number): void {
    this.#state.skip(BigInt(count));
  }

  /** Checks the keys of a batch of any size, one time slice after another. */
  async #mustBeOrdered(keys: BatchOrder): Promise<void> {
    const pacer = new Pacer(ENTRIES_PER_LOOK);
    try {
      while (keys.next()) if (pacer.isDue()) await pacer.pause();
    } catch (error) {
      throw new RefusedBatch(error);
    }
  }

  #append(batch: WriteBatch, sync: boolean): Promise<void> | undefined {
    const state = this.#state;
    const sequence = state.versions.lastSequence + 1n;
    const record = batch.encode(sequence);
    let appending: void | Promise<void>;
    try {
      appending = state.log.addRecord(record);
    } catch (error) {
      throw state.fail(error);
    }
    if (appending !== undefined || sync) return this.#appendLater(appending, batch, record, sequence, sync);
    this.#tellLogged(batch, record, false);
    return state.insert(record, sequence);
  }

  async #appendLater(appending: void | Promise<void>, batch: WriteBatch, record: Uint8Array, sequence: bigint, sync: boolean): Promise<void> {
    const { log } = this.#state;
    try {
      await appending;
      if (sync) {
        await log.sync();
        if (!log.isNamed) await this.#folder.syncFolder();
        log.isNamed = true;
      }
    } catch (error) {
      // The log may now end with part of the record, or with a record that was reported as failed.
      throw this.#state.fail(error);
    }
    this.#tellLogged(batch, record, sync);
    await this.#state.insert(record, sequence);
  }

  #tellLogged({ count: operations }: WriteBatch, record: Uint8Array, isSynced: boolean): void {
    const { onEvent } = this.#settings;
    if (onEvent === undefined) return;
    const { log, versions } = this.#state;
    const firstSequence = (versions.lastSequence + 1n).toString();
    onEvent({ kind: 'write-logged', log: log.name, firstSequence, operations, byteLength: record.length, logByteLength: log.byteLength, isSynced });
  }
}

function noRoom(count: number): DatabaseError {
  const problem = `the database has too few sequence numbers for ${numberOf(count, 'more operation')}, or too few file numbers: copy its entries to a new database`;
  return new DatabaseError('BLOOM_NO_ROOM', problem);
}
