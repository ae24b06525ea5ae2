import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, type Source, type SyncSource, SyncTable, Table, type TableOptions } from '@bloom/sstable';
import { DatabaseTable, SyncDatabaseTable } from '@bloom/sstable/database';
import type { Command } from 'commander';
import { Failure, failureOf } from '../failure.js';
import { note } from '../outputs/output.js';
import { knownCodecs, knownPolicies } from '../plugins/known-plugins.js';
import { loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { keyFormOf, undamaged } from './key-form.js';
import { tableFailure } from './table-advice.js';
import { nameOf, type RemoteOptions, type TableLocation, withSource } from './opened-source.js';

/** The options about a table's keys; undefined if the keys determine their form. */
export interface KeyFormOptions {
  readonly internal?: boolean;
}

/** Adds the options that override the detected form of a table's keys. @param isReported whether the command reports that it detected internal keys. */
export function addKeyFormOptions(command: Command, isReported = true): Command {
  // Commander's conflicts() cannot tell the two apart, because both set the same property.
  const given = new Set<string>();
  for (const flag of ['internal', 'no-internal']) {
    command.on(`option:${flag}`, () => {
      given.add(flag);
      if (given.size > 1) command.error("error: option '--internal' cannot be used with option '--no-internal'");
    });
  }
  return command
    .option('--internal', "read the keys as internal keys of a database: user key, sequence, type")
    .option('--no-internal', 'read the keys as plain keys')
    .addHelpText(
      'after',
      isReported
        ? `
The keys of a table show whether it belongs to a LevelDB database. If it does,
standard error says so; --internal and --no-internal override this.`
        : `
The keys of a table show whether it belongs to a LevelDB database; --internal
and --no-internal override this.`,
    );
}

/** A table that a command reads. */
export interface TableFile<T extends SyncTable | Table = SyncTable | Table> {
  /** Its name in messages. */
  readonly path: string;
  readonly source: T extends SyncTable ? SyncSource : Source;
  /** The table with plain keys; undefined when it cannot be opened. */
  readonly table: T | undefined;
  /** The options with which it is opened. */
  readonly opening: TableOptions;
  /** Whether to read its keys as internal keys, because they look like internal keys or because of the option. */
  readonly isInternal: boolean;
  /** The order of its keys, or of its user keys. */
  readonly comparator: Comparator;
  /** Whether the sampled keys are in bytewise order, or in that of --comparator. */
  readonly isOrdered: boolean;
  /** Whether keys can be looked up by order and filters. Otherwise the whole table has to be read. */
  readonly isSearchable: boolean;
}

/** A table that is read synchronously: a file, or a table in memory. */
export type SyncTableFile = TableFile<SyncTable>;

/** The filters of smaller files are read in less than a millisecond. */
const LARGE_BYTES = 8 * 2 ** 20;

interface OpeningOptions extends KeyFormOptions, PluginOptions {
  /** How far into the file to search for keys if footer and index do not lead to any. Default: not at all. */
  readonly searchBytes?: number;
  /** Whether to ignore the filters of a large file, if reading them takes longer than reading the blocks that they would save. */
  readonly isWithoutFilters?: boolean;
}

/**
 * Opens a table, runs `work` with it, and closes it. Failures name the table. A table behind a URL or in a pipe is read into memory
 * first.
 */
export function withTableFile<T>(location: TableLocation, options: OpeningOptions & RemoteOptions, work: (file: SyncTableFile) => T | Promise<T>): Promise<T> {
  return withSource(location, options, (path, source) => withTable(path, source, options, (opening) => SyncTable.open(source, opening), work));
}

/** Like {@link withTableFile}, but of a table behind a URL, only the needed parts are requested. */
export async function withReadTable<T>(location: TableLocation, options: OpeningOptions & RemoteOptions, work: (file: TableFile) => T | Promise<T>): Promise<T> {
  if (location.kind !== 'remote-file') return withTableFile(location, options, work as (file: SyncTableFile) => T | Promise<T>);
  const path = nameOf(location);
  const { openRemoteFile, transportOf } = await import('./remote-files.js');
  try {
    const source = await openRemoteFile(location.url, transportOf(location.url, options.header ?? [], options.tracing));
    try {
      return await withTable<T, Table>(path, source, options, (opening) => Table.open(source, opening), work);
    } finally {
      await source.close();
    }
  } catch (error) {
    throw failureOf(path, error);
  }
}

async function withTable<T, Opened extends SyncTable | Table>(
  path: string,
  source: TableFile<Opened>['source'],
  options: OpeningOptions,
  open: (opening: TableOptions) => Opened | Promise<Opened>,
  work: (file: TableFile<Opened>) => T | Promise<T>,
): Promise<T> {
  const { internal, searchBytes = 0, isWithoutFilters = false, ...given } = options;
  const leavesFilters = isWithoutFilters && source.isRemote !== true && source.byteLength >= LARGE_BYTES;
  let isInternal = internal;
  try {
    const plugins = await loadPlugins(given);
    const { comparator } = plugins;
    // Without a cache, because commands rarely read a block twice.
    let opening: TableOptions = { codecs: knownCodecs(plugins), cache: null, filters: leavesFilters ? 'never' : undefined };
    let table = await undamaged(() => open(opening));
    const policies = await policiesFor(table, plugins, comparator);
    if (comparator !== undefined || policies !== undefined) {
      opening = { ...opening, comparator, filterPolicies: policies };
      table = await undamaged(() => open(opening));
    }
    // For a remote table, this throws the error now. For other tables, the command opens the table synchronously and gets the error then.
    if (table === undefined && source.isRemote === true) await open(opening);
    // Keys show whether they are internal only in bytewise order.
    const keyForm = await keyFormOf(source, comparator === undefined ? table : await undamaged(() => open({ codecs: opening.codecs, cache: null })), searchBytes);
    // The filters are the last evidence.
    if (leavesFilters && internal === undefined && keyForm.isInternal) return await withTable(path, source, { ...options, isWithoutFilters: false }, open, work);
    isInternal ??= keyForm.isInternal;
    if (internal === true && keyForm.isPlain) {
      throw new Failure(`${path}: its keys are plain keys, without sequence and type: omit --internal`);
    }
    if (internal === true && !keyForm.isInternal) {
      note(`${path}: not all of its keys look like internal keys of a database, but --internal reads them as such`);
    }
    const { isBytewise, passesFilters } = isInternal ? keyForm.internal : keyForm.plain;
    const isOrdered = comparator !== undefined || isBytewise;
    // Internal keys that are read as plain keys because of the option are still in the order of the database.
    const isSearchable = comparator !== undefined || (isBytewise && passesFilters && (isInternal || !keyForm.isInternal));
    return await work({ path, source, table, opening, isInternal, comparator: comparator ?? bytewiseComparator, isOrdered, isSearchable });
  } catch (error) {
    throw tableFailure(path, source.isRemote === true ? undefined : (source as SyncSource), error, isInternal === true, source.byteLength);
  }
}

/** The policies with which to open a table, if the default is not enough. */
async function policiesFor(table: SyncTable | Table | undefined, plugins: Plugins, comparator: Comparator | undefined): Promise<FilterPolicy[] | undefined> {
  const status = table?.filterStatus;
  const shipped = status?.state === 'unknown-policy' ? await (await import('../plugins/shipped-policy.js')).shippedPoliciesOf(status.policyNames) : [];
  if (shipped.length === 0 && plugins.policies.length === 0 && comparator === undefined) return undefined;
  return knownPolicies(plugins, [new BloomFilterPolicy(), ...shipped], comparator);
}

/** The table with plain keys. @throws the reason why it could not be opened. */
export function openTable({ source, table, opening }: SyncTableFile): SyncTable;
export function openTable({ source, table, opening }: TableFile): SyncTable | Table;
export function openTable({ source, table, opening }: TableFile): SyncTable | Table {
  return table ?? SyncTable.open(source as SyncSource, opening);
}

/** The table as one of a database, with versions of user keys. */
export function openDatabaseTable(file: SyncTableFile, options?: TableOptions): SyncDatabaseTable;
export function openDatabaseTable(file: TableFile, options?: TableOptions): SyncDatabaseTable | Promise<DatabaseTable>;
export function openDatabaseTable({ source, table, opening }: TableFile, options: TableOptions = {}): SyncDatabaseTable | Promise<DatabaseTable> {
  const all = { ...opening, ...options };
  return table instanceof Table ? DatabaseTable.open(source, all) : SyncDatabaseTable.open(source as SyncSource, all);
}

/** Reports that the keys of a table are read as internal keys. */
export function noteInternalKeys(path: string): void {
  note(`${path}: its keys look like internal keys of a database and are read as such; --no-internal reads them as stored`);
}

/** Reports that a table is read as a database's because its keys look like it. */
export function noteAssumption({ path, isInternal }: TableFile, { internal }: KeyFormOptions): void {
  if (!isInternal || internal !== undefined) return;
  noteInternalKeys(path);
}
