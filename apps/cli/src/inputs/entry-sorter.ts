import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { internalKeyComparator } from '@bloom/sstable/database';
import { EntryBatch } from '../formats/entry-batch.js';
import type { PluginOptions } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import { mergeTables } from './merging-thread.js';
import { buffersOfEntries, type PackedEntries, SortedEntries } from './sorted-entries.js';
import { writeSortedRun } from './sorted-run.js';
import { TemporaryFile } from './temporary-file.js';
import { WorkerThread } from './worker-thread.js';

/** The size of a batch of sorted entries, in bytes. */
const BATCH_BYTES = 2 ** 19;

/** How to sort entries. */
export interface SortOptions {
  /** The most bytes of entries to keep in memory. */
  readonly memoryBytes: number;
  /** The approximate number of bytes of all entries, if known. */
  readonly expectedBytes?: number | undefined;
  /** The folder for entries that do not fit into memory. */
  readonly folder: string;
  readonly comparator: Comparator | undefined;
  /** The same plug-ins in a form that a thread can load. */
  readonly plugins: PluginOptions;
  /** Whether the keys are internal keys. */
  readonly isInternal?: boolean | undefined;
}

/** The data with which the thread that writes runs starts. */
export interface SortingOrder {
  readonly plugins: PluginOptions;
  /** Whether the keys are internal keys. */
  readonly isInternal: boolean;
}

/** Entries, and the file to which the thread writes them. */
export interface RunOrder {
  readonly fd: number;
  readonly entries: PackedEntries;
}

/** A run that was written. */
export interface WrittenRun {
  /** The length of its file. */
  readonly byteLength: number;
  /** The memory that its entries took. */
  readonly spare: PackedEntries;
}

/**
 * Sorts any number of entries, and keeps the last of each key. Entries that do not fit into memory are written to sorted runs, which
 * are merged.
 *
 * A thread writes a run while the next entries are added, so each of them has half of the memory. The thread is started immediately
 * if the entries are known not to fit; otherwise it is started after the first run, which uses all of the memory.
 */
export class EntrySorter {
  /** The number of entries added. */
  length = 0;
  readonly #options: SortOptions;
  readonly #comparator: Comparator;
  #entries: SortedEntries;
  /** Memory of entries that were written. */
  #spare: SortedEntries | undefined;
  /** From the oldest to the newest. */
  readonly #runs: TemporaryFile[] = [];
  #thread: WorkerThread | undefined;
  /** The run that the thread writes. */
  #writing: Promise<void> | undefined;

  constructor(options: SortOptions) {
    this.#options = options;
    const { comparator = bytewiseComparator, isInternal, expectedBytes = 0, memoryBytes } = options;
    this.#comparator = isInternal ? internalKeyComparator(comparator) : comparator;
    this.#entries = new SortedEntries(this.#comparator);
    if (expectedBytes > memoryBytes) this.#startThread();
  }

  /** Adds the entries of a batch. @throws the system's error when a run cannot be written. */
  async add(batch: EntryBatch): Promise<void> {
    const { bytes } = batch;
    for (let i = 0, start = 0; i < batch.length; i++) {
      const end = batch.valueEnd(i);
      this.#entries.add(bytes, start, batch.keyEnd(i), end);
      start = end;
    }
    this.length += batch.length;
    const { memoryBytes } = this.#options;
    if (this.#entries.memoryBytes >= (this.#thread === undefined ? memoryBytes : memoryBytes / 2)) await this.#writeRun();
  }

  /** The entries in order. Nothing can be added afterwards. */
  async sorted(): Promise<BatchSource> {
    if (this.#runs.length === 0) {
      this.#entries.sort();
      return sortedBatches(this.#entries);
    }
    if (this.#entries.length > 0) await this.#writeRun();
    await this.#writing;
    await this.#thread?.close();
    this.#entries.release();
    this.#spare = undefined;
    const files = this.#runs.map(({ fd, byteLength }, i) => ({ name: `run ${i + 1}`, fd, byteLength })).reverse();
    return mergeTables({ files, plugins: this.#options.plugins, isInternal: this.#options.isInternal === true });
  }

  /** Removes the runs. */
  async close(): Promise<void> {
    await this.#thread?.close();
    for (const run of this.#runs.splice(0)) run.close();
  }

  /** Writes the entries to a run, or sends them to the thread when it has written the previous ones. */
  async #writeRun(): Promise<void> {
    await this.#writing;
    const run = new TemporaryFile(this.#options.folder);
    this.#runs.push(run);
    if (this.#thread === undefined) {
      writeSortedRun(run, this.#entries, this.#comparator);
      this.#entries.clear();
      this.#startThread();
      return;
    }
    const order: RunOrder = { fd: run.fd, entries: this.#entries.packed() };
    const writing = this.#thread.call<WrittenRun>(order, buffersOfEntries(order.entries)).then(({ byteLength, spare }) => {
      run.byteLength = byteLength;
      this.#spare = new SortedEntries(this.#comparator, spare);
      this.#spare.clear();
    });
    // The promise is awaited later. Until then, its rejection must not count as unhandled.
    writing.catch(() => undefined);
    this.#writing = writing;
    this.#entries = this.#spare ?? new SortedEntries(this.#comparator);
    this.#spare = undefined;
  }

  #startThread(): void {
    const { plugins, isInternal = false } = this.#options;
    const order: SortingOrder = { plugins, isInternal };
    this.#thread = WorkerThread.start('sorting-worker.cjs', order);
  }
}

function sortedBatches(entries: SortedEntries): BatchSource {
  const batch = new EntryBatch(BATCH_BYTES);
  let next = 0;
  return {
    next() {
      batch.clear();
      next = entries.fill(batch, next, BATCH_BYTES);
      return Promise.resolve(batch.length === 0 ? undefined : batch);
    },
    close() {
      next = Infinity;
    },
  };
}
