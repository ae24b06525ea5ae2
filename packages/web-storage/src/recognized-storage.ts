import { type AsyncReaderOptions, DatabaseReader, type Folder } from '@bloom/leveldb';
import { comparatorName } from '@bloom/leveldb/inspect';
import { idbComparator } from '@bloom/leveldb/idb-comparator';

/** The storage that a LevelDB folder of a browser contains. */
export type StorageKind = 'indexeddb' | 'local-storage' | 'session-storage';

/**
 * Finds out which storage a folder contains, by its comparator and its keys; undefined for another database.
 *
 * @throws what `comparatorName` and `DatabaseReader.open` throw.
 */
export async function recognizeStorage(folder: Folder, options: AsyncReaderOptions = {}): Promise<StorageKind | undefined> {
  const name = await comparatorName(folder, { signal: options.signal });
  if (name === idbComparator.name) return 'indexeddb';
  if (name !== BYTEWISE) return undefined;
  const reader = await DatabaseReader.open(folder, options);
  try {
    if (await hasAny(reader, LOCAL_STORAGE)) return 'local-storage';
    if (await hasAny(reader, SESSION_STORAGE)) return 'session-storage';
    return undefined;
  } finally {
    await reader.close();
  }
}

const BYTEWISE = 'leveldb.BytewiseComparator';

/** A version, and the start of one of the keys with it. An origin starts with its scheme, or is `null`. */
const LOCAL_STORAGE = { version: 'VERSION', prefixes: ['META:', '_'] };
const SESSION_STORAGE = { version: 'version', prefixes: ['namespace-', 'map-', 'next-map-id'] };

async function hasAny(reader: DatabaseReader, { version, prefixes }: typeof LOCAL_STORAGE): Promise<boolean> {
  const encoder = new TextEncoder();
  const stored = await reader.get(encoder.encode(version));
  if (stored === undefined || !/^\d+$/u.test(String.fromCharCode(...stored.subarray(0, 8)))) return false;
  for (const prefix of prefixes) {
    for await (const _ of reader.keys({ prefix: encoder.encode(prefix), limit: 1 })) return true;
  }
  return false;
}
