import { type Comparator, type SyncCursor, SyncTable, bytewiseComparator } from '@bloom/sstable';
import { encodeInternalKey, internalKeyComparator, MAX_SEQUENCE, MAX_TYPE } from '@bloom/sstable/database';
import { compareRangeOf } from '@bloom/sstable/internal';
import { Failure } from '../failure.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import type { KeyBounds, MergeOrder } from './merge-order.js';
import { CursorError, KeyOrderError, MergedEntries } from './merged-entries.js';
import { DescriptorSource } from './sorted-run.js';
import { tableFailure } from './table-advice.js';

/** The size of a batch, in bytes. */
const BATCH_BYTES = 2 ** 19;
/** The read-ahead of all tables together, in bytes. */
const READ_AHEAD_BYTES = 32 * 2 ** 20;
const MOST_READ_AHEAD_BYTES = 2 ** 20;
const LEAST_READ_AHEAD_BYTES = 16 * 2 ** 10;

/** The entries of several tables as one sequence, in batches. Of equal keys, the entry of the newest table is returned. */
export class MergedTables implements BatchSource {
  readonly #merged: MergedEntries;
  readonly #names: readonly string[];
  /** The name of the given order; undefined if none was given. */
  readonly #order: string | undefined;
  #expected = 1024;
  #isOver = false;

  private constructor(merged: MergedEntries, names: readonly string[], order: string | undefined) {
    this.#merged = merged;
    this.#names = names;
    this.#order = order;
  }

  /** @throws Failure that names the damaged table. */
  static async open({ files, plugins: given, isInternal, range = {} }: MergeOrder): Promise<MergedTables> {
    const plugins = await loadPlugins(given);
    const userComparator: Comparator = plugins.comparator ?? bytewiseComparator;
    const comparator = isInternal ? internalKeyComparator(userComparator) : userComparator;
    const readAheadBytes = Math.max(LEAST_READ_AHEAD_BYTES, Math.min(MOST_READ_AHEAD_BYTES, Math.floor(READ_AHEAD_BYTES / files.length)));
    const cursors = files.map(({ name, fd, byteLength }): SyncCursor => {
      const source = new DescriptorSource(fd, byteLength);
      try {
        return SyncTable.open(source, { comparator, codecs: knownCodecs(plugins), filterPolicies: [], cache: null, readAheadBytes }).cursor();
      } catch (error) {
        throw tableFailure(name, source, error, isInternal);
      }
    });
    const names = files.map(({ name }) => name);
    const order = { compare: compareRangeOf(comparator), isBytewise: comparator === bytewiseComparator };
    const orderName = plugins.comparator?.name;
    return new MergedTables(named(names, orderName, () => new MergedEntries(cursors, order, isInternal ? storedBounds(range) : range)), names, orderName);
  }

  async next(): Promise<EntryBatch | undefined> {
    await Promise.resolve();
    return this.nextAtOnce();
  }

  nextAtOnce(): EntryBatch | undefined {
    if (this.#isOver) return undefined;
    const batch = new EntryBatch(BATCH_BYTES + 4096, this.#expected);
    this.#isOver = !named(this.#names, this.#order, () => this.#merged.fill(batch, BATCH_BYTES));
    this.#expected = Math.max(16, Math.ceil(batch.length * 1.1));
    return batch;
  }

  close(): void {
    this.#isOver = true;
  }
}

/** The bounds of a range as internal keys. */
function storedBounds({ gte, lt }: KeyBounds): KeyBounds {
  const beforeAllVersions = (userKey: Uint8Array): Uint8Array => encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
  return { gte: gte && beforeAllVersions(gte), lt: lt && beforeAllVersions(lt) };
}

/** The result of `work`. @param order the name of the given order. @throws its errors as failures that name the table. */
function named<T>(names: readonly string[], order: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CursorError)) throw error;
    const name = names[error.age]!;
    if (error.cause instanceof KeyOrderError) {
      const problem = order === undefined ? 'its keys are in another order: pass --comparator' : `its keys are not in the order of --comparator (${order})`;
      throw new Failure(`${name}: ${problem}; bloom verify shows where`);
    }
    throw tableFailure(name, undefined, error.cause, false);
  }
}
