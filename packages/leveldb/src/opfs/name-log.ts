import { LOG_BLOCK_LENGTH } from '@bloom/log';
import { type DirectoryHandle, opfsRoot } from './opfs-host.js';

/** The names of the files that are created here begin with this. */
const PREFIX = '.bloom-log-block-';
/** Chromium's record of a new file contains its name twice: with a name of this length, it is longer than a block of the log. */
const NAME_LENGTH = LOG_BLOCK_LENGTH / 2;

/**
 * Makes Chromium continue in another block of its log of file names, in case the last block ends with an incomplete record. Takes some
 * milliseconds.
 *
 * Chromium keeps the names of an origin's files in a LevelDB database, and appends to its old log after a restart (`reuse_logs`). When it is
 * killed in the middle of a write, the log ends with an incomplete record. A later reader takes the bytes after it for the rest of that record,
 * finds a wrong checksum, and drops the rest of the 32 KiB block: files that were created after the kill are gone, and deleted ones are back.
 * So a file with a long name is created and removed first: its record ends in another block.
 *
 * Source: https://github.com/google/leveldb/issues/1287.
 */
export async function leaveLogBlock(): Promise<void> {
  const root = await opfsRoot();
  // The name must be new, because nothing is written for an existing file.
  const name = `${PREFIX}${Math.random()}-`.padEnd(NAME_LENGTH, '-');
  try {
    await root.getFileHandle(name, { create: true });
  } catch {
    // Other browsers may refuse such a name, and do not need it. If the quota is too small for it, no other file can be written either:
    // Chromium takes 1 MiB of the quota for each.
  }
  await removeFiles(root);
}

/** Removes the file, and those that killed browsers have left. */
async function removeFiles(root: DirectoryHandle): Promise<void> {
  const names: string[] = [];
  for await (const name of root.keys()) if (name.startsWith(PREFIX)) names.push(name);
  for (const name of names) {
    await root.removeEntry(name).catch(() => {
      // Another worker is removing it.
    });
  }
}
