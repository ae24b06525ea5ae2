import { sameBytes } from '@bloom/bytes/internal';
import { type AsyncReaderOptions, type DatabaseKeyRange, DatabaseReader, type Folder } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { ByteReader } from '../value/byte-reader.js';
import { HostObject, StoredBlob } from '../value/host-object.js';
import { PropertyNames } from '../value/property-names.js';
import { WebStorageError } from '../web-storage-error.js';
import { CommittedEntries } from './committed-entries.js';
import { type BlobFolder, blobReader } from './external-objects.js';
import { encodePrefix, EXTERNAL_OBJECTS, FIRST_INDEX, type KeyPrefix, readPrefix, RECORDS } from './key-prefix.js';
import { encodeKey, GREATEST_KEY, type IndexedDbKey, LEAST_KEY, readKey } from './key.js';
import { type DatabaseInformation, DATABASE_NAME, DatabaseMetadata, decodeDatabaseName, type IndexDescription, type KeyPath, SCHEMA_KEY, schemaVersion, type StoreDescription } from './metadata.js';
import { decodeRecord, deletedRecord, readRecordKey, readRecordVersion, recordAt, type StoredRecord, unreadable } from './record.js';

/** How to read a folder of IndexedDB. Every option has a default. */
export interface IndexedDbOptions extends Omit<AsyncReaderOptions, 'comparators' | 'filterPolicies' | 'insistOnBytewise'> {
  /** The source of blobs, files and large values. Without it, reading them fails with `BLOOM_MISSING_BLOB`. */
  readonly blobs?: BlobFolder | undefined;
  /** The most bytes that a compressed value may have when it is decompressed. A value may have one object for every 16 of these bytes. Default: 128 MiB. */
  readonly maxValueBytes?: number | undefined;
}

/** Which records of a store to read, in IndexedDB's order of their keys. */
export interface RecordRange {
  readonly gt?: IndexedDbKey | undefined;
  readonly gte?: IndexedDbKey | undefined;
  readonly lt?: IndexedDbKey | undefined;
  readonly lte?: IndexedDbKey | undefined;
  /** From the last record to the first. */
  readonly reverse?: boolean | undefined;
  /** The most records to read. */
  readonly limit?: number | undefined;
}

/** A record with its place. */
export interface PlacedRecord extends StoredRecord {
  /** Undefined if the database was deleted. */
  readonly database: DatabaseInformation | undefined;
  /** Undefined if the store was deleted. */
  readonly store: StoreDescription | undefined;
  /** The ids of database and store. */
  readonly place: { readonly database: number; readonly store: number };
}

/**
 * Reads a folder of Chromium's IndexedDB, `….indexeddb.leveldb`, and changes nothing in it. Like a page, it does not show the changes of
 * transactions that have not been committed.
 *
 * @example
 * ```ts
 * const reader = await IndexedDbReader.open(new NodeFolder('https_example.com_0.indexeddb.leveldb'));
 * for (const database of await reader.databases()) {
 *   for (const store of database.stores) {
 *     for await (const { key, value } of reader.records(database, store)) console.log(database.name, store.name, key, value);
 *   }
 * }
 * await reader.close();
 * ```
 */
export class IndexedDbReader {
  readonly #reader: DatabaseReader;
  readonly #options: IndexedDbOptions;
  readonly #names = new PropertyNames();
  #committed: Promise<CommittedEntries> | undefined;
  /** By the numbers of the database and the store. */
  readonly #contexts = new Map<string, Promise<StoreContext>>();
  /** For {@link decodeEntry}, whose entries may belong to any store. */
  #databases: Promise<DatabaseInformation[]> | undefined;
  readonly #stores = new Map<string, Promise<FoundStore>>();
  #schema: number | undefined;

  private constructor(reader: DatabaseReader, options: IndexedDbOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /**
   * Opens a folder. It can be in use by a browser.
   *
   * @throws WebStorageError `BLOOM_BAD_KEY` when its keys are in another order than those of IndexedDB; what `DatabaseReader.open` throws.
   */
  static async open(folder: Folder, options: IndexedDbOptions = {}): Promise<IndexedDbReader> {
    const { blobs: _blobs, maxValueBytes: _maxValueBytes, ...readerOptions } = options;
    try {
      const reader = await DatabaseReader.open(folder, { ...readerOptions, comparators: [idbComparator], filterPolicies: [idbFilterPolicy] });
      return new IndexedDbReader(reader, options);
    } catch (error) {
      // The policy does not go with the order of the folder, or an option is wrong.
      if (!(error instanceof RangeError)) throw error;
      const other = await DatabaseReader.open(folder, readerOptions);
      const { comparator } = other.describe();
      await other.close();
      throw new WebStorageError('BLOOM_BAD_KEY', 'key', 0, `is sorted by the comparator ${comparator}, not by IndexedDB's: the folder holds another kind of database`, { cause: error });
    }
  }

  /** Ends all iterations, and closes the files of the folder. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The entries of the folder, without the changes of uncommitted transactions. */
  #entries(): Promise<CommittedEntries> {
    if (this.#committed !== undefined) return this.#committed;
    const committed = CommittedEntries.of(this.#reader);
    this.#committed = committed;
    // After a failure, the next call asks the folder again.
    committed.catch(() => {
      this.#committed = undefined;
    });
    return committed;
  }

  /**
   * The databases of the folder with their object stores, ordered by origin and name. What cannot be read of a description is among the
   * `errors` of its database.
   *
   * @throws CorruptionError where the folder is damaged.
   */
  async databases(): Promise<DatabaseInformation[]> {
    const all = { database: 0, store: 0, index: 0 };
    const databases: DatabaseInformation[] = [];
    const committed = await this.#entries();
    const range = { gte: encodePrefix(all, [DATABASE_NAME]), lt: encodePrefix(all, [DATABASE_NAME + 1]) };
    for await (const [key, value] of committed.entries(range)) {
      const { id, origin, name, errors } = decodeDatabaseName(key, value);
      const { version, stores, errors: more } = await this.#metadata(id, committed);
      // The upgrade that would have made it was aborted, and pages do not see it.
      if (version === 0 && stores.length === 0 && errors.length + more.length === 0) continue;
      databases.push({ id, origin, name, version, stores, errors: [...errors, ...more, ...committed.errors] });
    }
    return databases;
  }

  async #metadata(database: number, committed: CommittedEntries): Promise<DatabaseMetadata> {
    const metadata = new DatabaseMetadata(database);
    const prefix = { database, store: 0, index: 0 };
    const range = { gte: encodePrefix(prefix), lt: encodePrefix({ ...prefix, store: 1 }) };
    for await (const [key, value] of committed.entries(range)) metadata.add(key, value);
    return metadata;
  }

  /**
   * The records of a store, in the order of their keys or of those of an index.
   *
   * A key or a value that cannot be read is an `error` of its record, and the iteration continues. Records with damaged keys keep
   * their place in the order of the folder, and are left out if they are not within the bounds of the range.
   *
   * @throws TypeError, at once, for a range with an invalid key.
   * @throws CorruptionError where the folder is damaged.
   */
  records(
    database: Pick<DatabaseInformation, 'id'>,
    store: Pick<StoreDescription, 'id' | 'keyPath' | 'autoIncrement'>,
    range: RecordRange & { readonly index?: Pick<IndexDescription, 'id'> | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, undefined> {
    const { index, limit = Number.POSITIVE_INFINITY } = range;
    // Encoded before anything is awaited: the caller may change the keys afterwards.
    const encoded = rangeOf({ database: database.id, store: store.id, index: index?.id ?? RECORDS }, range);
    return this.#recordsIn(encoded, database.id, store, index !== undefined, limit);
  }

  async *#recordsIn(
    range: DatabaseKeyRange,
    database: number,
    store: Pick<StoreDescription, 'id' | 'keyPath' | 'autoIncrement'>,
    isIndexed: boolean,
    limit: number,
  ): AsyncGenerator<StoredRecord, void, undefined> {
    const committed = await this.#entries();
    const context = await this.#committedContext(database, store.id, committed);
    let left = limit;
    if (left <= 0) return;
    for await (const [entryKey, entryValue] of committed.entries(range)) {
      const record = isIndexed ? await this.#indexed(entryKey, entryValue, store, context) : await this.#record(entryKey, entryValue, store, context);
      if (record === undefined) continue;
      yield record;
      if (--left <= 0) return;
    }
  }

  /**
   * Decodes an entry of the folder that is a record, for example one that `DatabaseReader` or `storedEntries` returned. Those may be of a
   * transaction that has not been committed.
   *
   * An overwritten version has the blobs that were stored with it, as far as the database still has their entry. Reading a blob of a version that
   * only a table outside the database has fails with `BLOOM_MISSING_BLOB`: {@link storedRecords} finds its entry.
   *
   * @param bytes the value of the entry; undefined for a deletion.
   * @returns undefined for an entry of another kind, such as one of an index.
   */
  async decodeEntry(entryKey: Uint8Array, bytes: Uint8Array | undefined): Promise<PlacedRecord | undefined> {
    const place = recordAt(entryKey, RECORDS)?.place;
    if (place === undefined) return undefined;
    // The caller may change them while something is read.
    const ownKey = new Uint8Array(entryKey);
    const ownBytes = bytes && new Uint8Array(bytes);
    const name = `${place.database} ${place.store}`;
    let found = this.#stores.get(name);
    if (found === undefined) {
      found = this.#storeAt(place);
      this.#stores.set(name, found);
      // After a failure, the next entry asks the folder again.
      found.catch(() => {
        this.#stores.delete(name);
        this.#databases = undefined;
      });
    }
    const { context, stored, database, store } = await found;
    if (ownBytes === undefined) return { ...deletedRecord(ownKey), database, store, place };
    const isCommitted = context !== stored && isSame(await context.entries.get(ownKey), ownBytes);
    const record = await this.#record(ownKey, ownBytes, store ?? NO_KEY, isCommitted ? context : stored, isCommitted ? undefined : await this.#externalObjectsOf(ownKey, ownBytes, stored));
    return { ...record, database, store, place };
  }

  async #storeAt(place: Pick<KeyPrefix, 'database' | 'store'>): Promise<FoundStore> {
    const database = (await (this.#databases ??= this.databases())).find(({ id }) => id === place.database);
    const committed = await this.#entries();
    const context = await this.#committedContext(place.database, place.store, committed);
    const stored = committed.areAll ? context : await this.#contextOf(place.database, place.store, this.#reader);
    return { context, stored, database, store: database?.stores.find(({ id }) => id === place.store) };
  }

  /** The value of a record. @returns undefined when there is none with this key. @throws WebStorageError if it cannot be read. */
  async get(database: Pick<DatabaseInformation, 'id'>, store: Pick<StoreDescription, 'id' | 'keyPath' | 'autoIncrement'>, key: IndexedDbKey): Promise<unknown> {
    const entryKey = encodePrefix({ database: database.id, store: store.id, index: RECORDS }, encodeKey(key));
    const committed = await this.#entries();
    const bytes = await committed.get(entryKey);
    if (bytes === undefined) return undefined;
    const record = await this.#record(entryKey, bytes, store, await this.#committedContext(database.id, store.id, committed));
    if (record.error !== undefined) throw record.error;
    return record.value;
  }

  /** {@link #contextOf} a store among the committed entries, found once, because finding it may have to skip many uncommitted entries. */
  #committedContext(database: number, store: number, committed: CommittedEntries): Promise<StoreContext> {
    const name = `${database} ${store}`;
    const known = this.#contexts.get(name);
    if (known !== undefined) return known;
    const context = this.#contextOf(database, store, committed);
    this.#contexts.set(name, context);
    // After a failure, the next call asks the folder again.
    context.catch(() => this.#contexts.delete(name));
    return context;
  }

  /** The data that is needed to decode the values of a store, apart from their bytes. @param entries among which the values are. */
  async #contextOf(database: number, store: number, entries: EntrySource): Promise<StoreContext> {
    const { blobs } = this.#options;
    const place = { database, store, index: EXTERNAL_OBJECTS };
    let hasExternalObjects = false;
    for await (const _ of entries.entries(rangeOf(place, {}))) {
      hasExternalObjects = true;
      break;
    }
    const schema = hasExternalObjects ? await this.#schemaVersion() : 0;
    return { entries, place, hasExternalObjects, schema, readBlob: blobReader(blobs, database) };
  }

  async #schemaVersion(): Promise<number> {
    return (this.#schema ??= schemaVersion(await this.#reader.get(SCHEMA_KEY)));
  }

  /** @param given the entry about its blobs, or that it has none; undefined for the current one. */
  async #record(entryKey: Uint8Array, bytes: Uint8Array, store: Pick<StoreDescription, 'keyPath' | 'autoIncrement'>, context: StoreContext, given?: StoredExternalObjects): Promise<StoredRecord> {
    const { entries, place, hasExternalObjects, readBlob } = context;
    const { encodedKey } = readRecordKey(entryKey);
    const current = hasExternalObjects && given === undefined ? await entries.get(encodePrefix(place, encodedKey)) : undefined;
    const { bytes: externalObjects, schema } = given ?? { bytes: current, schema: context.schema };
    const record = await decodeRecord(entryKey, bytes, { externalObjects, schema, readBlob, names: this.#names, maxValueBytes: this.#options.maxValueBytes });
    if (record.key !== undefined && store.autoIncrement && typeof store.keyPath === 'string') injectKey(record.value, store.keyPath, record.key);
    return record;
  }

  /** The entry about the blobs of a version of a record that is not the current one; undefined for the current one. */
  async #externalObjectsOf(entryKey: Uint8Array, bytes: Uint8Array, { place, hasExternalObjects, schema }: StoreContext): Promise<StoredExternalObjects | undefined> {
    if (!hasExternalObjects) return undefined;
    if (isSame(await this.#reader.get(entryKey), bytes)) return undefined;
    const versions = await this.#reader.versions(entryKey);
    const at = versions.findIndex(({ kind, value }) => kind === 'value' && sameBytes(value, bytes));
    if (at < 1) return { bytes: undefined, schema };
    // The blobs of a record are written after it, and before its next version.
    const [from, to] = [versions[at]!.sequence, versions[at - 1]!.sequence];
    const { encodedKey } = readRecordKey(entryKey);
    const external = (await this.#reader.versions(encodePrefix(place, encodedKey))).find(({ kind, sequence }) => kind === 'value' && sequence > from && sequence < to);
    if (external === undefined) return { bytes: undefined, schema };
    const schemas = (await this.#reader.versions(SCHEMA_KEY)).filter(({ kind }) => kind === 'value');
    // An entry from before the oldest one that is left was rewritten with it.
    return { bytes: external.value, schema: schemaVersion((schemas.find(({ sequence }) => sequence < external.sequence) ?? schemas.at(-1))?.value) };
  }

  /** The record to which an entry of an index leads; undefined if the entry is stale. */
  async #indexed(entryKey: Uint8Array, entryValue: Uint8Array, store: Pick<StoreDescription, 'keyPath' | 'autoIncrement'>, context: StoreContext): Promise<StoredRecord | undefined> {
    let key: IndexedDbKey | undefined;
    let primaryKey: IndexedDbKey | undefined;
    try {
      const reader = new ByteReader(entryKey, 'key');
      readPrefix(reader);
      key = readKey(reader);
      primaryKey = primaryKeyOf(reader) ?? key;
      const { version, start } = readRecordVersion(entryValue);
      const recordKey = encodePrefix({ ...context.place, index: RECORDS }, entryValue.subarray(start));
      const bytes = await context.entries.get(recordKey);
      if (bytes === undefined || readRecordVersion(bytes).version !== version) return undefined;
      return { ...(await this.#record(recordKey, bytes, store, context)), key };
    } catch (error) {
      return unreadable(key, primaryKey, error);
    }
  }
}

function isSame(stored: Uint8Array | undefined, bytes: Uint8Array): boolean {
  return stored !== undefined && sameBytes(stored, bytes);
}

/** The primary key at the end of the key of an entry, after the obsolete sequence; undefined if there is none. */
function primaryKeyOf(reader: ByteReader): IndexedDbKey | undefined {
  if (reader.isAtEnd) return undefined;
  reader.varint64();
  if (reader.remaining === 0) return undefined;
  const key = readKey(reader);
  reader.mustBeAtEnd();
  return key;
}

/** The entry about the blobs of a record. */
interface StoredExternalObjects {
  /** Undefined if there is none. */
  readonly bytes: Uint8Array | undefined;
  /** The version of the folder's schema when it was written. */
  readonly schema: number;
}

/** All entries of the folder, or those that are committed. */
type EntrySource = Pick<CommittedEntries, 'get' | 'entries'>;

interface StoreContext {
  readonly entries: EntrySource;
  readonly place: { readonly database: number; readonly store: number; readonly index: number };
  readonly hasExternalObjects: boolean;
  readonly schema: number;
  readonly readBlob: ((blobNumber: number) => Promise<Uint8Array>) | undefined;
}

/** Of a store whose description is gone. */
const NO_KEY = { keyPath: undefined, autoIncrement: false };

/** The description of a store, by its id. */
interface FoundStore extends Pick<PlacedRecord, 'database' | 'store'> {
  /** Of the committed entries. */
  readonly context: StoreContext;
  /** Of all entries; the same where all are committed. */
  readonly stored: StoreContext;
}

/** The range of the folder that contains a range of an index, or of the records themselves. */
function rangeOf(place: { readonly database: number; readonly store: number; readonly index: number }, { gt, gte, lt, lte, reverse = false }: RecordRange) {
  const isIndex = place.index >= FIRST_INDEX;
  // The key of an index is followed by the sequence 0 and the primary key.
  const start = (key: Uint8Array): Uint8Array => encodePrefix(place, key, ...(isIndex ? [[0], LEAST_KEY] : []));
  const end = (key: Uint8Array): Uint8Array => encodePrefix(place, key, ...(isIndex ? [[0], GREATEST_KEY] : []));
  // Damaged keys sort before the least key or after the greatest. A range without an end has them.
  const first = gte === undefined ? encodePrefix(place) : start(encodeKey(gte));
  return {
    gte: first,
    ...(gt !== undefined && { gt: end(encodeKey(gt)) }),
    lt: lt === undefined ? encodePrefix({ ...place, index: place.index + 1 }) : start(encodeKey(lt)),
    ...(lte !== undefined && { lte: end(encodeKey(lte)) }),
    reverse,
  };
}

/** Sets the generated key, as a page sees it: it is not stored within the value. A value on which it cannot be set stays as it is. */
function injectKey(value: unknown, keyPath: Exclude<KeyPath, readonly string[] | undefined>, key: IndexedDbKey): void {
  const names = keyPath.split('.');
  let object = value;
  for (const [i, name] of names.entries()) {
    // Objects of the browser have other types here than in the page.
    if (typeof object !== 'object' || object === null || object instanceof HostObject || object instanceof StoredBlob || ArrayBuffer.isView(object)) return;
    const isLast = i === names.length - 1;
    const own = Object.getOwnPropertyDescriptor(object, name);
    if (own?.configurable === false) {
      if (isLast) return;
    } else if (isLast || own === undefined) Object.defineProperty(object, name, { value: isLast ? key : {}, writable: true, enumerable: true, configurable: true });
    object = (object as Record<string, unknown>)[name];
  }
}
