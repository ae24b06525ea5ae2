import { ClosingFiles } from '../folder/closing-files.js';
import { runAsync, runSync } from '../folder/folder-reading.js';
import { foreignEngineError, orForeignEngine, readForeignEngine } from '../folder/detect-foreign-engine.js';
import { namesIn, type WritableFolder } from '../folder/writable-folder.js';
import { CURRENT, LOCK, parseFileName } from '../format/file-name.js';
import { type ForeignEngine, isForeignName } from '../format/engine-evidence.js';
import type { Settings } from './database-options.js';

/** A folder with at most this many names has few files to examine. */
const FEW_NAMES = 16;

/**
 * Examines a folder with few files synchronously if it can be read that way: handing the reads to another thread takes longer than making them.
 *
 * @param names the names in the folder, which was just listed.
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` when the folder is the database of another engine. Nothing is written, not even LOCK.
 */
export async function mustBeLevelDb(folder: WritableFolder, names: readonly string[]): Promise<void> {
  const closing = new ClosingFiles();
  const reading = readForeignEngine({ name: folder.name, canList: true, names }, closing);
  const isShort = folder.openSync !== undefined && names.length <= FEW_NAMES;
  let engine: ForeignEngine | undefined;
  try {
    engine = isShort ? runSync(folder, reading) : await runAsync(folder, reading);
  } finally {
    await closing.settled();
  }
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
  if (names.some(isForeignName) || (isDatabase && (skipsDamage || (locks && !names.includes(LOCK))))) await mustBeLevelDb(folder, names);
  return names;
}

/** Returns `error`, which opening a folder threw, or an error that names the other engine if its database is that engine's. */
export function openingFailure(folder: WritableFolder, error: unknown): Promise<unknown> {
  return runAsync(folder, orForeignEngine({ name: folder.name, canList: true }, error));
}
