import { LOG_BLOCK_LENGTH } from '@bloom/log';
import { opfsRoot } from './opfs-host.js';

/**
 * The name of a file that is made and removed. Chromium's record of a file that is made holds its name twice, in UTF-8, so this one is
 * longer than a block of a log, and ends in another block than the one it begins in.
 */
const LONG_NAME = 'bloom'.padEnd(LOG_BLOCK_LENGTH / 2, '-');

/**
 * Makes sure that files which get a name from now on have it after the next start of the browser too. Takes some milliseconds.
 *
 * Chromium has the names of an origin's files in a LevelDB of its own, and goes on with the old log when it starts (`reuse_logs`). If
 * it was killed within a write, the log ends with a part of a record. What it adds to the same block is read as the rest of that
 * record, and dropped, at the start after the next: files that were made in between are gone then, and deleted ones are back. So the
 * block is filled up first.
 *
 * Source: https://github.com/google/leveldb/issues/1287.
 */
export async function passTornName(): Promise<void> {
  const root = await opfsRoot();
  const remove = (): Promise<void> => root.removeEntry(LONG_NAME).catch(() => undefined);
  // It is still there when the browser was killed in here: then making it would write nothing.
  await remove();
  try {
    await root.getFileHandle(LONG_NAME, { create: true });
  } catch {
    // Other browsers need none of this, and have no such long names.
  }
  await remove();
}
