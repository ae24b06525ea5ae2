/**
 * The names of the files in a database folder.
 *
 *     CURRENT             the name of the MANIFEST, and a newline
 *     MANIFEST-000002     a log of version edits
 *     000004.log          a log of write batches
 *     000005.ldb          a table; .sst before LevelDB 1.14
 *     000002.dbtmp        CURRENT before its rename
 *     LOCK                empty
 *     LOG, LOG.old        text for people
 *     lost/               files that a repair set aside
 *
 * Numbers have 64 bits and at least six digits; one counter numbers them all.
 *
 * Source: LevelDB, db/filename.cc.
 */
import { compareBigints } from './version-edit.js';

/** The type of a file of a database folder, by its name. */
export type FileName =
  | { readonly type: 'current' | 'lock' | 'info log' }
  | { readonly type: 'manifest' | 'log' | 'table' | 'temporary'; readonly number: bigint };

const MAX_NUMBER = 2n ** 64n - 1n;

const typesByExtension = { log: 'log', ldb: 'table', sst: 'table', dbtmp: 'temporary' } as const;

/** The type and number of the file called `name`, or undefined when LevelDB has no such name: such a file is left alone. */
export function parseFileName(name: string): FileName | undefined {
  switch (name) {
    case 'CURRENT':
      return { type: 'current' };
    case 'LOCK':
      return { type: 'lock' };
    case 'LOG':
    case 'LOG.old':
      return { type: 'info log' };
  }
  const [, manifest, file, extension] = /^(?:MANIFEST-([0-9]+)|([0-9]+)\.(log|ldb|sst|dbtmp))$/.exec(name) ?? [];
  const digits = manifest ?? file;
  // Converting longer ones to a number would take too much time; leading zeros cost nothing.
  if (digits === undefined || digits.replace(/^0+/, '').length > 20) return undefined;
  const number = BigInt(digits);
  if (number > MAX_NUMBER) return undefined;
  if (manifest !== undefined) return { type: 'manifest', number };
  return { type: typesByExtension[extension as keyof typeof typesByExtension], number };
}

/** A file of a folder whose name has a number. */
export interface NumberedFile {
  readonly name: string;
  readonly number: bigint;
}

/** The files of some types among `names`, the lowest number first; of the files with one number, `.ldb` comes before `.sst`. */
export function numberedFiles(names: readonly string[], ...types: ('log' | 'manifest' | 'table')[]): NumberedFile[] {
  const found: NumberedFile[] = [];
  for (const name of names) {
    const file = parseFileName(name);
    if (file !== undefined && 'number' in file && types.some((type) => type === file.type)) found.push({ name, number: file.number });
  }
  return found.sort((a, b) => compareBigints(a.number, b.number) || (a.name < b.name ? -1 : 1));
}

/** The names of the files of a type, the highest number first. */
export function namesByAge(type: 'log' | 'manifest' | 'table', names: readonly string[]): string[] {
  return numberedFiles(names, type).reverse().map(({ name }) => name);
}

function padded(number: bigint): string {
  return number.toString().padStart(6, '0');
}

/**
 * Whether `name` is the one that its number gives. LevelDB takes the number from a name and opens the file with the name that the number gives.
 * So it never opens `99.log`, because that has the number of `000099.log`.
 */
export function isCanonicalName(name: string): boolean {
  const file = parseFileName(name);
  return file !== undefined && (!('number' in file) || name.replace(/[^0-9]/g, '') === padded(file.number));
}

export const CURRENT = 'CURRENT';

/** The file that is locked while a database is open for writing. */
export const LOCK = 'LOCK';

/** The subfolder of the database's folder for files that a repair sets aside. */
export const LOST = 'lost';

export function logFileName(number: bigint): string {
  return `${padded(number)}.log`;
}

export function tableFileName(number: bigint): string {
  return `${padded(number)}.ldb`;
}

/** The name of table `number` before LevelDB 1.14. */
export function oldTableFileName(number: bigint): string {
  return `${padded(number)}.sst`;
}

export function manifestFileName(number: bigint): string {
  return `MANIFEST-${padded(number)}`;
}

export function temporaryFileName(number: bigint): string {
  return `${padded(number)}.dbtmp`;
}
