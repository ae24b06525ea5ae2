import { UnsupportedError } from '@bloom/bytes';
import { all, type FolderReading, readBlock, runAsync, runSync } from '../folder/folder-reading.js';
import { TableCache } from '../table/table-cache.js';
import { compareBigints, type FileMetadata } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { Settings } from './database-options.js';

/**
 * Looks at the newest and the oldest table of each level: whether their blocks are of codecs that were given. Tables of one
 * database mostly have the same, and a missing one would otherwise be noticed in the middle of a compaction.
 *
 * @throws UnsupportedError when they are not. What is damaged or missing is no concern of this check.
 */
export async function mustBeSupported({ levels }: Version, folder: WritableFolder, { maxOpenTables, reading, opening }: Settings): Promise<void> {
  const files = levels.flatMap((tables) => {
    const byAge = [...tables].sort((a, b) => compareBigints(a.number, b.number));
    return [...new Set([byAge[0], byAge.at(-1)])].filter((file) => file !== undefined);
  });
  // Tables that are opened without promises are read without them from then on, so the database opens its own. Filters that are not
  // known are no hindrance.
  const tables = new TableCache(maxOpenTables, reading, { ...opening, filterPolicies: [] }, null);
  const looks = all(files.map((file) => look(file, tables)));
  try {
    if (folder.openSync === undefined) await runAsync(folder, looks);
    else runSync(folder, looks);
  } finally {
    await tables.close();
  }
}

function* look(file: FileMetadata, tables: TableCache): FolderReading<void> {
  try {
    const handle = yield* tables.openAtFirst(file);
    if (handle.table.index.length > 0) yield* readBlock(handle, 0);
  } catch (error) {
    if (error instanceof UnsupportedError) throw error;
  }
}
