/**
 * The numbers of new files: one counter numbers logs, tables and MANIFESTs, and the MANIFEST stores its state.
 *
 * LevelDB does not check it. If the stored counter is too low, LevelDB truncates a live file, or gives a new table of level 0 a lower number
 * than an older one, whose values then count as newer. If it is too high, it wraps around.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { logFileName, parseFileName, tableFileName } from '../format/file-name.js';
import type { ManifestFields } from '../format/manifest.js';
import type { FileMetadata } from '../format/version-edit.js';

/** The numbers reserved for an opening, and for writes until the background work is done. */
const RESERVE = 2n ** 32n;
/** A database whose next file has this number or a higher one is not opened for writing. */
export const OPENING_END = 2n ** 63n - RESERVE;
/** From this number on nothing more is written, so that the database can still be opened. */
export const WRITING_END = OPENING_END - RESERVE;

/**
 * The number of the first new file: the next file number of the MANIFEST, unless a file that the database needs has that number or a
 * higher one.
 *
 * @param manifest the name of the MANIFEST, which may be that of any file.
 * @param place of the MANIFEST.
 * @throws CorruptionError `BLOOM_BAD_VERSION` when there are too few numbers left.
 */
export function firstNewNumber(fields: ManifestFields, files: readonly FileMetadata[], manifest: string, place: Place): bigint {
  const bad = (what: string): CorruptionError =>
    new CorruptionError('BLOOM_BAD_VERSION', place, `${what} leaves no numbers for new files; make a new MANIFEST with Database.repair`);
  let next = fields.nextFileNumber;
  if (next >= OPENING_END) throw bad(`its next file number, ${next},`);
  const liftPast = (number: bigint, what: () => string): void => {
    if (number < next) return;
    if (number >= OPENING_END - 1n) throw bad(what());
    next = number + 1n;
  };
  for (const { number } of files) liftPast(number, () => `the number of table ${tableFileName(number)}`);
  // A new log with a lower number would make obsolete logs count again.
  liftPast(fields.logNumber, () => `its log number, ${fields.logNumber},`);
  const named = parseFileName(manifest);
  // A number that counting never reaches does no harm.
  if (named !== undefined && 'number' in named && named.number < WRITING_END) liftPast(named.number, () => manifest);
  return next;
}

/** @throws CorruptionError `BLOOM_BAD_VERSION` when a log that is needed has a number that leaves too few for new files. */
export function mustLeaveNumbers(logs: readonly bigint[]): void {
  const last = logs.at(-1);
  if (last === undefined || last < OPENING_END - 1n) return;
  const problem = 'its number leaves no numbers for new files: move it away if it is not a log of this database, or use Database.repair';
  throw new CorruptionError('BLOOM_BAD_VERSION', { structure: 'file', offset: 0, file: logFileName(last) }, problem);
}
