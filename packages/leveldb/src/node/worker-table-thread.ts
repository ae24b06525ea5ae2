import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { FileMetadata } from '../version-edit.js';
import type { CompactionPlan } from '../write/compaction.js';
import type { CompactionRequest, PackedEntries, TableThread, TableThreadSettings } from '../write/table-thread.js';

/** The worker's startup data. */
export interface WorkerData {
  readonly path: string;
  readonly settings: TableThreadSettings;
  /** Set to a value other than 0 to stop the work. */
  readonly cutOff: Int32Array;
}

/** A message to the worker. */
export type Order =
  | { readonly type: 'compact'; readonly id: number; readonly plan: CompactionPlan; readonly oldestSequence: bigint }
  | { readonly type: 'flush'; readonly id: number; readonly entries: PackedEntries; readonly number: bigint }
  | { readonly type: 'number'; readonly id: number; readonly number: bigint };

/** A message from the worker. */
export type Answer =
  | { readonly type: 'number'; readonly id: number }
  | { readonly type: 'done'; readonly id: number; readonly files: FileMetadata[] }
  | { readonly type: 'failed'; readonly id: number; readonly problem: string };

/** An order that the worker has not answered yet. */
interface Job {
  readonly newFileNumber: (() => bigint) | undefined;
  readonly resolve: (files: FileMetadata[]) => void;
  readonly reject: (error: Error) => void;
}

/** The worker's file, next to the built entry point. */
const PROGRAM = new URL('./table-worker.node.js', import.meta.url);

/** A worker thread that writes tables. It keeps the process alive only while it works. */
export class WorkerTableThread implements TableThread {
  hasEnded = false;
  readonly #worker: Worker;
  readonly #cutOff = new Int32Array(new SharedArrayBuffer(4));
  readonly #jobs = new Map<number, Job>();
  #lastId = 0;
  #idle: () => void = () => undefined;

  /** @returns nothing where the worker's file is missing, as in a bundle of one file. */
  static start(path: string, settings: TableThreadSettings): WorkerTableThread | undefined {
    return existsSync(PROGRAM) ? new WorkerTableThread(path, settings) : undefined;
  }

  private constructor(path: string, settings: TableThreadSettings) {
    const workerData: WorkerData = { path: resolve(path), settings, cutOff: this.#cutOff };
    this.#worker = new Worker(PROGRAM, { workerData, name: 'bloom-leveldb' });
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#take(answer));
    // Without a listener, the error would crash the process. An 'exit' event follows.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', () => this.#end());
  }

  compact({ plan, oldestSequence, newFileNumber }: CompactionRequest): Promise<FileMetadata[]> {
    return this.#ask((id) => ({ type: 'compact', id, plan: detached(plan), oldestSequence }), [], newFileNumber);
  }

  async flush(entries: PackedEntries, number: bigint): Promise<FileMetadata> {
    const transferred = [entries.bytes.buffer, entries.places.buffer] as ArrayBuffer[];
    const [file] = await this.#ask((id) => ({ type: 'flush', id, entries, number }), transferred, undefined);
    return file!;
  }

  async close(): Promise<void> {
    Atomics.store(this.#cutOff, 0, 1);
    // The worker closes its open files before it answers.
    if (this.#jobs.size > 0) await new Promise<void>((done) => (this.#idle = done));
    await this.#worker.terminate();
  }

  #ask(order: (id: number) => Order, transferred: ArrayBuffer[], newFileNumber: (() => bigint) | undefined): Promise<FileMetadata[]> {
    return new Promise((done, reject) => {
      if (this.hasEnded) throw new Error('the worker has ended');
      const id = ++this.#lastId;
      this.#worker.postMessage(order(id), transferred);
      this.#jobs.set(id, { newFileNumber, resolve: done, reject });
      this.#worker.ref();
    });
  }

  #take(answer: Answer): void {
    const { id } = answer;
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    if (answer.type === 'number') {
      const order: Order = { type: 'number', id, number: job.newFileNumber!() };
      this.#worker.postMessage(order);
      return;
    }
    this.#jobs.delete(id);
    if (answer.type === 'done') job.resolve(answer.files);
    else job.reject(new Error(answer.problem));
    if (this.#jobs.size > 0) return;
    this.#worker.unref();
    this.#idle();
  }

  #end(): void {
    this.hasEnded = true;
    for (const job of this.#jobs.values()) job.reject(new Error('the worker has ended'));
    this.#jobs.clear();
    this.#idle();
  }
}

/** A copy whose keys have buffers of their own, because posting a view would copy its whole buffer. */
function detached({ level, inputs, below, grandparents }: CompactionPlan): CompactionPlan {
  const copied = (files: readonly FileMetadata[]): FileMetadata[] =>
    files.map(({ number, size, smallest, largest }) => ({ number, size, smallest: smallest.slice(), largest: largest.slice() }));
  return { level, inputs: [copied(inputs[0]), copied(inputs[1])], below: below.map(copied), grandparents: copied(grandparents) };
}
