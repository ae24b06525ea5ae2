import { EntryBatch, type PackedBatch } from '../formats/entry-batch.js';
import { pluginOptionsOf } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import type { MergeOrder } from './merge-order.js';
import { MergedTables } from './merged-tables.js';
import { WorkerThread } from './worker-thread.js';

/** The number of batches that the thread makes in advance. */
const BATCHES_AHEAD = 4;
/** Tables with fewer bytes are merged on this thread, because a new thread takes about 50 ms to start. */
const BYTES_HERE = 8 * 2 ** 20;

/** Merges tables, on a thread if that is faster. @param thread a thread that was started for these tables. */
export async function mergeTables({ files, plugins, ...rest }: MergeOrder, thread = MergingThread.start(files)): Promise<BatchSource> {
  // Only properties that can be sent to a thread.
  const order = { files: files.map(({ name, fd, byteLength }) => ({ name, fd, byteLength })), plugins: pluginOptionsOf(plugins), ...rest };
  if (thread === undefined) return MergedTables.open(order);
  thread.merge(order);
  return thread;
}

/** Merges tables on a worker thread. */
export class MergingThread implements BatchSource {
  readonly #thread: WorkerThread;
  /** The batches that the thread makes, or has made, in order. */
  readonly #batches: Promise<EntryBatch | undefined>[] = [];

  private constructor(thread: WorkerThread) {
    this.#thread = thread;
  }

  /** @returns undefined if a thread is not worth it or cannot be started. */
  static start(files: MergeOrder['files']): MergingThread | undefined {
    const bytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const thread = bytes <= BYTES_HERE ? undefined : WorkerThread.start('merging-worker.cjs');
    return thread && new MergingThread(thread);
  }

  /** Begins to merge. Called once. */
  merge(order: MergeOrder): void {
    for (let i = 0; i < BATCHES_AHEAD; i++) this.#ask(i === 0 ? order : undefined);
  }

  next(): Promise<EntryBatch | undefined> {
    const batch = this.#batches.shift()!;
    this.#ask();
    return batch;
  }

  close(): void {
    void this.#thread.close();
  }

  #ask(order?: MergeOrder): void {
    const batch = this.#thread.call<PackedBatch | undefined>(order).then((made) => made && EntryBatch.of(made));
    // The promise is awaited later. Until then, its rejection must not count as unhandled.
    batch.catch(() => undefined);
    this.#batches.push(batch);
  }
}
