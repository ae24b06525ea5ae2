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

/** What is wrong with a thread that has ended with `error`: for people where the system refused it what it needs to begin. */
export function threadProblem(error: Error & { readonly code?: string }): Error {
  if (error.code !== 'ERR_WORKER_INIT_FAILED') return error;
  // Node has the code of the system's error in its message alone.
  const [code] = /\bE[A-Z]+$/.exec(error.message) ?? [];
  const failure = code === undefined ? error : failureOf('a second thread', Object.assign(new Error(error.message, { cause: error }), { code }));
  return failure instanceof Error ? failure : error;
}
