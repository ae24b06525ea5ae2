// The program of a MergingThread.
import { parentPort } from 'node:worker_threads';
import { Failure } from './failure.js';
import type { MergeOrder } from './inputs/merge-order.js';
import { MergedTables } from './inputs/merged-tables.js';
import type { MergeAnswer } from './inputs/merging-thread.js';

const port = parentPort!;

port.once('message', (order: MergeOrder) => {
  const opening = MergedTables.open(order);
  port.on('message', () => {
    opening.then(
      (tables) => answer(tables),
      (error: unknown) => fail(error),
    );
  });
});

function answer(tables: MergedTables): void {
  try {
    const batch = tables.nextAtOnce();
    if (batch === undefined) {
      post({});
      return;
    }
    const { length, bytes, ends, positions } = batch;
    post({ batch: { length, bytes, ends, positions } }, [bytes.buffer, ends.buffer, positions.buffer]);
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  post({ problem: error instanceof Error ? error.message : String(error), isFailure: error instanceof Failure });
}

function post(message: MergeAnswer, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}
