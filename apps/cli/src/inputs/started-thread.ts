import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { failureOf } from '../failure.js';

/**
 * Starts a worker thread.
 *
 * @param program the name of its program, a file beside this one.
 * @returns undefined where there is one processor or no program, or the process may not have another thread.
 */
export function startedThread(program: string, workerData?: unknown): Worker | undefined {
  const path = join(__dirname, program);
  if (availableParallelism() === 1 || !existsSync(path)) return undefined;
  try {
    return new Worker(path, { name: `bloom-${program}`, workerData });
  } catch {
    return undefined;
  }
}

/** The error to report for a thread that ended with `error`: a Failure if the system could not start the thread. */
export function threadProblem(error: Error & { readonly code?: string }): Error {
  if (error.code !== 'ERR_WORKER_INIT_FAILED') return error;
  // Node puts the system's error code only into the message.
  const [code] = /\bE[A-Z]+$/.exec(error.message) ?? [];
  const failure = code === undefined ? error : failureOf('a second thread', Object.assign(new Error(error.message, { cause: error }), { code }));
  return failure instanceof Error ? failure : error;
}
