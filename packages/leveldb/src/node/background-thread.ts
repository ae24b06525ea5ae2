import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { mustBeOptions } from '@bloom/bytes/internal';
import type { FileMetadata } from '../format/version-edit.js';
import type { FolderPin } from './folder-pin.js';
import type { CompactedTables, CompactionPlan, CompactionRequest, MemtableArrays, TableThread, TableThreadSettings, WrittenTable } from '../folder/table-thread.js';

/** A module that gives a thread comparators, policies and codecs. */
export interface PluginModule {
  /** The module's URL. It exports `threadPlugins`: a function that returns `ThreadPlugins`, or a promise of them. */
  readonly module: string;
  /** What the function is called with: anything that can be sent to a thread. */
  readonly data?: unknown;
}

/** How a {@link BackgroundThread} works. */
export interface BackgroundThreadOptions {
  /**
   * A module from which the thread takes the comparators, policies and codecs of its databases, which are functions and cannot be sent to it.
   * They are found by name, and codecs by type, and must be the same as those of the databases. If a database has others than LevelDB's and
   * there is no module, or the module lacks one, the database does its work on the event loop, in slices.
   */
  readonly plugins?: PluginModule | undefined;
}

/** The numbers of the database and of the job that a message is about. */
interface Job {
  readonly database: number;
  readonly id: number;
}

/** A message to the worker. */
export type Order =
  | {
      readonly type: 'open';
      readonly database: number;
      readonly pin: FolderPin;
      readonly settings: TableThreadSettings;
      /** The source of the thread's plug-ins. */
      readonly plugins: PluginModule | undefined;
      /** Set to a value other than 0 to stop the work for the database. */
      readonly cutOff: Int32Array;
    }
  | { readonly type: 'close'; readonly database: number }
  | ({ readonly type: 'compact'; readonly plan: CompactionPlan; readonly oldestSequence: bigint; readonly bitsPerKey: number | undefined } & Job)
  | ({ readonly type: 'flush'; readonly memtable: MemtableArrays; readonly number: bigint; readonly bitsPerKey: number | undefined } & Job)
  | ({ readonly type: 'number'; readonly number: bigint } & Job);

/** A message from the worker. */
export type Answer =
  | ({ readonly type: 'number' } & Job)
  | ({ readonly type: 'done'; readonly made: CompactedTables; /** The memtable that was flushed, given back. */ readonly memtable?: MemtableArrays | undefined } & Job)
  | ({ readonly type: 'failed'; readonly problem: string } & Job);

/** Whether the worker's file is next to the built entry point: not in a bundle of one file. */
function hasWorkerFile(): boolean {
  try {
    return existsSync(new URL('./table-worker.node.js', import.meta.url));
  } catch {
    // A bundler that makes CommonJS may leave `import.meta.url` undefined.
    return false;
  }
}

/**
 * A worker thread that flushes and compacts databases.
 *
 * By default, each database has its own thread, which starts when it is needed and ends with the database. Databases that are given the
 * same thread share it, one after another or at the same time, as all databases of a process do in LevelDB. Many databases then need only one thread, and V8 optimizes its code only once.
 *
 * An idle thread does not keep the process alive.
 *
 * Source: LevelDB, util/env_posix.cc, `PosixEnv::Schedule`.
 *
 * @example
 * ```ts
 * const thread = new BackgroundThread();
 * const blocks = await Database.open(new WritableNodeFolder('path/to/blocks', { thread }));
 * const state = await Database.open(new WritableNodeFolder('path/to/state', { thread }));
 * // …
 * await Promise.all([blocks.close(), state.close()]);
 * await thread.close();
 * ```
 *
 * @example A comparator on the thread, from `order.js`, which exports `threadPlugins = () => ({ comparators: [order] })`.
 * ```ts
 * const thread = new BackgroundThread({ plugins: { module: new URL('./order.js', import.meta.url).href } });
 * const database = await Database.open(new WritableNodeFolder('path/to/ordered', { thread }), { comparator: order });
 * ```
 */
export class BackgroundThread {
  readonly #plugins: PluginModule | undefined;
  #worker: TableWorker | undefined;
  #isClosed = false;
  #databases = 0;

  /** @throws TypeError for an option that is wrong. */
  constructor(options: BackgroundThreadOptions = {}) {
    mustBeOptions('BackgroundThread', options, { plugins: true });
    const { plugins } = options;
    if (plugins !== undefined && !(typeof plugins === 'object' && (plugins as object | null) !== null && typeof plugins.module === 'string')) {
      throw new TypeError('plugins must be { module }, with the URL of a module');
    }
    this.#plugins = plugins;
  }

  /**
   * Starts to work for a database. Called by the database's folder.
   *
   * @returns undefined when the database has plug-ins but this thread has no module for them, after `close`, when the worker's file is
   *   missing, as in a bundle of one file, and when the process may not or cannot start another thread.
   */
  attach(pin: FolderPin, settings: TableThreadSettings): TableThread | undefined {
    if (this.#isClosed || !hasWorkerFile() || (settings.plugins !== undefined && this.#plugins === undefined)) return undefined;
    if (this.#worker?.hasEnded !== false) {
      try {
        this.#worker = new TableWorker();
      } catch {
        return undefined;
      }
    }
    return new DatabaseThread(this.#worker, ++this.#databases, pin, settings, this.#plugins);
  }

  /** Ends the thread. Databases that still use it do its work themselves, in slices. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  /** Closes the thread, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The work of a worker for one database. */
class DatabaseThread implements TableThread {
  readonly #worker: TableWorker;
  readonly #database: number;
  readonly #cutOff = new Int32Array(new SharedArrayBuffer(4));
  readonly #jobs = new Set<Promise<unknown>>();
  #isClosed = false;
  #spare: MemtableArrays | undefined;

  constructor(worker: TableWorker, database: number, pin: FolderPin, settings: TableThreadSettings, plugins: PluginModule | undefined) {
    this.#worker = worker;
    this.#database = database;
    worker.post({ type: 'open', database, pin, settings, plugins, cutOff: this.#cutOff });
  }

  get hasEnded(): boolean {
    return this.#worker.hasEnded;
  }

  compact({ plan, oldestSequence, newFileNumber, bitsPerKey }: CompactionRequest): Promise<CompactedTables> {
    const order = (id: number): Order => ({ type: 'compact', database: this.#database, id, plan: detached(plan), oldestSequence, bitsPerKey });
    return this.#do(this.#worker.ask(order, [], newFileNumber)).then(({ made }) => made);
  }

  async flush(memtable: MemtableArrays, number: bigint, bitsPerKey: number | undefined): Promise<WrittenTable> {
    // The memtable may have been copied while the database was closed.
    if (this.#isClosed) throw new Error('the database is closed');
    const transferred = [memtable.arena.buffer, memtable.nodes.buffer] as ArrayBuffer[];
    const { made, memtable: spare } = await this.#do(this.#worker.ask((id) => ({ type: 'flush', database: this.#database, id, memtable, number, bitsPerKey }), transferred));
    this.#spare = spare;
    return made.tables[0]!;
  }

  takeSpare(): MemtableArrays | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    Atomics.store(this.#cutOff, 0, 1);
    // The worker closes its open files before it answers.
    await Promise.allSettled(this.#jobs);
    this.#worker.post({ type: 'close', database: this.#database });
  }

  async #do<T>(job: Promise<T>): Promise<T> {
    this.#jobs.add(job);
    try {
      return await job;
    } finally {
      this.#jobs.delete(job);
    }
  }
}

/** A thread for a single database. It ends with the database. */
export function ownThread(pin: FolderPin, settings: TableThreadSettings): TableThread | undefined {
  const thread = new BackgroundThread();
  const own = thread.attach(pin, settings);
  return own && {
    get hasEnded() {
      return own.hasEnded;
    },
    compact: (request) => own.compact(request),
    flush: (memtable, number, bitsPerKey) => own.flush(memtable, number, bitsPerKey),
    takeSpare: () => own.takeSpare?.(),
    async close() {
      await own.close();
      await thread.close();
    },
  };
}

type DoneJob = Extract<Answer, { type: 'done' }>;

/** A job that the worker has not answered yet. */
interface AskedJob {
  readonly newFileNumber: (() => bigint) | undefined;
  readonly resolve: (done: DoneJob) => void;
  readonly reject: (error: Error) => void;
}

/** A worker, and the jobs that it has not answered yet. It keeps the process alive only while it has some. */
class TableWorker {
  hasEnded = false;
  // Bundlers find the worker's own imports only where both calls are one expression. V8's own limit for the young generation, 48 MB, would
  // mostly hold garbage.
  readonly #worker = new Worker(new URL('./table-worker.node.js', import.meta.url), { name: 'bloom-leveldb', resourceLimits: { maxYoungGenerationSizeMb: 8 } });
  readonly #jobs = new Map<number, AskedJob>();
  #lastId = 0;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#take(answer));
    // Without a listener, the error would crash the process. An 'exit' event follows.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', () => this.#end());
  }

  post(order: Order, transferred: ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, transferred);
  }

  ask(order: (id: number) => Order, transferred: ArrayBuffer[], newFileNumber?: () => bigint): Promise<DoneJob> {
    return new Promise((done, reject) => {
      if (this.hasEnded) throw new Error('the worker has ended');
      const id = ++this.#lastId;
      this.post(order(id), transferred);
      this.#jobs.set(id, { newFileNumber, resolve: done, reject });
      this.#worker.ref();
    });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(answer: Answer): void {
    const { database, id } = answer;
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    if (answer.type === 'number') {
      this.post({ type: 'number', database, id, number: job.newFileNumber!() });
      return;
    }
    this.#jobs.delete(id);
    if (this.#jobs.size === 0) this.#worker.unref();
    if (answer.type === 'done') job.resolve(answer);
    else job.reject(new Error(answer.problem));
  }

  #end(): void {
    this.hasEnded = true;
    for (const job of this.#jobs.values()) job.reject(new Error('the worker has ended'));
    this.#jobs.clear();
  }
}

/** A copy whose keys have their own buffers, because posting a view would copy its whole buffer. */
function detached({ level, inputs, below, grandparents }: CompactionPlan): CompactionPlan {
  const copied = (files: readonly FileMetadata[]): FileMetadata[] =>
    files.map(({ number, size, smallest, largest }) => ({ number, size, smallest: smallest.slice(), largest: largest.slice() }));
  return { level, inputs: [copied(inputs[0]), copied(inputs[1])], below: below.map(copied), grandparents: copied(grandparents) };
}
