import { type Bytes, CorruptionError } from '@bloom/bytes';
import { bytesOf, copiedOptions, mustBeBytes, mustBeOptions, numberOf } from '@bloom/bytes/internal';
import { comparatorOf } from '../format/checked-comparator.js';
import {
  decodeInternalKey,
  encodeInternalKey,
  type EntryKind,
  internalKeyComparator,
  internalKeyPolicy,
  kindOfType,
  MAX_SEQUENCE,
  MAX_TYPE,
} from '../format/internal-key.js';
import { boundOf, withinPrefix } from '../read/key-prefix.js';
import { type AsyncKeyRange, type KeyRange, mustBeKeyRange } from '../read/key-range.js';
import {
  type AsyncTableOptions,
  givenPolicies,
  mustBeTableOptions,
  type SignalOptions,
  type SyncTableOptions,
  TABLE_OPTIONS,
  type TableOptions,
} from '../read/options.js';
import { mustBeSource, type Source, type SyncSource } from '../read/source.js';
import { SyncTable } from '../read/sync-table.js';
import { Table } from '../read/table.js';
import { mustBeSequence, type SequenceOptions } from './sequence.js';

/** One version of a key, as a database stores it. */
export interface DatabaseEntry {
  readonly kind: EntryKind;
  readonly key: Bytes;
  /** Grows with every write to the database. */
  readonly sequence: bigint;
  /** Empty for a deletion. */
  readonly value: Bytes;
}

/**
 * A table of a LevelDB database, accessed by user keys and versions.
 *
 * It is one file of a database, so the newest version here need not be the newest in the database. Its `table` has
 * what does not depend on versions, such as `filterStatus` and `stats`.
 *
 * @example
 * ```ts
 * const table = await DatabaseTable.open(await FileSource.open('000005.ldb'));
 * await table.get('hello'); // { kind: 'value', key, sequence: 17n, value }
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
   * @throws CorruptionError `BLOOM_BAD_INTERNAL_KEY` when the index has a key that is too short for an internal key, and as
   *   `Table.open` does.
   */
  static async open(source: Source, options: AsyncTableOptions = {}): Promise<DatabaseTable> {
    mustBeSource(source);
    const own = copiedOptions('DatabaseTable.open', options, TABLE_OPTIONS);
    mustBeTableOptions('DatabaseTable.open', own);
    return new DatabaseTable(await Table.open(source, internalTableOptions(own)));
  }

  /** The newest version of `key`, which may be a deletion; undefined when the table has none. */
  async get(key: Uint8Array | string, options: SequenceOptions & SignalOptions = {}): Promise<DatabaseEntry | undefined> {
    const userKey = bytesOf('key', key);
    const seek = seekKey('DatabaseTable.get', userKey, options);
    const { signal } = options;
    const found = await this.table.find(seek, isVersionOf(userKey, this.table), { signal });
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys, in the order of the keys, with the newest version of each key first. */
  entries(range: AsyncKeyRange = {}): AsyncIterableIterator<DatabaseEntry> {
    mustBeKeyRange('DatabaseTable.entries', range);
    return this.#entriesOf(this.table.entries(internalRange(range, this.table)));
  }

  async *#entriesOf(stored: AsyncIterable<[Bytes, Bytes]>): AsyncGenerator<DatabaseEntry, void, undefined> {
    for await (const entry of stored) yield entryOf(entry, this.table);
  }

  [Symbol.asyncIterator](): AsyncIterator<DatabaseEntry> {
    return this.entries();
  }

  /** Closes the table: see `Table.close`. */
  close(): Promise<void> {
    return this.table.close();
  }

  /** Closes the table, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A synchronous {@link DatabaseTable}. */
export class SyncDatabaseTable {
  /** The table with its keys as stored. */
  readonly table: SyncTable;

  private constructor(table: SyncTable) {
    this.table = table;
  }

  /** Opens a table: see {@link DatabaseTable.open}. */
  static open(source: SyncSource, options: SyncTableOptions = {}): SyncDatabaseTable {
    mustBeSource(source);
    const own = copiedOptions<AsyncTableOptions>('SyncDatabaseTable.open', options, TABLE_OPTIONS);
    mustBeTableOptions('SyncDatabaseTable.open', own);
    return new SyncDatabaseTable(SyncTable.open(source, internalTableOptions(own)));
  }

  /** The newest version of `key`, which may be a deletion; undefined when the table has none. */
  get(key: Uint8Array | string, options: SequenceOptions = {}): DatabaseEntry | undefined {
    const userKey = bytesOf('key', key);
    const found = this.table.find(seekKey('SyncDatabaseTable.get', userKey, options), isVersionOf(userKey, this.table));
    return found && entryOf(found, this.table);
  }

  /** All versions of a range of user keys, in the order of the keys, with the newest version of each key first. */
  entries(range: KeyRange = {}): IterableIterator<DatabaseEntry> {
    mustBeKeyRange('SyncDatabaseTable.entries', range);
    return this.#entriesOf(this.table.entries(internalRange(range, this.table)));
  }

  *#entriesOf(stored: Iterable<[Bytes, Bytes]>): Generator<DatabaseEntry, void, undefined> {
    for (const entry of stored) yield entryOf(entry, this.table);
  }

  [Symbol.iterator](): Iterator<DatabaseEntry> {
    return this.entries();
  }

  /** Closes the table: see `SyncTable.close`. */
  close(): void {
    this.table.close();
  }

  /** Closes the table, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The options for a table of a database, made from the options for its user keys. */
export function internalTableOptions<Options extends TableOptions>(options: Options): Options {
  const userComparator = comparatorOf('comparator', options.comparator);
  const userPolicies = givenPolicies(options, userComparator);
  return { ...options, comparator: internalKeyComparator(userComparator), filterPolicies: userPolicies.map(internalKeyPolicy) };
}

/** The names for both tables, so that one object can be used for both. `SyncDatabaseTable` ignores the signal. */
const GET_OPTIONS: Record<keyof (SequenceOptions & SignalOptions), true> = { sequence: true, signal: true };

/** The key that sorts at or before the versions that `call` may see. @throws TypeError or RangeError for what it is not to be given. */
function seekKey(call: string, userKey: Uint8Array, options: SequenceOptions): Uint8Array {
  mustBeOptions(call, options, GET_OPTIONS);
  mustBeBytes('key', userKey);
  const { sequence: seen = MAX_SEQUENCE } = options;
  mustBeSequence(seen);
  const sequence = seen < MAX_SEQUENCE ? seen : MAX_SEQUENCE;
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

/** A range of user keys as one of stored keys. @throws RangeError for a `prefix` of user keys that are not in bytewise order. */
function internalRange<Range extends KeyRange>(given: Range, table: Table | SyncTable): Range {
  const isEmpty = given.prefix !== undefined && !table.mayContainPrefix(given.prefix);
  const range = withinPrefix(given);
  const [gt, gte, lt, lte] = (['gt', 'gte', 'lt', 'lte'] as const).map((name) => boundOf(name, range[name]));
  const bounds = { gt: gt && oldestOf(gt), gte: gte && newestOf(gte), lt: lt && newestOf(lt), lte: lte && oldestOf(lte) };
  return { ...range, ...bounds, prefix: undefined, ...(isEmpty && { limit: 0 }) };
}

function entryOf([key, value]: readonly [Bytes, Bytes], { name }: Table | SyncTable): DatabaseEntry {
  const internalKey = decodeInternalKey(key);
  if (internalKey !== undefined) {
    const { userKey, sequence, type } = internalKey;
    return { kind: kindOfType(type), key: userKey, sequence, value };
  }
  const problem = `a key of ${numberOf(key.length, 'byte')} is too short for an internal key: the table may have plain keys`;
  throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0, file: name }, problem);
}
