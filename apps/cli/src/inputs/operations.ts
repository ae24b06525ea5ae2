import type { WriteBatch } from '@bloom/leveldb';
import { DELETION, VALUE } from '@bloom/sstable/database';
import { EntryBatch } from '../formats/entry-batch.js';
import { versionOf } from '../formats/version-input.js';
import { failureOf } from '../failure.js';
import { unlessAborted } from '../interruption.js';
import type { BatchSource } from './batch-source.js';
import type { DecodedInputs } from './decoded-inputs.js';
import { EntrySorter } from './entry-sorter.js';

/** The length of the sequence before a key that is sorted by it, in bytes. */
const SEQUENCE_BYTES = 7;

export interface OperationOptions {
  /** Whether the inputs have versions. */
  readonly versions: boolean;
  /** The most bytes of versions to keep in memory while they are sorted. */
  readonly memoryBytes: number;
  /** The folder for versions that do not fit into memory. */
  readonly folder: string;
}

/** The operations to write: a put for each entry, or a put or a deletion for each version in the inputs. */
export class Operations {
  /** The number of deletions so far. */
  deletions = 0;
  readonly #inputs: DecodedInputs;
  readonly #options: OperationOptions;
  /** Versions sorted by their sequences; undefined if they keep the order of the inputs. */
  #sorted: BatchSource | undefined;
  #sorter: EntrySorter | undefined;
  #isPrepared = false;
  /** Whether versions have sequences, like the first one. */
  #isNumbered: boolean | undefined;
  #batch: EntryBatch | undefined;
  #next = 0;

  constructor(inputs: DecodedInputs, options: OperationOptions) {
    this.#inputs = inputs;
    this.#options = options;
  }

  /** Reads all versions if they have sequences, because these determine the order. Called before {@link addTo}. @throws Failure for an invalid input. */
  async prepare(signal: AbortSignal): Promise<void> {
    if (!this.#options.versions) return;
    this.#isPrepared = true;
    let batch = await this.#firstBatch(signal);
    if (batch === undefined || versionOf(batch.key(0)).sequence === undefined) {
      this.#batch = batch;
      return;
    }
    const { memoryBytes, folder } = this.#options;
    const sorter = (this.#sorter = new EntrySorter({ memoryBytes, folder, comparator: undefined, plugins: {} }));
    try {
      for (; batch !== undefined; batch = await unlessAborted(this.#inputs.next(), signal)) await unlessAborted(sorter.add(this.#bySequence(batch)), signal);
      this.#sorted = await unlessAborted(sorter.sorted(), signal);
    } catch (error) {
      // Errors of the inputs are failures already.
      throw failureOf(folder, error);
    }
  }

  /** Adds the next operations to a batch, until it has `maxBytes`. @returns whether there may be more. */
  async addTo(batch: WriteBatch, maxBytes: number): Promise<boolean> {
    if (this.#batch === undefined) {
      this.#batch = await (this.#sorted ?? this.#inputs).next();
      this.#next = 0;
    }
    const entries = this.#batch;
    if (entries === undefined) return false;
    while (this.#next < entries.length) {
      this.#addEntry(batch, entries, this.#next++);
      if (batch.byteLength >= maxBytes) return true;
    }
    this.#batch = undefined;
    return true;
  }

  async close(): Promise<void> {
    this.#sorted?.close();
    this.#inputs.close();
    await this.#sorter?.close();
  }

  async #firstBatch(signal: AbortSignal): Promise<EntryBatch | undefined> {
    for (;;) {
      const batch = await unlessAborted(this.#inputs.next(), signal);
      if (batch === undefined || batch.length > 0) return batch;
    }
  }

  #addEntry(batch: WriteBatch, entries: EntryBatch, i: number): void {
    const key = entries.key(i);
    if (!this.#isPrepared) {
      batch.put(key, entries.value(i));
      return;
    }
    const isSorted = this.#sorted !== undefined;
    const { userKey, type } = isSorted ? { userKey: key.subarray(SEQUENCE_BYTES, -1), type: key.at(-1)! } : this.#checkedVersion(entries, i);
    if (type === VALUE) {
      batch.put(userKey, entries.value(i));
      return;
    }
    batch.delete(userKey);
    this.deletions++;
  }

  /** The versions with keys whose bytes sort by sequence. For the same sequence and key, a value comes after a deletion, as in a database. */
  #bySequence(batch: EntryBatch): EntryBatch {
    const sorting = new EntryBatch(batch.bytes.length, batch.length);
    for (let i = 0; i < batch.length; i++) {
      const { userKey, sequence, type } = this.#checkedVersion(batch, i);
      sorting.reserve(SEQUENCE_BYTES);
      for (let shift = 8n * BigInt(SEQUENCE_BYTES - 1); shift >= 0n; shift -= 8n) sorting.bytes[sorting.end++] = Number((sequence! >> shift) & 0xffn);
      sorting.put(userKey);
      sorting.put(Uint8Array.of(type));
      const keyEnd = sorting.end;
      sorting.put(batch.value(i));
      sorting.push(keyEnd, sorting.end, 0);
    }
    return sorting;
  }

  /** @throws Failure for a version that cannot be written to a database. */
  #checkedVersion(batch: EntryBatch, i: number): ReturnType<typeof versionOf> {
    const version = versionOf(batch.key(i));
    const isNumbered = version.sequence !== undefined;
    this.#isNumbered ??= isNumbered;
    if (isNumbered !== this.#isNumbered) throw this.#inputs.failureAt(i, isNumbered ? 'a sequence, but earlier entries have none' : 'no sequence, but earlier entries have one');
    if (version.type !== VALUE && version.type !== DELETION) throw this.#inputs.failureAt(i, `the type ${version.type}, which LevelDB does not write`);
    if (version.type === DELETION && batch.valueEnd(i) > batch.keyEnd(i)) throw this.#inputs.failureAt(i, 'a deletion with a value');
    return version;
  }
}
