/**
 * Session Storage, the folder `Session Storage`.
 *
 *     version                                        1
 *     next-map-id                                    number, in ASCII
 *     namespace-<GUID of a tab>-<storage key>        number of a map, in ASCII
 *     map-<number>-<key>                             value; UTF-16LE, and the key UTF-8
 *
 * Tabs share a map until one of them writes to it. Before version 1, the folder had no version, and the key `map-<number>-` had the number of
 * tabs that share the map, in ASCII; from version 1 on, this is the item with an empty key.
 *
 * Source: Chromium, components/services/storage/dom_storage/session_storage_metadata.cc.
 */
import { type AsyncReaderOptions, DatabaseReader, type Folder } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { type StoredVersionsOptions, storedVersionsOptions } from '../stored-versions-options.js';
import { ByteReader } from '../value/byte-reader.js';
import { WebStorageError } from '../web-storage-error.js';
import type { StorageItem } from './local-storage-reader.js';

const NAMESPACE = 'namespace-';
const MAP = 'map-';
/** A GUID has its underscores instead of hyphens. */
const NAMESPACE_KEY = /^namespace-([0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}|[^-]+)-(.*)$/su;
const VERSION = 'version';
/** The key of the number of tabs that share a map, before version 1. */
const COUNT_KEY = /^map-\d+-$/u;
const MAP_KEY = /^map-(\d+)-/u;
/** `map-`, a number and a hyphen. */
const LONGEST_START = 32;

/** The items that a tab has stored for an origin. */
export interface SessionNamespace {
  /** The GUID of the tab. */
  readonly namespace: string;
  readonly storageKey: string;
  /** The number of the map with its items. */
  readonly map: string;
}

/** An item of Session Storage. */
export interface SessionItem extends Omit<StorageItem, 'storageKey'> {
  /** The number of its map. Undefined where it cannot be read. */
  readonly map: string | undefined;
}

/** A stored version of an item, current or not. */
export interface SessionItemVersion extends SessionItem {
  /** A deletion has no value. */
  readonly kind: 'value' | 'deletion';
  /** The key of its entry in the folder, with which `DatabaseReader` finds it. */
  readonly entryKey: Uint8Array;
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

  /** Ends all iterations, and closes the files of the folder. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The map of each tab and origin. */
  async namespaces(): Promise<SessionNamespace[]> {
    const namespaces: SessionNamespace[] = [];
    for await (const [key, value] of this.#reader.entries({ prefix: new TextEncoder().encode(NAMESPACE) })) {
      const parts = NAMESPACE_KEY.exec(new ByteReader(key, 'key').latin1(key.length));
      if (parts?.[2]) namespaces.push({ namespace: parts[1]!, storageKey: parts[2], map: new ByteReader(value, 'metadata').latin1(value.length) });
    }
    return namespaces;
  }

  /** @internal Whether the folder is from before version 1, so that its maps have counts. */
  async hasCounts(): Promise<boolean> {
    return !(await this.#reader.has(VERSION));
  }

  /**
   * The items of a map, or of all. One that cannot be read has an `error`, and the iteration continues. @throws CorruptionError if the folder is
   * damaged.
   */
  async *items(map?: string): AsyncGenerator<SessionItem, void, undefined> {
    const prefix = new TextEncoder().encode(map === undefined ? MAP : `${MAP}${map}-`);
    const hasCounts = await this.hasCounts();
    for await (const [key, value] of this.#reader.entries({ prefix })) {
      const item = decodeSessionItem(key, value, hasCounts);
      if (item !== undefined) yield item;
    }
  }
}

/**
 * All versions of items that a folder still holds, overwritten and deleted ones too: log by log and table by table.
 *
 * Damage is skipped, unless `damage` is `'strict'`; `onDropped` receives what was skipped.
 */
export async function* storedSessionItems(folder: Folder, options: StoredVersionsOptions = {}): AsyncGenerator<SessionItemVersion, void, undefined> {
  const own = storedVersionsOptions('storedSessionItems', options);
  // All that was written before the version is from before version 1.
  let firstVersion: bigint | undefined;
  for await (const { key, sequence } of storedEntries(folder, { ...own, onDropped: undefined })) {
    own.signal?.throwIfAborted();
    if (isVersionKey(key) && (firstVersion === undefined || sequence < firstVersion)) firstVersion = sequence;
  }
  for await (const { kind, key, value, sequence, file } of storedEntries(folder, own)) {
    own.signal?.throwIfAborted();
    const item = decodeSessionItem(key, kind === 'deletion' ? undefined : value, firstVersion === undefined || sequence < firstVersion);
    if (item !== undefined) yield { ...item, kind: kind === 'deletion' ? kind : 'value', entryKey: key, sequence, file };
  }
}

function isVersionKey(key: Uint8Array): boolean {
  return key.length === VERSION.length && new ByteReader(key, 'key').latin1(key.length) === VERSION;
}

/**
 * Decodes an entry of the folder if it is an item; otherwise undefined.
 *
 * @param entryValue undefined for a deletion.
 * @param hasCounts whether the entry is from before version 1.
 */
export function decodeSessionItem(entryKey: Uint8Array, entryValue: Uint8Array | undefined, hasCounts: boolean): SessionItem | undefined {
  const beginning = new ByteReader(entryKey, 'key').latin1(Math.min(entryKey.length, LONGEST_START));
  if (!beginning.startsWith(MAP) || (hasCounts && COUNT_KEY.test(beginning))) return undefined;
  let map: string | undefined;
  let key: string | undefined;
  try {
    const start = MAP_KEY.exec(beginning);
    if (start === null) throw new WebStorageError('BLOOM_BAD_KEY', 'key', MAP.length, 'has no map number');
    map = start[1]!;
    const reader = new ByteReader(entryKey, 'key', start[0].length);
    key = reader.utf8(reader.remaining);
    return { map, key, value: entryValue && new ByteReader(entryValue, 'value').utf16(entryValue.length, true), error: undefined };
  } catch (error) {
    if (!(error instanceof WebStorageError)) throw error;
    return { map, key, value: undefined, error };
  }
}
