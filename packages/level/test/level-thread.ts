/** What runs in the threads of `level-threads.ts`: functions that it is sent, with a level for them. */
import { runInThisContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { BloomLevel } from '@bloom/level';
import type { ThreadScope } from './level-threads.js';

const scope: ThreadScope = { BloomLevel, port: parentPort!, kept: {} };

interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly cause?: Failure;
}

const sent = ({ message, code, cause }: Failure): Failure => ({ message, code, ...(cause && { cause: sent(cause) }) });

async function answer(id: number, source: string, given: unknown): Promise<void> {
  try {
    const run = runInThisContext(`(${source})`) as (scope: ThreadScope, given: unknown) => unknown;
    parentPort!.postMessage({ id, result: await run(scope, given) });
  } catch (error) {
    parentPort!.postMessage({ id, error: sent(error as Failure) });
  }
}

parentPort!.on('message', ({ id, source, given }: { readonly id: number; readonly source: string; readonly given: unknown }) => void answer(id, source, given));
