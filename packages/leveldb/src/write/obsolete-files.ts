/**
 * Which files of a database are no longer needed, and their deletion.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::RemoveObsoleteFiles`.
 */
import { Pacer } from '../folder/pacer.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { isCanonicalName, parseFileName } from '../format/file-name.js';
import type { VersionSet } from './version-set.js';

/** The files among `names` that are no longer needed. @param isNeeded whether the table with this number is. */
export function obsoleteFiles({ logNumber, previousLogNumber, manifestNumber }: VersionSet, names: readonly string[], isNeeded: (table: bigint) => boolean): string[] {
  return names.filter((name) => {
    const file = parseFileName(name);
    if (file === undefined || !('number' in file) || !isCanonicalName(name)) return false;
    const { type, number } = file;
    if (type === 'log') return number < logNumber && number !== previousLogNumber;
    return type === 'manifest' ? number < manifestNumber : !isNeeded(number);
  });
}

/** Deletes files, except those that cannot be deleted. @returns the names of those that are deleted. */
export async function deleteFiles(folder: WritableFolder, names: readonly string[]): Promise<string[]> {
  const pacer = new Pacer(1);
  const deleted: string[] = [];
  for (const name of names) {
    if (await deleteIfPossible(folder, name)) deleted.push(name);
    if (pacer.isDue()) await pacer.pause();
  }
  return deleted;
}

/** Deletes a file. A failure is ignored: a leftover file does no harm. @returns whether it is deleted. */
export async function deleteIfPossible(folder: WritableFolder, name: string): Promise<boolean> {
  try {
    await folder.delete(name);
    return true;
  } catch {
    // The others can still be deleted.
    return false;
  }
}
