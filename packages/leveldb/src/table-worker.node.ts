// The program of a BackgroundThread.
import { parentPort } from 'node:worker_threads';
import * as inKernel from './compact/in-kernel.js';
import { provideKernelWork } from './compact/load-kernel-work.js';
import type { Answer, Order, PluginModule } from './node/background-thread.js';
import type { FolderPin } from './node/folder-pin.js';
import { ThreadNodeFolder } from './node/table-thread-folder.js';
import type { CompactedTables, TableThreadSettings, ThreadPlugins } from './folder/table-thread.js';
import { ThreadTables } from './write/table-thread-work.js';

const port = parentPort!;

provideKernelWork(inKernel);

function answer(message: Answer, transferred: ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

/** A database that the thread works for. */
class ThreadDatabase {
  readonly #tables: ThreadTables;
  readonly #cutOff: Int32Array;
  /** Compactions that wait for a number, by the ids of their orders. */
  readonly #waiting = new Map<number, (number: bigint) => void>();
  /** The flush that is under way. */
  #flushing: Promise<void> | undefined;

  constructor(pin: FolderPin, settings: TableThreadSettings, plugins: ThreadPlugins, cutOff: Int32Array) {
    this.#tables = new ThreadTables(new ThreadNodeFolder(pin), settings, plugins);
    this.#cutOff = cutOff;
  }

  async flush({ memtable, number, bitsPerKey }: Extract<Order, { type: 'flush' }>): Promise<CompactedTables> {
    const writing = this.#tables.flush(memtable, number, bitsPerKey);
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

async function opened({ pin, settings, plugins, cutOff }: Extract<Order, { type: 'open' }>): Promise<ThreadDatabase> {
  const own = settings.plugins === undefined || plugins === undefined ? {} : await pluginsOf(plugins);
  return new ThreadDatabase(pin, settings, own, cutOff);
}

async function pluginsOf({ module, data }: PluginModule): Promise<ThreadPlugins> {
  const { threadPlugins } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ module)) as { threadPlugins: (data: unknown) => ThreadPlugins | Promise<ThreadPlugins> };
  return threadPlugins(data);
}

/** A database that is still being opened, or could not be, is a promise. */
const databases = new Map<number, ThreadDatabase | Promise<ThreadDatabase>>();

async function work(opening: ThreadDatabase | Promise<ThreadDatabase>, order: Extract<Order, { type: 'flush' | 'compact' }>): Promise<CompactedTables> {
  // Without a promise where it is open, so that jobs start in the order of their messages.
  const database = opening instanceof ThreadDatabase ? opening : await opening;
  return order.type === 'flush' ? database.flush(order) : database.compact(order);
}

port.on('message', (order: Order) => {
  const { database: number } = order;
  if (order.type === 'open') {
    const opening = opened(order);
    databases.set(number, opening);
    opening.then(
      (database) => {
        if (databases.get(number) === opening) databases.set(number, database);
      },
      // Its jobs fail.
      () => undefined,
    );
    return;
  }
  if (order.type === 'close') {
    databases.delete(number);
    return;
  }
  const database = databases.get(number)!;
  if (order.type === 'number') {
    // It asked for the number, so it is open.
    (database as ThreadDatabase).take(order.id, order.number);
    return;
  }
  const { id } = order;
  work(database, order).then(
    (made) => {
      // Arrays that stay here are only freed when V8 next collects the garbage of this thread.
      const memtable = order.type === 'flush' ? order.memtable : undefined;
      answer({ type: 'done', database: number, id, made, memtable }, memtable && ([memtable.arena.buffer, memtable.nodes.buffer] as ArrayBuffer[]));
    },
    (error: unknown) => answer({ type: 'failed', database: number, id, problem: String(error) }),
  );
});
