import { writeCompactedTables } from '../compact/run-compaction.js';
import type { CompactionContext } from '../compact/compaction-context.js';
import { writeFlushedTable } from '../compact/flushed-table.js';
import { sizeOf } from '../compact/overlap.js';
import type { CompactedTables, CompactionRequest, TableThread, WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { runAsync } from '../folder/folder-reading.js';
import type { KeyOrder } from '../format/version.js';
import type { Memtable } from '../memtable/memtable.js';
import type { View } from '../read/view.js';
import { copiedMemtable } from './memtable-copy.js';
import type { Settings } from './database-options.js';

/** Smaller work is done here: copying it for a thread and sending it take as long. */
const THREAD_MIN_BYTES = 2 ** 20;

/**
 * Makes tables from a memtable or from other tables: on the folder's thread, if it has one and the work is large enough, or else here, in
 * time slices. Work that fails on the thread for any reason is repeated here, where a persistent error has its proper type.
 */
export class TableMaker {
  readonly #folder: WritableFolder;
  readonly #settings: Settings;
  readonly #order: KeyOrder;
  #thread: TableThread | undefined;
  /** Whether the thread has done a job. */
  #hasWorked = false;
  #isClosed = false;
  /** Wakes a merge that runs on the thread. */
  #look: () => void = () => undefined;

  constructor(folder: WritableFolder, settings: Settings, order: KeyOrder) {
    this.#folder = folder;
    this.#settings = settings;
    this.#order = order;
  }

  /** Writes a memtable as a table. @returns undefined when it is empty. @param bitsPerKey of its filters; undefined for the default. */
  async flush(memtable: Memtable, number: bigint, bitsPerKey: number | undefined): Promise<WrittenTable | undefined> {
    if (memtable.count === 0) return undefined;
    const onThread = await this.#flushOnThread(memtable, number, bitsPerKey);
    return onThread ?? writeFlushedTable(memtable.arrays, this.#order, this.#folder, number, this.#settings.buildingWith(bitsPerKey));
  }

  /**
   * Merges the tables of a plan into new ones.
   *
   * @param view the view that the tables belong to.
   * @param onTable called with each table on disk; for a thread's tables, once all are.
   * @param interlude called regularly: its promise is awaited, and its errors end the merge.
   */
  async merge(
    request: CompactionRequest,
    { tables, damage }: View,
    onTable: CompactionContext['onTable'],
    interlude: CompactionContext['interlude'],
  ): Promise<CompactedTables> {
    const onThread = await this.#mergeOnThread(request, interlude);
    if (onThread !== undefined) {
      if (onTable !== undefined) for (const table of onThread.tables) onTable(table);
      return onThread;
    }
    const { plan, oldestSequence, newFileNumber, bitsPerKey } = request;
    const { maxFileSize } = this.#settings;
    return writeCompactedTables(plan, {
      folder: this.#folder,
      read: (reading) => runAsync(this.#folder, reading),
      readsAtOnce: false,
      order: this.#order,
      tables,
      damage,
      building: this.#settings.buildingWith(bitsPerKey),
      maxFileSize,
      oldestSequence,
      newFileNumber,
      onTable,
      interlude,
    });
  }

  /** Makes a merge that runs on the thread call its interlude. */
  lookUp(): void {
    this.#look();
  }

  /** Ends the work on the thread, which fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.close();
  }

  async #flushOnThread(memtable: Memtable, number: bigint, bitsPerKey: number | undefined): Promise<WrittenTable | undefined> {
    const thread = this.#threadFor(memtable.memoryUsage);
    if (thread === undefined) return undefined;
    try {
      const table = await thread.flush(await copiedMemtable(memtable, thread.takeSpare?.()), number, bitsPerKey);
      this.#hasWorked = true;
      return table;
    } catch {
      return undefined;
    }
  }

  async #mergeOnThread(request: CompactionRequest, interlude: CompactionContext['interlude']): Promise<CompactedTables | undefined> {
    const thread = this.#threadFor(sizeOf(request.plan.inputs.flat()));
    if (thread === undefined) return undefined;
    const job: { isSettled: boolean; made?: CompactedTables } = { isSettled: false };
    void thread
      .compact(request)
      .then((made) => {
        job.made = made;
        this.#hasWorked = true;
      })
      .catch(() => undefined)
      .then(() => {
        job.isSettled = true;
        this.#look();
      });
    try {
      for (;;) {
        const waiting = interlude();
        if (waiting !== undefined) await waiting;
        else if (job.isSettled) return job.made;
        else await new Promise<void>((resolve) => (this.#look = resolve));
      }
    } catch (error) {
      // Closing the thread ends the merge on it. The next job starts another thread.
      if (this.#thread === thread) this.#thread = undefined;
      await thread.close();
      throw error;
    }
  }

  #started(byteLength: number): TableThread | undefined {
    this.#hasWorked = false;
    try {
      return this.#folder.startTableThread?.(this.#settings.thread, byteLength);
    } catch {
      return undefined;
    }
  }

  /** The thread, if there is one and `byteLength` is enough work for it. */
  #threadFor(byteLength: number): TableThread | undefined {
    if (byteLength < THREAD_MIN_BYTES || this.#isClosed) return undefined;
    if (this.#thread?.hasEnded === true) {
      // Another one would also end before its first job was done, as where the worker's file cannot be loaded.
      if (!this.#hasWorked) return undefined;
      this.#thread = undefined;
    }
    return (this.#thread ??= this.#started(byteLength));
  }
}
