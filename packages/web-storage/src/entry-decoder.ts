import { copiedOptions } from '@bloom/bytes/internal';
import type { DatabaseKeyRange, DatabaseReader, Folder, SyncDatabaseReader } from '@bloom/leveldb';
import { CommittedEntries } from './indexed-db/committed-entries.js';
import { type IndexedDbOptions, IndexedDbReader } from './indexed-db/indexed-db-reader.js';
import { recognizeStorage, type StorageKind } from './recognized-storage.js';
import { decodeStoredItem } from './storage/local-storage-reader.js';
import { decodeSessionItem, SessionStorageReader } from './storage/session-storage-reader.js';
import type { WebStorageError } from './web-storage-error.js';

/** An entry of a folder, as a page stored it. */
export interface DecodedEntry {
  /**
   * Where it is, by the names of the storage: `database` and `store`; `origin`; or `origin` and `map`. Databases, stores and origins that
   * were deleted, or whose names cannot be read, are numbers. Empty where an item does not say where it belongs.
   */
  readonly place: Readonly<Record<string, string | number>>;
  readonly key: unknown;
  /** Undefined for a deletion, and if there is an `error`. */
  readonly value: unknown;
  /** False if the value has an object that this reader does not know, after which nothing could be read, and if there is an `error`. */
  readonly isComplete: boolean;
  /** Why the key or the value cannot be read. */
  readonly error: WebStorageError | undefined;
}

/**
 * Decodes single entries of a folder that a browser wrote, from any of its storages: for programs that walk through the folder's entries
 * themselves, for example through all their versions. {@link committed} leaves out what pages do not see.
 *
 * @example
 * ```ts
 * const decoder = await EntryDecoder.open(folder);
 * if (decoder !== undefined) {
 *   for await (const [key, value] of decoder.committed(reader)) console.log(await decoder.decode(key, value));
 * }
 * ```
 */
export class EntryDecoder {
  readonly kind: StorageKind;
  readonly #decode: (key: Uint8Array, value: Uint8Array | undefined) => DecodedEntry | undefined | Promise<DecodedEntry | undefined>;
  readonly #close: () => Promise<void>;

  private constructor(kind: StorageKind, decode: (key: Uint8Array, value: Uint8Array | undefined) => DecodedEntry | undefined | Promise<DecodedEntry | undefined>, close: () => Promise<void>) {
    this.kind = kind;
    this.#decode = decode;
    this.#close = close;
  }

  /** Recognizes the storage in a folder; undefined for another database. @throws what `DatabaseReader.open` throws. */
  static async open(folder: Folder, options: IndexedDbOptions = {}): Promise<EntryDecoder | undefined> {
    const { blobs: _blobs, maxValueBytes: _maxValueBytes, ...readerOptions } = options;
    const kind = await recognizeStorage(folder, readerOptions);
    switch (kind) {
      case undefined:
        return undefined;
      case 'local-storage':
        return new EntryDecoder(kind, decodeLocal, nothingToClose);
      case 'session-storage': {
        const reader = await SessionStorageReader.open(folder, readerOptions);
        try {
          const origins = new Map((await reader.namespaces()).map(({ map, storageKey }) => [map, storageKey]));
          const hasCounts = await reader.hasCounts();
          return new EntryDecoder(kind, (key, value) => decodeSession(key, value, origins, hasCounts), nothingToClose);
        } finally {
          await reader.close();
        }
      }
      case 'indexeddb': {
        const reader = await IndexedDbReader.open(folder, options);
        return new EntryDecoder(kind, (key, value) => decodeRecord(reader, key, value), () => reader.close());
      }
    }
  }

  /**
   * Decodes an entry.
   *
   * @param value undefined for a deletion.
   * @returns undefined for an entry that is not a record or item, such as metadata or an entry of an index.
   */
  async decode(key: Uint8Array, value: Uint8Array | undefined): Promise<DecodedEntry | undefined> {
    return this.#decode(key, value);
  }

  /**
   * The entries of the folder as pages see them. In IndexedDB, these are the entries without the changes of transactions that have not been
   * committed, and with what those have overwritten or deleted.
   *
   * @param reader of the folder, which with IndexedDB was opened with `idbComparator`.
   * @throws CorruptionError where the folder is damaged, TypeError for another option.
   */
  async *committed(reader: DatabaseReader | SyncDatabaseReader, options: Pick<DatabaseKeyRange, 'reverse'> = {}): AsyncGenerator<readonly [Uint8Array, Uint8Array], void, undefined> {
    const { reverse } = copiedOptions('EntryDecoder.committed', options, { reverse: true });
    yield* this.kind === 'indexeddb' ? (await CommittedEntries.of(reader)).entries({ reverse }) : reader.entries({ reverse });
  }

  /** Closes the files of the folder. */
  async close(): Promise<void> {
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Only IndexedDB needs the folder for its entries. */
const nothingToClose = (): Promise<void> => Promise.resolve();

function decodeLocal(entryKey: Uint8Array, entryValue: Uint8Array | undefined): DecodedEntry | undefined {
  const item = decodeStoredItem(entryKey, entryValue);
  return item && { place: { ...(item.storageKey !== undefined && { origin: item.storageKey }) }, key: item.key, value: item.value, isComplete: item.error === undefined, error: item.error };
}

function decodeSession(entryKey: Uint8Array, entryValue: Uint8Array | undefined, origins: ReadonlyMap<string, string>, hasCounts: boolean): DecodedEntry | undefined {
  const item = decodeSessionItem(entryKey, entryValue, hasCounts);
  if (item === undefined) return undefined;
  return { place: sessionPlace(item.map, origins), key: item.key, value: item.value, isComplete: item.error === undefined, error: item.error };
}

/** Of an item in a map: nothing where the number of the map cannot be read. */
export function sessionPlace(map: string | undefined, origins: ReadonlyMap<string, string>): DecodedEntry['place'] {
  if (map === undefined) return {};
  const origin = origins.get(map);
  return { ...(origin !== undefined && { origin }), map: Number(map) };
}

async function decodeRecord(reader: IndexedDbReader, entryKey: Uint8Array, entryValue: Uint8Array | undefined): Promise<DecodedEntry | undefined> {
  const record = await reader.decodeEntry(entryKey, entryValue);
  if (record === undefined) return undefined;
  const { database, store, place, primaryKey, value, isComplete, error } = record;
  return { place: { database: database?.name ?? place.database, store: store?.name ?? place.store }, key: primaryKey, value, isComplete, error };
}
