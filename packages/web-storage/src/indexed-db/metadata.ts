/**
 * The descriptions of databases, object stores and indexes in a folder of IndexedDB.
 *
 *     0, 0, 0, 0                                     version of the schema
 *     0, 0, 0, 201, origin, name                     database id
 *     database, 0, 0, type                           1 name · 4 version (varint)
 *     database, 0, 0, 50, store (varint), type       0 name · 1 key path · 2 auto-increment · 7 current number of the key generator
 *     database, 0, 0, 100, store, index, type        0 name · 1 unique · 2 key path · 3 multi-entry
 *
 * Names are UTF-16BE; flags are a byte; ids and numbers are little-endian.
 *
 * Source: Chromium, content/browser/indexed_db/docs/leveldb_coding_scheme.md.
 */
import { numberOf } from '@bloom/bytes/internal';
import { ByteReader } from '../value/byte-reader.js';
import { encodePrefix, littleEndian, readPrefix } from './key-prefix.js';
import { readText } from './key.js';
import { indexedDbKey } from './key-in-words.js';
import { WebStorageError } from '../web-storage-error.js';

/** The property or properties of values that are their keys; undefined if keys are not part of the values. */
export type KeyPath = string | readonly string[] | undefined;

/** An index of an object store. */
export interface IndexDescription {
  readonly id: number;
  /** Undefined where it cannot be read. */
  readonly name: string | undefined;
  readonly keyPath: KeyPath;
  readonly unique: boolean;
  /** Whether an array makes an entry for each of its elements. */
  readonly multiEntry: boolean;
}

/** An object store of a database. */
export interface StoreDescription {
  readonly id: number;
  /** Undefined where it cannot be read. */
  readonly name: string | undefined;
  readonly keyPath: KeyPath;
  readonly autoIncrement: boolean;
  /** The next key of the key generator; undefined if the store has none. */
  readonly nextKey: number | undefined;
  readonly indexes: readonly IndexDescription[];
}

/** A database of an origin. */
export interface DatabaseInformation {
  readonly id: number;
  /** For example `https_example.com_0@1`: scheme, host, port, and Chromium's suffix. Undefined if it cannot be read. */
  readonly origin: string | undefined;
  /** Undefined where it cannot be read. */
  readonly name: string | undefined;
  /** 0 where it cannot be read. */
  readonly version: number;
  readonly stores: readonly StoreDescription[];
  /** Why parts of the description cannot be read. Those parts are undefined, false or 0. */
  readonly errors: readonly WebStorageError[];
}

/** The key of the version of the folder's schema. */
export const SCHEMA_KEY = encodePrefix({ database: 0, store: 0, index: 0 }, [0]);
/** What a folder has that does not say: the latest. */
const LATEST_SCHEMA = 5;

/** The version of a folder's schema. @param value of the entry with {@link SCHEMA_KEY}; undefined if there is none. */
export function schemaVersion(value: Uint8Array | undefined): number {
  return value === undefined ? LATEST_SCHEMA : littleEndian(value);
}

export const DATABASE_NAME = 201;
const VERSION = 4;
const STORE = 50;
const INDEX = 100;

/** The database that an entry of the list of databases is about. */
export function decodeDatabaseName(key: Uint8Array, value: Uint8Array): Pick<DatabaseInformation, 'id' | 'origin' | 'name' | 'errors'> {
  const id = littleEndian(value);
  let origin: string | undefined;
  try {
    const reader = new ByteReader(key, 'key');
    readPrefix(reader);
    // The type: DATABASE_NAME.
    reader.byte();
    origin = readText(reader);
    const name = readText(reader);
    reader.mustBeAtEnd();
    return { id, origin, name, errors: [] };
  } catch (error) {
    return { id, origin, name: undefined, errors: [errorAbout(`the name of database ${id}`, error)] };
  }
}

/** An error with what it is about. Throws what is none of the metadata. */
function errorAbout(subject: string, error: unknown): WebStorageError {
  if (!(error instanceof WebStorageError)) throw error;
  return new WebStorageError(error.code, error.structure, error.offset, `${subject}: ${error.problem}`, { cause: error });
}

type Fields<T> = { -readonly [K in keyof T]?: T[K] | undefined };

/** Receives the entries about one database, one after another. */
export class DatabaseMetadata {
  /** Why entries cannot be read. */
  readonly errors: WebStorageError[] = [];
  readonly #database: number;
  version = 0;
  readonly #stores = new Map<number, Fields<StoreDescription>>();
  readonly #indexes = new Map<number, Map<number, Fields<IndexDescription>>>();

  /** @param database its id, for errors. */
  constructor(database: number) {
    this.#database = database;
  }

  /** An entry that cannot be read becomes one of the `errors`. */
  add(key: Uint8Array, value: Uint8Array): void {
    try {
      this.#add(key, value);
    } catch (error) {
      this.errors.push(errorAbout(indexedDbKey(key) ?? `an entry of database ${this.#database}`, error));
    }
  }

  #add(key: Uint8Array, value: Uint8Array): void {
    const reader = new ByteReader(key, 'key');
    readPrefix(reader);
    const type = reader.byte();
    const contents = new ByteReader(value, 'metadata');
    if (type === VERSION) this.version = contents.varint64();
    else if (type === STORE) this.#addToStore(reader.varint64(), reader.byte(), contents);
    else if (type === INDEX) this.#addToIndex(reader.varint64(), reader.varint64(), reader.byte(), contents);
  }

  #addToStore(id: number, type: number, contents: ByteReader): void {
    const store = this.#stores.get(id) ?? {};
    this.#stores.set(id, store);
    if (type === 0) store.name = contents.utf16(contents.remaining, false);
    else if (type === 1) store.keyPath = readKeyPath(contents);
    else if (type === 2) store.autoIncrement = contents.byte() !== 0;
    else if (type === 7) store.nextKey = littleEndian(contents.bytes);
  }

  #addToIndex(storeId: number, id: number, type: number, contents: ByteReader): void {
    const indexes = this.#indexes.get(storeId) ?? new Map<number, Fields<IndexDescription>>();
    this.#indexes.set(storeId, indexes);
    const index = indexes.get(id) ?? {};
    indexes.set(id, index);
    if (type === 0) index.name = contents.utf16(contents.remaining, false);
    else if (type === 1) index.unique = contents.byte() !== 0;
    else if (type === 2) index.keyPath = readKeyPath(contents);
    else if (type === 3) index.multiEntry = contents.byte() !== 0;
  }

  get stores(): readonly StoreDescription[] {
    return [...this.#stores].map(([id, { name, keyPath, autoIncrement = false, nextKey }]) => ({
      id,
      name,
      keyPath,
      autoIncrement,
      // Chromium stores a 1 for a store without a key generator.
      nextKey: autoIncrement ? nextKey : undefined,
      indexes: [...(this.#indexes.get(id) ?? [])].map(([indexId, index]) => ({
        id: indexId,
        name: index.name,
        keyPath: index.keyPath,
        unique: index.unique ?? false,
        multiEntry: index.multiEntry ?? false,
      })),
    }));
  }
}

/** `00 00`, then 0 none, 1 a text or 2 a count and texts. Before there were several, the name alone, in UTF-16BE. */
function readKeyPath(reader: ByteReader): KeyPath {
  const { bytes } = reader;
  if (bytes.length < 3 || bytes[0] !== 0 || bytes[1] !== 0) return reader.utf16(reader.remaining, false);
  reader.take(2);
  const type = reader.byte();
  if (type === 0) return undefined;
  if (type === 1) return readText(reader);
  if (type !== 2) throw reader.bad(`unknown type of key path ${type}`, 2);
  const count = reader.varint64();
  if (count > reader.remaining) throw reader.bad(`${numberOf(count, 'key path')} would not fit in ${numberOf(reader.remaining, 'byte')}`);
  return Array.from({ length: count }, () => readText(reader));
}
