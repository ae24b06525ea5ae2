/**
 * What undoes the changes of transactions that have not been committed.
 *
 * A large transaction, or one that reads what it has written, stores its changes in the folder before it is committed. With each change it
 * stores an operation that undoes the change. Chromium runs these operations when a transaction is aborted and, for those that were
 * interrupted, when it opens the folder.
 *
 *     0, 0, 0, 50, 0                                       version of these entries, 1
 *     0, 0, 0, 50, 1, transaction (varint)                 what the transaction has locked: nothing once it is committed or undone
 *     0, 0, 0, 50, 2, transaction (varint), 0, number      an operation; the number is a u64, big-endian, and later changes have lower ones
 *
 * Values are Protocol Buffers:
 *
 * | value | fields |
 * | --- | --- |
 * | version | 1: number |
 * | transaction | 1: a lock, repeated |
 * | operation | one of 1: put (1: key, 2: value), 2: delete (1: key), 3: delete a range (1: first key, 2: key after the last one) |
 *
 * Source: Chromium, content/browser/indexed_db/instance/leveldb/scopes: README.md, scopes_metadata.proto, `RevertScopeTask::Run`.
 */
import type { DatabaseKeyRange } from '@bloom/leveldb';
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';
import { encodePrefix } from './key-prefix.js';

/** The type of these entries among those about all databases. */
const TRANSACTIONS = 50;
const VERSION = 0;
const LOCKS = 1;
const OPERATIONS = 2;
const UNDO = 0;
/** The only version of these entries as of November 2026. */
const KNOWN_VERSION = 1;

const ALL = { database: 0, store: 0, index: 0 };
const VARINT = 0;
const BYTES = 2;

/** A `DatabaseReader` or a `SyncDatabaseReader` of a folder of IndexedDB. */
export interface StoredEntries {
  get(key: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  entries(range: DatabaseKeyRange): Iterable<readonly [Uint8Array, Uint8Array]> | AsyncIterable<readonly [Uint8Array, Uint8Array]>;
}

/** An entry as it was before the transaction. */
export interface Undone {
  readonly key: Uint8Array;
  /** Undefined if there was none. */
  readonly value: Uint8Array | undefined;
}

/** A range that had no entries before the transaction. */
export interface UndoneRange {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

/** How to undo the transactions that have not been committed. */
export interface UndoLog {
  /** Of several about a key, the last one counts. */
  readonly undone: readonly Undone[];
  readonly ranges: readonly UndoneRange[];
  /** Why changes cannot be undone. */
  readonly errors: readonly WebStorageError[];
}

/**
 * Reads how to undo the transactions that have not been committed.
 *
 * @throws CorruptionError where the folder is damaged.
 */
export async function readUndoLog(reader: StoredEntries): Promise<UndoLog> {
  const log = { undone: [] as Undone[], ranges: [] as UndoneRange[], errors: [] as WebStorageError[] };
  const uncommitted = await uncommittedTransactions(reader, log.errors);
  if (uncommitted.length === 0) return log;
  const version = await reader.get(keyOf(VERSION));
  if (!isKnown(version)) {
    log.errors.push(new WebStorageError('BLOOM_BAD_METADATA', 'metadata', 0, 'operations that undo uncommitted transactions have an unknown version: their changes are shown'));
    return log;
  }
  for (const transaction of uncommitted) {
    const range = { gte: keyOf(OPERATIONS, ...transaction, UNDO), lt: keyOf(OPERATIONS, ...transaction, UNDO + 1) };
    for await (const [, value] of reader.entries(range)) {
      try {
        const operation = operationIn(value);
        if ('key' in operation) log.undone.push(operation);
        else log.ranges.push(operation);
      } catch (error) {
        log.errors.push(unreadable(error));
      }
    }
  }
  return log;
}

/** The numbers of the transactions, as varints. */
async function uncommittedTransactions(reader: StoredEntries, errors: WebStorageError[]): Promise<Uint8Array[]> {
  const transactions: Uint8Array[] = [];
  for await (const [key, value] of reader.entries({ gte: keyOf(LOCKS), lt: keyOf(LOCKS + 1) })) {
    try {
      if (fieldsOf(value).has(1)) transactions.push(key.subarray(keyOf(LOCKS).length));
    } catch (error) {
      errors.push(unreadable(error));
    }
  }
  return transactions;
}

function keyOf(...rest: readonly number[]): Uint8Array {
  return encodePrefix(ALL, [TRANSACTIONS, ...rest]);
}

function isKnown(bytes: Uint8Array | undefined): boolean {
  try {
    return bytes === undefined || fieldsOf(bytes).get(1) === KNOWN_VERSION;
  } catch {
    return false;
  }
}

/** The error to report for damage of a single entry. @throws any other error unchanged. */
function unreadable(error: unknown): WebStorageError {
  if (!(error instanceof WebStorageError)) throw error;
  return new WebStorageError(error.code, error.structure, error.offset, `of an uncommitted transaction, whose changes may be shown: ${error.problem}`, { cause: error });
}

/** @throws WebStorageError BLOOM_BAD_METADATA. */
function operationIn(bytes: Uint8Array): Undone | UndoneRange {
  const operation = fieldsOf(bytes);
  const [kind] = operation.keys();
  const fields = fieldsOf(bytesOf(operation.get(kind ?? 0)));
  const first = bytesOf(fields.get(1));
  const second = bytesOf(fields.get(2));
  switch (kind) {
    case 1:
      return { key: first, value: second };
    case 2:
      return { key: first, value: undefined };
    case 3:
      return { gte: first, lt: second };
    default:
      throw new ByteReader(bytes, 'metadata').bad('an operation of an unknown kind');
  }
}

/** The fields of a message by their numbers: of a repeated field, the last one. @throws WebStorageError BLOOM_BAD_METADATA. */
function fieldsOf(bytes: Uint8Array): Map<number, number | Uint8Array> {
  const reader = new ByteReader(bytes, 'metadata');
  const fields = new Map<number, number | Uint8Array>();
  while (!reader.isAtEnd) {
    const tag = reader.varint32();
    const type = tag & 7;
    if (type !== VARINT && type !== BYTES) throw reader.bad(`a field of the unknown type ${type}`);
    fields.set(tag >>> 3, type === VARINT ? reader.varint64() : reader.take(reader.varint32()));
  }
  return fields;
}

/** Empty bytes are not stored. */
function bytesOf(field: number | Uint8Array | undefined): Uint8Array {
  return field instanceof Uint8Array ? field : new Uint8Array(0);
}
