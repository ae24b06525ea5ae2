// The program of a BackgroundThread.
import { parentPort } from 'node:worker_threads';
import type { Answer, Order } from './node/background-thread.js';
import type { FolderPin } from './node/folder-pin.js';
import { ThreadNodeFolder } from './node/table-thread-folder.js';
import type { CompactedTables, TableThreadSettings } from './folder/table-thread.js';
import { ThreadTables } from './write/table-thread-work.js';

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

  constructor(pin: FolderPin, settings: TableThreadSettings, cutOff: Int32Array) {
    this.#tables = new ThreadTables(new ThreadNodeFolder(pin), settings);
    this.#cutOff = cutOff;
  }

  async flush({ entries, number, bitsPerKey }: Extract<Order, { type: 'flush' }>): Promise<CompactedTables> {
    const writing = this.#tables.flush(entries, number, bitsPerKey);
    this.#flushing = writing.then(
      () => undefined,
      () => undefined,
    );
    try {
      const written = await writing;
      return { tables: [written], entriesRead: written.entries, shadowedDropped: 0, deletionsDropped: 0 };
    } finally {
      this.#flushing = undefined;
    }
  }

  compact({ database, id, plan, oldestSequence, bitsPerKey }: Extract<Order, { type: 'compact' }>): Promise<CompactedTables> {
    const newFileNumber = (): Promise<bigint> =>
      new Promise((resolve) => {
        this.#waiting.set(id, resolve);
        answer({ type: 'number', database, id });
      });
    return this.#tables.compact(plan, bitsPerKey, { oldestSequence, newFileNumber, interlude: () => this.#interlude() });
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
    databases.set(number, new ThreadDatabase(order.pin, order.settings, order.cutOff));
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
    (made) => answer({ type: 'done', database: number, id, made }),
    (error: unknown) => answer({ type: 'failed', database: number, id, problem: String(error) }),
  );
});
