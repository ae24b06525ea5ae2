import { BloomFilterPolicy, type FilterPolicy, FittedBloomFilterPolicy } from '@bloom/policy';
import type { Codec } from '@bloom/sstable';
import { DamagePolicy } from '../folder/damage.js';
import { keyOrderOf } from '../format/database-key.js';
import { type FolderReading, runSync } from '../folder/folder-reading.js';
import { TableCache, ViewTables } from '../table/table-cache.js';
import type { KeyOrder } from '../format/version.js';
import type { SyncFolder } from '../folder/folder.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { writeCompactedTables } from '../compact/run-compaction.js';
import type { CompactionContext } from '../compact/compaction-context.js';
import { writeFlushedTable } from '../compact/flushed-table.js';
import { type DatabaseOptions, type Settings, settingsOf } from './database-options.js';
import { provideFittedPolicy } from './load-fitted-policy.js';
import type { CompactedTables, CompactionPlan, MemtableArrays, NeededPlugins, TableThreadSettings, ThreadPlugins, WrittenTable } from '../folder/table-thread.js';

/** A folder for a worker thread. It reads synchronously, because nothing else waits for the worker's event loop. */
export type ThreadFolder = SyncFolder & Pick<WritableFolder, 'create'>;

/** The work of a {@link TableThread}, in the thread itself. */
export class ThreadTables {
  readonly #folder: ThreadFolder;
  readonly #settings: Settings;
  readonly #order: KeyOrder;

  /** @throws Error when one of the plug-ins that are needed is missing. */
  constructor(folder: ThreadFolder, { bitsPerKey, extraBytes, plugins, ...options }: TableThreadSettings, own: ThreadPlugins) {
    this.#folder = folder;
    const bits = bitsPerKey ?? 0;
    const bloom = extraBytes === undefined ? new BloomFilterPolicy(bits) : new FittedBloomFilterPolicy(bits, { extraBytes });
    const filterPolicy = bitsPerKey === null ? null : bloom;
    provideFittedPolicy(FittedBloomFilterPolicy);
    this.#settings = settingsOf({ ...options, filterPolicy, cache: null, ...(plugins && pluginOptions(plugins, own)) });
    this.#order = keyOrderOf(this.#settings.comparator);
  }

  async compact(
    plan: CompactionPlan,
    bitsPerKey: number | undefined,
    asked: Pick<CompactionContext, 'oldestSequence' | 'newFileNumber' | 'interlude'>,
  ): Promise<CompactedTables> {
    const { maxOpenTables, reading, opening, maxFileSize } = this.#settings;
    const building = this.#settings.buildingWith(bitsPerKey);
    // A compaction walks through its tables, so it reads no filters.
    const cache = new TableCache(maxOpenTables, reading, { ...opening, filters: 'never', filterPolicies: [] }, null);
    const folder = this.#folder;
    const read = (reading: FolderReading<void>): void => runSync(folder, reading);
    const tables = new ViewTables(cache, [], []);
    const context = { folder, read, readsAtOnce: true, order: this.#order, tables, damage: new DamagePolicy(true), building, maxFileSize };
    try {
      return await writeCompactedTables(plan, { ...context, ...asked });
    } finally {
      await cache.close();
    }
  }

  flush(arrays: MemtableArrays, number: bigint, bitsPerKey: number | undefined): Promise<WrittenTable> {
    return writeFlushedTable(arrays, this.#order, this.#folder, number, this.#settings.buildingWith(bitsPerKey));
  }
}

/** The options that `needed` names. @throws Error when one is missing. */
function pluginOptions(needed: NeededPlugins, { comparators = [], filterPolicies = [], codecs = [] }: ThreadPlugins): Partial<DatabaseOptions> {
  const codec = (type: number): Codec => found(`codec of type ${type}`, codecs.find((known) => known.type === type));
  const { filterPolicy, compression } = needed;
  const comparator = needed.comparator === undefined ? undefined : found(`comparator ${needed.comparator}`, comparators.find(({ name }) => name === needed.comparator));
  const isAskable = ({ keyEquivalence }: FilterPolicy): boolean => keyEquivalence === comparator?.keyEquivalence;
  return {
    ...(comparator !== undefined && { comparator }),
    ...(filterPolicy !== undefined && { filterPolicy: found(`policy ${filterPolicy}`, filterPolicies.find((policy) => policy.name === filterPolicy && isAskable(policy))) }),
    ...(compression !== undefined && { compression: codec(compression) }),
    codecs: needed.codecs.map(codec),
  };
}

function found<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new Error(`the thread has no ${what}`);
  return value;
}
