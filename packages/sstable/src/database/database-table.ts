import { CorruptionError, mustBeBytes, mustBeOptions } from '@bloom/bytes';
import { BloomFilterPolicy } from '@bloom/policy';
import {
  decodeInternalKey,
  encodeInternalKey,
  type InternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
} from '../format/internal-key.js';
import { type AsyncKeyRange, type KeyRange, mustBeKeyRange } from '../read/key-range.js';
import {
  type AsyncTableOptions,
  comparatorFor,
  mustBePolicies,
  mustBeTableOptions,
  type SignalOptions,
  type TableOptions,
} from '../read/options.js';
import { mustBeSource, type Source, type SyncSource } from '../read/source.js';
import { SyncTable } from '../read/sync-table.js';
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
 * A table of a LevelDB database, accessed by user keys and versions.
 *
 * It is one file of a database, so the newest version here need not be the newest in the database.
 *
 * @example
 * ```ts
 * const table = await DatabaseTable.open(await FileSource.open('000005.ldb'));
 * await table.get(utf8('hello')); // { userKey, sequence: 17n, type: 1, value }
 * ```
 */
export class DatabaseTable {
  /** The table with its keys as stored. */
  readonly table: Table;

  private constructor(table: Table) {
    this.table = table;
  }

  /**
   * Opens a table.
   *
   * @param options `comparator` and `filterPolicies` are those of the database's user keys.
   * @throws CorruptionError `BLOOM_BAD_INTERNAL_KEY` when the index has a key that is too short for a database's, and as
   *   `Table.open` does.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<DatabaseTable> {
    mustBeSource(source);
    mustBeTableOptions('DatabaseTable.open', options);
    return new DatabaseTable(await Table.open(source, internalTableOptions(options)));
  }

  /** The newest version of `userKey`, which may be a deletion; undefined when the table has none. */
  async get(userKey: Uint8Array, options: VersionOptions & SignalOptions = {}): Promise<DatabaseEntry | undefined> {
    mustBeOptions('DatabaseTable.get', options, { ...VERSION_OPTIONS, signal: true });
    const { signal } = options;
    const found = await this.table.find(seekKey(userKey, options), isVersionOf(userKey, this.table), { signal });
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys, in the order of the keys, with the newest version of each key first. */
  entries(range: AsyncKeyRange = {}): AsyncGenerator<DatabaseEntry, void, undefined> {
    mustBeKeyRange(range);
    return this.#entriesOf(this.table.entries({ ...range, ...internalBounds(range) }));
  }

  async *#entriesOf(stored: AsyncIterable<[Uint8Array, Uint8Array]>): AsyncGenerator<DatabaseEntry, void, undefined> {
    for await (const entry of stored) yield entryOf(entry, this.table);
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
  /** The table with its keys as stored. */
  readonly table: SyncTable;

  private constructor(table: SyncTable) {
    this.table = table;
  }

  /** Opens a table: see {@link DatabaseTable.open}. */
  static open(source: SyncSource, options: TableOptions = {}): SyncDatabaseTable {
    mustBeSource(source);
    mustBeTableOptions('SyncDatabaseTable.open', options);
    return new SyncDatabaseTable(SyncTable.open(source, internalTableOptions(options)));
  }

  /** The newest version of `userKey`, which may be a deletion; undefined when the table has none. */
  get(userKey: Uint8Array, options: VersionOptions = {}): DatabaseEntry | undefined {
    mustBeOptions('SyncDatabaseTable.get', options, VERSION_OPTIONS);
    const found = this.table.find(seekKey(userKey, options), isVersionOf(userKey, this.table));
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys, in the order of the keys, with the newest version of each key first. */
  entries(range: KeyRange = {}): Generator<DatabaseEntry, void, undefined> {
    mustBeKeyRange(range);
    return this.#entriesOf(this.table.entries({ ...range, ...internalBounds(range) }));
  }

  *#entriesOf(stored: Iterable<[Uint8Array, Uint8Array]>): Generator<DatabaseEntry, void, undefined> {
    for (const entry of stored) yield entryOf(entry, this.table);
  }

  [Symbol.iterator](): Iterator<DatabaseEntry> {
    return this.entries();
  }

  close(): void {
    this.table.close();
  }
}

/** The options for a table of a database, made from the options for its user keys. */
export function internalTableOptions<Options extends TableOptions>(options: Options): Options {
  const userComparator = comparatorFor(options);
  const defaultPolicies = userComparator.keyEquivalence === undefined ? [new BloomFilterPolicy()] : [];
  const userPolicies = options.filterPolicies ?? defaultPolicies;
  mustBePolicies(userPolicies);
  return { ...options, comparator: internalKeyComparator(userComparator), filterPolicies: userPolicies.map(internalKeyPolicy) };
}

const VERSION_OPTIONS: Record<keyof VersionOptions, true> = { sequence: true };

/** LevelDB's own types are 0 and 1; other programs have more. */
const MAX_TYPE = 0xff;

/** The key that sorts at or before the versions with sequence numbers up to `sequence`. */
function seekKey(userKey: Uint8Array, { sequence = MAX_SEQUENCE }: VersionOptions): Uint8Array {
  return encodeInternalKey({ userKey, sequence, type: MAX_TYPE });
}

/** Whether a stored key is a version of `userKey`, by the table's own order. */
function isVersionOf(userKey: Uint8Array, table: Table | SyncTable): (key: Uint8Array) => boolean {
  const newest = newestOf(userKey);
  const oldest = oldestOf(userKey);
  return (key) => table.compare(newest, key) <= 0 && table.compare(key, oldest) <= 0;
}

/** A key that sorts before all versions of a user key. */
function newestOf(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
}

function oldestOf(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: 0n, type: 0 });
}

function internalBounds({ gt, gte, lt, lte }: KeyRange): Pick<KeyRange, 'gt' | 'gte' | 'lt' | 'lte'> {
  for (const [name, bound] of Object.entries({ gt, gte, lt, lte })) if (bound !== undefined) mustBeBytes(name, bound);
  return { gt: gt && oldestOf(gt), gte: gte && newestOf(gte), lt: lt && newestOf(lt), lte: lte && oldestOf(lte) };
}

function entryOf([key, value]: readonly [Uint8Array, Uint8Array], { name }: Table | SyncTable): DatabaseEntry {
  const internalKey = decodeInternalKey(key);
  if (internalKey !== undefined) return { ...internalKey, value };
  const problem = `a key of ${key.length} bytes is too short for a database's: its keys may be plain ones`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0, file: name }, problem);
}
