import { runClosing } from '../folder/closing-files.js';
import { runAsync } from '../folder/folder-reading.js';
import { foreignEngineError, orForeignEngine, readForeignEngine } from '../folder/detect-foreign-engine.js';
import { namesIn, type WritableFolder } from '../folder/writable-folder.js';
import { CURRENT, LOCK, parseFileName } from '../format/file-name.js';
import { isForeignName } from '../format/engine-evidence.js';
import type { Settings } from './database-options.js';

/** @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` when the folder is the database of another engine. Nothing is written, not even LOCK. */
export async function mustBeLevelDb(folder: WritableFolder): Promise<void> {
  const engine = await runClosing(folder, (closing) => readForeignEngine({ name: folder.name, canList: true }, closing));
  if (engine !== undefined) throw foreignEngineError(engine, folder.name);
}

/**
 * {@link mustBeLevelDb} for a folder that is being opened. Its CURRENT and MANIFEST are read next anyway, so files are read here only if a
 * name suggests another engine, if damage is skipped, or if the file LOCK would be created before.
 *
 * @returns the names in the folder.
 */
export async function mustNotLookForeign(folder: WritableFolder, { skipsDamage, locks }: Pick<Settings, 'skipsDamage' | 'locks'>): Promise<readonly string[]> {
  const names = await namesIn(folder);
  const isDatabase = names.includes(CURRENT) || names.some((name) => (parseFileName(name)?.type ?? 'lock') !== 'lock');
  if (names.some(isForeignName) || (isDatabase && (skipsDamage || (locks && !names.includes(LOCK))))) await mustBeLevelDb(folder);
  return names;
}

/** Returns `error`, which opening a folder threw, or an error that names the other engine if its database is that engine's. */
export function openingFailure(folder: WritableFolder, error: unknown): Promise<unknown> {
  return runAsync(folder, orForeignEngine({ name: folder.name, canList: true }, error));
}
