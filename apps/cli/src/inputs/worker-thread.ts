import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure, failureOf } from '../failure.js';

/** The answer of a thread to a call, as sent by `answerCalls`. Errors lose their class and the system's properties when they are sent. */
export type ThreadAnswer = { readonly value: unknown } | { readonly problem: ThreadProblem };

export interface ThreadProblem {
  readonly name: string;
  readonly message: string;
  /** Whether the message is that of a Failure. */
  readonly isFailure: boolean;
  readonly system: { readonly code: string | undefined; readonly syscall: string | undefined; readonly errno: number | undefined };
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A worker thread that answers calls one after another. */
export class WorkerThread {
  readonly #worker: Worker;
  /** The calls without an answer yet, in order. */
  readonly #waiting: Waiting[] = [];
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: ThreadAnswer) => {
      const waiting = this.#waiting.shift();
      if ('problem' in answer) waiting?.reject(errorOf(answer.problem));
      else waiting?.resolve(answer.value as never);
    });
    worker.on('error', (error: Error) => this.#end(startProblem(error)));
    worker.on('exit', () => this.#end(new Error('a worker thread has ended')));
  }

  /**
   * Starts a thread.
   *
   * @param program the name of its program, a file in the folder of this one.
   * @returns undefined if there is only one processor, no program, or no permission for another thread.
   */
  static start(program: string, workerData?: unknown): WorkerThread | undefined {
    const path = join(__dirname, program);
    if (availableParallelism() === 1 || !existsSync(path)) return undefined;
    try {
      return new WorkerThread(new Worker(path, { name: `bloom-${program}`, workerData }));
    } catch {
      return undefined;
    }
  }

  /** Calls the thread. @param transferred buffers that are transferred to the thread. */
  call<T>(order: unknown, transferred: readonly ArrayBuffer[] = []): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#worker.postMessage(order, transferred);
      this.#waiting.push({ resolve, reject });
    });
  }

  /** Ends the thread, even during a call. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

function errorOf({ name, message, isFailure, system }: ThreadProblem): Error {
  if (isFailure) return new Failure(message);
  return Object.assign(name === 'RangeError' ? new RangeError(message) : new Error(message), system.code === undefined ? {} : system);
}

/** The error to report for a thread that ended with `error`: a Failure if the system could not start it. */
function startProblem(error: Error & { readonly code?: string }): Error {
  if (error.code !== 'ERR_WORKER_INIT_FAILED') return error;
  // Node puts the system's error code only into the message.
  const [code] = /\bE[A-Z]+$/.exec(error.message) ?? [];
  const failure = code === undefined ? error : failureOf('a second thread', Object.assign(new Error(error.message, { cause: error }), { code }));
  return failure instanceof Error ? failure : error;
}
