import { compareBytes } from '@bloom/sstable/internal';
import { WriteBatch, WriteBatchReader } from '../format/write-batch.js';
import { Pacer } from '../folder/pacer.js';
import { addWaiting, isProcessEnding, removeWaiting } from '../folder/process-end.js';
import { MAX_GROUP_BYTES, RefusedBatch, type WritePath } from './write-path.js';

/** The most bytes that are added to a small first batch, so that it is not delayed much. */
const SMALL_BATCH_BYTES = 128 * 2 ** 10;

/** How many written batches are kept so that later ones reuse their memory, and the most bytes of one. */
const MAX_SPARES = 4;
const MAX_SPARE_BYTES = 256 * 2 ** 10;

/** The number of queued bytes in which a read searches for its key before it waits for them instead. */
const MAX_SEARCHED_BYTES = 16 * 2 ** 10;

/** The number of calls that are answered between two checks of the clock. Checking it after each small write took about 1% of the time. */
const CALLS_PER_LOOK = 4;

/** Writes a batch, which must not change until the promise settles. */
export type BatchWriter = (batch: WriteBatch, sync: boolean) => Promise<void>;

/** Work to do while nothing else is written. */
type Step = (write: BatchWriter) => Promise<void>;

/** A call that waits to be written. */
interface Writer {
  /** Undefined for a call that writes nothing itself: it runs its `step`, or if it has none, makes a table of the memtable. */
  readonly batch: WriteBatch | undefined;
  readonly sync: boolean;
  /** Work to do between writes. */
  readonly step: Step | undefined;
  /** Whether the step writes nothing. */
  readonly isRead: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The number of writes at the start of the queue that are merged into one record. A write with `sync` does not follow one without: it would be
 * acknowledged without a sync.
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

/** The parts of the {@link WritePath} that a {@link WriteQueue} needs. */
export type RecordTarget = Pick<WritePath, 'lastSequence' | 'hasRoom' | 'hasNumbers' | 'makeRoom' | 'append' | 'skip'>;

/** Keeps writes in order, and merges those that wait at the same time into one record. */
export class WriteQueue {
  readonly #target: RecordTarget;
  readonly #writers: Writer[] = [];
  readonly #spares: WriteBatch[] = [];
  readonly #pacer = new Pacer(CALLS_PER_LOOK);
  #draining: Promise<void> | undefined;
  /** Whether the first writers are being answered. */
  #isBusy = false;
  /** The last sequence before the first writers, while they are being answered. */
  #sequenceBefore = 0n;
  /** The last sequence that `reserveQueued` returned. */
  #reserved = 0n;
  /** Whether `catchUp` has written something since the drain last ran. */
  #hasCaughtUp = false;
  /** Work that `catchUp` has begun and could not finish synchronously, until the drain waits for it. */
  #begun: Promise<void> | undefined;

  constructor(target: RecordTarget) {
    this.#target = target;
  }

  /** A batch to fill and push: it may have the memory of one that was written. */
  emptyBatch(): WriteBatch {
    return this.#spares.pop() ?? new WriteBatch();
  }

  /** Writes a batch, which then belongs to the queue; without one, makes a table of the memtable. */
  push(batch: WriteBatch | undefined, sync: boolean): Promise<void> {
    return this.#queue(batch, sync, undefined);
  }

  /** Runs a step after the queued writes and before later ones. */
  between(step: Step): Promise<void> {
    return this.#queue(undefined, false, step);
  }

  /** Calls `take` after the queued writes and before later ones. */
  async reached<T>(take: () => T): Promise<T> {
    let taken: T;
    const step = (): Promise<void> => {
      taken = take();
      return Promise.resolve();
    };
    await this.#queue(undefined, false, step, true);
    return taken!;
  }

  /**
   * Writes what is queued now instead of in the next microtask, as far as nothing has to be awaited: for reads, which must see the writes that
   * were issued before them.
   *
   * @returns whether the queue is empty.
   */
  catchUp(): boolean {
    while (!this.#isBusy && this.#writers.length > 0) {
      this.#hasCaughtUp = true;
      this.#begun = this.#answerFirst();
    }
    return this.#writers.length === 0;
  }

  /**
   * The last sequence that the queued batches get, up to the first queued step that writes: its sequences are not known. No other batch gets
   * them, even if one of these is refused.
   */
  reserveQueued(): bigint {
    return (this.#reserved = this.#lastQueued);
  }

  get #lastQueued(): bigint {
    const [first] = this.#writers;
    if (first !== undefined && isWritingStep(first)) return this.#target.lastSequence;
    let sequence = this.#isBusy ? this.#sequenceBefore : this.#target.lastSequence;
    for (const writer of this.#writers) {
      if (isWritingStep(writer)) break;
      sequence += BigInt(writer.batch?.count ?? 0);
    }
    return sequence;
  }

  /** Whether a queued write may change the value of `key`, by its bytes. */
  mayChange(key: Uint8Array): boolean {
    let searched = 0;
    for (const writer of this.#writers) {
      if (isWritingStep(writer)) return true;
      const { batch } = writer;
      if (batch === undefined) continue;
      searched += batch.byteLength;
      if (searched > MAX_SEARCHED_BYTES) return true;
      const reader = new WriteBatchReader(batch.operations);
      while (reader.next()) if (compareBytes(key, 0, key.length, reader.bytes, reader.keyStart, reader.keyEnd) === 0) return true;
    }
    return false;
  }

  /** Waits until the queue is empty. */
  async settled(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #queue(batch: WriteBatch | undefined, sync: boolean, step: Step | undefined, isRead = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writers.push({ batch, sync, step, isRead, resolve, reject });
      // Calls that are made at the same time are written as one record.
      this.#draining ??= this.#drainSoon();
      if (isProcessEnding()) this.catchUp();
    });
  }

  #drainSoon(): Promise<void> {
    addWaiting(this);
    return Promise.resolve().then(this.#drain);
  }

  readonly #write: BatchWriter = async (batch, sync) => {
    if (!this.#target.hasRoom) await this.#target.makeRoom(false);
    try {
      await this.#target.append(batch, sync);
    } catch (error) {
      throw reasonOf(error);
    }
  };

  /** Processes all waiting calls. As an async function it made 0.6 KB more garbage for each put, so it becomes one only where it must wait. */
  readonly #drain = (): Promise<void> | undefined => {
    const waiting = this.#drainAtOnce();
    return waiting && this.#drainLater(waiting);
  };

  async #drainLater(first: Promise<void>): Promise<void> {
    for (let waiting: Promise<void> | undefined = first; waiting !== undefined; waiting = this.#drainAtOnce()) {
      await waiting;
      if (this.#pacer.isDue()) await this.#pacer.pause();
    }
  }

  /** Processes waiting calls until it must wait itself. */
  #drainAtOnce(): Promise<void> | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun !== undefined) return begun;
    while (this.#writers.length > 0 || this.#hasCaughtUp) {
      this.#hasCaughtUp = false;
      const answering = this.#writers.length > 0 ? this.#answerFirst() : undefined;
      if (answering !== undefined) return answering;
      // Callers that write one after another to a log that accepts its bytes synchronously would block all other work.
      if (this.#pacer.isDue()) return this.#pacer.pause();
    }
    // In the same step as the check of the queue: the next call starts the drain again.
    this.#draining = undefined;
    removeWaiting(this);
    return undefined;
  }

  /** Does the work of the first call, and answers it and those that are written with it. */
  #answerFirst(): Promise<void> | undefined {
    const { batch } = this.#writers[0]!;
    this.#isBusy = true;
    this.#sequenceBefore = this.#target.lastSequence;
    return batch !== undefined && this.#target.hasRoom ? this.#append(batch) : this.#answerLater();
  }

  async #answerLater(): Promise<void> {
    const { batch, step } = this.#writers[0]!;
    try {
      if (step === undefined) await this.#target.makeRoom(batch === undefined);
      else await step(this.#write);
    } catch (error) {
      this.#refuse(1, error);
      return;
    }
    if (batch === undefined) this.#accept(1);
    else await this.#append(batch);
  }

  /** Writes the first batch, and those that can be written with it. */
  #append(first: WriteBatch): Promise<void> | undefined {
    const writers = this.#writers;
    let count = groupLength(writers);
    try {
      let batch = merged(writers, count);
      if (count > 1 && !this.#target.hasNumbers(batch)) [count, batch] = [1, first];
      for (;;) {
        try {
          const appending = this.#target.append(batch, writers[0]!.sync);
          if (appending !== undefined) return this.#acceptAfter(appending, count);
          break;
        } catch (error) {
          if (count === 1 || !(error instanceof RefusedBatch)) throw error;
          // Only the batches at fault are refused. They are tried in halves, because the first of many may be at fault, or the last.
          count >>= 1;
          batch = merged(writers, count);
        }
      }
    } catch (error) {
      this.#refuse(count, error);
      return undefined;
    }
    this.#accept(count);
    return undefined;
  }

  async #acceptAfter(appending: Promise<void>, count: number): Promise<void> {
    try {
      await appending;
    } catch (error) {
      this.#refuse(count, error);
      return;
    }
    this.#accept(count);
  }

  #accept(count: number): void {
    this.#isBusy = false;
    if (count === 1) this.#acceptWriter(this.#writers.shift()!);
    else for (const writer of this.#writers.splice(0, count)) this.#acceptWriter(writer);
  }

  #acceptWriter({ batch, resolve }: Writer): void {
    if (batch !== undefined && this.#spares.length < MAX_SPARES && batch.byteLength <= MAX_SPARE_BYTES) this.#spares.push(batch.clear());
    resolve();
  }

  #refuse(count: number, error: unknown): void {
    this.#isBusy = false;
    const reason = reasonOf(error);
    const refused = this.#writers.splice(0, count);
    if (error instanceof RefusedBatch && this.#reserved > this.#target.lastSequence) {
      this.#target.skip(refused.reduce((sum, { batch }) => sum + (batch?.count ?? 0), 0));
    }
    for (const writer of refused) writer.reject(reason);
  }
}

function isWritingStep({ step, isRead }: Writer): boolean {
  return step !== undefined && !isRead;
}

function reasonOf(error: unknown): unknown {
  return error instanceof RefusedBatch ? error.reason : error;
}
