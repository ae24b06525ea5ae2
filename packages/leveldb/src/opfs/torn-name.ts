import { LOG_BLOCK_LENGTH } from '@bloom/log';
import { type DirectoryHandle, opfsRoot } from './opfs-host.js';

/** What the names of all files begin with that are made here. */
const PREFIX = '.bloom-log-block-';
/** Chromium's record of a file that is made has its name twice. With such a name it is longer than a block, and ends in a later one. */
const NAME_LENGTH = LOG_BLOCK_LENGTH / 2;

/**
 * Keeps names that are given from now on out of a block of Chromium's log of names that ends with an incomplete record. Takes some
 * milliseconds.
 *
 * Chromium keeps the names of an origin's files in a LevelDB database, and goes on with its old log (`reuse_logs`). When it is killed
 * in the middle of a write, the log ends with an incomplete record. Whoever reads the log later takes what follows for the rest of that
 * record, finds a wrong checksum, and drops the rest of the 32 KiB block: files that were made after the kill are gone, and deleted
 * ones are back. So a file with a long name is made and removed first.
 *
 * Source: https://github.com/google/leveldb/issues/1287.
 */
export async function passTornName(): Promise<void> {
  const root = await opfsRoot();
  // A name that nobody has, as nothing is written for a file that is there.
  const name = `${PREFIX}${Math.random()}-`.padEnd(NAME_LENGTH, '-');
  try {
    await root.getFileHandle(name, { create: true });
  } catch {
    // Other browsers may refuse such a name, and do not need it. A quota that is too small for it is too small for any file that is
    // written: Chromium takes 1 MiB of it for each.
  }
  await removeFiles(root);
}

/** Removes the file, and what is left of browsers that were killed in here. */
async function removeFiles(root: DirectoryHandle): Promise<void> {
  const names: string[] = [];
  for await (const name of root.keys()) if (name.startsWith(PREFIX)) names.push(name);
  for (const name of names) {
    await root.removeEntry(name).catch(() => {
      // Another worker is removing it.
    });
  }
}
