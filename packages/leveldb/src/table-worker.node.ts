// The program of a WorkerTableThread.
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer, Order, WorkerData } from './node/worker-table-thread.js';
import { WritableNodeFolder } from './node/writable-node-folder.js';
import type { FileMetadata } from './version-edit.js';
import type { PackedEntries } from './write/table-thread.js';
import { ThreadTables } from './write/thread-tables.js';

const { path, settings, cutOff } = workerData as WorkerData;
const port = parentPort!;
const tables = new ThreadTables(new WritableNodeFolder(path), settings);
/** Compactions that wait for a number, by the ids of their orders. */
const waiting = new Map<number, (number: bigint) => void>();

function answer(message: Answer): void {
  port.postMessage(message);
}

/** The flush that is under way. */
let flushing: Promise<void> | undefined;

function interlude(): Promise<void> | undefined {
  if (Atomics.load(cutOff, 0) !== 0) throw new Error('the database is closed');
  // Writers may be blocked until it is flushed.
  return flushing;
}

async function flush(entries: PackedEntries, number: bigint): Promise<FileMetadata> {
  const writing = tables.flush(entries, number);
  flushing = writing.then(
    () => undefined,
    () => undefined,
  );
  try {
    return await writing;
  } finally {
    flushing = undefined;
  }
}

async function work(order: Exclude<Order, { type: 'number' }>): Promise<FileMetadata[]> {
  if (order.type === 'flush') return [await flush(order.entries, order.number)];
  const { id, plan, oldestSequence } = order;
  const newFileNumber = (): Promise<bigint> =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      answer({ type: 'number', id });
    });
  return tables.compact(plan, { oldestSequence, newFileNumber, interlude });
}

port.on('message', (order: Order) => {
  const { id } = order;
  if (order.type === 'number') {
    waiting.get(id)!(order.number);
    waiting.delete(id);
    return;
  }
  work(order).then(
    (files) => answer({ type: 'done', id, files }),
    (error: unknown) => answer({ type: 'failed', id, problem: String(error) }),
  );
});
