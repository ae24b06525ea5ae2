/** The visible entries of a table or a database: the newest value of each key, in order. */
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { DELETION, INTERNAL_KEY_TRAILER_LENGTH } from '@bloom/sstable/database';
import { Failure } from '../failure.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import { type BatchSource, mapped } from './batch-source.js';
import { mergeTables } from './merging-thread.js';
import { hasInternalKeys, type OpenedFile, openTableFile } from './opened-file.js';
import { comparatorNamed, type DatabaseFile, noteDropped, withDatabase } from './opened-folder.js';
import { type InputOptions, isDatabase, recognised } from './opened-input.js';
import { noteInternalKeys } from './opened-table.js';

/** The size of a batch in bytes. */
const BATCH_BYTES = 2 ** 19;

/** The visible entries of a table or a database, and their order. */
export interface VisibleEntries extends BatchSource {
  /** Whether they are those of a single table. */
  readonly isOfTable: boolean;
  readonly comparator: Comparator;
}

interface VisibleOptions extends InputOptions {
  readonly quiet?: true;
  /** Whether --internal and --no-internal are for another input if this one is a database. */
  readonly isOfSeveral?: true;
}

/** Opens an input, runs `work` with its visible entries, and closes it. Failures name the input. */
export async function withVisible<T>(given: string, options: VisibleOptions, work: (entries: VisibleEntries) => Promise<T>): Promise<T> {
  if (given === '') throw new Failure('the name of the input is empty');
  const location = await recognised(given, options);
  if (isDatabase(location)) return withDatabase(location, options.isOfSeveral ? withoutKeyForm(options) : options, (file) => work(databaseEntries(file)));
  const file = await openTableFile(location, options);
  try {
    const plugins = await loadPlugins(options);
    const isInternal = options.internal ?? (await hasInternalKeys(file, plugins));
    if (isInternal && options.internal === undefined && !options.quiet) noteInternalKeys(file.name);
    return await withVisibleOf(file, options, isInternal, work);
  } finally {
    file.close();
  }
}

function withoutKeyForm({ internal: _internal, ...options }: VisibleOptions): InputOptions {
  return options;
}

/** {@link withVisible} for an open table. */
export async function withVisibleOf<T>(file: OpenedFile, options: InputOptions, isInternal: boolean, work: (entries: VisibleEntries) => Promise<T>): Promise<T> {
  const comparator = (await loadPlugins(options)).comparator ?? bytewiseComparator;
  const merged = await mergeTables({ files: [file], plugins: options, isInternal });
  const source = isInternal ? newestVersions(merged, comparator) : merged;
  try {
    return await work({ isOfTable: true, comparator, next: () => source.next(), close: () => source.close() });
  } finally {
    source.close();
  }
}

/** The newest version of each user key in batches of internal keys; keys whose newest version is a deletion are left out. */
function newestVersions(source: BatchSource, comparator: Comparator): BatchSource {
  let last: Uint8Array | undefined;
  return mapped(source, (versions) => {
    const newest = new EntryBatch(versions.end || versions.bytes.length, versions.length);
    for (let i = 0; i < versions.length; i++) {
      const key = versions.key(i);
      const userEnd = key.length - INTERNAL_KEY_TRAILER_LENGTH;
      if (userEnd < 0) throw new Failure('a key is too short for an internal key of a database: --no-internal reads keys as stored');
      const userKey = key.subarray(0, userEnd);
      if (last !== undefined && comparator.compare(last, userKey) === 0) continue;
      last = userKey;
      if (key[userEnd] !== DELETION) newest.add(userKey, versions.value(i), 0);
    }
    // The batch may be reused.
    last = last?.slice();
    return newest;
  });
}

/** The visible entries of an open database. The caller closes the database. */
export function databaseEntries({ path, database, plugins }: DatabaseFile): VisibleEntries {
  const all: Iterable<readonly [Uint8Array, Uint8Array]> | AsyncIterable<readonly [Uint8Array, Uint8Array]> = database.entries();
  const entries = Symbol.asyncIterator in all ? all[Symbol.asyncIterator]() : all[Symbol.iterator]();
  let isAtEnd = false;
  return {
    isOfTable: false,
    comparator: comparatorNamed(database.describe().comparator, plugins) ?? bytewiseComparator,
    async next() {
      const batch = new EntryBatch(BATCH_BYTES);
      while (!isAtEnd && batch.end < BATCH_BYTES && batch.length < BATCH_BYTES) {
        const given = entries.next();
        const step = given instanceof Promise ? await given : given;
        if (step.done === true) {
          isAtEnd = true;
          noteDropped(path, database.describe().dropped);
          break;
        }
        batch.add(step.value[0], step.value[1], 0);
      }
      await Promise.resolve();
      return batch.length === 0 ? undefined : batch;
    },
    close: () => undefined,
  };
}
