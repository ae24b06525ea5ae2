import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator } from '../format/comparator.js';
import { CorruptionError } from '@bloom/bytes';
import {
  decodeInternalKey,
  encodeInternalKey,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
} from './internal-key.js';
import type { AsyncKeyRange, KeyRange } from '../read/key-range.js';
import type { Source, SyncSource } from '../read/source.js';
import { SyncTable } from '../read/sync-table.js';
import type { AsyncTableOptions, TableOptions } from '../read/options.js';
import { Table } from '../read/table.js';

/** An entry of a database: one version of a user key. */
export interface DatabaseEntry extends InternalKey {
  /** Empty for a deletion. */
  readonly value: Uint8Array;
}

/** Which version to look for. */
export interface VersionOptions {
  /** The newest version at or below this sequence number. Default: the newest of all. */
  readonly sequence?: bigint | undefined;
}

/**
 * A table of a LevelDB database, seen by user keys and versions.
 *
 * It is one file of a database: the newest version here need not be the newest there.
 *
 * @example
 * ```ts
 * const table = await DatabaseTable.open(await FileSource.open('000005.ldb'));
 * await table.get(utf8('hello')); // { userKey, sequence: 17n, type: 1, value }
 * ```
 */
export class DatabaseTable {
  /** The table with its keys as they are stored. */
  readonly table: Table;

  private constructor(table: Table) {
    this.table = table;
  }

  /** @param options `comparator` and `filterPolicies` are those of the database's user keys. */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<DatabaseTable> {
    return new DatabaseTable(await Table.open(source, internalTableOptions(options)));
  }

  /** The newest version of `userKey`, deletions included; undefined when the table has none. */
  async get(userKey: Uint8Array, options: VersionOptions = {}): Promise<DatabaseEntry | undefined> {
    const found = await this.table.find(seekKey(userKey, options), isVersionOf(userKey, this.table));
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys: keys in order, of each key the newest version first. */
  async *entries(range: AsyncKeyRange = {}): AsyncGenerator<DatabaseEntry, void, undefined> {
    for await (const entry of this.table.entries({ ...range, ...internalBounds(range) })) yield entryOf(entry, this.table);
  }

  [Symbol.asyncIterator](): AsyncIterator<DatabaseEntry> {
    return this.entries();
  }

  close(): void {
    this.table.close();
  }
}

/** {@link DatabaseTable} without promises. */
export class SyncDatabaseTable {
  /** The table with its keys as they are stored. */
  readonly table: SyncTable;

  private constructor(table: SyncTable) {
    this.table = table;
  }

  /** @param options `comparator` and `filterPolicies` are those of the database's user keys. */
  static open(source: SyncSource, options: TableOptions = {}): SyncDatabaseTable {
    return new SyncDatabaseTable(SyncTable.open(source, internalTableOptions(options)));
  }

  /** The newest version of `userKey`, deletions included; undefined when the table has none. */
  get(userKey: Uint8Array, options: VersionOptions = {}): DatabaseEntry | undefined {
    const found = this.table.find(seekKey(userKey, options), isVersionOf(userKey, this.table));
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys: keys in order, of each key the newest version first. */
  *entries(range: KeyRange = {}): Generator<DatabaseEntry, void, undefined> {
    for (const entry of this.table.entries({ ...range, ...internalBounds(range) })) yield entryOf(entry, this.table);
  }

  [Symbol.iterator](): Iterator<DatabaseEntry> {
    return this.entries();
  }

  close(): void {
    this.table.close();
  }
}

/** How to open a table of a database, given how to read its user keys. */
export function internalTableOptions<Options extends TableOptions>(options: Options): Options {
  const { comparator: userComparator = bytewiseComparator } = options;
  const defaultPolicies = userComparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  return {
    ...options,
    comparator: internalKeyComparator(userComparator),
    filterPolicies: (options.filterPolicies ?? defaultPolicies).map(internalKeyPolicy),
  };
}

/** LevelDB's own types are 0 and 1; other programs have more. */
const MAX_TYPE = 0xff;

/** The key at or after which the versions from `sequence` down are. */
function seekKey(userKey: Uint8Array, { sequence = MAX_SEQUENCE }: VersionOptions): Uint8Array {
  return encodeInternalKey({ userKey, sequence, type: MAX_TYPE });
}

/** Whether a stored key is a version of `userKey`, by the table's own order. */
function isVersionOf(userKey: Uint8Array, table: Table | SyncTable): (key: Uint8Array) => boolean {
  const newest = newestOf(userKey);
  const oldest = oldestOf(userKey);
  return (key) => table.compare(newest, key) <= 0 && table.compare(key, oldest) <= 0;
}

/** Where the versions of a user key start, and where they end. */
function newestOf(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
}

function oldestOf(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: 0n, type: 0 });
}

function internalBounds({ gt, gte, lt, lte }: KeyRange): Pick<KeyRange, 'gt' | 'gte' | 'lt' | 'lte'> {
  return { gt: gt && oldestOf(gt), gte: gte && newestOf(gte), lt: lt && newestOf(lt), lte: lte && oldestOf(lte) };
}

function entryOf([key, value]: readonly [Uint8Array, Uint8Array], { name }: Table | SyncTable): DatabaseEntry {
  const internalKey = decodeInternalKey(key);
  if (internalKey !== undefined) return { ...internalKey, value };
  const problem = `a key of ${key.length} bytes is too short for a database's: its keys may be plain ones`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0, file: name }, problem);
}
