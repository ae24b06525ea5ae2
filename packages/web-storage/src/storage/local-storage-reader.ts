/**
 * Local Storage, the folder `Local Storage/leveldb`.
 *
 *     VERSION                                1
 *     META:<storage key>                     Protocol Buffers: 1 last modified (microseconds since 1601), 2 bytes
 *     METAACCESS:<storage key>               Protocol Buffers: 1 last accessed (microseconds since 1601)
 *     _<storage key> 00 <key>                value
 *
 * Keys and values start with their form: 00 UTF-16LE, 01 Latin-1. A storage key is an origin, such as `https://example.com`, and
 * `^0<site>` behind it where it is stored for a frame within another site.
 *
 * Source: Chromium, components/services/storage/dom_storage/local_storage_impl.cc.
 */
import { type AsyncReaderOptions, DatabaseReader, type Folder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { type StoredVersionsOptions, storedVersionsOptions } from '../stored-versions-options.js';
import { unixMilliseconds } from '../indexed-db/external-objects.js';
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';

const UTF16 = 0;
const LATIN1 = 1;
const ENTRY = 0x5f;

/** An origin that has stored something. */
export interface StoredOrigin {
  /** For example `https://example.com`, or `https://frame.com/^0https://example.com` for a frame within another site. */
  readonly storageKey: string;
  readonly lastModified: Date | undefined;
  readonly lastAccessed: Date | undefined;
  /** Its size in bytes, as Chromium recorded it. */
  readonly bytes: number | undefined;
}

/** An item of Local Storage or Session Storage. */
export interface StorageItem {
  /** The origin, and for a frame within another site that site too. Undefined where it cannot be read. */
  readonly storageKey: string | undefined;
  /** Undefined where it cannot be read. */
  readonly key: string | undefined;
  /** Undefined if it cannot be read. */
  readonly value: string | undefined;
  /** Why the key or the value cannot be read. */
  readonly error: WebStorageError | undefined;
}

/** A stored version of an item, current or not. */
export interface StorageItemVersion extends StorageItem {
  /** A deletion has no value. */
  readonly kind: 'value' | 'deletion';
  /** The key of its entry in the folder, with which `DatabaseReader` finds it. */
  readonly entryKey: Uint8Array;
  readonly sequence: bigint;
  readonly file: string;
}

/** Reads a folder of Chromium's Local Storage, and changes nothing in it. */
export class LocalStorageReader {
  readonly #reader: DatabaseReader;

  private constructor(reader: DatabaseReader) {
    this.#reader = reader;
  }

  /** Opens a folder. It can be in use by a browser. @throws what `DatabaseReader.open` throws. */
  static async open(folder: Folder, options: AsyncReaderOptions = {}): Promise<LocalStorageReader> {
    return new LocalStorageReader(await DatabaseReader.open(folder, options));
  }

  /** Ends all iterations, and closes the files of the folder. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The origins that have stored something, in the order of their names. */
  async origins(): Promise<StoredOrigin[]> {
    const origins = new Map<string, StoredOrigin>();
    const of = (storageKey: string): StoredOrigin => origins.get(storageKey) ?? { storageKey, lastModified: undefined, lastAccessed: undefined, bytes: undefined };
    for (const [prefix, isAccess] of [['META:', false], ['METAACCESS:', true]] as const) {
      for await (const [key, value] of this.#reader.entries({ prefix: ascii(prefix) })) {
        const storageKey = new ByteReader(key, 'key', prefix.length).latin1(key.length - prefix.length);
        const fields = protocolBufferOf(value);
        const time = fields.get(1) === undefined ? undefined : new Date(unixMilliseconds(fields.get(1)!));
        origins.set(storageKey, isAccess ? { ...of(storageKey), lastAccessed: time } : { ...of(storageKey), lastModified: time, bytes: fields.get(2) });
      }
    }
    for await (const key of this.#reader.keys({ prefix: Uint8Array.of(ENTRY) })) {
      const end = key.indexOf(0);
      if (end < 0) continue;
      const storageKey = new ByteReader(key, 'key', 1).latin1(end - 1);
      if (!origins.has(storageKey)) origins.set(storageKey, of(storageKey));
    }
    return [...origins.values()].sort((a, b) => (a.storageKey < b.storageKey ? -1 : 1));
  }

  /**
   * The items of an origin, or of all. One that cannot be read has an `error`, and the iteration continues.
   *
   * @throws CorruptionError if the folder is damaged.
   */
  async *items(storageKey?: string): AsyncGenerator<StorageItem, void, undefined> {
    const prefix = storageKey === undefined ? Uint8Array.of(ENTRY) : ascii(`_${storageKey}\0`);
    for await (const [key, value] of this.#reader.entries({ prefix })) yield decodeItem(key, value);
  }
}

/**
 * All versions of items that a folder still holds, overwritten and deleted ones too: log by log and table by table.
 *
 * Damage is skipped, unless `damage` is `'strict'`; `onDropped` receives what was skipped.
 */
export async function* storedItems(folder: Folder, options: StoredVersionsOptions = {}): AsyncGenerator<StorageItemVersion, void, undefined> {
  const own = storedVersionsOptions('storedItems', options);
  for await (const { kind, key, value, sequence, file } of storedEntries(folder, own)) {
    own.signal?.throwIfAborted();
    const item = decodeStoredItem(key, kind === 'deletion' ? undefined : value);
    if (item !== undefined) yield { ...item, kind: kind === 'deletion' ? kind : 'value', entryKey: key, sequence, file };
  }
}

/** Decodes an entry of the folder if it is an item; otherwise undefined. @param entryValue undefined for a deletion. */
export function decodeStoredItem(entryKey: Uint8Array, entryValue: Uint8Array | undefined): StorageItem | undefined {
  return entryKey[0] === ENTRY ? decodeItem(entryKey, entryValue) : undefined;
}

/** Decodes an item. @param entryValue undefined for a deletion. */
function decodeItem(entryKey: Uint8Array, entryValue: Uint8Array | undefined): StorageItem {
  const end = entryKey.indexOf(0);
  let storageKey: string | undefined;
  let key: string | undefined;
  try {
    if (end < 0) throw new WebStorageError('BLOOM_BAD_KEY', 'key', 0, 'the origin in it has no end');
    storageKey = new ByteReader(entryKey, 'key', 1).latin1(end - 1);
    key = decodeString(entryKey, 'key', end + 1);
    return { storageKey, key, value: entryValue && decodeString(entryValue, 'value', 0), error: undefined };
  } catch (error) {
    if (!(error instanceof WebStorageError)) throw error;
    return { storageKey, key, value: undefined, error };
  }
}

/** Decodes a string after its form. @throws WebStorageError. */
function decodeString(bytes: Uint8Array, structure: 'key' | 'value', start: number): string {
  const reader = new ByteReader(bytes, structure, start);
  const form = reader.byte();
  if (form === LATIN1) return reader.latin1(reader.remaining);
  if (form === UTF16) return reader.utf16(reader.remaining, true);
  throw reader.bad(`unknown form of a string ${form}`, start);
}

/** The readable part of an origin's metadata: a damaged message does not hide the origin. */
function protocolBufferOf(bytes: Uint8Array): ReadonlyMap<number, number> {
  try {
    return readProtocolBuffer(bytes);
  } catch (error) {
    if (error instanceof WebStorageError) return new Map();
    throw error;
  }
}

/** The varints of a message by their numbers; other fields are skipped. */
function readProtocolBuffer(bytes: Uint8Array): Map<number, number> {
  const reader = new ByteReader(bytes, 'metadata');
  const fields = new Map<number, number>();
  while (!reader.isAtEnd) {
    const tag = reader.varint32();
    const type = tag & 7;
    if (type === 0) fields.set(tag >>> 3, reader.varint64());
    else if (type === 1) reader.take(8);
    else if (type === 2) reader.take(reader.varint64());
    else if (type === 5) reader.take(4);
    else throw reader.bad(`unknown type ${type} of a field`);
  }
  return fields;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
