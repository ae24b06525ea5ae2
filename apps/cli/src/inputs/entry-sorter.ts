import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { internalKeyComparator } from '@bloom/sstable/database';
import { EntryBatch } from '../formats/entry-batch.js';
import type { PluginOptions } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import { mergeTables } from './merging-thread.js';
import { SortedEntries } from './sorted-entries.js';
import { writeSortedRun } from './sorted-run.js';
import type { TemporaryFile } from './temporary-file.js';

/** Bytes of a batch of sorted entries. */
const BATCH_BYTES = 2 ** 19;

/** How entries are sorted. */
export interface SortOptions {
  /** The most bytes of entries to keep in memory. */
  readonly memoryBytes: number;
  /** Where what does not fit is written. */
  readonly folder: string;
  readonly comparator: Comparator | undefined;
  /** The same, for a thread. */
  readonly plugins: PluginOptions;
  /** Whether the keys are those of a database, with sequence and type, in its order. */
  readonly isInternal?: boolean | undefined;
}

/** Sorts any number of entries, and keeps the last of each key. What does not fit into memory is written to sorted runs, which are merged. */
export class EntrySorter {
  /** How many entries were added. */
  length = 0;
  readonly #options: SortOptions;
  readonly #comparator: Comparator;
  readonly #entries: SortedEntries;
  /** The oldest first. */
  readonly #runs: TemporaryFile[] = [];

  constructor(options: SortOptions) {
    this.#options = options;
    const { comparator = bytewiseComparator, isInternal } = options;
    this.#comparator = isInternal ? internalKeyComparator(comparator) : comparator;
    this.#entries = new SortedEntries(this.#comparator);
  }

  /** How many runs were written. */
  get runs(): number {
    return this.#runs.length;
  }

  /** Adds the entries of a batch. @throws the system's error when a run cannot be written. */
  add(batch: EntryBatch): void {
    const { bytes } = batch;
    for (let i = 0, start = 0; i < batch.length; i++) {
      const end = batch.valueEnd(i);
      this.#entries.add(bytes, start, batch.keyEnd(i), end);
      start = end;
    }
    this.length += batch.length;
    if (this.#entries.memoryBytes >= this.#options.memoryBytes) this.#writeRun();
  }

  /** The entries in order. Nothing can be added afterwards. */
  async sorted(): Promise<BatchSource> {
    if (this.#runs.length === 0) {
      this.#entries.sort();
      return new SortedBatches(this.#entries);
    }
    if (this.#entries.length > 0) this.#writeRun();
    this.#entries.release();
    const files = this.#runs.map(({ fd, byteLength }, i) => ({ name: `run ${i + 1}`, fd, byteLength })).reverse();
    return mergeTables({ files, plugins: this.#options.plugins, isInternal: this.#options.isInternal === true });
  }

  /** Removes the runs. */
  close(): void {
    for (const run of this.#runs.splice(0)) run.close();
  }

  #writeRun(): void {
    this.#entries.sort();
    this.#runs.push(writeSortedRun(this.#options.folder, this.#entries, this.#comparator));
    this.#entries.clear();
  }
}

class SortedBatches implements BatchSource {
  readonly #entries: SortedEntries;
  readonly #batch = new EntryBatch(BATCH_BYTES);
  #next = 0;

  constructor(entries: SortedEntries) {
    this.#entries = entries;
  }

  next(): Promise<EntryBatch | undefined> {
    const batch = this.#batch;
    batch.clear();
    this.#next = this.#entries.fill(batch, this.#next, BATCH_BYTES);
    return Promise.resolve(batch.length === 0 ? undefined : batch);
  }

  close(): void {
    this.#next = Infinity;
  }
}
