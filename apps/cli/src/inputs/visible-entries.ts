/** What a reader of a table or a database sees: the newest value of each key, in order. */
import type { DatabaseReader, SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { Failure } from '../failure.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { loadPlugins, pluginOptionsOf } from '../plugins/plugin-options.js';
import type { BatchSource } from './batch-source.js';
import { mergeTables } from './merging-thread.js';
import { hasInternalKeys, type OpenedFile, openTableFile } from './opened-file.js';
import { type DatabaseFile, noteDropped, withDatabase } from './opened-folder.js';
import { type InputOptions, isDatabase, recognised } from './opened-input.js';

/** Bytes of a batch. */
const BATCH_BYTES = 2 ** 19;

/** The visible entries of a table or a database, and the order that they are in. */
export interface VisibleEntries extends BatchSource {
  readonly comparator: Comparator;
}

/** Opens what the command line names, does `work` with its visible entries, and closes it. Failures name it. */
export async function withVisible<T>(given: string, options: InputOptions, work: (entries: VisibleEntries) => Promise<T>): Promise<T> {
  if (given === '') throw new Failure('the name of the table is empty');
  const location = await recognised(given, options);
  if (isDatabase(location)) return withDatabase(location, options, (file) => work(databaseEntries(file)));
  const file = await openTableFile(location, options);
  try {
    const plugins = await loadPlugins(options);
    return await withVisibleOf(file, options, options.internal ?? (await hasInternalKeys(file, plugins)), work);
  } finally {
    file.close();
  }
}

/** {@link withVisible} of a table that is open. */
export async function withVisibleOf<T>(file: OpenedFile, options: InputOptions, isInternal: boolean, work: (entries: VisibleEntries) => Promise<T>): Promise<T> {
  const { name, fd, byteLength } = file;
  const comparator = (await loadPlugins(options)).comparator ?? bytewiseComparator;
  const merged = await mergeTables({ files: [{ name, fd, byteLength }], plugins: pluginOptionsOf(options), isInternal });
  const source = isInternal ? new NewestVersions(merged, comparator) : merged;
  try {
    return await work({ comparator, next: () => source.next(), close: () => source.close() });
  } finally {
    source.close();
  }
}

/** The newest version of each user key in batches of internal keys; keys whose newest version is a deletion are left out. */
export class NewestVersions implements BatchSource {
  readonly #source: BatchSource;
  readonly #comparator: Comparator;
  #last: Uint8Array | undefined;

  constructor(source: BatchSource, comparator: Comparator) {
    this.#source = source;
    this.#comparator = comparator;
  }

  async next(): Promise<EntryBatch | undefined> {
    const versions = await this.#source.next();
    if (versions === undefined) return undefined;
    const newest = new EntryBatch(versions.end || versions.bytes.length, versions.length);
    for (let i = 0; i < versions.length; i++) {
      const key = versions.key(i);
      const userEnd = key.length - INTERNAL_KEY_TRAILER_LENGTH;
      if (userEnd < 0) throw new Failure('a key is too short for an internal key of a database: --no-internal reads keys as stored');
      const userKey = key.subarray(0, userEnd);
      if (this.#last !== undefined && this.#comparator.compare(this.#last, userKey) === 0) continue;
      this.#last = userKey;
      if (key[userEnd] !== DELETION) newest.add(userKey, versions.value(i), 0);
    }
    // The batch may be used again.
    this.#last = this.#last?.slice();
    return newest;
  }

  close(): void {
    this.#source.close();
  }
}

/** The visible entries of a database that is open. */
export function databaseEntries(file: DatabaseFile): VisibleEntries {
  return new DatabaseEntries(file);
}

class DatabaseEntries implements VisibleEntries {
  readonly comparator: Comparator;
  readonly #path: string;
  readonly #database: SyncDatabaseReader | DatabaseReader;
  readonly #entries: Iterator<readonly [Uint8Array, Uint8Array]> | AsyncIterator<readonly [Uint8Array, Uint8Array]>;

  constructor({ path, database, plugins }: DatabaseFile) {
    this.#path = path;
    this.#database = database;
    const name = database.describe().comparator;
    this.comparator = [plugins.comparator, idbComparator].find((known) => known?.name === name) ?? bytewiseComparator;
    const entries = database.entries();
    this.#entries = Symbol.asyncIterator in entries ? entries[Symbol.asyncIterator]() : entries[Symbol.iterator]();
  }

  async next(): Promise<EntryBatch | undefined> {
    const batch = new EntryBatch(BATCH_BYTES);
    while (batch.end < BATCH_BYTES && batch.length < BATCH_BYTES) {
      const given = this.#entries.next();
      const step = given instanceof Promise ? await given : given;
      if (step.done === true) {
        noteDropped(this.#path, this.#database.describe().dropped);
        break;
      }
      batch.add(step.value[0], step.value[1], 0);
    }
    await Promise.resolve();
    return batch.length === 0 ? undefined : batch;
  }

  close(): void {
    // The database is closed by what has opened it.
  }
}
