/**
 * Session Storage, the folder `Session Storage`.
 *
 *     version                                        1
 *     next-map-id                                    number, in ASCII
 *     namespace-<GUID of a tab>-<storage key>        number of a map, in ASCII
 *     map-<number>-<key>                             value; UTF-16LE, and the key UTF-8
 *
 * Tabs share a map until one of them writes to it.
 *
 * Source: Chromium, components/services/storage/dom_storage/session_storage_metadata.cc.
 */
import { type AsyncReaderOptions, DatabaseReader, type Folder } from '@bloom/leveldb';
import { storedEntries, type StoredEntriesOptions } from '@bloom/leveldb/inspect';
import { ByteReader } from '../value/byte-reader.js';
import type { StorageItem } from './local-storage-reader.js';

const NAMESPACE = 'namespace-';
const MAP = 'map-';
/** A GUID has its underscores instead of hyphens. */
const NAMESPACE_KEY = /^namespace-([0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}|[^-]+)-(.*)$/su;
const MAP_KEY = /^map-(\d+)-/u;

/** What a tab has stored for an origin. */
export interface SessionNamespace {
  /** The GUID of the tab. */
  readonly namespace: string;
  readonly storageKey: string;
  /** The number of the map with its items. */
  readonly map: string;
}

/** An item of Session Storage. */
export interface SessionItem extends Omit<StorageItem, 'storageKey'> {
  /** The number of its map. */
  readonly map: string;
}

/** A version of an item that is stored, whether it counts or not. */
export interface SessionItemVersion extends Omit<SessionItem, 'value'> {
  readonly kind: 'value' | 'deletion';
  readonly value: string | undefined;
  readonly sequence: bigint;
  readonly file: string;
}

/** Reads a folder of Chromium's Session Storage, and changes nothing in it. */
export class SessionStorageReader {
  readonly #reader: DatabaseReader;

  private constructor(reader: DatabaseReader) {
    this.#reader = reader;
  }

  /** Opens a folder. It can be in use by a browser. @throws what `DatabaseReader.open` throws. */
  static async open(folder: Folder, options: AsyncReaderOptions = {}): Promise<SessionStorageReader> {
    return new SessionStorageReader(await DatabaseReader.open(folder, options));
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Which tab has which map, for which origin. */
  async namespaces(): Promise<SessionNamespace[]> {
    const namespaces: SessionNamespace[] = [];
    for await (const [key, value] of this.#reader.entries({ prefix: new TextEncoder().encode(NAMESPACE) })) {
      const parts = NAMESPACE_KEY.exec(new ByteReader(key, 'key').latin1(key.length));
      if (parts?.[2]) namespaces.push({ namespace: parts[1]!, storageKey: parts[2], map: new ByteReader(value, 'metadata').latin1(value.length) });
    }
    return namespaces;
  }

  /** The items of a map, or of all. @throws WebStorageError BLOOM_BAD_KEY or BLOOM_BAD_VALUE. */
  async *items(map?: string): AsyncGenerator<SessionItem, void, undefined> {
    const prefix = new TextEncoder().encode(map === undefined ? MAP : `${MAP}${map}-`);
    for await (const [key, value] of this.#reader.entries({ prefix })) {
      const item = decodeSessionKey(key);
      if (item !== undefined) yield { ...item, value: decodeSessionValue(value) };
    }
  }
}

/** All versions of items that a folder still holds, overwritten and deleted ones too: log by log and table by table. */
export async function* storedSessionItems(folder: Folder, options: StoredEntriesOptions = {}): AsyncGenerator<SessionItemVersion, void, undefined> {
  for await (const { kind, key, value, sequence, file } of storedEntries(folder, options)) {
    const item = decodeSessionKey(key);
    if (item === undefined) continue;
    if (kind === 'deletion') yield { ...item, kind: 'deletion', value: undefined, sequence, file };
    else yield { ...item, kind: 'value', value: decodeSessionValue(value), sequence, file };
  }
}

/** The map and the key of an item; undefined where a key is about something else. @throws WebStorageError BLOOM_BAD_KEY. */
export function decodeSessionKey(key: Uint8Array): { readonly map: string; readonly key: string } | undefined {
  const start = MAP_KEY.exec(new ByteReader(key, 'key').latin1(Math.min(key.length, 32)));
  if (start === null) return undefined;
  const reader = new ByteReader(key, 'key', start[0].length);
  return { map: start[1]!, key: reader.utf8(reader.remaining) };
}

/** UTF-16LE. @throws WebStorageError BLOOM_BAD_VALUE. */
export function decodeSessionValue(value: Uint8Array): string {
  return new ByteReader(value, 'value').utf16(value.length, true);
}
