/**
 * Which files of a folder belong to a database: what its MANIFEST says, compared with the names that are there.
 *
 * A file counts only under the name that its number gives. LevelDB lists `99.log`, looks for `000099.log` and, if that is not
 * there, opens the database without it; here `99.log` is no log, and nobody reads or deletes it.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { isCanonicalName, parseFileName, tableFileName } from './file-name.js';
import type { ManifestFields } from './manifest.js';
import { compareBigints, type FileMetadata } from './version-edit.js';

/** The numbers of the logs among `names`, ascending. */
export function listedLogs(names: readonly string[]): bigint[] {
  const numbers: bigint[] = [];
  for (const name of names) {
    const file = parseFileName(name);
    if (file?.type === 'log' && isCanonicalName(name)) numbers.push(file.number);
  }
  return numbers.sort(compareBigints);
}

/** Whether log `number` is part of the database. All others are obsolete. */
export function isLogNeeded(number: bigint, { logNumber, previousLogNumber }: Pick<ManifestFields, 'logNumber' | 'previousLogNumber'>): boolean {
  return number >= logNumber || number === previousLogNumber;
}

/** The numbers of the logs among `names` that are part of the database, ascending. One that is not there is not missed. */
export function neededLogs(names: readonly string[], fields: Pick<ManifestFields, 'logNumber' | 'previousLogNumber'>): bigint[] {
  return listedLogs(names).filter((number) => isLogNeeded(number, fields));
}

/** The tables among `files` of whose numbers there is no table in the folder, by their numbers. */
export function missingTables(files: readonly FileMetadata[], names: readonly string[]): FileMetadata[] {
  return without(files, numbersOf(names.filter((name) => parseFileName(name)?.type === 'table' && isCanonicalName(name))));
}

/** The same, where a file of any type and with any zeros in front is enough, as it is for LevelDB: it finds out when it reads the table. */
export function missingNumbers(files: readonly FileMetadata[], names: readonly string[]): FileMetadata[] {
  return without(files, numbersOf(names));
}

/** That `missing` are not there, one at least. @param place of the MANIFEST that lists them. */
export function missingFiles(missing: readonly FileMetadata[], { file }: Pick<Place, 'file'>): CorruptionError {
  const name = tableFileName(missing[0]!.number);
  const problem = missing.length === 1 ? `1 missing table, ${name}` : `${missing.length} missing tables, such as ${name}`;
  return new CorruptionError('BLOOM_MISSING_FILE', { structure: 'MANIFEST', offset: 0, file }, problem);
}

function numbersOf(names: readonly string[]): Set<bigint> {
  const numbers = new Set<bigint>();
  for (const name of names) {
    const file = parseFileName(name);
    if (file !== undefined && 'number' in file) numbers.add(file.number);
  }
  return numbers;
}

function without(files: readonly FileMetadata[], numbers: ReadonlySet<bigint>): FileMetadata[] {
  return files.filter(({ number }) => !numbers.has(number)).sort((a, b) => compareBigints(a.number, b.number));
}
