import { WriteBatch, WriteBatchReader } from '../format/write-batch.js';
import { Pacer } from '../folder/pacer.js';
import { MAX_GROUP_BYTES, RefusedBatch, type WritePath } from './write-path.js';

/** The most bytes that are added to a small first batch, so that it is not held up. */
const SMALL_BATCH_BYTES = 128 * 2 ** 10;

/** How many written batches are kept, whose memory later ones use again, and the most bytes of one. */
const MAX_SPARES = 4;
const MAX_SPARE_BYTES = 256 * 2 ** 10;

/** How many queued bytes a read looks through for its key before it waits for them instead. */
const MAX_SEARCHED_BYTES = 16 * 2 ** 10;

/** Writes a batch, which must not change until the promise settles. */
export type BatchWriter = (batch: WriteBatch, sync: boolean) => Promise<void>;

/** Something that is done while nothing else is written. */
type Step = (write: BatchWriter) => Promise<void>;

/** A call that waits to be written. */
interface Writer {
  /** Undefined for a call that writes nothing itself: it runs its `step`, or without one makes a table of the memtable. */
  readonly batch: WriteBatch | undefined;
  readonly sync: boolean;
  /** What is done between writes. */
  readonly step: Step | undefined;
  /** Whether the step writes nothing. */
  readonly isRead: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
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

/** What a {@link WriteQueue} needs of the {@link WritePath}. */
export type RecordTarget = Pick<WritePath, 'lastSequence' | 'hasRoom' | 'hasNumbers' | 'makeRoom' | 'append'>;

/** Puts writes in their order, and those of callers that wait at the same time into one record. */
export class WriteQueue {
  readonly #target: RecordTarget;
  readonly #writers: Writer[] = [];
  readonly #spares: WriteBatch[] = [];
  readonly #pacer = new Pacer(1);
  #draining: Promise<void> | undefined;
  /** Whether the first writers are being answered. */
  #isBusy = false;
  /** The last sequence before the first writers, while they are being answered. */
  #sequenceBefore = 0n;
  /** Whether `catchUp` has written something since the drain was last at work. */
  #hasCaughtUp = false;
  /** What `catchUp` has begun and could not finish at once, until the drain waits for it. */
  #begun: Promise<void> | undefined;

  constructor(target: RecordTarget) {
    this.#target = target;
  }

  /** A batch to fill and push: it may have the memory of one that was written. */
  emptyBatch(): WriteBatch {
    return this.#spares.pop() ?? new WriteBatch();
  }

  /** Writes a batch, which is the queue's from now on; without one, makes a table of the memtable. */
  push(batch: WriteBatch | undefined, sync: boolean): Promise<void> {
    return this.#queue(batch, sync, undefined);
  }

  /** Does something after the writes that are queued and before those that come later. */
  between(step: Step): Promise<void> {
    return this.#queue(undefined, false, step);
  }

  /** Calls `take` after the writes that are queued and before those that come later. */
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
   * Writes what is queued now rather than in the next microtask, as far as nothing has to be awaited: for reads, which see the writes that
   * were called before them.
   *
   * @returns whether nothing is queued any more.
   */
  catchUp(): boolean {
    while (!this.#isBusy && this.#writers.length > 0) {
      this.#hasCaughtUp = true;
      this.#begun = this.#answerFirst();
    }
    return this.#writers.length === 0;
  }

  /** The last sequence that the queued batches get; undefined while a queued step writes, whose sequences are not known. */
  get lastQueued(): bigint | undefined {
    let sequence = this.#isBusy ? this.#sequenceBefore : this.#target.lastSequence;
    for (const { batch, step, isRead } of this.#writers) {
      if (step !== undefined && !isRead) return undefined;
      sequence += BigInt(batch?.count ?? 0);
    }
    return sequence;
  }

  /** Whether a queued write may change the value of `key`, by its bytes. */
  mayChange(key: Uint8Array): boolean {
    let searched = 0;
    for (const { batch, step, isRead } of this.#writers) {
      if (step !== undefined && !isRead) return true;
      if (batch === undefined) continue;
      searched += batch.byteLength;
      if (searched > MAX_SEARCHED_BYTES) return true;
      const reader = new WriteBatchReader(batch.operations);
      while (reader.next()) if (isEqual(key, reader.bytes, reader.keyStart, reader.keyEnd)) return true;
    }
    return false;
  }

  /** Waits until nothing is queued. */
  async settled(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #queue(batch: WriteBatch | undefined, sync: boolean, step: Step | undefined, isRead = false): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writers.push({ batch, sync, step, isRead, resolve, reject });
      // Calls that are made at the same time are written as one record.
      this.#draining ??= Promise.resolve().then(this.#drain);
    });
  }

  readonly #write: BatchWriter = async (batch, sync) => {
    if (!this.#target.hasRoom) await this.#target.makeRoom(false);
    try {
      await this.#target.append(batch, sync);
    } catch (error) {
      throw reasonOf(error);
    }
  };

  /** Answers all that wait. As an async function it made 0.6 KB more garbage for each put, so it becomes one only where it must wait. */
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

  /** Answers those that wait, up to where it must wait itself. */
  #drainAtOnce(): Promise<void> | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun !== undefined) return begun;
    while (this.#writers.length > 0 || this.#hasCaughtUp) {
      this.#hasCaughtUp = false;
      const answering = this.#writers.length > 0 ? this.#answerFirst() : undefined;
      if (answering !== undefined) return answering;
      // Callers that write one after another to a log that takes its bytes at once would keep everything else waiting.
      if (this.#pacer.isDue()) return this.#pacer.pause();
    }
    // In the same step as the look at the queue: whoever comes next starts anew.
    this.#draining = undefined;
    return undefined;
  }

  /** Does what the first call asks for. It and those that are written with it are answered. */
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
          // Only those whose fault it is are refused. Half of them at a time, as the first of many may be at fault, or the last.
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
    for (const writer of this.#writers.splice(0, count)) writer.reject(reason);
  }
}

function reasonOf(error: unknown): unknown {
  return error instanceof RefusedBatch ? error.reason : error;
}

function isEqual(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === key.length && key.every((byte, i) => byte === bytes[start + i]);
}
