/**
 * Which files of a folder belong to a database: the files of its MANIFEST, compared with the names in the folder.
 *
 * A file counts only under the name that its number gives. LevelDB lists `99.log`, looks for `000099.log` and, if that is missing,
 * opens the database without it; here `99.log` is not a log, and is neither read nor deleted.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { isCanonicalName, manifestFileName, numberedFiles, parseFileName, tableFileName } from './file-name.js';
import type { ManifestFields } from './manifest.js';
import { NUMBER_LIMIT } from './published-name.js';
import { compareBigints, type FileMetadata } from './version-edit.js';

/** The numbers of the logs among `names`, ascending. */
export function listedLogs(names: readonly string[]): bigint[] {
  return numberedFiles(names, 'log').filter(({ name }) => isCanonicalName(name)).map(({ number }) => number);
}

/** Whether log `number` is part of the database. All others are obsolete. */
export function isLogNeeded(number: bigint, { logNumber, previousLogNumber }: Pick<ManifestFields, 'logNumber' | 'previousLogNumber'>): boolean {
  return number >= logNumber || number === previousLogNumber;
}

/** The numbers of the logs among `names` that are part of the database, ascending. A missing log is not an error. */
export function neededLogs(names: readonly string[], fields: Pick<ManifestFields, 'logNumber' | 'previousLogNumber'>): bigint[] {
  return listedLogs(names).filter((number) => isLogNeeded(number, fields));
}

/**
 * The log that the MANIFEST names, if it is missing. A writer creates a log before the MANIFEST names it, and deletes it only when the MANIFEST
 * names a later one, so the folder lost it, or the MANIFEST lost its end. LevelDB opens the database without a report.
 *
 * Some MANIFESTs name no log: those of a new database and of LevelDB's RepairDB have the number 0, those of a repair their own number, and
 * those of a published database a number that no file has.
 *
 * @param manifest the name of the MANIFEST.
 */
export function missingLog(names: readonly string[], { logNumber }: Pick<ManifestFields, 'logNumber'>, manifest: string): bigint | undefined {
  if (logNumber === 0n || logNumber >= NUMBER_LIMIT || manifest === manifestFileName(logNumber)) return undefined;
  return listedLogs(names).includes(logNumber) ? undefined : logNumber;
}

/** The numbers of the tables among `files` that are missing in the folder. */
export function missingTables(files: readonly FileMetadata[], names: readonly string[]): FileMetadata[] {
  return without(files, numberedFiles(names, 'table').filter(({ name }) => isCanonicalName(name)).map(({ number }) => number));
}

/**
 * As {@link missingTables}, but a file of any type with the number counts, with any leading zeros, as in LevelDB, which notices the difference when
 * it reads the table.
 */
export function missingNumbers(files: readonly FileMetadata[], names: readonly string[]): FileMetadata[] {
  const numbers = names.flatMap((name) => {
    const file = parseFileName(name);
    return file !== undefined && 'number' in file ? [file.number] : [];
  });
  return without(files, numbers);
}

/** The error for missing tables, of which there is at least one. @param place of the MANIFEST that lists them. */
export function missingFiles(missing: readonly FileMetadata[], { file }: Pick<Place, 'file'>): CorruptionError {
  const name = tableFileName(missing[0]!.number);
  const problem = missing.length === 1 ? `it lists 1 missing table, ${name}` : `it lists ${missing.length} missing tables, such as ${name}`;
  return new CorruptionError('BLOOM_MISSING_FILE', { structure: 'MANIFEST', offset: 0, file }, problem);
}

function without(files: readonly FileMetadata[], numbers: readonly bigint[]): FileMetadata[] {
  const found = new Set(numbers);
  return files.filter(({ number }) => !found.has(number)).sort((a, b) => compareBigints(a.number, b.number));
}
