// The program of a BackgroundThread.
import { parentPort } from 'node:worker_threads';
import type { Answer, Order } from './node/background-thread.js';
import { ThreadNodeFolder } from './node/thread-node-folder.js';
import type { FileMetadata } from './version-edit.js';
import type { PackedEntries, TableThreadSettings } from './write/table-thread.js';
import { ThreadTables } from './write/thread-tables.js';

const port = parentPort!;

function answer(message: Answer): void {
  port.postMessage(message);
}

/** A database that the thread works for. */
class ThreadDatabase {
  readonly #tables: ThreadTables;
  readonly #cutOff: Int32Array;
  /** Compactions that wait for a number, by the ids of their orders. */
  readonly #waiting = new Map<number, (number: bigint) => void>();
  /** The flush that is under way. */
  #flushing: Promise<void> | undefined;

  constructor(path: string, settings: TableThreadSettings, cutOff: Int32Array) {
    this.#tables = new ThreadTables(new ThreadNodeFolder(path), settings);
    this.#cutOff = cutOff;
  }

  async flush({ entries, number }: { readonly entries: PackedEntries; readonly number: bigint }): Promise<FileMetadata[]> {
    const writing = this.#tables.flush(entries, number);
    this.#flushing = writing.then(
      () => undefined,
      () => undefined,
    );
    try {
      return [await writing];
    } finally {
      this.#flushing = undefined;
    }
  }

  compact({ database, id, plan, oldestSequence }: Extract<Order, { type: 'compact' }>): Promise<FileMetadata[]> {
    const newFileNumber = (): Promise<bigint> =>
      new Promise((resolve) => {
        this.#waiting.set(id, resolve);
        answer({ type: 'number', database, id });
      });
    return this.#tables.compact(plan, { oldestSequence, newFileNumber, interlude: () => this.#interlude() });
  }

  take(id: number, number: bigint): void {
    this.#waiting.get(id)!(number);
    this.#waiting.delete(id);
  }

  #interlude(): Promise<void> | undefined {
    if (Atomics.load(this.#cutOff, 0) !== 0) throw new Error('the database is closed');
    // Writers may be blocked until it is flushed.
    return this.#flushing;
  }
}

const databases = new Map<number, ThreadDatabase>();

port.on('message', (order: Order) => {
  const { database: number } = order;
  if (order.type === 'open') {
    databases.set(number, new ThreadDatabase(order.path, order.settings, order.cutOff));
    return;
  }
  if (order.type === 'close') {
    databases.delete(number);
    return;
  }
  const database = databases.get(number)!;
  if (order.type === 'number') {
    database.take(order.id, order.number);
    return;
  }
  const { id } = order;
  (order.type === 'flush' ? database.flush(order) : database.compact(order)).then(
    (files) => answer({ type: 'done', database: number, id, files }),
    (error: unknown) => answer({ type: 'failed', database: number, id, problem: String(error) }),
  );
});
