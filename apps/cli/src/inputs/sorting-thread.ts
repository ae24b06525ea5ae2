import type { Worker } from 'node:worker_threads';
import type { PluginOptions } from '../plugins/plugin-options.js';
import { buffersOfEntries, type PackedEntries } from './sorted-entries.js';
import { startedThread, threadProblem } from './started-thread.js';

/** What the thread is started with. */
export interface SortingOrder {
  readonly plugins: PluginOptions;
  /** Whether the keys are those of a database, with sequence and type. */
  readonly isInternal: boolean;
}

/** Entries, and the file to which the thread writes them. */
export interface RunOrder {
  readonly fd: number;
  readonly entries: PackedEntries;
}

/** A run that was written. */
export interface WrittenRun {
  /** The length of its file. */
  readonly byteLength: number;
  /** The memory that its entries took. */
  readonly spare: PackedEntries;
}

/** Why a run was not written. The properties of an error of the system are lost on the way from a thread otherwise. */
export interface RunProblem {
  readonly name: string;
  readonly message: string;
  readonly system: { readonly code: string | undefined; readonly syscall: string | undefined; readonly errno: number | undefined };
}

/** Sorts entries, and writes them to runs, on a worker thread. */
export class SortingThread {
  readonly #worker: Worker;
  #waiting: { readonly resolve: (run: WrittenRun) => void; readonly reject: (error: unknown) => void } | undefined;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: WrittenRun | RunProblem) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if ('spare' in answer) waiting?.resolve(answer);
      else waiting?.reject(Object.assign(answer.name === 'RangeError' ? new RangeError(answer.message) : new Error(answer.message), answer.system));
    });
    worker.on('error', (error: Error) => this.#end(threadProblem(error)));
    worker.on('exit', () => this.#end(new Error('the thread that sorts entries has ended')));
  }

  /** @returns undefined where there can be no thread for it. */
  static start(order: SortingOrder): SortingThread | undefined {
    const worker = startedThread('sorting-thread.cjs', order);
    return worker && new SortingThread(worker);
  }

  /**
   * Writes entries to a file, in their order. They are gone afterwards. Called again only when it has settled.
   *
   * @throws the system's error when the file cannot be written.
   */
  write(fd: number, entries: PackedEntries): Promise<WrittenRun> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      const order: RunOrder = { fd, entries };
      this.#worker.postMessage(order, buffersOfEntries(entries));
      this.#waiting = { resolve, reject };
    });
  }

  /** Ends the thread, also in the middle of a run. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#waiting?.reject(this.#ended);
    this.#waiting = undefined;
  }
}
