import { parentPort } from 'node:worker_threads';
import { Failure } from './failure.js';
import type { ThreadAnswer } from './inputs/worker-thread.js';

/** The answer to a call. */
export interface CallAnswer {
  readonly value: unknown;
  /** Buffers of the value that are transferred to the calling thread. */
  readonly transferred?: readonly ArrayBuffer[];
}

/** Answers the calls of a `WorkerThread`, one after another. */
export function answerCalls(answer: (order: never) => CallAnswer | Promise<CallAnswer>): void {
  const post = (message: ThreadAnswer, transferred: readonly ArrayBuffer[] = []): void => parentPort!.postMessage(message, transferred);
  let previous = Promise.resolve();
  parentPort!.on('message', (order: unknown) => {
    previous = previous
      .then(() => answer(order as never))
      .then(
        ({ value, transferred }) => post({ value }, transferred),
        (error: unknown) => {
          const { name, message, code, syscall, errno } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
          post({ problem: { name, message, isFailure: error instanceof Failure, system: { code, syscall, errno } } });
        },
      );
  });
}
