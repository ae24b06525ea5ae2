import { ParkMiller } from '../memtable/park-miller.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import type { ReadSampler } from '../cursor/read-samples.js';

/** About this many bytes are read between two samples. */
const READ_BYTES_PERIOD = 2 ** 20;

/**
 * Takes samples of the keys that a cursor reads. A sample counts as a read of its key, and a table that reads have to pass too often is
 * compacted.
 *
 * @param seed the number of the cursor, from 1.
 *
 * Source: LevelDB, db/db_iter.cc, `DBIter::ParseKey`.
 */
export function cursorSampler(seed: number, take: ReadSampler['take']): ReadSampler {
  const random = new ParkMiller(seed);
  return { period: () => random.next() % (2 * READ_BYTES_PERIOD), take };
}

/**
 * The first table that a lookup of the key searches, if it may have to search another.
 *
 * Source: LevelDB, db/version_set.cc, `Version::RecordReadSample`.
 */
export function firstOfSeveral(version: Version, internalKey: Uint8Array): FileMetadata | undefined {
  let first: FileMetadata | undefined;
  for (const file of version.newestFirst) {
    if (!version.mayHold(file, internalKey)) continue;
    if (first !== undefined) return first;
    first = file;
  }
  for (let level = 1; level < version.levels.length; level++) {
    const file = version.fileFor(level, internalKey);
    if (file === undefined) continue;
    if (first !== undefined) return first;
    first = file;
  }
  return undefined;
}
