import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

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
