import type { Worker } from 'node:worker_threads';
import { Failure } from '../failure.js';
import { EntryBatch, type PackedBatch } from '../formats/entry-batch.js';
import type { BatchSource } from './batch-source.js';
import type { MergeOrder } from './merge-order.js';
import { MergedTables } from './merged-tables.js';
import { startedThread, threadProblem } from './started-thread.js';

/** How many batches the thread makes before they are asked for. */
const BATCHES_AHEAD = 4;
/** Tables with fewer bytes are merged here: a thread takes some 50 ms to start. */
const BYTES_HERE = 8 * 2 ** 20;

/** An answer of the thread: a batch; neither at the end; or why it cannot go on, for people if `isFailure`. */
export interface MergeAnswer {
  readonly batch?: PackedBatch;
  readonly problem?: string;
  readonly isFailure?: boolean;
}

/** Merges tables, on a thread if that pays. @param thread one that was started before for these tables. */
export async function mergeTables(order: MergeOrder, thread = MergingThread.start(order.files)): Promise<BatchSource> {
  if (thread === undefined) return MergedTables.open(order);
  thread.merge(order);
  return thread;
}

interface Waiting {
  readonly resolve: (batch: EntryBatch | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Merges tables on a worker thread. */
export class MergingThread implements BatchSource {
  readonly #worker: Worker;
  readonly #answers: (EntryBatch | undefined)[] = [];
  #waiting: Waiting | undefined;
  #failure: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ batch, problem, isFailure }: MergeAnswer) => {
      if (problem !== undefined) this.#fail(isFailure ? new Failure(problem) : new Error(problem));
      else this.#take(batch && EntryBatch.of(batch));
    });
    worker.on('error', (error: Error) => this.#fail(threadProblem(error)));
    worker.on('exit', () => this.#fail(new Error('the thread that merges tables has ended')));
  }

  /** @returns undefined where a thread does not pay, or there can be none. */
  static start(files: MergeOrder['files']): MergingThread | undefined {
    const bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const worker = bytes <= BYTES_HERE ? undefined : startedThread('merging-thread.cjs');
    return worker && new MergingThread(worker);
  }

  /** Begins to merge. Called once. */
  merge(order: MergeOrder): void {
    this.#worker.postMessage(order);
    for (let i = 0; i < BATCHES_AHEAD; i++) this.#worker.postMessage('next');
  }

  next(): Promise<EntryBatch | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#answers.length > 0) {
        const batch = this.#answers.shift();
        if (batch !== undefined) this.#worker.postMessage('next');
        resolve(batch);
      } else if (this.#failure !== undefined) reject(this.#failure);
      else this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    void this.#worker.terminate();
  }

  #take(batch: EntryBatch | undefined): void {
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#answers.push(batch);
      return;
    }
    this.#waiting = undefined;
    if (batch !== undefined) this.#worker.postMessage('next');
    waiting.resolve(batch);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  }
}
