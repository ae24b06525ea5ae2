import { UnsupportedError } from '@bloom/bytes';
import { decodingFor, NO_COMPRESSION, readCompressionType } from '@bloom/sstable/database';
import { all, type FolderReading, openFile, readBlock, readingOf, runAsync, runSync } from '../folder/folder-reading.js';
import { oldTableFileName, tableFileName } from '../format/file-name.js';
import { WholeTable } from '../table/whole-table.js';
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
  const types = new Set([NO_COMPRESSION, ...decodingFor(opening).codecs.keys()]);
  const looks = all(files.map((file) => look(file, tables, types)));
  try {
    if (folder.openSync === undefined) await runAsync(folder, looks);
    else runSync(folder, looks);
  } finally {
    await tables.close();
  }
}

function* look(file: FileMetadata, tables: TableCache, types: ReadonlySet<number>): FolderReading<void> {
  try {
    const type = yield* compressionType(file);
    if (type !== undefined && types.has(type)) return;
    const handle = yield* tables.openAtFirst(file);
    if (handle.table.index.length > 0) yield* readBlock(handle, 0);
  } catch (error) {
    if (error instanceof UnsupportedError) throw error;
  }
}

/** The compression type of a table, as far as a few bytes tell: opening it would take several times as long. */
function* compressionType({ number, size }: FileMetadata): FolderReading<number | undefined> {
  const file = (yield* openFile(tableFileName(number))) ?? (yield* openFile(oldTableFileName(number)));
  // A missing table is no concern of this check.
  if (file === undefined) return NO_COMPRESSION;
  try {
    const source = new WholeTable(file, size, file.name ?? tableFileName(number), false);
    return yield* readingOf(source, readCompressionType(source));
  } finally {
    // It was only read: a failure to close it is no reason to refuse the database.
    void Promise.resolve(file.close?.()).catch(() => undefined);
  }
}
