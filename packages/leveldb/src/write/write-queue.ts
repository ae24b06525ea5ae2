import { WriteBatch } from '../format/write-batch.js';
import { Pacer } from '../folder/pacer.js';

/** What a merged record may have at most, and what is added at most to a small first batch so that it is not held up. */
const MAX_GROUP_BYTES = 2 ** 20;
const SMALL_BATCH_BYTES = 128 * 2 ** 10;

/** Something that is done while nothing else is written. @param write is awaited before the batch that it was given changes. */
type Step = (write: (batch: WriteBatch) => Promise<void>) => Promise<void>;

/** A call that waits to be written. */
interface Writer {
  /** Undefined for a call that writes nothing itself: it runs its `step`, or without one makes a table of the memtable. */
  readonly batch: WriteBatch | undefined;
  readonly sync: boolean;
  /** What is done between writes. */
  readonly step: Step | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * How many of the first writers are merged into one record. A write that is to be synced does not follow one that is not:
 * it would be acknowledged without.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::BuildBatchGroup`.
 */
function groupLength(writers: readonly Writer[]): number {
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

/** The batches of the first writers as one. */
function merged(writers: readonly Writer[], count: number): WriteBatch {
  if (count === 1) return writers[0]!.batch!;
  const all = new WriteBatch();
  for (let i = 0; i < count; i++) all.append(writers[i]!.batch!);
  return all;
}

/** Where a {@link WriteQueue} writes to. */
export interface RecordTarget {
  /** Whether a record can be appended now. @param force whether the memtable is to become a table first. */
  hasRoom(force: boolean): boolean;
  /** Whether there are sequences for a batch. Left out where they do not run out. */
  hasNumbers?(batch: WriteBatch): boolean;
  /** Waits until there is room. */
  makeRoom(force: boolean): Promise<void>;
  /** Appends one record. */
  append(batch: WriteBatch, sync: boolean): Promise<void> | undefined;
}

/** Puts writes in their order, and those of callers that wait at the same time into one record. */
export class WriteQueue {
  readonly #target: RecordTarget;
  readonly #writers: Writer[] = [];
  readonly #pacer = new Pacer(1);
  #draining: Promise<void> | undefined;

  constructor(target: RecordTarget) {
    this.#target = target;
  }

  /** Writes a batch, which must not be changed any more; without one, makes a table of the memtable. */
  push(batch: WriteBatch | undefined, sync: boolean): Promise<void> {
    return this.#queue(batch, sync, undefined);
  }

  /** Does something after the writes that are queued and before those that come later. */
  between(step: Step): Promise<void> {
    return this.#queue(undefined, false, step);
  }

  /** Waits until nothing is queued. */
  async settled(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #queue(batch: WriteBatch | undefined, sync: boolean, step: Step | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writers.push({ batch, sync, step, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  async #write(batch: WriteBatch): Promise<void> {
    if (!this.#target.hasRoom(false)) await this.#target.makeRoom(false);
    await this.#target.append(batch, false);
  }

  async #drain(): Promise<void> {
    // Calls that are made at the same time are written as one record.
    await Promise.resolve();
    const writers = this.#writers;
    while (writers.length > 0) {
      const first = writers[0]!;
      const force = first.batch === undefined;
      let count = 1;
      try {
        if (first.step !== undefined) await first.step((batch) => this.#write(batch));
        else if (!this.#target.hasRoom(force)) await this.#target.makeRoom(force);
        if (!force) {
          count = groupLength(writers);
          let batch = merged(writers, count);
          if (count > 1 && this.#target.hasNumbers?.(batch) === false) [count, batch] = [1, first.batch];
          const appending = this.#target.append(batch, first.sync);
          if (appending !== undefined) await appending;
        }
      } catch (error) {
        for (const writer of writers.splice(0, count)) writer.reject(error);
        continue;
      }
      if (count === 1) writers.shift()!.resolve();
      else for (const writer of writers.splice(0, count)) writer.resolve();
      // If the log takes its bytes at once, callers that write one after another would keep everything else waiting.
      if (this.#pacer.isDue()) await this.#pacer.pause();
    }
    // In the same step as the look at the queue: whoever comes next starts anew.
    this.#draining = undefined;
  }
}
