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
  const name = await comparatorName(folder.list === undefined ? withoutOtherFiles(folder) : folder, { signal: options.signal });
  if (name === idbComparator.name) return 'indexeddb';
  if (name !== BYTEWISE) return undefined;
  const reader = await DatabaseReader.open(folder, options);
  try {
    // A storage without items has only its version.
    const isAlone = await hasOneKey(reader);
    if ((await hasNumber(reader, 'VERSION')) && (isAlone || (await hasAny(reader, ['META:', 'METAACCESS:', '_'])))) return 'local-storage';
    if ((await hasNumber(reader, 'version')) && (isAlone || (await hasAny(reader, ['namespace-', 'map-', 'next-map-id'])))) return 'session-storage';
    // Before version 1, Session Storage had no version.
    if ((await hasNumber(reader, 'next-map-id')) && (await hasAny(reader, ['namespace-']))) return 'session-storage';
    return undefined;
  } finally {
    await reader.close();
  }
}

/** A folder that cannot be listed: the MANIFEST that CURRENT names has the comparator, unless it is damaged. */
function withoutOtherFiles(folder: Folder): Folder {
  return { name: folder.name, open: (name, signal) => folder.open(name, signal), list: () => [] };
}

const BYTEWISE = 'leveldb.BytewiseComparator';

async function hasNumber(reader: DatabaseReader, key: string): Promise<boolean> {
  const stored = await reader.get(key);
  return stored !== undefined && /^\d+$/u.test(String.fromCharCode(...stored.subarray(0, 8)));
}

async function hasOneKey(reader: DatabaseReader): Promise<boolean> {
  let count = 0;
  for await (const _ of reader.keys({ limit: 2 })) count++;
  return count === 1;
}

/** Whether a key starts with one of the prefixes. An origin starts with its scheme, or is `null`. */
async function hasAny(reader: DatabaseReader, prefixes: readonly string[]): Promise<boolean> {
  for (const prefix of prefixes) {
    for await (const _ of reader.keys({ prefix: new TextEncoder().encode(prefix), limit: 1 })) return true;
  }
  return false;
}
