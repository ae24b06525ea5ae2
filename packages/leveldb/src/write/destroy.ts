/**
 * Deletes a database.
 *
 * Source: LevelDB, db/db_impl.cc, `DestroyDB`.
 */
import { DatabaseError } from '../folder/database-error.js';
import { CURRENT, isCanonicalName, LOCK, parseFileName } from '../format/file-name.js';
import { isMissing, type WritableFolder } from '../folder/writable-folder.js';
import { holdFolder, type HoldSettings } from './folder-hold.js';
import { mustBeLevelDb } from './refuse-foreign-folder.js';

/** Whether a folder contains a database or the remains of one. A log alone does not count: other programs have files like `2024.log`. */
export function isDatabase(names: readonly string[]): boolean {
  return names.some((name) => name === CURRENT || parseFileName(name)?.type === 'manifest');
}

/**
 * The names in a folder that had no database, once nobody is creating one: a program that does so has locked the folder.
 *
 * @param names the names in the folder, which was just listed.
 * @throws DatabaseError `BLOOM_LOCKED`.
 */
export async function settledNames(folder: WritableFolder, names: readonly string[], settings: HoldSettings): Promise<readonly string[]> {
  if (!names.includes(LOCK)) return names;
  try {
    await (await holdFolder(folder, settings)).release();
  } catch (error) {
    // Something else is called LOCK.
    if (!(error instanceof DatabaseError) || error.code !== 'BLOOM_NO_LOCK') throw error;
  }
  return folder.list();
}

/**
 * Deletes the files of a database, and the folder if nothing else is in it.
 *
 * @param names the names in the folder, which was just listed.
 * @throws the first error of a file that could not be deleted. All other tables and logs are then deleted, and what makes the folder a database
 *   is still there, so that the call can be repeated.
 */
export async function destroyDatabase(folder: WritableFolder, names: readonly string[], settings: HoldSettings): Promise<void> {
  await mustBeLevelDb(folder, names);
  const hold = await holdFolder(folder, settings);
  // Where folders are not pinned, the lock is no file of the folder, and another program may create a database as soon as it is released.
  const isPinned = hold.folder !== folder;
  await hold.end(async () => {
    await deleteFiles(hold.folder, await hold.folder.list());
    if (!isPinned) await folder.removeFolder();
  });
  if (isPinned) await folder.removeFolder();
}

async function deleteFiles(folder: WritableFolder, names: readonly string[]): Promise<void> {
  if (!isDatabase(names)) return;
  const failures: unknown[] = [];
  for (const name of inOrder(names)) {
    if (failures.length > 0 && rankOf(name) > 0) break;
    try {
      await folder.delete(name);
    } catch (error) {
      if (!isMissing(error)) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * The files of a database in the order of their deletion. CURRENT comes after the files that it needs, so that an interrupted deletion
 * can be repeated. LOCK comes last, and is deleted while it is locked: others can then lock a new file.
 */
function inOrder(names: readonly string[]): string[] {
  return names.filter((name) => isCanonicalName(name)).sort((a, b) => rankOf(a) - rankOf(b));
}

/** The place of a file in the order of deletion. */
function rankOf(name: string): number {
  return name === LOCK ? 3 : name === CURRENT ? 2 : parseFileName(name)?.type === 'manifest' ? 1 : 0;
}
